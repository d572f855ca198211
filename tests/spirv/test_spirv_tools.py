"""The tools around spirv-val: what an error shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from spirv.building import kernel, new_module
from triton_spirv.errors import ToolError, ValidationError
from triton_spirv.spirv import Float, Vector
from triton_spirv.tools import disassemble, find, optimize, run, validate

F32 = Float(32)


def _invalid() -> bytes:
    m = new_module()
    with kernel(m, [F32, Vector(F32, 4)]) as function:
        x, y = function.parameters
        m.emit("OpFAdd", x, x, type=F32)
        m.emit("OpDot", x, y, type=F32)
    return m.words()


def test_a_validation_error_shows_the_place_and_keeps_the_module() -> None:
    with pytest.raises(ValidationError) as caught:
        validate(_invalid(), "opencl2.2")
    message = str(caught.value)
    assert "Expected float vector" in message
    assert re.search(r"^  .*OpFAdd.*\n> .*OpDot.*\n  .*OpReturn", message, re.MULTILINE)
    command = message.splitlines()[-1]
    assert command.startswith("to repeat: ") and "--target-env opencl2.2" in command
    assert Path(command.split()[-1]).read_bytes() == _invalid()


def test_the_environment_is_the_modules_version_unless_given() -> None:
    with pytest.raises(ValidationError, match=r"--target-env spv1\.2"):
        validate(_invalid())
    with pytest.raises(ValidationError):
        validate(b"")


def test_optimize_gives_a_module() -> None:
    m = new_module()
    with kernel(m, [F32]) as function:
        m.name(function.parameters[0], "nobody_reads_this")
    assert "nobody_reads_this" in disassemble(m.words())
    assert "nobody_reads_this" not in disassemble(optimize(m.words(), ["--strip-debug"]))


def test_a_failing_tool_says_how_to_repeat_it() -> None:
    with pytest.raises(ToolError, match=r"(?s)incomplete header.*exit status \d+ of: .*spirv-dis"):
        disassemble(b"nonsense")


def test_a_missing_tool_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="spirv-frobnicate is not installed: pip install it"):
        find("spirv-frobnicate", "pip install it")
    program = tmp_path / "spirv-other"
    program.write_text("#!/bin/sh\ncat\n")
    program.chmod(0o755)
    monkeypatch.setenv("TRITON_SPIRV_TOOLS", str(tmp_path))
    assert find("spirv-other") == program
    assert run([program], b"through") == b"through"

"""The tools around spirv-val: what an error shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from spirv.building import kernel, new_module
from triton_spirv.errors import ToolError, ValidationError
from triton_spirv.spirv import Bool, Float, Pointer, Vector
from triton_spirv.tools import disassemble, find, optimize, run, validate
from triton_spirv.tools.plain_form import without_predicates

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


def _predicated(pointee: Float | Vector) -> bytes:
    """A load and a store under a predicate, through pointers to `pointee`."""
    m = new_module()
    m.require("PredicatedIOINTEL", extension="SPV_INTEL_predicated_io")
    with kernel(m, [Pointer("CrossWorkgroup", pointee), Vector(F32, 4), Bool()]) as function:
        place, other, here = function.parameters
        loaded = m.emit("OpPredicatedLoadINTEL", place, here, m.undef(pointee), type=pointee)
        m.emit("OpPredicatedStoreINTEL", place, loaded, here)
        m.emit("OpDot", other, loaded, type=F32)
    return m.words()


def test_predicated_accesses_are_checked_by_older_tools_too() -> None:
    words = _predicated(Vector(F32, 4))
    validate(words)
    plain = without_predicates(words)
    assert b"predicated" in words and b"predicated" not in plain
    listing = disassemble(plain)
    assert "OpLoad" in listing and listing.count("OpStore") == 2 and listing.count("OpLogicalAnd") == 2
    with pytest.raises(ValidationError, match=r"(?s)components: Dot.*> .*OpDot"):
        validate(_predicated(Vector(F32, 2)))


def test_types_of_predicated_accesses_are_checked_as_they_are_emitted() -> None:
    m = new_module()
    with kernel(m, [Pointer("CrossWorkgroup", F32), Vector(F32, 4), F32, Bool()]) as function:
        place, four, one, here = function.parameters
        with pytest.raises(TypeError, match="the value is"):
            m.emit("OpPredicatedLoadINTEL", place, here, four, type=four.type)
        with pytest.raises(TypeError, match="an operand is"):
            m.emit("OpPredicatedLoadINTEL", place, here, four, type=F32)
        with pytest.raises(TypeError, match="the condition is"):
            m.emit("OpPredicatedStoreINTEL", place, one, one)
        m.emit("OpPredicatedStoreINTEL", place, one, here)


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

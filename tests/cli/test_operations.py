"""docs/operations.md says what the registry says; what `python -m triton_spirv` prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from triton_spirv.__main__ import main
from triton_spirv.cli import operations
from triton_spirv.ir.dialects import OPERATIONS
from triton_spirv.lower import RULES

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"


def test_page_is_what_the_command_prints() -> None:
    text = PAGE.read_text(encoding="utf-8")
    command = "python -m triton_spirv --operations-table > docs/operations.md"
    assert text == operations.table(), f"docs/operations.md is out of date: {command}"


def test_every_operation_has_a_line() -> None:
    named = re.findall(r"^\| `([\w.]+)`", operations.table(), re.MULTILINE)
    assert sorted(named) == sorted(OPERATIONS)


def test_rules_are_linked() -> None:
    targets = re.findall(r"\((\.\./python/[^)]*)\)", operations.table())
    assert len(targets) == len(RULES)
    for target in set(targets):
        assert (PAGE.parent / target).is_file(), target


def test_reasons_speak_of_known_operations() -> None:
    for key in operations.REASONS:
        assert any(operations.fits(key, name) for name in OPERATIONS), f"no operation {key}"
        assert key not in RULES, f"{key} has a rule by now"


@pytest.mark.parametrize(("option", "expected"), [
    ("--list-rules", r"tt\.load +pulled +lower/memory/\w+\.py:\d+"), ("--list-targets", "cpu-simt"),
    ("--operations-table", "# Operations"),
])
def test_commands(option: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([option]) == 0
    assert re.search(expected, capsys.readouterr().out)


def test_devices(capsys: pytest.CaptureFixture[str]) -> None:
    from triton_spirv.runtime.devices import devices

    if not devices():
        pytest.skip("no OpenCL device")
    assert main(["--list-devices"]) == 0
    assert capsys.readouterr().out.count("* ") == 1


def test_nothing_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "--operations-table" in capsys.readouterr().out

"""docs/operations.md says what the registry says; what `python -m triton_spirv` prints."""

from __future__ import annotations

import json
import re
import subprocess
import sys
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


def test_operations_that_passes_replace_are_no_lack(command, tmp_path: Path) -> None:
    done = command("ops", "tt.descriptor", "tt.make_tensor_descriptor", "--json")
    assert {row["state"] for row in json.loads(done.out)} == {"pass"}
    assert "tt.descriptor_load" not in command("ops", "--missing").out
    path = tmp_path / "descriptors.ttir"  # which has not been through those passes
    path.write_text("""module {
  tt.func public @k(%arg0: !tt.ptr<f32>, %arg1: i32) {
    %c1 = arith.constant 1 : i64
    %0 = tt.make_tensor_descriptor %arg0, [%arg1], [%c1] : !tt.ptr<f32>, !tt.tensordesc<16xf32>
    tt.return
  }
}
""")
    assert command("ops", "--of", path).status == 1


def test_targets_are_listed_without_those_of_tests() -> None:
    def run(*words: str) -> str:  # in a process that knows the tests' own targets not
        return subprocess.run([sys.executable, "-m", "triton_spirv", "targets", *words], capture_output=True,
                              text=True, check=True).stdout

    found = {row["target"] for row in json.loads(run("--json"))}
    assert {"cpu", "host", "pvc", "cpu:x86_64-v4", "vulkan"} <= found and not {"cpu-xe", "cpu-xe8"} & found
    shown = run().splitlines()
    assert len(shown) == len(found) + 1 and all(len(line.split()) > 3 for line in shown)

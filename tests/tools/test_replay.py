"""tools/replay.py sees a change, and only then."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

pytest.importorskip("triton")
TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "replay.py"))


def test_nothing_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "before.json"
    assert TOOL["main"](["record", str(file), "addf", "vector_add.cpu"]) == 0
    names = [row["name"] for row in json.loads(file.read_text())]
    assert {"golden/addf-f32.cpu", "golden/addf-f32.cpu-simt", "vector_add.cpu"} <= set(names)
    assert TOOL["main"](["compare", str(file)]) == 0
    assert f"{len(names)} kernels the same, 0 different" in capsys.readouterr().out


def test_a_change_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "before.json"
    TOOL["main"](["record", str(file), "addf-f32.cpu"])
    rows = json.loads(file.read_text())
    row, other = (next(row for row in rows if row["name"] == f"golden/addf-f32.{target}")
                  for target in ("cpu", "cpu-simt"))
    row["listing"], row["words"] = row["listing"].replace("OpFAdd", "OpFSub"), "other"
    other["words"] = "other"
    file.write_text(json.dumps(rows))
    capsys.readouterr()
    assert TOOL["main"](["compare", str(file), "--show", "addf-f32.cpu"]) == 1
    said = capsys.readouterr().out
    assert "golden/addf-f32.cpu: " in said and "+1 -1" in said
    assert "the same to read, other words" in said
    assert "\n-    %fadd = OpFSub" in said and "\n+    %fadd = OpFAdd" in said


def test_refusals_are_recorded_too() -> None:
    emitted = TOOL["Emitted"].of(TOOL["Kernel"]("broken", "module { tt.unknown }", "cpu"))
    assert emitted.words == "" and emitted.listing.startswith("ParseError")


def test_what_tests_compile_is_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = {"name": "mine.cpu", "source": "module { tt.func public @k() { tt.return } }", "target": "cpu",
              "changes": {"window": 2}, "options": {"num_warps": 4}}
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.json").write_text(json.dumps(kernel))
    file = tmp_path / "before.json"
    assert TOOL["main"](["record", str(file), "mine", "--kernels", str(tmp_path / "folder")]) == 0
    (row,) = json.loads(file.read_text())
    assert row["words"] and row["changes"] == {"window": 2}
    assert TOOL["main"](["compare", str(file)]) == 0

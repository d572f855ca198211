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
    assert TOOL["main"](["record", str(file), "addf", "softmax"]) == 0
    names = json.loads(file.read_text())
    assert {"golden/addf-f32.cpu", "golden/addf-f32.cpu-simt"} <= set(names)
    assert TOOL["main"](["compare", str(file)]) == 0
    assert f"{len(names)} kernels the same, 0 different" in capsys.readouterr().out


def test_a_change_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "before.json"
    TOOL["main"](["record", str(file), "addf-f32.cpu"])
    rows = json.loads(file.read_text())
    row = rows["golden/addf-f32.cpu"]
    row["listing"], row["words"] = row["listing"].replace("OpFAdd", "OpFSub"), "other"
    rows["golden/addf-f32.cpu-simt"]["words"] = "other"
    file.write_text(json.dumps(rows))
    capsys.readouterr()
    assert TOOL["main"](["compare", str(file), "--show", "addf-f32.cpu"]) == 1
    said = capsys.readouterr().out
    assert "golden/addf-f32.cpu: " in said and "+1 -1" in said
    assert "the same to read, other words" in said
    assert "\n-    %fadd = OpFSub" in said and "\n+    %fadd = OpFAdd" in said


def test_refusals_are_recorded_too(tmp_path: Path) -> None:
    emitted = TOOL["Emitted"].of("module { tt.unknown }", TOOL["find_target"]("cpu"))
    assert emitted.words == "" and emitted.listing.startswith("ParseError")

"""The figures of processes come out, and a second process compiles nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "process.py"


def test_figures(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = [sys.executable, str(SCRIPT), "--launches", "100", "--compilations", "3", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(file.read_text())
    assert figures["first process"].keys() == figures["second process"].keys()
    assert figures["memory"]["first launch"] > 0 and "3 by the driver alone" in figures["memory"]
    assert figures["objects"] < 100  # of each of three kernels there is nothing left

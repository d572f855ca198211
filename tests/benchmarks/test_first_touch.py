"""The benchmark runs, checks its kernels, and writes its figures; it does not judge them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "first_touch.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--quick", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=280)


def test_figures(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    done = run("--only", "launch,kernels", "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(file.read_text())
    assert "cores" in figures["machine"]
    assert 0 < figures["launch"]["our launcher alone"]["median"] < 1e5
    assert all(pair["ours"]["median"] > 0 for pair in figures["kernels"].values())
    assert "beyond Triton's JIT path" in done.stdout


def test_unknown_section() -> None:
    done = run("--only", "speed")
    assert done.returncode == 2
    assert "compile, launch, kernels" in done.stderr

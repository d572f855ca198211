"""triton-spirv selftest: on the CPU, on a simulated GPU, without torch, with a driver that ends processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import simulated_gpu
from triton_spirv.cli import main, selftest
from triton_spirv_backend.selftest import cases

ROOT = Path(__file__).parents[2]


def reported(place: Path, *words: str, **environment: str) -> tuple[subprocess.CompletedProcess[str], Any]:
    """The command in a process of its own, and the JSON of its report."""
    report = place / "report.md"
    done = subprocess.run([sys.executable, "-m", "triton_spirv", "selftest", "--report", str(report), *words],
                          capture_output=True, text=True, timeout=300, env={**os.environ, **environment})
    text = report.read_text(encoding="utf-8") if report.exists() else ""
    return done, json.loads(text.partition("```json")[2].partition("```")[0]) if text else None


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", "cpu")  # what the command sets is taken back


def test_on_the_cpu_without_torch(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('not here')\n")
    done, report = reported(tmp_path, "--device", "cpu", "--only", "f16", "--quick", PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert report["device"]["kind"] == "cpu" and report["made_by"]["triton-spirv"]
    names = [row["name"] for row in report["cases"]]
    assert "product f16" in names and all("f16" in name for name in names)
    assert {row["state"] for row in report["cases"]} == {"passed"}
    assert [row["name"] for row in report["figures"]] == [
        "an empty launch", "bandwidth f32", "softmax f32", "product f32", "product f16", "product i8"]
    assert all(row["value"] > 0 and row["unit"] for row in report["figures"])


def test_every_kernel_is_right(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    place = tmp_path / "report.md"
    status = main.main(["selftest", "--device", "cpu", "--no-figures", "--report", str(place), "--json"])
    report = json.loads(capsys.readouterr().out)
    assert status == 0, [row for row in report["cases"] if row["state"] != "passed"]
    assert {row["name"] for row in report["cases"]} == set(cases.CASES) and len(report["cases"]) > 40
    text = place.read_text(encoding="utf-8")
    assert "| product i8 | passed |" in text and not report["figures"]


def test_on_a_simulated_gpu(tmp_path: Path) -> None:
    """Its machine code is counted, where ocloc is there."""
    if not simulated_gpu.available():
        pytest.skip(simulated_gpu.NEEDED)
    done, report = reported(tmp_path, "--device", "b580", "--only", "sum of", "--no-figures",
                          **simulated_gpu.for_children())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "simulated" in report["device"]["driver"] and len(report["cases"]) == 3
    code = next(row for row in report["cases"] if row["name"] == "sum of rows")["code"]
    assert code.get("registers", 0) > 0 or "none" in code


@pytest.fixture
def crashing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "WORKER", "crashing_selftest")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]))


def test_drivers_that_end_processes(crashing: None, capsys: pytest.CaptureFixture[str],
                                    tmp_path: Path) -> None:
    place = tmp_path / "report.md"
    assert main.main(["selftest", "--device", "cpu", "--report", str(place), "--timeout", "8"]) == 1
    printed = capsys.readouterr().out
    report = json.loads(place.read_text(encoding="utf-8").partition("```json")[2].partition("```")[0])
    states = {row["name"]: (row["state"], row.get("reason", "")) for row in report["cases"]}
    assert states == {"good": ("passed", ""), "crash": ("ended", "the process ended by SIGSEGV"),
                      "fine": ("passed", ""), "hang": ("hung", "nothing for 8 s"), "last": ("passed", "")}
    crash = next(row for row in report["cases"] if row["name"] == "crash")
    assert crash["stderr"] == "the driver says goodbye\n"
    assert report["figures"] == [{"name": "the rest", "error": "the process ended with status 1"}]
    assert "3 of 5 kernels are right" in printed and "PROCESS ENDED" in printed


def test_too_many_ends(crashing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "MOST_ENDS", 1)
    found = [(row["name"], row["state"]) for row in selftest.cases(["good", "crash", "fine"], 60)]
    assert found == [("good", "passed"), ("crash", "ended"), ("fine", "untried")]


def test_what_is_asked_for_must_be_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["selftest", "--device", "cpu", "--only", "no such kernel"]) == 2
    assert "no kernel of the selftest has 'no such kernel' in its name" in capsys.readouterr().err
    assert main.main(["selftest", "--device", "no such device"]) == 1


def test_references() -> None:
    """Differences are found; 8-bit floats are rounded as torch rounds them."""
    torch = pytest.importorskip("torch")
    with pytest.raises(cases.Wrong, match=r"1 of 4 are wrong; at \(2,\): 2, not 3"):
        cases.same(np.arange(4), np.array([0, 1, 3, 3]))
    cases.same(np.array([np.nan, 1.0]), np.array([np.nan, 1.0 + 1e-9]), 1e-8)
    x = np.random.default_rng(0).standard_normal(1000).astype(np.float32) * 9
    rounded = torch.from_numpy(x).to(torch.float8_e5m2).to(torch.float32).numpy()
    assert (cases._rounded(x, 2) == rounded).all()

"""Every tutorial runs as a script, passes its own checks on small sizes, and draws its plot."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import prepared
import pytest

FOLDER = Path(__file__).parents[2] / "tutorials"
TUTORIALS = sorted(path.name for path in FOLDER.glob("[0-9]*.py"))

#: those that also run in lanes here; the others have many large products, which take longest to compile
LIGHT = [name for name in TUTORIALS if name[:2] in ("01", "02", "04", "05", "06", "07", "10")]


def run(name: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, **environment}
    return prepared.run(FOLDER / name, arguments, imports=prepared.KERNELS, environment=variables)


@pytest.mark.parametrize("name", TUTORIALS)
def test_checks_pass(name):
    result = run(name, "--quick")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "checks passed" in result.stdout


@pytest.mark.takes_turns(3)
@pytest.mark.parametrize("name", LIGHT)
def test_checks_pass_in_lanes(name):
    """The same programs spread over sub-groups."""
    result = run(name, "--quick", TRITON_SPIRV_TARGET="cpu-simt")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "checks passed" in result.stdout


def test_numbers_are_upstreams():
    assert [name[:2] for name in TUTORIALS[:10]] == [f"{number:02}" for number in range(1, 11)]


def test_bringing_up_a_device_shows_each_step():
    """IR, rules, the listing, the missing capability, the validator's verdict on every module."""
    printed = run("11-bring-up-a-device.py", "--quick").stdout
    for step in (r"= tt.get_program_id x", r"tt.load +lower/memory/load.py:\d+",
                 r"%fma = OpExtInst <16 x f32> OpenCL.std fma",
                 r"128 work-items a program, products: 2 x f32", r"f64 needs the capability Float64",
                 r"mine: valid", r"words for cpu-simt32 .*\d",
                 r"through Triton .*\d", "all results are the same bits: True"):
        assert re.search(step, printed), f"{step}\n{printed}"


def test_plot(tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "add.png"
    result = run("01-vector-add.py", "--quick", "--plot", str(picture))
    assert result.returncode == 0, result.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_wrong_result_is_a_failure(tmp_path):
    """The verdict comes from the check: a kernel that adds wrongly ends its script with status 1."""
    for path in FOLDER.glob("*.py"):
        text = path.read_text()
        (tmp_path / path.name).write_text(text.replace("x + y, mask=inside", "x - y, mask=inside"))
    result = prepared.run(tmp_path / "01-vector-add.py", ["--quick"], imports=prepared.KERNELS)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "FAILED" in result.stdout


def test_without_torch(tmp_path):
    """numpy arrays serve where there is no torch."""
    (tmp_path / "torch.py").write_text("raise ImportError('not here')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, str(FOLDER / "02-fused-softmax.py"), "--quick"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=280, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "numpy" in result.stdout

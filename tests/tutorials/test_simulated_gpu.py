"""The tutorials on a simulated GPU of Intel's, found by the loader as a driver is: what they say, and that no
call of OpenCL was wrong. Asked for by `--spirv-modes` and a GPU's mode."""

from __future__ import annotations

import os
from pathlib import Path

import prepared
import pytest
import simulated_gpu

FOLDER = Path(__file__).parents[2] / "tutorials"
#: not 08, whose kernel finds the addresses of its operands in memory: it is refused by name
NUMBERS = ("01", "02", "03", "04", "05", "06", "09", "10")


@pytest.mark.timeout(900)
@pytest.mark.parametrize("number", NUMBERS)
def test_checks_pass_on_a_simulated_gpu(number: str, pytestconfig: pytest.Config) -> None:
    modes = pytestconfig.getoption("--spirv-modes").split(",")
    asked = [mode for mode in modes if mode in simulated_gpu.MODES]
    if not asked:
        pytest.skip("asked for by --spirv-modes gpu-bmg")
    if not simulated_gpu.available():
        pytest.skip(simulated_gpu.NEEDED)
    script = next(FOLDER.glob(f"{number}-*.py"))
    environment = {**os.environ, **simulated_gpu.MODES[asked[0]], **simulated_gpu.for_children(),
                   "TRITON_SPIRV_BACKEND": "1"}
    done = prepared.run(script, ["--quick"], imports=prepared.KERNELS, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "checks passed" in done.stdout and simulated_gpu.SPOKEN not in done.stderr, done.stderr

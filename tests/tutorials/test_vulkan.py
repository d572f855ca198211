"""The tutorials that a Vulkan device runs as they are: vector add, softmax, matmul, layer norm, attention.
With `--spirv-modes vulkan` only: a software device compiles attention for minutes. That of Mesa gets the
widest vectors, for sub-groups of 16 lanes instead of 8: half as many registers in a lane, and less than half
the time."""

from __future__ import annotations

import os
from pathlib import Path

import prepared
import pytest

FOLDER = Path(__file__).parents[2] / "tutorials"
NUMBERS = ("01", "02", "03", "05", "06")


@pytest.mark.timeout(900)
@pytest.mark.parametrize("number", NUMBERS)
def test_checks_pass_on_a_vulkan_device(number: str, pytestconfig: pytest.Config) -> None:
    if "vulkan" not in pytestconfig.getoption("--spirv-modes").split(","):
        pytest.skip("asked for by --spirv-modes vulkan")
    script = next(FOLDER.glob(f"{number}-*.py"))
    device = os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan")
    environment = {"LP_NATIVE_VECTOR_WIDTH": "512", **os.environ, "TRITON_SPIRV_BACKEND": "1",
                   "TRITON_SPIRV_DEVICE": device}
    done = prepared.run(script, ["--quick"], imports=prepared.KERNELS, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "checks passed" in done.stdout

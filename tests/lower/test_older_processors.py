"""Operations where the driver is told to compile for an older processor than the one that is here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from seed import SEED
from triton_spirv.runtime.processor import DRIVER_TARGET

HERE = Path(__file__).parent

#: What asks the processor for more than vectors: sums of products, ranges of numbers, rounding, conversions.
TESTS = ("test_dot.py::test_products", "test_dot.py::test_random_values", "test_fast_math.py",
         "test_mask_proofs.py")


SETTINGS = ("core-avx2", "corei7-avx", "skx")


@pytest.mark.takes_turns(3)
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_driver_compiles_for_an_older_processor(setting: str, tmp_path: Path) -> None:
    """In a process of their own: the driver reads its settings once. Each test runs with one of the settings,
    with another seed with another."""
    variables = {**os.environ, DRIVER_TARGET: setting, "TRITON_CACHE_DIR": str(tmp_path),
                 "TRITON_SPIRV_TEST_SEED": str(SEED + SETTINGS.index(setting))}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider",
               "--spirv-sample", str(len(SETTINGS))]
    done = subprocess.run([*command, *(str(HERE / test) for test in TESTS)], env=variables, cwd=HERE.parent,
                          capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]

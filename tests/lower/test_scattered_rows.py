"""Rows stored an element at a time behind a branch, where the driver compiles for Intel's AVX-512: in a
process of its own, which this file is as a program.

Number 33001079 of the random kernels, of which check=compiler said that the optimisations had changed it: the
kernel without them was wrong."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

OPTIMISE = ("none", "-masked-access", "all")


@triton.jit
def rows(p, a, n, limit, ROWS: tl.constexpr, COLUMNS: tl.constexpr, STRIDE: tl.constexpr, STEP: tl.constexpr):
    i, j = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    x = tl.load(a + i[:, None] * COLUMNS + j[None, :])
    r = i.to(tl.int64) + n
    inside = (r >= 0) & (r < limit)
    tl.store(p + r[:, None] * STRIDE + j[None, :] * STEP, x, mask=inside[:, None])


def wrong(optimise: str, count: int, columns: int, stride: int, step: int) -> int:
    """The elements that differ from numpy's."""
    a, p = torch.arange(1, count * columns + 1, dtype=torch.float32), torch.zeros(4000)
    rows[(1,)](p, a, 3, 9, count, columns, stride, step, optimise=optimise)
    expected = np.zeros(4000, np.float32)
    for i, j in itertools.product(range(min(count, 6)), range(columns)):
        expected[(i + 3) * stride + j * step] = a[i * columns + j]
    return int((p.numpy() != expected).sum())


def test_for_intels_avx512() -> None:
    if "avx512f" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX-512")
    variables = {**os.environ, "CL_CONFIG_CPU_TARGET_ARCH": "skx", "TRITON_SPIRV_BACKEND": "1"}
    done = subprocess.run([sys.executable, __file__], env=variables, capture_output=True, text=True,
                          check=True)
    found = [line.split() for line in done.stdout.splitlines()]
    assert len(found) == 18 and all(line[-1] == "0" for line in found), done.stdout


if __name__ == "__main__":
    for each in itertools.product(OPTIMISE, (4, 8), (8,), (12, 40, 65), (1, 2)):
        if each[2] * each[4] <= each[3] and (each[3], each[4]) not in ((40, 1), (65, 1)):
            print(*each, wrong(*each))

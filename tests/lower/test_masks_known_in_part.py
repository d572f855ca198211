"""Masked loads and stores whose mask is known in part when compiling, where the driver compiles for
processors without registers of masks: in a process of their own, which this file is as a program. The driver
read one half of such a vector without a mask (the quirk halved_masks)."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from triton_spirv.runtime.processor import DRIVER_TARGET

KINDS = ("float32", "int32", "float64", "int64", "float16", "int8")


@triton.jit
def loaded(a_ptr, c_ptr, m: tl.constexpr, k: tl.constexpr, R: tl.constexpr, Q: tl.constexpr):
    i, q = tl.program_id(0) * R + tl.arange(0, R), tl.arange(0, Q)
    a = tl.load(a_ptr + i[:, None] * k + q[None, :], mask=(i < m)[:, None] & (q < k)[None, :], other=0)
    tl.store(c_ptr + i[:, None] * Q + q[None, :], a)


@triton.jit
def stored(c_ptr, m: tl.constexpr, k: tl.constexpr, R: tl.constexpr, Q: tl.constexpr):
    i, q = tl.program_id(0) * R + tl.arange(0, R), tl.arange(0, Q)
    one = tl.full([R, Q], 1, c_ptr.dtype.element_ty)
    tl.store(c_ptr + i[:, None] * Q + q[None, :], one, mask=(i < m)[:, None] & (q < k)[None, :])


def wrong(kind: str) -> int:
    """Launches with wrong elements: 77 is behind what may be read, and where nothing may be stored."""
    count, dtype = 0, getattr(torch, kind)
    for m, k, rows, columns in itertools.product((1, 5, 16), (1, 5, 8, 12), (4, 16), (16, 32)):
        expected = torch.zeros(rows, columns, dtype=dtype)
        expected[:m, :k] = 1
        a, out = torch.full((4096,), 77, dtype=dtype), torch.full((rows, columns), 77, dtype=dtype)
        a[:m * k] = 1
        loaded[(1,)](a, out, m, k, rows, columns)
        count += not torch.equal(out, expected)
        out.fill_(77)
        stored[(1,)](out, m, k, rows, columns)
        count += not torch.equal(out, torch.where(expected == 1, expected, 77))
    return count


@pytest.mark.parametrize("setting", ("core-avx2", "corei7-avx"))
def test_for_older_processors(setting: str) -> None:
    variables = {**os.environ, DRIVER_TARGET: setting, "TRITON_SPIRV_BACKEND": "1"}
    done = subprocess.run([sys.executable, __file__], env=variables, capture_output=True, text=True,
                          check=True)
    assert done.stdout.split() == ["0"] * len(KINDS), done.stdout


if __name__ == "__main__":
    assert "avx" in Path("/proc/cpuinfo").read_text()
    for each in KINDS:
        print(wrong(each))

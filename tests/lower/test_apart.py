"""lower/addresses/access.py: addresses of registers that are known distances apart are computed once."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def wrapped(x_ptr, out_ptr, start, FIRST: tl.constexpr, PERIOD: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + (i + FIRST + start) % PERIOD) * 2)


@pytest.mark.parametrize("period", (16, 32, 48, 128, 256, 2048))
@pytest.mark.parametrize("first", (0, 64, 100, -4096, -4100, -1024))
def test_remainders(run, period, first):
    """Also of indices below zero, whose remainders are below zero: they do not grow where they pass it."""
    x, out = numeric.random(2 * period, "f32"), numeric.poisoned(4096, "f32")
    for start in (0, 16, 1):
        run(wrapped, 4, numeric.tensor(x, "f32")[period:], out, start, first, period, 1024)
        numeric.assert_same(out, x[period + np.fmod(np.arange(4096) + first + start, period)] * 2)


@triton.jit
def rows(x_ptr, row_ptr, out_ptr, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(row_ptr + i // WIDTH)
    tl.store(out_ptr + i, tl.load(x_ptr + i % WIDTH + WIDTH * row) * 2)


@pytest.mark.parametrize("dtype", ("f32", "f16", "i8", "f64"))
@pytest.mark.parametrize("width", (16, 32, 48, 64, 256, 1024))
def test_rows(run, width, dtype):
    """Rows shorter than the registers of a turn, and longer."""
    x, row = numeric.whole(20 * width, dtype, 1), np.random.default_rng(0).integers(0, 20, 4096 // 16 + 1)
    out = numeric.poisoned(4096, dtype)
    run(rows, 4, numeric.tensor(x, dtype), numeric.tensor(row, "i64"), out, width, 1024)
    i = np.arange(4096)
    numeric.assert_same(out, x[row[i // width] * width + i % width] * np.array(2, x.dtype))


def test_one_remainder_for_a_turn(run, mode):
    """Four vectors of a row, one address."""
    x, row, out = numeric.random(2048, "f32"), np.zeros(4, int), numeric.poisoned(1024, "f32")
    kernel = run(rows, 1, numeric.tensor(x, "f32"), numeric.tensor(row, "i64"), out, 256, 1024)
    if kernel is not None and mode == "vector":
        listing = kernel.asm["spvasm"]
        walks = [part for part in listing.split("OpLoopMerge") if "OpSRem" in part]
        assert walks and all(part.count("OpSRem") == 1 for part in walks), listing

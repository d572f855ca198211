"""lower/tensors/histogram.py: counts per bin, masked, with values that no bin takes; exact."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def histogram(x_ptr, out_ptr, n, MASKED: tl.constexpr, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    if MASKED:
        counts = tl.histogram(x, BINS, mask=i < n)
    else:
        counts = tl.histogram(x, BINS)
    tl.store(out_ptr + tl.arange(0, BINS), counts)


@pytest.mark.parametrize("bins", (1, 2, 8, 16, 128, 1024))
@pytest.mark.parametrize("count", (1, 4, 16, 64, 2048))
def test_counts(run, bins, count):
    x, out = numeric.random(count, "i32", low=0, high=bins), numeric.poisoned(bins, "i32")
    run(histogram, 1, numeric.tensor(x, "i32"), out, count, False, bins, count)
    numeric.assert_same(out, np.bincount(x, minlength=bins).astype(np.int32))


@pytest.mark.parametrize("count", (0, 1, 13, 200))
@pytest.mark.parametrize("dtype", ("i32", "u32"))
def test_masked(run, dtype, count):
    x, out = numeric.random(256, dtype, low=0, high=32), numeric.poisoned(32, "i32")
    run(histogram, 1, numeric.tensor(x, dtype), out, count, True, 32, 256)
    numeric.assert_same(out, np.bincount(x[:count], minlength=32).astype(np.int32))


def test_one_bin_takes_all(run):
    out = numeric.poisoned(16, "i32")
    run(histogram, 1, numeric.tensor(np.full(512, 5), "i32"), out, 512, False, 16, 512)
    numeric.assert_same(out, np.bincount(np.full(512, 5), minlength=16).astype(np.int32))


def test_values_beyond_the_last_bin_are_dropped(run):
    x, out = numeric.random(128, "i32", low=0, high=100), numeric.poisoned(16, "i32")
    run(histogram, 1, numeric.tensor(x, "i32"), out, 128, False, 16, 128)
    numeric.assert_same(out, np.bincount(x, minlength=16)[:16].astype(np.int32))


@triton.jit
def accumulated(x_ptr, out_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros([BINS], tl.int32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0)
        total += tl.histogram(x, BINS, mask=i < n)
    tl.store(out_ptr + tl.arange(0, BINS), total)


def test_in_a_loop(run):
    x, out = numeric.random(1000, "i32", low=0, high=64), numeric.poisoned(64, "i32")
    run(accumulated, 1, numeric.tensor(x, "i32"), out, 1000, 64, 128)
    numeric.assert_same(out, np.bincount(x, minlength=64).astype(np.int32))


@triton.jit
def of_computed_values(x_ptr, out_ptr, n, SHIFT: tl.constexpr, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    counts = tl.histogram((x >> SHIFT) & (BINS - 1), BINS, mask=(i < n) & (x % 3 != 0))
    tl.store(out_ptr + tl.arange(0, BINS), tl.cumsum(counts, 0))


@pytest.mark.parametrize("bins, block", [(2, 8), (16, 16), (64, 1024), (4096, 4096)])
def test_of_computed_values(run, bins, block):
    """The counting step of a radix sort; masked loads, and a mask that is computed."""
    count = block - 3
    x, out = numeric.random(count, "i32", low=0, high=1 << 20), numeric.poisoned(bins, "i32")
    run(of_computed_values, 1, numeric.tensor(x, "i32"), out, count, 4, bins, block)
    counted = ((x >> 4) & (bins - 1))[x % 3 != 0]
    numeric.assert_same(out, np.cumsum(np.bincount(counted, minlength=bins)).astype(np.int32))


def test_negative_values_are_dropped(run):
    x, out = numeric.random(256, "i32", low=-64, high=64), numeric.poisoned(64, "i32")
    run(histogram, 1, numeric.tensor(x, "i32"), out, 256, False, 64, 256)
    numeric.assert_same(out, np.bincount(x[x >= 0], minlength=64).astype(np.int32))

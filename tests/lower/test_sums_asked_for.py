"""Sums that a loop begins with zero (lower/products/zeroed_sums.py), which a value that the loop carries in
another array is computed from: they are those of the next round when that is written."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def averaged(a_ptr, b_ptr, c_ptr, d_ptr, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
             LATER: tl.constexpr):
    """c = the sum of products, and d = d / 2 + the sum so far, in each round; LATER: carried behind it."""
    i, j, deep = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    total, mean = tl.zeros([M, N], tl.float32), tl.zeros([M, N], tl.float32)
    for start in range(0, k, K):
        a = tl.load(a_ptr + i * k + start + deep[None, :])
        b = tl.load(b_ptr + (start + deep[:, None]) * N + j)
        if LATER:
            total = tl.dot(a, b, total, input_precision="ieee")
            mean = mean * 0.5 + total
        else:
            mean = mean * 0.5 - total
            total = tl.dot(a, b, total, input_precision="ieee")
            mean += total
    tl.store(c_ptr + i * N + j, total)
    tl.store(d_ptr + i * N + j, mean)


@pytest.mark.parametrize("rounds", (0, 1, 4))
@pytest.mark.parametrize("later", (False, True))
@pytest.mark.parametrize("checked", (False, True))
def test_a_value_that_hangs_on_the_sums(run, mode, rounds, later, checked):
    m, n, k = 64, 128, 32
    deep = k * max(1, rounds)
    a, b = numeric.whole((m, deep), "f32", 0), numeric.whole((deep, n), "f32", 1)
    total, mean = np.zeros((m, n), np.float32), np.zeros((m, n), np.float32)
    for start in range(0, k * rounds, k):
        product = a[:, start:start + k] @ b[start:start + k]
        total += product
        mean = mean * np.float32(0.5) + (total if later else product)
    out, other = numeric.poisoned((m, n), "f32"), numeric.poisoned((m, n), "f32")
    options = {"check": "nan"} if checked and mode == "vector" else {}
    x, y = numeric.tensor(a, "f32"), numeric.tensor(b, "f32")
    run(averaged, 1, x, y, out, other, k * rounds, m, n, k, later, **options)
    numeric.assert_same(numeric.array(out), total, signed_zeros=False)
    numeric.assert_same(numeric.array(other), mean, signed_zeros=False)

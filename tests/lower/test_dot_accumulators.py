"""lower/products/dot.py: accumulators that a loop scales, keeps, or adds several products to. Whole
numbers: exact."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def rescaled(a_ptr, b_ptr, scale_ptr, out_ptr, old_ptr, STEPS: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
             K: tl.constexpr, KEEP: tl.constexpr):  # fmt: skip
    """The accumulator of attention: scaled row by row before each product. KEEP: the old one is needed later
    too."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros([M, N], tl.float32)
    kept = tl.zeros([M, N], tl.float32)
    for step in range(STEPS):
        a = tl.load(a_ptr + (m[:, None] * STEPS + step) * K + k[None, :])
        b = tl.load(b_ptr + (step * K + k[:, None]) * N + n[None, :])
        scaled = acc * tl.load(scale_ptr + step * M + m)[:, None]
        following = tl.dot(a, b, scaled, input_precision="ieee")
        if KEEP:
            kept += acc - scaled
        acc = following
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc)
    tl.store(old_ptr + m[:, None] * N + n[None, :], kept)


@pytest.mark.parametrize("keep", (False, True))
@pytest.mark.parametrize("m, n, k", [(64, 64, 32), (16, 16, 16), (128, 32, 16), (1, 32, 16), (32, 8, 16)])
def test_rescaled_accumulator(run, m, n, k, keep):
    steps = 5
    a, b = numeric.whole((m, steps * k), "f32", 0), numeric.whole((steps, k, n), "f32", 1)
    scale = (2.0 ** np.random.default_rng(2).integers(-2, 2, (steps, m))).astype(np.float32)
    out, old = numeric.poisoned((m, n), "f32"), numeric.poisoned((m, n), "f32")
    run(rescaled, 1, *(numeric.tensor(x, "f32") for x in (a, b, scale)), out, old, steps, m, n, k, keep)
    acc, kept = np.zeros((m, n), np.float32), np.zeros((m, n), np.float32)
    for step in range(steps):
        scaled = acc * scale[step][:, None]
        kept += (acc - scaled) if keep else 0
        acc = scaled + a.reshape(m, steps, k)[:, step] @ b[step]
    numeric.assert_same(out, acc, signed_zeros=False)
    numeric.assert_same(old, kept, signed_zeros=False)


@triton.jit
def branched(a_ptr, b_ptr, out_ptr, STEPS: tl.constexpr, SIZE: tl.constexpr):
    """One accumulator is read by two products, and by a branch that may leave it as it is."""
    i = tl.arange(0, SIZE)
    place = i[:, None] * SIZE + i[None, :]
    a, b = tl.load(a_ptr + place), tl.load(b_ptr + place)
    acc = tl.zeros([SIZE, SIZE], tl.float32)
    other = acc
    for step in range(STEPS):
        other = tl.dot(a, b, acc, input_precision="ieee")
        if step % 2 == 0:
            acc = tl.dot(b, a, acc, input_precision="ieee")
    tl.store(out_ptr + place, acc)
    tl.store(out_ptr + SIZE * SIZE + place, other)


@pytest.mark.parametrize("size", (16, 64))
def test_accumulator_of_two_products(run, size):
    a, b = numeric.whole((size, size), "f32", 0), numeric.whole((size, size), "f32", 1)
    out = numeric.poisoned((2, size, size), "f32")
    run(branched, 1, numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), out, 4, size)
    numeric.assert_same(out, np.stack([2 * (b @ a), 2 * (b @ a) + a @ b]), signed_zeros=False)

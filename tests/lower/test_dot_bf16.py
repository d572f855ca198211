"""lower/products/pairs.py: products of bf16 that an instruction which clears denormal numbers would have
wrong."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def blocks_added(a_ptr, b_ptr, c_ptr, out_ptr, STEPS: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
                 K: tl.constexpr):
    """c + a x b, a block of K at a time."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.load(c_ptr + m[:, None] * N + n[None, :])
    for step in range(STEPS):
        a = tl.load(a_ptr + m[:, None] * (K * STEPS) + step * K + k[None, :])
        b = tl.load(b_ptr + (step * K + k[:, None]) * N + n[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc)


def added(run, a, b, c, steps: int = 1):
    """c + a x b on the device, a and b in bf16; and the kernel."""
    (m, k), n = a.shape, b.shape[1]
    out = numeric.poisoned((m, n), "f32")
    operands = (numeric.tensor(a, "bf16"), numeric.tensor(b, "bf16"), numeric.tensor(c, "f32"))
    kernel = run(blocks_added, 1, *operands, out, steps, m, n, k // steps)
    return numeric.array(out), kernel


SIZES_OF_PAIRS = [(16, 16, 16), (64, 32, 32), (128, 64, 64)]


@pytest.mark.parametrize("m, n, k", SIZES_OF_PAIRS)
@pytest.mark.parametrize("low, high", [(-140, -120), (-75, -65), (-64, -56), (-60, 40), (-3, 3)])
def test_bf16_of_any_magnitude(run, m, n, k, low, high):
    """One power of two in each row and column: every product is exact in f32, denormal or not, as is its sum
    with zeros."""
    numeric.interpreter_is_wrong_on_bf16("bf16")
    random = np.random.default_rng(m - low)
    a, b = np.zeros((m, k), np.float32), np.zeros((k, n), np.float32)
    a[np.arange(m), random.integers(0, k, m)] = 2.0 ** random.integers(max(low, -133), high, m)
    b[:] = 2.0 ** random.integers(max(low, -133), high, (k, n))
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    numeric.assert_same(added(run, a, b, np.zeros((m, n), np.float32))[0], expected, signed_zeros=False)


@pytest.mark.parametrize("m, n, k", SIZES_OF_PAIRS)
def test_bf16_sums_that_cancel(run, m, n, k):
    """(1 + u)(1 + u) - 1 (1 + 2u) = u u, where u is the last bit of 1: the least normal number, or less."""
    numeric.interpreter_is_wrong_on_bf16("bf16")
    u = 2.0 ** -7
    for power in (-114, -113, -112, -111):
        a, b = np.zeros((m, k), np.float32), np.zeros((k, n), np.float32)
        a[:, 0], a[:, 3], b[0], b[3] = 1 + u, -1, 1 + u, 1 + 2 * u
        expected = np.full((m, n), 2.0 ** (power - 14), np.float32)
        made, _ = added(run, a * 2.0 ** -50, b * 2.0 ** (power + 50), np.zeros((m, n), np.float32))
        numeric.assert_same(made, expected)


@pytest.mark.parametrize("m, n, k", SIZES_OF_PAIRS)
def test_bf16_added_to_denormal_numbers(run, m, n, k):
    """What the products are added to keeps its value; NaNs and infinities are themselves."""
    numeric.interpreter_is_wrong_on_bf16("bf16")
    a, b = np.zeros((m, k), np.float32), np.ones((k, n), np.float32)
    c = np.full((m, n), 2.0 ** -140, np.float32)
    a[0, 1], a[1, 2], a[2, 0], a[2, 3] = np.inf, np.nan, np.inf, -np.inf
    expected = c.copy()
    expected[0], expected[1:3] = np.inf, np.nan
    numeric.assert_same(added(run, a, b, c)[0], expected)


def beside_what_cancels(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a product with the small number is all that is left, as whole ones of both signs sum to 0; the
    products with the small number."""
    left, right = left.astype(np.float64), right.astype(np.float64)
    a, b = np.rint(left), np.rint(right)
    small = (left - a) @ b + a @ (right - b)
    return (a @ b == 0) & (np.abs(a) @ np.abs(b) > 0) & (small != 0), small.astype(np.float32)


@pytest.mark.parametrize("place", [(0, 0), (15, 31), (7, 40), (63, 63), (33, 127), None])
def test_one_small_element_anywhere(run, place):
    """A single number decides which way a block is computed; other blocks go the other way.

    A device's matrices add many products in an order of their own: beside others that cancel, the small one
    is there or lost."""
    numeric.interpreter_is_wrong_on_bf16("bf16")
    a, b = numeric.whole((64, 128), "bf16", 0), numeric.whole((128, 32), "bf16", 1)
    for operand, at in ((a, place), (b, None if place is None else (place[1], place[0] % 32))):
        changed = operand.astype(np.float32).copy()
        if at is not None:
            changed[at] = 2.0 ** -128
        left, right = (changed, b) if operand is a else (a, changed)
        expected = left.astype(np.float64) @ right.astype(np.float64)
        made, kernel = added(run, left, right, np.zeros((64, 32), np.float32), steps=4)
        # exact but where the small number takes part, which is then too small to be seen beside whole ones
        expected = expected.astype(np.float32)
        if "OpCooperativeMatrixMulAddKHR" in kernel.asm["spvasm"]:
            alone, small = beside_what_cancels(left, right)
            expected = np.where(alone & ((made == 0) | (made == small)), made, expected)
        numeric.assert_same(made, expected, signed_zeros=False)

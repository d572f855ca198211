"""lower/products/inner_products.py: a vector times a matrix whose columns are contiguous in memory. Whole
numbers, so that any order of summation is exact, but where that says otherwise."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from lower.plans import plan_of
from triton_spirv.lower.plan.text import plan_text
from triton_spirv.target import find_target

ASKED = "is nothing stored but a row, and do columns lie in memory?"


def has_form(kernel, target: str = "cpu:x86_64-v4") -> bool:
    plan = plan_text(plan_of(kernel.asm["ttir"], find_target(target)))
    assert (ASKED in plan) == ("inner products" in plan)
    return ASKED in plan


@triton.jit
def linear(x_ptr, w_ptr, y_ptr, m, n, k, pitch, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
           FLIPPED: tl.constexpr, BEHIND: tl.constexpr):
    """y = x w^T, w [n, pitch]; FLIPPED: w is loaded row by row, and turned."""
    i, j = tl.arange(0, M), tl.program_id(0) * N + tl.arange(0, N)
    total = tl.zeros([M, N], tl.float32)
    for start in range(0, k, K):
        deep = start + tl.arange(0, K)
        x = tl.load(x_ptr + i[:, None] * k + deep[None, :],
                    mask=(i[:, None] < m) & (deep[None, :] < k), other=0)
        if FLIPPED:
            w = tl.load(w_ptr + j[:, None] * pitch + deep[None, :],
                        mask=(j[:, None] < n) & (deep[None, :] < k), other=BEHIND).trans()
        else:
            w = tl.load(w_ptr + deep[:, None] + j[None, :] * pitch,
                        mask=(deep[:, None] < k) & (j[None, :] < n), other=BEHIND)
        total = tl.dot(x, w, total, input_precision="ieee")
    tl.store(y_ptr + i[:, None] * n + j[None, :], total, mask=(i[:, None] < m) & (j[None, :] < n))


def product(run, sizes, block, dtype="f32", pad=0, flipped=False, behind=0.0, seed=0):
    """Of whole numbers: that the result is right, and the kernel. pad: elements behind each row of w, NaN."""
    m, n, k = sizes
    x, w = numeric.whole((m, k), dtype, seed), numeric.whole((n, k), dtype, seed + 1)
    wide = np.full((n, k + pad), np.nan, w.dtype)
    wide[:, :k] = w
    out = numeric.poisoned((m, n), "f32")
    kernel = run(linear, triton.cdiv(n, block[1]), numeric.tensor(x, dtype), numeric.tensor(wide, dtype), out,
                 m, n, k, k + pad, *block, flipped, behind)
    numeric.assert_same(out, x.astype(np.float32) @ w.astype(np.float32).T, signed_zeros=False)
    return kernel


@pytest.mark.parametrize("rows", (1, 2, 5, 16))
@pytest.mark.parametrize("columns, depth", ((256, 128), (200, 100), (513, 65), (1, 1), (33, 1000)))
@pytest.mark.parametrize("block", ((16, 128, 64), (16, 32, 16), (32, 64, 128), (16, 16, 64)), ids=str)
def test_rows(run, mode, rows, columns, depth, block):
    """Whole blocks and parts of them along N and K; of one tile, too."""
    kernel = product(run, (rows, columns, depth), block)
    if mode == "vector":
        assert has_form(kernel)


@pytest.mark.parametrize("dtype", ("f32", "f16", "bf16"))
@pytest.mark.parametrize("flipped", (False, True))
@pytest.mark.parametrize("pad", (0, 3, 64))
def test_types_and_pitches(run, mode, dtype, flipped, pad):
    kernel = product(run, (1, 300, 200), (16, 64, 32), dtype, pad, flipped)
    if mode == "vector":
        assert has_form(kernel)
        assert has_form(kernel, "cpu:x86_64-v3")
        assert has_form(kernel, "cpu:sapphirerapids")


def test_other_numbers_behind_the_end(run, mode):
    """x has zeros there."""
    product(run, (1, 100, 90), (16, 64, 32), behind=3.0)


def test_larger_blocks_have_no_such_form(run, mode):
    kernel = product(run, (1, 256, 64), (64, 128, 32))
    assert mode != "vector" or not has_form(kernel)


@pytest.mark.parametrize("dtype", ("f32", "f16", "bf16"))
def test_random_values(run, mode, dtype):
    """With infinities, NaN and denormal numbers; as near as sums of 777 terms are."""
    m, n, k = 1, 130, 777
    rng = np.random.default_rng(3)
    x = numeric.round_to(rng.normal(size=(m, k)), dtype)
    w = numeric.round_to(rng.normal(size=(n, k)), dtype)
    w[3, 5], w[4, 6], w[5, 7], w[7] = np.inf, np.nan, -np.inf, w[7] * 0
    x[0, 9] = 0
    w[8, 9] = np.inf  # zero times infinity
    w[9] = numeric.round_to(np.full(k, 2.0 ** -24 if dtype == "f16" else 2.0 ** -133), dtype)
    out = numeric.poisoned((m, n), "f32")
    run(linear, 3, numeric.tensor(x, dtype), numeric.tensor(w, dtype), out, m, n, k, k, 16, 64, 32, False,
        0.0)
    left, right = x.astype(np.float64), w.astype(np.float64).T
    with np.errstate(invalid="ignore"):
        expected, magnitudes = left @ right, np.abs(left) @ np.abs(right)
        made = numeric.array(out).astype(np.float64)
        wrong = np.abs(made - expected) > 2.0 ** -24 * k * magnitudes + 2.0 ** -149 * k
    assert np.isnan(made[0, [4, 8]]).all() and np.isinf(made[0, [3, 5]]).all() and made[0, 7] == 0
    assert (np.isnan(made) == np.isnan(expected)).all() and not wrong[np.isfinite(expected)].any()


def test_what_is_not_stored_is_not_multiplied(run, mode):
    """NaN in rows that the mask of the store leaves out."""
    n, k = 64, 64
    x = np.full((16, k), np.nan, np.float32)
    x[0] = numeric.whole((k,), "f32", 0)
    w, out = numeric.whole((n, k), "f32", 1), numeric.poisoned((16, n), "f32")
    run(linear, 1, numeric.tensor(x, "f32"), numeric.tensor(w, "f32"), out, 1, n, k, k, 16, 64, 32, False,
        0.0)
    numeric.assert_same(numeric.array(out)[:1], x[:1] @ w.T, signed_zeros=False)
    numeric.assert_same(numeric.array(out)[1:], numeric.array(numeric.poisoned((15, n), "f32")))


@triton.jit
def begun(x_ptr, w_ptr, y_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ALL: tl.constexpr):
    """y += x w^T; with ALL, the sum of all rows is stored elsewhere."""
    i, j = tl.arange(0, M), tl.program_id(0) * N + tl.arange(0, N)
    inside = (i[:, None] < m) & (j[None, :] < n)
    total = tl.load(y_ptr + i[:, None] * n + j[None, :], mask=inside, other=0)
    for start in range(0, k, K):
        deep = start + tl.arange(0, K)
        x = tl.load(x_ptr + i[:, None] * k + deep[None, :],
                    mask=(i[:, None] < m) & (deep[None, :] < k), other=1)
        w = tl.load(w_ptr + deep[:, None] + j[None, :] * k,
                    mask=(deep[:, None] < k) & (j[None, :] < n), other=0)
        total = tl.dot(x, w, total, input_precision="ieee")
    tl.store(y_ptr + i[:, None] * n + j[None, :], total, mask=inside)
    if ALL:
        tl.store(y_ptr + m * n + j, tl.sum(total, axis=0), mask=j < n)


@pytest.mark.parametrize("rows", (1, 3))
@pytest.mark.parametrize("asked", (False, True))
def test_sums_that_are_there(run, mode, rows, asked):
    """They are added to; where all rows are asked for, none is left out."""
    n, k = 260, 72
    x, w = numeric.whole((rows, k), "f32", 0), numeric.whole((n, k), "f32", 1)
    before = numeric.whole((rows + 1, n), "f32", 2)
    out = numeric.tensor(before.copy(), "f32")
    kernel = run(begun, 3, numeric.tensor(x, "f32"), numeric.tensor(w, "f32"), out, rows, n, k, 16, 128, 32,
                 asked)
    expected = before.copy()
    expected[:rows] += x @ w.T
    if asked:
        expected[rows] = expected[:rows].sum(axis=0) + (16 - rows) * w.T.sum(axis=0)
    numeric.assert_same(numeric.array(out), expected, signed_zeros=False)
    if mode == "vector":
        assert has_form(kernel) != asked


@pytest.mark.parametrize("sign", (1.0, -1.0))
def test_zeros_keep_their_sign(run, mode, sign):
    """A sum of -0 and products that are -0 is -0."""
    n, k = 33, 64
    w, out = np.full((n, k), -0.0, np.float32), np.full((1, n), sign * 0.0, np.float32)
    made = numeric.tensor(out.copy(), "f32")
    run(begun, 2, numeric.tensor(np.ones((1, k), np.float32), "f32"), numeric.tensor(w, "f32"), made, 1, n, k,
        16, 32, 32, False)
    numeric.assert_same(numeric.array(made), out)


@triton.jit
def once(x_ptr, w_ptr, y_ptr, m, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """y = max(x w^T, 0), of one round: nothing has written the sums before."""
    i, j, deep = tl.arange(0, M), tl.program_id(0) * N + tl.arange(0, N), tl.arange(0, K)
    x = tl.load(x_ptr + i[:, None] * K + deep[None, :], mask=i[:, None] < m, other=0)
    w = tl.load(w_ptr + deep[:, None] + j[None, :] * K, mask=j[None, :] < n, other=0)
    inside = (i[:, None] < m) & (j[None, :] < n)
    total = tl.maximum(tl.dot(x, w, input_precision="ieee"), 0)
    tl.store(y_ptr + i[:, None] * n + j[None, :], total, mask=inside)


@pytest.mark.parametrize("rows", (1, 3))
def test_without_a_loop(run, mode, rows):
    n, k = 260, 32
    x, w = numeric.whole((rows, k), "f32", 0), numeric.whole((n, k), "f32", 1)
    out = numeric.poisoned((rows, n), "f32")
    kernel = run(once, 3, numeric.tensor(x, "f32"), numeric.tensor(w, "f32"), out, rows, n, 16, 128, k)
    numeric.assert_same(numeric.array(out), np.maximum(x @ w.T, 0), signed_zeros=False)
    assert mode != "vector" or has_form(kernel)


@triton.jit
def twice(x_ptr, w_ptr, y_ptr, z_ptr, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """y = x w^T, and z the sums of all that was read of w: it is needed again."""
    i, j = tl.arange(0, M), tl.program_id(0) * N + tl.arange(0, N)
    total, read = tl.zeros([M, N], tl.float32), tl.zeros([N], tl.float32)
    for start in range(0, k, K):
        deep = start + tl.arange(0, K)
        x = tl.load(x_ptr + i[:, None] * k + deep[None, :],
                    mask=(i[:, None] < 1) & (deep[None, :] < k), other=0)
        w = tl.load(w_ptr + deep[:, None] + j[None, :] * k,
                    mask=(deep[:, None] < k) & (j[None, :] < n), other=0)
        total = tl.dot(x, w, total, input_precision="ieee")
        read += tl.sum(w, axis=0)
    tl.store(y_ptr + i[:, None] * n + j[None, :], total, mask=(i[:, None] < 1) & (j[None, :] < n))
    tl.store(z_ptr + j, read, mask=j < n)


def test_a_matrix_that_is_needed_again(run, mode):
    n, k = 200, 96
    x, w = numeric.whole((1, k), "f32", 0), numeric.whole((n, k), "f32", 1)
    y, z = numeric.poisoned((1, n), "f32"), numeric.poisoned((n,), "f32")
    run(twice, 4, numeric.tensor(x, "f32"), numeric.tensor(w, "f32"), y, z, n, k, 16, 64, 32)
    numeric.assert_same(y, x @ w.T, signed_zeros=False)
    numeric.assert_same(z, w.sum(axis=1), signed_zeros=False)

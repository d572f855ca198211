"""lower/products/row_in_place.py: a vector times a matrix of 16-bit elements whose rows are contiguous in
memory. Whole numbers, so that any order of summation is exact, but where that says otherwise."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from triton_spirv.runtime.processor import TILES, processor

#: The machine, for this processor, for any with AVX-512, which fetches what follows, and for one with tile
#: registers, and the device.
SPIRV_MODES = ("machine-vector", "machine-vector-avx512", "machine-vector-amx", "vector")

ASKED, FORM = "is nothing stored but a row, and do columns lie in memory?", "row times rows in place"


def has_form(kernel) -> bool:
    plan = kernel.asm["plan"]
    assert (ASKED in plan) == (FORM in plan)
    return ASKED in plan


@triton.jit
def product(x_ptr, w_ptr, y_ptr, m, n, k, pitch, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
            FLIPPED: tl.constexpr, ADDS: tl.constexpr, ALL: tl.constexpr):
    """y = x w, or y += x w with ADDS; w [k, pitch]. FLIPPED: it is loaded as its transpose, and turned. ALL:
    the sum of all rows is stored behind them."""
    i, j = tl.arange(0, M), tl.program_id(0) * N + tl.arange(0, N)
    places, inside = y_ptr + i[:, None] * n + j[None, :], (i[:, None] < m) & (j[None, :] < n)
    total = tl.load(places, mask=inside, other=0) if ADDS else tl.zeros([M, N], tl.float32)
    for start in range(0, k, K):
        deep = start + tl.arange(0, K)
        x = tl.load(x_ptr + i[:, None] * k + deep[None, :],
                    mask=(i[:, None] < m) & (deep[None, :] < k), other=0)
        if FLIPPED:
            w = tl.load(w_ptr + deep[None, :] * pitch + j[:, None],
                        mask=(deep[None, :] < k) & (j[:, None] < n), other=0).trans()
        else:
            w = tl.load(w_ptr + deep[:, None] * pitch + j[None, :],
                        mask=(deep[:, None] < k) & (j[None, :] < n), other=0)
        total = tl.dot(x, w, total)
    tl.store(places, total, mask=inside)
    if ALL:
        tl.store(y_ptr + m * n + j, tl.sum(total, axis=0), mask=j < n)


def launched(run, x, w, dtype, block, pad=0, flipped=False, before=None, asked=False):
    """y, and the kernel. pad: elements behind each row of w, NaN."""
    (m, k), n = x.shape, w.shape[1]
    wide = np.full((k, n + pad), np.nan, w.dtype)
    wide[:, :n] = w
    held = numeric.poisoned((m + asked, n), "f32") if before is None else numeric.tensor(before.copy(), "f32")
    given = numeric.tensor(x, dtype), numeric.tensor(wide, dtype), held
    kernel = run(product, triton.cdiv(n, block[1]), *given, m, n, k, n + pad, *block, flipped,
                 before is not None, asked)
    return numeric.array(held), kernel


@pytest.mark.parametrize("dtype", ("f16", "bf16"))
@pytest.mark.parametrize("rows", (1, 2, 16))
@pytest.mark.parametrize("columns, depth, block", (
    (256, 64, (16, 128, 32)), (200, 50, (16, 128, 32)), (33, 100, (16, 16, 64)), (2, 1, (16, 32, 16)),
    (513, 20, (16, 512, 16)), (64, 65, (32, 64, 64))), ids=str)
def test_rows(run, dtype, rows, columns, depth, block) -> None:
    """Whole blocks and parts of them along N and K; wider than registers hold sums, and one vector."""
    x, w = numeric.whole((rows, depth), dtype, 0), numeric.whole((depth, columns), dtype, 1)
    made, kernel = launched(run, x, w, dtype, block)
    assert has_form(kernel)
    numeric.assert_same(made, x.astype(np.float32) @ w.astype(np.float32), signed_zeros=False)


@pytest.mark.parametrize("dtype", ("f16", "bf16"))
@pytest.mark.parametrize("flipped", (False, True))
@pytest.mark.parametrize("pad", (0, 3))
def test_pitches(run, dtype, flipped, pad) -> None:
    x, w = numeric.whole((1, 70), dtype, 0), numeric.whole((70, 150), dtype, 1)
    made, kernel = launched(run, x, w, dtype, (16, 64, 32), pad, flipped)
    assert has_form(kernel)
    numeric.assert_same(made, x.astype(np.float32) @ w.astype(np.float32), signed_zeros=False)


@pytest.mark.parametrize("asked", (False, True))
@pytest.mark.parametrize("dtype", ("f16", "bf16"))
def test_sums_that_are_there(run, dtype, asked) -> None:
    """They are added to; where all rows are asked for, none is left out."""
    x, w = numeric.whole((1, 72), dtype, 0), numeric.whole((72, 140), dtype, 1)
    before = numeric.whole((2, 140), "f32", 2)
    made, kernel = launched(run, x, w, dtype, (16, 64, 32), before=before, asked=asked)
    expected = before.copy()
    expected[:1] += x.astype(np.float32) @ w.astype(np.float32)
    if asked:
        expected[1] = expected[0]
    numeric.assert_same(made, expected, signed_zeros=False)
    assert has_form(kernel) != asked


@pytest.mark.parametrize("dtype", ("f16", "bf16"))
def test_random_values(run, dtype) -> None:
    """With infinities, NaN and denormal numbers; as near as sums of 150 terms are."""
    n, k = 130, 150
    rng = np.random.default_rng(3)
    x = numeric.round_to(rng.normal(size=(1, k)), dtype)
    w = numeric.round_to(rng.normal(size=(k, n)), dtype)
    w[5, 3], w[6, 4], w[7, 5], w[:, 7] = np.inf, np.nan, -np.inf, w[:, 7] * 0
    x[0, 9] = 0
    w[9, 8] = np.inf  # zero times infinity
    w[:, 9] = numeric.round_to(np.full(k, 2.0 ** -24 if dtype == "f16" else 2.0 ** -133), dtype)
    made, kernel = launched(run, x, w, dtype, (16, 64, 32))
    assert has_form(kernel)
    left, right = x.astype(np.float64), w.astype(np.float64)
    with np.errstate(invalid="ignore"):
        expected, magnitudes = left @ right, np.abs(left) @ np.abs(right)
        wrong = np.abs(made - expected) > 2.0 ** -24 * k * magnitudes + 2.0 ** -149 * k
    assert np.isnan(made[0, [4, 8]]).all() and np.isinf(made[0, [3, 5]]).all() and made[0, 7] == 0
    assert (np.isnan(made) == np.isnan(expected)).all() and not wrong[np.isfinite(expected)].any()
    assert made[0, 9] != 0


@pytest.mark.parametrize("sign", (1.0, -1.0))
def test_zeros_keep_their_sign(run, sign) -> None:
    """A sum of -0 and products that are -0 is -0."""
    before = np.full((1, 32), sign * 0.0, np.float32)
    made, kernel = launched(run, np.ones((1, 64), np.float32), np.full((64, 32), -0.0, np.float32), "bf16",
                            (16, 32, 32), before=before)
    assert has_form(kernel)
    numeric.assert_same(made, before)


@pytest.mark.parametrize("least", (2.0 ** -140, 2.0 ** -149))
def test_denormal_sums_stay(run, least) -> None:
    """Those of a round in place, behind which others, on tile registers, would clear them, add zeros."""
    x, w = np.zeros((1, 40), np.float32), np.zeros((40, 32), np.float32)
    x[0, 3], w[3] = 2.0 ** -70, least * 2.0 ** 70
    made, _ = launched(run, x, w, "bf16", (16, 32, 32))
    numeric.assert_same(made, np.full((1, 32), least, np.float32))


@triton.jit
def once(x_ptr, w_ptr, y_ptr, m, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, WRAPS: tl.constexpr):
    """y = max(x w, 0), of one round: nothing has written the sums before. WRAPS: with columns' remainders."""
    i, j, deep = tl.arange(0, M), tl.program_id(0) * N + tl.arange(0, N), tl.arange(0, K)
    x = tl.load(x_ptr + i[:, None] * K + deep[None, :], mask=i[:, None] < m, other=0)
    if WRAPS:
        w = tl.load(w_ptr + deep[:, None] * n + (j % n)[None, :])
    else:
        w = tl.load(w_ptr + deep[:, None] * n + j[None, :], mask=j[None, :] < n, other=0)
    inside = (i[:, None] < m) & (j[None, :] < n)
    total = tl.maximum(tl.dot(x, w), 0)
    tl.store(y_ptr + i[:, None] * n + j[None, :], total, mask=inside)


@pytest.mark.parametrize("wraps", (False, True))
@pytest.mark.parametrize("dtype", ("f16", "bf16"))
@pytest.mark.parametrize("rows", (1, 3))
def test_without_a_loop(run, rows, dtype, wraps) -> None:
    x, w = numeric.whole((rows, 32), dtype, 0), numeric.whole((32, 140), dtype, 1)
    out = numeric.poisoned((rows, 140), "f32")
    given = numeric.tensor(x, dtype), numeric.tensor(w, dtype), out
    kernel = run(once, 3, *given, rows, 140, 16, 64, 32, wraps)
    want = np.maximum(x.astype(np.float32) @ w.astype(np.float32), 0)
    numeric.assert_same(numeric.array(out), want, signed_zeros=False)
    assert has_form(kernel)


def test_tile_registers_multiply_other_rows(run, mode) -> None:
    here = mode in ("machine-vector", "vector")
    has_tiles = TILES in processor().flags if here else mode == "machine-vector-amx"
    x, w = numeric.whole((5, 64), "bf16", 0), numeric.whole((64, 64), "bf16", 1)
    made, kernel = launched(run, x, w, "bf16", (16, 32, 32))
    numeric.assert_same(made, x @ w, signed_zeros=False)
    assert has_form(kernel) and ("tile registers" in kernel.asm["plan"]) == has_tiles

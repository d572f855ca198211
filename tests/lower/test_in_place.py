"""lower/products/in_place.py: right operands that are multiplied where they lie, where the mask of the store
leaves out all rows of a block but one or a few. Whole numbers, so that any order of summation is exact."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from lower.plans import plan_of
from lower.test_dot_in_memory import masked, multiplied
from triton_spirv.lower.plan.text import plan_text
from triton_spirv.target import find_target

IN_PLACE = "right operand in place"


def forms(kernel) -> list[bool]:
    """Has the plan for AVX-512 a form of its own for one row, and for four?"""
    plan = plan_text(plan_of(kernel.asm["ttir"], find_target("cpu:x86_64-v4")))
    assert plan.count(IN_PLACE) == sum(f"is nothing stored but {rows} rows?" in plan for rows in (1, 4))
    return [f"is nothing stored but {rows} rows?" in plan for rows in (1, 4)]


@pytest.mark.parametrize("rows", (1, 2, 4, 5, 16))
@pytest.mark.parametrize("columns, depth", ((256, 128), (200, 100), (513, 65), (1, 1)))
@pytest.mark.parametrize("block", ((16, 128, 64), (16, 256, 16), (32, 128, 32)), ids=str)
def test_few_rows(run, mode, rows, columns, depth, block):
    """Whole blocks and parts of them along N and K."""
    kernel = multiplied(run, "f32", (rows, columns, depth), block)
    if mode == "vector":
        assert forms(kernel) == [True, True]


@pytest.mark.parametrize("dtype", ("f32", "f64", "f16", "bf16", "i8"))
@pytest.mark.parametrize("rows", (1, 3))
@pytest.mark.parametrize("batch", (1, 3))
def test_types_and_batches(run, mode, dtype, rows, batch):
    """Others than f32 and f64 are converted, or in groups: they are packed."""
    kernel = multiplied(run, dtype, (rows, 300, 130), (16, 128, 64), batch=batch)
    if mode == "vector":
        assert forms(kernel)[0] == (dtype in ("f32", "f64"))


def test_larger_blocks_are_packed(run, mode):
    kernel = multiplied(run, "f32", (1, 256, 64), (64, 128, 32))
    assert mode != "vector" or forms(kernel) == [False, False]


def test_what_is_not_stored_is_not_multiplied(run, mode):
    """Infinities in rows that the mask leaves out; NaN behind the ends of both operands."""
    m, n, k, block = 1, 130, 96, (16, 128, 32)
    a = np.full((16, k), np.inf, np.float32)
    a[0] = numeric.whole((k,), "f32", 0)
    b = numeric.whole((k, n), "f32", 1)
    out = numeric.poisoned((16, n), "f32")
    behind = np.vstack([b, np.full((9, n), np.nan, np.float32)])
    x, y = numeric.tensor(a, "f32"), numeric.tensor(behind, "f32")
    run(masked, (1, 2, 1), x, y, out, m, n, k, k, 1, 0, *block)
    made = numeric.array(out)
    numeric.assert_same(made[:1], a[:1] @ b, signed_zeros=False)
    numeric.assert_same(made[1:], numeric.array(numeric.poisoned((15, n), "f32")))


@triton.jit
def begun(a_ptr, b_ptr, c_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ALL: tl.constexpr):
    """c += a b; with ALL, of rows that are not stored the sum is stored elsewhere."""
    i, j = tl.arange(0, M), tl.program_id(0) * N + tl.arange(0, N)
    inside = (i[:, None] < m) & (j[None, :] < n)
    total = tl.load(c_ptr + i[:, None] * n + j[None, :], mask=inside, other=0)
    for start in range(0, k, K):
        deep = start + tl.arange(0, K)
        x, y = a_ptr + i[:, None] * k + deep[None, :], b_ptr + deep[:, None] * n + j[None, :]
        a = tl.load(x, mask=(i[:, None] < m) & (deep[None, :] < k), other=1)
        b = tl.load(y, mask=(deep[:, None] < k) & (j[None, :] < n), other=0)
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(c_ptr + i[:, None] * n + j[None, :], total, mask=inside)
    if ALL:
        tl.store(c_ptr + m * n + j, tl.sum(total, axis=0), mask=j < n)


@pytest.mark.parametrize("rows", (1, 3, 9))
@pytest.mark.parametrize("asked", (False, True))
def test_sums_that_are_there(run, mode, rows, asked):
    """They are added to; where all rows are asked for, none is left out."""
    n, k, block = 260, 72, (16, 128, 32)
    a, b = numeric.whole((rows, k), "f32", 0), numeric.whole((k, n), "f32", 1)
    before = numeric.whole((rows + 1, n), "f32", 2)
    out = numeric.tensor(before.copy(), "f32")
    kernel = run(begun, 3, numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), out, rows, n, k, *block, asked)
    expected = before.copy()
    expected[:rows] += a @ b
    if asked:  # rows behind the end have ones for a, as far as blocks of K reach inside
        expected[rows] = expected[:rows].sum(axis=0) + (16 - rows) * b.sum(axis=0)
    numeric.assert_same(numeric.array(out), expected, signed_zeros=False)
    if mode == "vector":
        assert any(forms(kernel)) != asked


@triton.jit
def once(a_ptr, b_ptr, c_ptr, m, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """c = max(a b, 0), of one round: nothing has written the sums before."""
    i, j, deep = tl.arange(0, M), tl.program_id(0) * N + tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None] * K + deep[None, :], mask=i[:, None] < m, other=0)
    b = tl.load(b_ptr + deep[:, None] * n + j[None, :], mask=j[None, :] < n, other=0)
    inside = (i[:, None] < m) & (j[None, :] < n)
    total = tl.maximum(tl.dot(a, b, input_precision="ieee"), 0)
    tl.store(c_ptr + i[:, None] * n + j[None, :], total, mask=inside)


@pytest.mark.parametrize("rows", (1, 3, 9))
def test_without_a_loop(run, mode, rows):
    n, k = 260, 32
    a, b = numeric.whole((rows, k), "f32", 0), numeric.whole((k, n), "f32", 1)
    out = numeric.poisoned((rows, n), "f32")
    kernel = run(once, 3, numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), out, rows, n, 16, 128, k)
    numeric.assert_same(numeric.array(out), np.maximum(a @ b, 0), signed_zeros=False)
    assert mode != "vector" or any(forms(kernel))

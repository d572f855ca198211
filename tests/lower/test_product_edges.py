"""lower/products/edges.py: tiles that are not stored, and terms that are zero, are not multiplied. Whole
numbers, so that any order of summation is exact."""

from __future__ import annotations

from dataclasses import replace

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from lower.plans import changed, plan_of
from numeric import DTYPES
from triton_spirv.lower.plan.records import Product
from triton_spirv.lower.plan.text import plan_text
from triton_spirv.lower.plan.verify import defects
from triton_spirv.runtime.processor import processor
from triton_spirv.target import cpu_target, find_target

SUMS = {"f32": "f32", "f16": "f32", "bf16": "f32", "i8": "i32"}
WIDE = {**SUMS, "f64": "f64"}
NO_EDGES, NO_ENDS = "but for what is not stored", "up to where both operands end"
NARROW = "rows where half of a panel is not"

#: The device's processor, which may have tiles of one vector.
HOST = cpu_target(processor().architecture, processor().features)


@triton.jit
def masked(a_ptr, b_ptr, c_ptr, seen_ptr, m, n, k, low, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
           THEN: tl.constexpr, OTHER: tl.constexpr):
    """c = a b from row `low` on, and what THEN says of it."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    inside = (i[:, None] >= low) & (i[:, None] < m) & (j[None, :] < n)
    total = tl.zeros([M, N], c_ptr.dtype.element_ty)
    for start in range(0, k, K):
        deep = start + tl.arange(0, K)
        a = tl.load(a_ptr + i[:, None] * k + deep[None, :], mask=(i[:, None] < m) & (deep[None, :] < k),
                    other=OTHER)
        b = tl.load(b_ptr + deep[:, None] * n + j[None, :], mask=(deep[:, None] < k) & (j[None, :] < n),
                    other=0)
        total = tl.dot(a, b, total, input_precision="ieee", out_dtype=c_ptr.dtype.element_ty)
    if THEN == "bias":
        total += j[None, :].to(total.dtype)
    if THEN == "sum":
        tl.store(seen_ptr + i, tl.sum(total, 1), mask=i < m)
    if THEN == "twice":
        tl.store(seen_ptr + i[:, None] * n + j[None, :], total, mask=(i[:, None] < m) & (j[None, :] < n))
    tl.store(c_ptr + i[:, None] * n + j[None, :], total, mask=inside)


def multiplied(run, dtype, sizes, block, then="", low=0, other=0, spoil=lambda a, b: None):
    """The kernel; that the result is right, and nothing else is written."""
    (m, n, k), (bm, bn, bk) = sizes, block
    a, b = numeric.whole((m, k), dtype, 0), numeric.whole((k, n), dtype, 1)
    spoil(a, b)
    out, seen = numeric.poisoned((m, n), WIDE[dtype]), numeric.poisoned((m, n), WIDE[dtype])
    before = numeric.array(out).copy()
    kernel = run(masked, (-(-m // bm), -(-n // bn)), numeric.tensor(a, dtype), numeric.tensor(b, dtype), out,
                 seen, m, n, k, low, bm, bn, bk, then, other)
    kind = DTYPES[WIDE[dtype]].values
    with np.errstate(invalid="ignore"):
        expected = a.astype(kind) @ b.astype(kind)
    if then == "twice":
        numeric.assert_same(seen, expected, signed_zeros=False)
    if then == "sum" and bn >= n:
        numeric.assert_same(numeric.array(seen).reshape(-1)[:m], expected.sum(1), signed_zeros=False)
    if then == "bias":
        expected = expected + np.arange(n, dtype=kind)
    expected[:low] = before[:low]
    numeric.assert_same(out, expected, signed_zeros=False)
    return kernel


#: sizes and blocks: a row too many, a column, a term; less than a tile; whole
SIZES = [((65, 64, 64), (64, 64, 32)), ((64, 129, 40), (64, 128, 32)), ((64, 64, 33), (64, 64, 32)),
         ((3, 5, 7), (64, 64, 64)), ((64, 128, 64), (64, 64, 32)), ((70, 150, 100), (128, 256, 64)),
         ((37, 82, 33), (64, 64, 32)), ((37, 96, 64), (64, 128, 32)), ((16, 17, 32), (8, 64, 32))]


@pytest.mark.parametrize("sizes, block", SIZES, ids=str)
@pytest.mark.parametrize("dtype", SUMS)
def test_sizes_that_fill_no_blocks(run, mode, dtype, sizes, block):
    """Whatever the mask of the store leaves out, and what lies beyond the end of both operands."""
    plan = multiplied(run, dtype, sizes, block).asm["plan"]
    if mode == "vector" and "tile registers" not in plan:  # those multiply all of a block
        assert NO_EDGES in plan and NO_ENDS in plan


@pytest.mark.parametrize("sizes", ((64, 129, 40), (37, 82, 33), (64, 64, 64)), ids=str)
def test_few_columns_of_a_panel(run, mode, sizes):
    """Where half of a tile's columns or more are left out, the others are multiplied vector by vector. With
    AVX2 a tile is one vector."""
    kernel = multiplied(run, "f64", sizes, (32, 64, 16))
    if mode == "vector":
        _, vectors = HOST.accumulators
        assert (NARROW in kernel.asm["plan"]) == (vectors > 1)
        plans = [plan_text(plan_of(kernel.asm["ttir"], find_target(f"cpu:x86_64-v{n}"))) for n in (3, 4)]
        assert [NARROW in plan for plan in plans] == [False, True]


@pytest.mark.parametrize("n", (33, 40, 48, 49, 100, 112, 230))
@pytest.mark.parametrize("dtype", SUMS)
def test_three_vectors_of_a_panel(run, mode, dtype, n):
    """Where a quarter of a tile's columns is left out, and not half of them, the others are multiplied
    together: of rows that fill blocks and tiles, and of others. Tiles of less than four vectors have none."""
    for sizes in ((128, n, 64), (67, n, 40)):
        kernel = multiplied(run, dtype, sizes, (64, 128, 32))
        if mode != "vector":
            continue
        plans = [kernel.asm["plan"], *(plan_text(plan_of(kernel.asm["ttir"], find_target(f"cpu:x86_64-v{v}")))
                                       for v in (3, 4))]
        found = [("x64x2" in plan, "of 48 columns where a quarter is not" in plan) for plan in plans]
        assert found[0] in ((True, True), (False, False)) and found[1:] == [(False, False), (True, True)]


@pytest.mark.parametrize("then", ("bias", "sum", "twice"))
def test_three_vectors_of_a_panel_and_more(run, then):
    """What is computed of sums, some of which are left out, and what else asks for them."""
    multiplied(run, "f32", (67, 100, 40), (64, 128, 32), then, low=3)


@triton.jit
def in_one_round(a_ptr, b_ptr, c_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
                 OTHER: tl.constexpr):
    """c = a b, with all of K in a block."""
    i, j, deep = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None] * k + deep[None, :], mask=(i[:, None] < m) & (deep[None, :] < k),
                other=OTHER)
    b = tl.load(b_ptr + deep[:, None] * n + j[None, :], mask=(deep[:, None] < k) & (j[None, :] < n),
                other=OTHER)
    total = tl.dot(a, b, input_precision="ieee", out_dtype=c_ptr.dtype.element_ty)
    tl.store(c_ptr + i[:, None] * n + j[None, :], total, mask=(i[:, None] < m) & (j[None, :] < n))


@pytest.mark.parametrize("n", (40, 100))
@pytest.mark.parametrize("dtype, other", [(dtype, 0) for dtype in SUMS] + [("f32", 1)])
def test_operands_that_are_masked_for_the_most_part(run, mode, dtype, other, n):
    """Steps that load nothing write zeros, where that is what they would load; else what that is."""
    m, k = 33, 17
    a, b = numeric.whole((m, k), dtype, 0), numeric.whole((k, n), dtype, 1)
    out = numeric.poisoned((m, n), SUMS[dtype])
    kernel = run(in_one_round, 1, numeric.tensor(a, dtype), numeric.tensor(b, dtype), out, m, n, k,
                 128, 128, 64, other)
    kind = DTYPES[SUMS[dtype]].values
    expected = a.astype(kind) @ b.astype(kind) + (64 - k) * other
    numeric.assert_same(out, expected, signed_zeros=False)
    assert mode != "vector" or ("is the mask false" in kernel.asm["plan"]) == (other == 0)


@pytest.mark.parametrize("low", (0, 1, 30, 63))
@pytest.mark.parametrize("then", ("", "bias"))
def test_masks_with_two_ends(run, mode, low, then):
    """Rows before the first one that is stored are left out, too; a bias goes along."""
    kernel = multiplied(run, "f32", (64, 70, 40), (32, 64, 32), then, low)
    assert mode != "vector" or NO_EDGES in kernel.asm["plan"]


@pytest.mark.parametrize("then", ("sum", "twice"))
def test_sums_that_something_else_asks_for(run, mode, then):
    """A reduction sees all of them, and a second store other ones."""
    kernel = multiplied(run, "f32", (64, 60, 40), (32, 64, 32), then, low=40)
    assert mode != "vector" or NO_EDGES not in kernel.asm["plan"]


def test_masked_elements_that_are_no_zeros(run, mode):
    """Terms beyond the end make a difference then, where the right operand has any: here they are zero."""
    kernel = multiplied(run, "f32", (64, 64, 40), (64, 64, 32), other=1)
    assert mode != "vector" or NO_ENDS not in kernel.asm["plan"]


def test_infinities_reach_what_they_reach(run):
    """An infinity times the zeros beside it."""
    def spoil(a, b):
        a[5, 3], b[7, 60], a[64, 39] = np.inf, -np.inf, np.nan
    multiplied(run, "f32", (65, 70, 40), (64, 64, 32), spoil=spoil)


def test_minus_zero_becomes_zero(run):
    """As in a product of all terms: the last ones are zero times zero, so a rounded -0 becomes 0."""
    m, n, k = 64, 64, 40
    a, b = np.full((m, k), -1e-30, np.float32), np.full((k, n), 1e-30, np.float32)
    out = numeric.poisoned((m, n), "f32")
    run(masked, 1, numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), out, out, m, n, k, 0, m, n, 32, "", 0)
    found = numeric.array(out)
    assert (found == 0).all() and not np.signbit(found).any()


@triton.jit
def whole(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    """c = a b, without masks, and the sums of its rows."""
    i = tl.arange(0, N)
    places = i[:, None] * N + i[None, :]
    total = tl.dot(tl.load(a_ptr + places), tl.load(b_ptr + places), input_precision="ieee")
    tl.store(c_ptr + places, total)
    tl.store(c_ptr + N * N + i, tl.sum(total, 1))


def test_the_verifier_asks_again(run, mode):
    """Whether a store is all that sums are for, and whether operands have an end."""
    tensors = [numeric.tensor(numeric.whole((65, 64), "f32", each), "f32") for each in range(3)]
    kernel = run(whole, 1, *tensors, 64)
    if mode != "vector":
        return
    plan = plan_of(kernel.asm["ttir"])
    assert not defects(plan)
    for wrong in ({"edges": True}, {"ends": True}):
        found = defects(changed(plan, lambda node, wrong=wrong: [
            replace(node, **wrong) if isinstance(node, Product) else node]))
        assert [each for each in found if "leaves out" in each]


@triton.jit
def scaled_by_nan(a_ptr, b_ptr, scale_ptr, c_ptr, k, K: tl.constexpr):
    """c = (a * scales) b, of which k terms are there; scales are, for all of them."""
    i, deep = tl.arange(0, 16), tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None] * k + deep[None, :], mask=deep[None, :] < k, other=0.0)
    b = tl.load(b_ptr + deep[:, None] * 16 + i[None, :], mask=deep[:, None] < k, other=0.0)
    scale = tl.load(scale_ptr + i[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :])
    c = tl.dot_scaled(a, scale, "bf16", b, None, "bf16")
    tl.store(c_ptr + i[:, None] * 16 + i[None, :], c)


def test_a_zero_whose_scale_is_nan_is_a_term(run):
    k = 40
    a, b = numeric.whole((16, k), "bf16", 0), numeric.whole((k, 16), "bf16", 1)
    scale = np.full((16, 4), 127, np.uint8)  # one
    scale[3, 3] = 255
    out = numeric.poisoned((16, 16), "f32")
    operands = (numeric.tensor(each, "bf16") for each in (a, b))
    run(scaled_by_nan, 1, *operands, numeric.tensor(scale, "u8"), out, k, 128)
    expected = a.astype(np.float32) @ b.astype(np.float32)
    expected[3] = np.nan
    numeric.assert_same(out, expected)

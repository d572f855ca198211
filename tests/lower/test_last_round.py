"""lower/products/last_round.py: tiles of a product that its loop's last round stores where they belong; and
all that keeps it from doing so. Whole numbers, so that any order of summation is exact."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numeric
import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from lower.plans import changed, plan_of
from numeric import DTYPES
from triton_spirv.lower.plan.accesses import StoredEarly
from triton_spirv.lower.plan.records import STORED, Versions
from triton_spirv.lower.plan.verify import defects

#: With lanes nothing goes this way.
SPIRV_MODES = ("vector",)

EARLY = "tile by tile, from the registers"

SUMS = {"f32": "f32", "f64": "f64", "f16": "f32", "bf16": "f32", "i8": "i32"}


@triton.jit
def product(a_ptr, b_ptr, c_ptr, m, n, k, a0, c0, HOW: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
            K: tl.constexpr, PRECISION: tl.constexpr = "ieee"):
    """c = a b, block by block of K, and what becomes of it."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    kind = tl.int32 if a_ptr.dtype.element_ty == tl.int8 else \
        tl.float64 if a_ptr.dtype.element_ty == tl.float64 else tl.float32
    total = tl.zeros([M, N], kind)
    for start in range(0, k, K):
        deep = start + tl.arange(0, K)
        a = tl.load(a_ptr + i[:, None] * a0 + deep[None, :],
                    mask=(i[:, None] < m) & (deep[None, :] < k), other=0)
        b = tl.load(b_ptr + deep[:, None] * n + j[None, :],
                    mask=(deep[:, None] < k) & (j[None, :] < n), other=0)
        total = tl.dot(a, b, total, input_precision=PRECISION, out_dtype=kind)
        if HOW == "stored in the loop":
            tl.store(c_ptr + i[:, None] * c0 + j[None, :], total, mask=(i[:, None] < m) & (j[None, :] < n))
    places = c_ptr + i[:, None] * c0 + j[None, :]
    inside = (i[:, None] < m) & (j[None, :] < n)
    if HOW == "narrowed" or HOW == "plain" or HOW == "stored in the loop":
        tl.store(places, total.to(c_ptr.dtype.element_ty), mask=inside)
    elif HOW == "twice":
        tl.store(places, total, mask=inside)
        tl.store(places + m * c0, total * 2, mask=inside)
    elif HOW == "over":
        tl.store(places, total, mask=inside)
        tl.store(places, total, mask=inside & (i[:, None] < 5))
    elif HOW == "negated":
        tl.store(places, -total, mask=inside)
    elif HOW == "added":
        tl.store(places, total + tl.load(b_ptr + j)[None, :], mask=inside)
    elif HOW == "loaded before":
        old = tl.load(places, mask=inside, other=0)
        tl.store(places, total, mask=inside)
        tl.store(places + m * c0, old, mask=inside)
    elif HOW == "summed":
        tl.store(places, total, mask=inside)
        tl.store(c_ptr + m * c0 + i, tl.sum(total, 1), mask=i < m)
    elif HOW == "by data":
        tl.store(places, total, mask=inside & (tl.load(b_ptr + j)[None, :] > 0))


def multiplied(run, dtype, sizes, block, how="plain", out=None, precision="ieee"):
    """c, of whole numbers, a @ b, b, and the kernel."""
    (m, n, k), (bm, bn, bk) = sizes, block
    a, b = numeric.whole((m, max(k, 1)), dtype, 0), numeric.whole((max(k, 1), n), dtype, 1)
    rows = m + (m if how in ("twice", "loaded before") else 1 if how == "summed" else 0)
    c = numeric.poisoned((max(rows, 1), n), out or SUMS[dtype])
    before = numeric.array(c).copy()
    kernel = run(product, (-(-m // bm) or 1, -(-n // bn), 1), numeric.tensor(a, dtype),
                 numeric.tensor(b, dtype), c, m, n, k, a.shape[1], n, how, bm, bn, bk, precision)
    kind = DTYPES[SUMS[dtype]].values
    return c, a[:, :k].astype(kind) @ b[:k].astype(kind), b.astype(kind), before, kernel


SIZES = [((64, 128, 64), (64, 128, 32)),      # whole
         ((64, 128, 32), (64, 128, 32)),      # one round
         ((64, 128, 0), (64, 128, 32)),       # none
         ((64, 128, 45), (64, 128, 32)),      # the last round is masked
         ((65, 130, 64), (32, 64, 32)),       # programs at the edges
         ((3, 5, 7), (32, 64, 32)), ((128, 256, 96), (64, 256, 16))]


@pytest.mark.parametrize("sizes, block", SIZES, ids=str)
@pytest.mark.parametrize("dtype", SUMS)
def test_products(run, mode, dtype, sizes, block):
    numeric.interpreter_is_wrong_on_bf16(dtype)
    c, expected, _, _, kernel = multiplied(run, dtype, sizes, block)
    numeric.assert_same(c, expected, signed_zeros=False)
    assert mode != "vector" or dtype not in ("f32", "f64", "f16") or EARLY in kernel.asm["plan"]


@pytest.mark.parametrize("precision", ("tf32", "tf32x3", "ieee"))
def test_precisions(run, precision):
    c, expected, *_ = multiplied(run, "f32", (64, 128, 64), (64, 128, 32), precision=precision)
    numeric.assert_same(c, expected, signed_zeros=False)


@pytest.mark.parametrize("sizes, block", SIZES, ids=str)
@pytest.mark.parametrize("dtype, out", [("f16", "f16"), ("bf16", "bf16"), ("f32", "f16"), ("f64", "f32"),
                                        ("f32", "bf16"), ("i8", "i8"), ("i8", "f32")], ids=str)
def test_narrowed(run, mode, dtype, out, sizes, block):
    """Tiles are converted on the way; whole numbers that every type has."""
    numeric.interpreter_is_wrong_on_bf16(dtype, out)
    c, expected, _, _, kernel = multiplied(run, dtype, sizes, block, "narrowed", out)
    rounded = numeric.array(numeric.tensor(expected.astype(DTYPES[out].values), out))
    numeric.assert_same(c, rounded, signed_zeros=False)
    assert mode != "vector" or (dtype, out) not in (("f16", "f16"), ("f64", "f32")) or \
        EARLY in kernel.asm["plan"]


#: what else becomes of sums; those of WHOLE load a row of a block without a mask
USES = ("twice", "over", "negated", "added", "loaded before", "summed", "by data", "stored in the loop")
WHOLE = ("added", "by data")


@pytest.mark.parametrize("how, sizes, block", [
    (how, sizes, block) for how in USES for sizes, block in SIZES
    if how not in WHOLE or sizes[1] % block[1] == 0], ids=str)
def test_what_else_becomes_of_it(run, mode, how, sizes, block):
    """Other uses of the sums, other accesses, other masks."""
    m, n, k = sizes
    c, expected, b, before, kernel = multiplied(run, "f32", sizes, block, how)
    found = numeric.array(c)
    if how == "twice":
        expected = np.concatenate([expected, expected * 2])
    elif how == "negated":
        expected = -expected
    elif how == "added":
        expected = expected + b[:1]
    elif how == "loaded before":
        expected = np.concatenate([expected, before[:m]])
    elif how == "summed":
        sums = before[m:].reshape(-1).copy()
        if n <= block[1]:
            sums[:m] = expected.sum(1)[:len(sums)]
            expected = np.concatenate([expected, sums[None]])
        else:
            expected, found = expected, found[:m]
    elif how == "by data":
        expected = np.where(b[:1] > 0, expected, before)
    elif how == "stored in the loop" and not k:
        expected = np.zeros_like(expected)
    numeric.assert_same(found, expected, signed_zeros=False)
    # nothing but the sums themselves, asked for once, and no other access on the way, is stored early
    assert mode != "vector" or how not in ("added", "loaded before", "by data", "summed", "twice") or \
        EARLY not in kernel.asm["plan"]


def poisoned_memory(size, seed=0):
    return np.random.default_rng(seed).integers(-8, 9, size).astype(np.float32)


#: Where b and c begin, of a at 0: apart, and overlapping in any way
M, N = 32, 64
PLACES = [(4096, 8192), (4096, 0), (4096, 4096), (4096, 1), (4096, 17), (4096, 64), (4096, 4095),
          (4096, 4096 + 64), (4096, 4096 - 64 * 31), (4096, 2048), (0, 0), (0, 64 * 32), (5, 3),
          (64, 64 * 8 + 3), (4096, 4096 + 64 * 63)]


@pytest.mark.parametrize("places", PLACES, ids=str)
@pytest.mark.parametrize("k", (32, 64, 50))
@pytest.mark.parametrize("dtype", ("f32", "f64", "f16"))
def test_memory_that_overlaps(run, dtype, k, places):
    """All operands are read before the first element is stored, wherever that is."""
    if dtype == "f16":
        memory = poisoned_memory(16384).astype(np.float16)
    else:
        memory = poisoned_memory(16384).astype(DTYPES[dtype].values)
    b0, c0 = places
    held = numeric.tensor(memory, dtype)
    run(product, (1, 1, 1), held, held[b0:], held[c0:], M, N, k, k, N, "plain", M, N, 32)
    wide = memory.astype(np.float64)
    a, b = wide[:M * k].reshape(M, k), wide[b0:b0 + k * N].reshape(k, N)
    expected = memory.copy()
    expected[c0:c0 + M * N] = (a @ b).reshape(-1).astype(memory.dtype)
    numeric.assert_same(held, expected, signed_zeros=False)


@triton.jit
def columns(x_ptr, pitch, k, b0, c0, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Operands and result are columns of one matrix."""
    i, j = tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros([M, N], tl.float32)
    for start in range(0, k, K):
        deep = start + tl.arange(0, K)
        a = tl.load(x_ptr + i[:, None] * pitch + deep[None, :])
        b = tl.load(x_ptr + b0 + deep[:, None] * pitch + j[None, :])
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(x_ptr + c0 + i[:, None] * pitch + j[None, :], total)


@pytest.mark.parametrize("b0, c0", [(64, 128), (64, 64), (64, 0), (0, 32), (64, 96)])
def test_columns_of_one_matrix(run, b0, c0):
    memory = poisoned_memory(64 * 256).reshape(64, 256)
    held = numeric.tensor(memory, "f32")
    run(columns, 1, held, 256, 64, b0, c0, 64, 64, 32)
    expected = memory.copy()
    expected[:, c0:c0 + 64] = memory[:, :64] @ memory[:, b0:b0 + 64]
    numeric.assert_same(held, expected, signed_zeros=False)


@triton.jit
def of_computed_bytes(a_ptr, b_ptr, at, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros([M, N], tl.int32)
    for start in range(0, k, K):
        deep = start + tl.arange(0, K)
        b = tl.load(b_ptr + deep[:, None] * N + j[None, :])
        a = tl.load(a_ptr + i[:, None] * k + deep[None, :])
        total = tl.dot(a, (b * 2).to(tl.int8), total, out_dtype=tl.int32)
    tl.store((b_ptr + at).to(tl.pointer_type(tl.int32)) + i[:, None] * N + j[None, :], total)


@pytest.mark.parametrize("at", (0, 64, 64 * 128, 96 * 128, 128 * 128))
@pytest.mark.parametrize("m", (32, 64))
def test_an_operand_that_is_computed(run, m, at):
    """It may be computed before its panels are packed, while tiles are stored: its loads are compared too.
    Such a kernel was refused, as the verifier found that they were not."""
    k, n = 128, 128
    a, b = numeric.whole((m, k), "i8", 0), numeric.whole((k, n), "i8", 1)
    held = np.zeros(at + 4 * m * n + k * n, np.int8)
    held[:k * n] = b.reshape(-1)
    memory = numeric.tensor(held, "i8")
    run(of_computed_bytes, (1,), numeric.tensor(a, "i8"), memory, at, k, m, n, 64)
    held[at:at + 4 * m * n] = (a.astype(np.int32) @ (2 * b.astype(np.int32))).reshape(-1).view(np.int8)
    assert np.array_equal(numeric.array(memory), held)


@triton.jit
def persistent(a_ptr, b_ptr, c_ptr, depths_ptr, count, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """One product after the other, each of a depth of its own; of rows below n."""
    i, j = tl.arange(0, M), tl.arange(0, N)
    for which in range(count):
        depth = tl.load(depths_ptr + which)
        total = tl.zeros([M, N], tl.float32)
        for start in range(0, depth, K):
            deep = start + tl.arange(0, K)
            a = tl.load(a_ptr + which * M * 64 + i[:, None] * 64 + deep[None, :], mask=deep[None, :] < depth,
                        other=0)
            b = tl.load(b_ptr + deep[:, None] * N + j[None, :], mask=deep[:, None] < depth, other=0)
            total = tl.dot(a, b, total, input_precision="ieee")
        tl.store(c_ptr + which * M * N + i[:, None] * N + j[None, :], total,
                 mask=(i[:, None] + which * 7 < n) & (j[None, :] < N))


@pytest.mark.parametrize("n", (1000, 40, 0))
def test_products_one_after_the_other(run, mode, n):
    """What one has stored early says nothing of the next one, which may have no round at all."""
    depths = np.array([64, 0, 32, 64, 0, 0, 33, 1], np.int32)
    a, b = numeric.whole((len(depths), 32, 64), "f32", 0), numeric.whole((64, 64), "f32", 1)
    c = numeric.poisoned((len(depths), 32, 64), "f32")
    expected = numeric.array(c).copy()
    kernel = run(persistent, 1, numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), c,
                 torch.from_numpy(depths), len(depths), n, 32, 64, 32)
    for which, depth in enumerate(depths):
        rows = max(0, min(32, n - which * 7))
        expected[which, :rows] = (a[which, :, :depth] @ b[:depth])[:rows]
    numeric.assert_same(c, expected, signed_zeros=False)
    assert mode != "vector" or EARLY in kernel.asm["plan"]


@triton.jit
def chained(a_ptr, b_ptr, c_ptr, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The second product of a round reads where the first one is stored; the next round's operand is loaded
    behind the product."""
    i, j, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total, other = tl.zeros([M, N], tl.float32), tl.zeros([M, N], tl.float32)
    a = tl.load(a_ptr + i[:, None] * k + d[None, :])
    for start in range(0, k, K):
        b = tl.load(b_ptr + (start + d)[:, None] * N + j[None, :])
        total = tl.dot(a, b, total, input_precision="ieee")
        more = tl.load(c_ptr + (start + d)[:, None] * N + j[None, :])
        other = tl.dot(a, more, other, input_precision="ieee")
        a = tl.load(a_ptr + i[:, None] * k + (start + K + d)[None, :], mask=(start + K + d)[None, :] < k,
                    other=0)
    tl.store(c_ptr + i[:, None] * N + j[None, :], total)
    tl.store(c_ptr + k * N + i[:, None] * N + j[None, :], other)


def test_what_is_read_behind_the_product(run):
    a, b = numeric.whole((64, 64), "f32", 0), numeric.whole((64, 64), "f32", 1)
    c = numeric.whole((128, 64), "f32", 2)
    held = numeric.tensor(c, "f32")
    run(chained, 1, numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), held, 64, 64, 64, 32)
    numeric.assert_same(held, np.concatenate([a @ b, a @ c[:64]]), signed_zeros=False)


@triton.jit
def flipped(a_ptr, b_ptr, c_ptr, k, s0, s1, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Strides of the result that only the launch knows."""
    i, j = tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros([M, N], tl.float32)
    for start in range(0, k, K):
        deep = start + tl.arange(0, K)
        a = tl.load(a_ptr + i[:, None] * k + deep[None, :])
        b = tl.load(b_ptr + deep[:, None] * N + j[None, :])
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(c_ptr + i[:, None] * s0 + j[None, :] * s1, total)


@pytest.mark.parametrize("strides", [(64, 1), (-64, 1), (100, 1), (1, 32), (200, 3), (128, -1)])
def test_strides_of_the_result(run, strides):
    """Rows from the last to the first, columns, and gaps."""
    a, b = numeric.whole((32, 64), "f32", 0), numeric.whole((64, 64), "f32", 1)
    c = numeric.poisoned(8192, "f32")
    expected = numeric.array(c).copy()
    s0, s1 = strides
    first = 4096 if min(strides) < 0 else 0
    run(flipped, 1, numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), c[first:], 64, s0, s1, 32, 64, 32)
    i, j = np.indices((32, 64))
    expected[first + i * s0 + j * s1] = a @ b
    numeric.assert_same(c, expected, signed_zeros=False)


@pytest.mark.parametrize("batch", (1, 3))
def test_batches(run, mode, batch):
    from lower.test_dot_in_memory import multiplied as batched

    kernel = batched(run, "f32", (64, 128, 64), (64, 128, 32), batch=batch)
    assert mode != "vector" or EARLY in kernel.asm["plan"]


# --- without a loop -----------------------------------------------------------------------------------------


@triton.jit
def once(a_ptr, b_ptr, c_ptr, m, n, k, HOW: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """c = a b, all of K at a time."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j, d = tl.program_id(1) * N + tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None] * k + d[None, :], mask=(i[:, None] < m) & (d[None, :] < k), other=0)
    b = tl.load(b_ptr + d[:, None] * n + j[None, :], mask=(d[:, None] < k) & (j[None, :] < n), other=0)
    total = tl.dot(a, b, input_precision="ieee")
    if HOW == "added":
        total = tl.dot(a, b, total * 2, input_precision="ieee")
    elif HOW == "read before":
        total += tl.load(c_ptr + i[:, None] * n + j[None, :], mask=(i[:, None] < m) & (j[None, :] < n),
                         other=0)
    elif HOW == "negated":
        total = -total
    elif HOW == "a is read behind":
        tl.store(c_ptr + i[:, None] * n + j[None, :], total, mask=(i[:, None] < m) & (j[None, :] < n))
        total = a.to(tl.float32)
    tl.store(c_ptr + i[:, None] * n + j[None, :], total.to(c_ptr.dtype.element_ty),
             mask=(i[:, None] < m) & (j[None, :] < n))


ONCE = [((64, 64, 64), (64, 64, 64)), ((65, 130, 64), (32, 64, 64)), ((64, 128, 45), (64, 128, 64)),
        ((128, 256, 32), (64, 128, 32)), ((3, 5, 7), (32, 64, 16))]


@pytest.mark.parametrize("sizes, block", ONCE, ids=str)
@pytest.mark.parametrize("dtype, out", [("f32", "f32"), ("f16", "f32"), ("f16", "f16"),
                                        ("bf16", "bf16"), ("i8", "i32")], ids=str)
@pytest.mark.parametrize("how", ("plain", "negated"))
def test_products_without_a_loop(run, mode, dtype, out, sizes, block, how):
    numeric.interpreter_is_wrong_on_bf16(dtype, out)
    (m, n, k), (bm, bn, bk) = sizes, block
    a, b = numeric.whole((m, k), dtype, 0), numeric.whole((k, n), dtype, 1)
    c = numeric.poisoned((m, n), out)
    kernel = run(once, (-(-m // bm), -(-n // bn), 1), numeric.tensor(a, dtype), numeric.tensor(b, dtype), c,
                 m, n, k, how, bm, bn, bk)
    kind = DTYPES[SUMS[dtype]].values
    expected = a.astype(kind) @ b.astype(kind) * (-1 if how == "negated" else 1)
    rounded = numeric.array(numeric.tensor(expected.astype(DTYPES[out].values), out))
    numeric.assert_same(c, rounded, signed_zeros=False)
    assert mode != "vector" or dtype not in ("f32", "f16") or EARLY in kernel.asm["plan"]


@pytest.mark.parametrize("how", ("added", "read before", "a is read behind"))
@pytest.mark.parametrize("places", PLACES, ids=str)
def test_memory_that_overlaps_without_a_loop(run, how, places):
    """The sums of another product, other accesses of the same memory."""
    memory = poisoned_memory(16384)
    b0, c0 = places
    held = numeric.tensor(memory, "f32")
    run(once, (1, 1, 1), held, held[b0:], held[c0:], 64, 64, 64, how, 64, 64, 64)
    a, b = memory[:4096].reshape(64, 64), memory[b0:b0 + 4096].reshape(64, 64)
    expected = memory.copy()
    made = {"added": 3 * (a @ b), "read before": a @ b + memory[c0:c0 + 4096].reshape(64, 64),
            "a is read behind": a}[how]
    expected[c0:c0 + 4096] = made.reshape(-1)
    numeric.assert_same(held, expected, signed_zeros=False)


@triton.jit
def one_of_two(a_ptr, b_ptr, c_ptr, count, odd, N: tl.constexpr):
    """Products in a loop and a branch, each stored there: none where the branch is not taken."""
    i = tl.arange(0, N)
    places = i[:, None] * N + i[None, :]
    b = tl.load(b_ptr + places)
    for which in range(count):
        if which % 2 == odd:
            a = tl.load(a_ptr + which * N * N + places)
            tl.store(c_ptr + which * N * N + places, tl.dot(a, b, input_precision="ieee"))


@pytest.mark.parametrize("odd", (0, 1, 2))
def test_products_in_a_branch(run, odd):
    a, b = numeric.whole((5, 64, 64), "f32", 0), numeric.whole((64, 64), "f32", 1)
    c = numeric.poisoned((5, 64, 64), "f32")
    expected = numeric.array(c).copy()
    run(one_of_two, 1, numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), c, 5, odd, 64)
    if odd < 2:
        expected[odd::2] = (a @ b)[odd::2]
    numeric.assert_same(c, expected, signed_zeros=False)


# --- the plan -----------------------------------------------------------------------------------------------

TEXT = """module {
  tt.func public @kernel(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %step = arith.constant 128 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %size = arith.constant dense<128> : tensor<128x1xi32>
    %row = tt.expand_dims %i {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %start = arith.muli %row, %size : tensor<128x1xi32>
    %rows = tt.broadcast %start : tensor<128x1xi32> -> tensor<128x128xi32>
    %column = tt.expand_dims %i {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %columns = tt.broadcast %column : tensor<1x128xi32> -> tensor<128x128xi32>
    %inside = arith.addi %rows, %columns : tensor<128x128xi32>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
    %from = tt.addptr %as, %inside : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
    %bs = tt.splat %b : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
    %and = tt.addptr %bs, %inside : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
    %sums = scf.for %k = %c0 to %n step %step iter_args(%s = %zero) -> (tensor<128x128xf32>) : i32 {
      %x = tt.load %from : tensor<128x128x!tt.ptr<f32>>
      %y = tt.load %and : tensor<128x128x!tt.ptr<f32>>
      %one = tt.dot %x, %y, %s : tensor<128x128xf32> * tensor<128x128xf32> -> tensor<128x128xf32>
      scf.yield %one : tensor<128x128xf32>
    }
    %tos = tt.splat %out : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
    %to = tt.addptr %tos, %inside : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
    tt.store %to, %sums : tensor<128x128x!tt.ptr<f32>>
    tt.return
  }
}
"""


def test_a_plan_that_is_right() -> None:
    assert not defects(plan_of(TEXT))


def early(plan: Any, **changes: Any) -> Any:
    return changed(plan, lambda node: [replace(node, **changes)] if isinstance(node, StoredEarly) else [node])


def test_mistakes_are_noticed() -> None:
    """A comparison that is left out, one of other addresses, a walk that always runs, or never."""
    plan = plan_of(TEXT)
    (found,) = [x for x in nodes(plan) if isinstance(x, StoredEarly)]
    test = found.test
    assert test is not None and len(test.loads) == 2  # the right one is packed meanwhile
    for wrong, says in (
            (early(plan, test=None), "no test compares their memory"),
            (early(plan, test=replace(test, loads=())), "no test compares their memory"),
            (early(plan, test=replace(test, loads=tuple(replace(x, same=True) for x in test.loads))),
             "no test compares their memory"),
            (early(plan, test=replace(test, decided=True)), "compares nothing when the kernel runs"),
            (early(plan, test=replace(test, store=replace(test.store, strides=(32, 1)))),
             "grow by 32, not by 128"),
            (early(plan, product=test.store.operation), "stores something else"),
            (early(plan, late=True), "wait, and are stored as they are summed"),
            (changed(plan, lambda node: [] if isinstance(node, StoredEarly) else [node]),
             "is left out, and nothing has stored its tiles"),
            (changed(plan, lambda node: [*node.arms[0].body] if isinstance(node, Versions)
                     and node.question == STORED else [node]), "may be in memory already")):
        assert any(says in each for each in defects(wrong)), (says, defects(wrong))


def nodes(plan: Any) -> list[Any]:
    found: list[Any] = []
    changed(plan, lambda node: found.append(node) or [node])  # type: ignore[func-returns-value]
    return found

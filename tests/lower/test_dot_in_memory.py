"""lower/products/in_memory.py: left operands that are multiplied where they lie; tiles that do not divide a
result. Whole numbers, so that any order of summation is exact."""

from __future__ import annotations

from functools import partial

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from lower.plans import plan_of
from numeric import DTYPES
from triton_spirv.lower.plan.text import plan_text
from triton_spirv.runtime import processor as host
from triton_spirv.target import cpu_target, find_target


@triton.jit
def masked(a_ptr, b_ptr, c_ptr, m, n, k, a0, a1, a_batch, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """c = a b, block by block of K; one batch for each program of the third axis."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    batch = tl.program_id(2)
    total = tl.zeros([M, N], c_ptr.dtype.element_ty)
    for start in range(0, k, K):
        deep = start + tl.arange(0, K)
        a = tl.load(a_ptr + batch * a_batch + i[:, None] * a0 + deep[None, :] * a1,
                    mask=(i[:, None] < m) & (deep[None, :] < k), other=0)
        b = tl.load(b_ptr + batch * k * n + deep[:, None] * n + j[None, :],
                    mask=(deep[:, None] < k) & (j[None, :] < n), other=0)
        total = tl.dot(a, b, total, input_precision="ieee", out_dtype=c_ptr.dtype.element_ty)
    inside = (i[:, None] < m) & (j[None, :] < n)
    tl.store(c_ptr + batch * m * n + i[:, None] * n + j[None, :], total, mask=inside)


SUMS = {"f32": "f32", "f64": "f64", "f16": "f32", "bf16": "f32", "i8": "i32"}


def multiplied(run, dtype, sizes, block, batch=1, flipped=False):
    """Of whole numbers: that the result is right, and the kernel."""
    (m, n, k), (bm, bn, bk) = sizes, block
    shape = (batch, k, m) if flipped else (batch, m, k)
    a, b = numeric.whole(shape, dtype, 0), numeric.whole((batch, k, n), dtype, 1)
    out = numeric.poisoned((batch, m, n), SUMS[dtype])
    strides = (1, m) if flipped else (k, 1)
    grid = -(-m // bm), -(-n // bn), batch
    kernel = run(masked, grid, numeric.tensor(a, dtype), numeric.tensor(b, dtype),
                 out, m, n, k, *strides, m * k, bm, bn, bk)
    kind = DTYPES[SUMS[dtype]].values
    left = a.swapaxes(1, 2) if flipped else a
    numeric.assert_same(out, left.astype(kind) @ b.astype(kind), signed_zeros=False)
    return kernel


SIZES = [((64, 64, 64), (32, 32, 32)), ((65, 70, 33), (32, 64, 16)), ((1, 17, 5), (16, 16, 16)),
         ((100, 130, 96), (128, 128, 32)), ((7, 64, 64), (4, 64, 64))]


PAIRS = [((64, 64, 64), (32, 32, 32)), ((65, 70, 33), (32, 64, 16)), ((130, 100, 95), (64, 128, 32)),
         ((129, 129, 129), (64, 64, 64)), ((7, 64, 64), (4, 64, 64))]


@pytest.mark.parametrize("batch", (1, 3))
@pytest.mark.parametrize("sizes, block", PAIRS, ids=str)
def test_pairs_of_bf16_that_nobody_looks_through(run, mode, sizes, block, batch):
    """Rows of odd lengths begin at any even address."""
    kernel = multiplied(partial(run, fast_math=True), "bf16", sizes, block, batch=batch)
    plan = kernel.asm["plan"]
    if mode == "vector" and "tile registers" not in plan:
        assert ("in memory" in plan) == (block[0] * block[2] > 256 and ": arrays, bf16, " in plan)


@pytest.mark.parametrize("sizes, block", SIZES, ids=str)
@pytest.mark.parametrize("dtype", ("f32", "f64"))
def test_blocks_of_any_size(run, mode, dtype, sizes, block):
    """Whole blocks are read where they lie, others are staged; small ones are in registers."""
    kernel = multiplied(run, dtype, sizes, block)
    assert mode != "vector" or ("in memory" in kernel.asm["plan"]) == (block[0] * block[2] > 256)


def test_the_next_round_is_fetched_between_tiles(run, mode):
    """Not while operands are staged."""
    kernel = multiplied(run, "f32", (64, 128, 64), (64, 128, 32))
    if mode == "vector":
        plan = plan_text(plan_of(kernel.asm["ttir"], find_target("cpu:x86_64-v4")))
        staging, product = plan.split("dot ")
        assert "fetch" not in staging
        fetches = [product.count(f"fetch next round of load %{name}") for name in "ab"]
        ways = 1 + product.count("of the panel left out?")
        # and for tiles that are left out, and where not all of the left operand is in memory
        assert fetches == [ways + 2, ways + 2]


@pytest.mark.parametrize(("processor", "fetches"),
                         [("cpu:x86_64-v4", 2), ("cpu:x86_64-v3", 2), ("cpu:sapphirerapids", 0)])
def test_fewer_rows_than_the_block_has(run, mode, processor, fetches):
    """Beside a left operand that is not all in memory, the right one's next round is fetched, too, and
    where few rows are multiplied in place."""
    kernel = multiplied(run, "f32", (1, 256, 128), (16, 128, 64))
    if mode == "vector":
        product = plan_text(plan_of(kernel.asm["ttir"], find_target(processor))).split("dot ")[1]
        _, cold = product.split("  cold\n      16 turns")
        assert cold.count("fetch next round of load %b") == fetches


@pytest.mark.parametrize("dtype", ("f32", "f64", "f16", "i8"))
@pytest.mark.parametrize("batch", (1, 3))
def test_panels_are_packed_when_they_are_multiplied(run, mode, dtype, batch):
    """Of blocks with several panels, whole and not."""
    kernel = multiplied(run, dtype, (70, 260, 72), (64, 256, 32), batch=batch)
    if mode == "vector" and dtype in ("f32", "f16"):
        here = host.processor()
        joined = dtype == "f32" and cpu_target(here.architecture, here.features).joined_steps
        assert ("rounds together" if joined else "panels in turn") in kernel.asm["plan"]


@pytest.mark.parametrize("dtype", ("f32", "f64"))
def test_batches(run, dtype):
    multiplied(run, dtype, (33, 48, 40), (32, 16, 32), batch=3)


@pytest.mark.parametrize("dtype", ("f32", "f16"))
def test_what_is_staged(run, mode, dtype):
    """Columns that are contiguous, and elements of another type."""
    kernel = multiplied(run, dtype, (40, 48, 33), (32, 32, 32), flipped=dtype == "f32")
    assert mode != "vector" or "left in memory" not in kernel.asm["plan"]


@triton.jit
def used_twice(a_ptr, b_ptr, c_ptr, sums_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The left operand is needed again behind the product, which overwrites its memory."""
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + j[None, :])
    tl.store(a_ptr + i[:, None] * K + k[None, :], tl.zeros([M, K], tl.float32))
    tl.store(c_ptr + i[:, None] * N + j[None, :], tl.dot(a, b, input_precision="ieee"))
    tl.store(sums_ptr + i, tl.sum(a, 1))


def test_memory_that_is_overwritten_before_the_product(run):
    a, b = numeric.whole((32, 64), "f32", 0), numeric.whole((64, 32), "f32", 1)
    memory, out = numeric.tensor(a, "f32"), numeric.poisoned((32, 32), "f32")
    sums = numeric.poisoned(32, "f32")
    run(used_twice, 1, memory, numeric.tensor(b, "f32"), out, sums, 32, 32, 64)
    numeric.assert_same(out, a @ b, signed_zeros=False)
    numeric.assert_same(sums, a.sum(1), signed_zeros=False)
    numeric.assert_same(memory, np.zeros_like(a))


@triton.jit
def in_place(a_ptr, b_ptr, M: tl.constexpr, N: tl.constexpr):
    """a = a b, where it lies."""
    i, j = tl.arange(0, M), tl.arange(0, N)
    places = a_ptr + i[:, None] * N + j[None, :]
    b = tl.load(b_ptr + j[:, None] * N + j[None, :])
    tl.store(places, tl.dot(tl.load(places), b, input_precision="ieee"))


def test_the_result_takes_the_operands_place(run):
    a, b = numeric.whole((64, 64), "f32", 0), numeric.whole((64, 64), "f32", 1)
    memory = numeric.tensor(a, "f32")
    run(in_place, 1, memory, numeric.tensor(b, "f32"), 64, 64)
    numeric.assert_same(memory, a @ b, signed_zeros=False)


#: rows x vectors: those of the targets, and others that divide no result
TILES = [(4, 4), (6, 1), (8, 2), (5, 2), (7, 1), (12, 2), (3, 4)]


@pytest.mark.parametrize("sizes, block", [((70, 80, 40), (64, 64, 32)), ((33, 48, 64), (32, 16, 64)),
                                          ((130, 140, 32), (128, 128, 16))], ids=str)
@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("dtype", SUMS)
def test_tiles_of_sums(run, mode, monkeypatch, dtype, tile, sizes, block):
    """Whatever the registers of a processor hold, sums that a loop adds to are the same."""
    if mode != "vector":
        pytest.skip("the micro kernel is vector mode's")
    numeric.interpreter_is_wrong("it has no micro kernel")
    numeric.interpreter_is_wrong_on_bf16(dtype)
    from triton_spirv import target
    from triton_spirv.runtime.processor import processor

    masked.device_caches.clear()
    monkeypatch.setitem(target.ACCUMULATORS, processor().architecture, tile)
    multiplied(run, dtype, sizes, block)
    masked.device_caches.clear()

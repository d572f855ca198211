"""Left operands that tile registers load from where they lie in memory (lower/products/in_memory.py)."""

from __future__ import annotations

from functools import partial

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from lower.test_dot_in_memory import multiplied
from triton_spirv.runtime.processor import TILES, processor

#: The machine, and the device where it has tile registers.
SPIRV_MODES = ("machine-vector-amx", *(("vector",) if TILES in processor().flags else ()))

#: Whole blocks, and such that end inside: rows, columns and K; one row; fewer words along K than a tile has.
SIZES = [((64, 64, 128), (32, 32, 64)), ((65, 70, 132), (32, 64, 64)), ((1, 32, 64), (1, 32, 64)),
         ((96, 130, 96), (64, 64, 32)), ((7, 64, 128), (8, 64, 64)), ((7, 64, 64), (4, 64, 64)),
         ((40, 48, 17), (32, 32, 16))]


@pytest.mark.parametrize("batch", (1, 2))
@pytest.mark.parametrize("sizes, block", SIZES, ids=str)
@pytest.mark.parametrize("dtype", ("i8", "bf16"))
def test_blocks_of_any_size(run, dtype, sizes, block, batch) -> None:
    """Bytes, and bf16 of which nobody asks whether they are denormal; small blocks are in registers."""
    kernel = multiplied(partial(run, fast_math=True), dtype, sizes, block, batch=batch)
    plan = kernel.asm["plan"]
    assert "tile registers" in plan
    assert ("left in memory" in plan) == (": tiles, " in plan) == (block[0] * block[2] > 256)


def test_what_is_staged(run) -> None:
    """What has to be watched, and what lies column by column."""
    assert "left in tiles" in multiplied(run, "bf16", (64, 64, 64), (32, 32, 64)).asm["plan"]
    kernel = multiplied(run, "i8", (64, 64, 64), (32, 32, 64), flipped=True)
    assert "left in tiles, transposed in squares" in kernel.asm["plan"]


@triton.jit
def placed(a_ptr, b_ptr, c_ptr, pitch, rounds, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
           WRITES: tl.constexpr):
    """c = the sum over rounds of a b, where rows of a are `pitch` apart, which may be less than nothing."""
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros([M, N], tl.int32)
    for start in range(0, rounds * K, K):
        places = a_ptr + i[:, None] * pitch + start + k[None, :]
        a = tl.load(places)
        b = tl.load(b_ptr + (start + k[:, None]) * N + j[None, :])
        if WRITES:
            tl.store(places, tl.zeros([M, K], tl.int8))
        total = tl.dot(a, b, total)
    tl.store(c_ptr + i[:, None] * N + j[None, :], total)


@pytest.mark.parametrize("writes", (False, True))
@pytest.mark.parametrize("pitch", (128, 131, -128, 0))
def test_pitches_and_memory_that_is_overwritten(run, pitch, writes) -> None:
    """A store between load and product overwrites what the product multiplies."""
    m, n, k, rounds = 32, 32, 64, 2
    memory = numeric.whole(32 * 131, "i8", 0)
    b = numeric.whole((rounds * k, n), "i8", 1)
    first = 31 * 128 if pitch < 0 else 0
    rows = np.stack([memory[first + i * pitch:][:rounds * k] for i in range(m)])
    out, held = numeric.poisoned((m, n), "i32"), numeric.tensor(memory, "i8")
    kernel = run(placed, 1, held[first:], numeric.tensor(b, "i8"), out, pitch, rounds, m, n, k, writes)
    assert ("left in memory" in kernel.asm["plan"]) is not writes
    numeric.assert_same(out, rows.astype(np.int32) @ b.astype(np.int32))


@triton.jit
def in_place(a_ptr, b_ptr, M: tl.constexpr, N: tl.constexpr):
    """a = a b of bytes, where it lies."""
    i, j = tl.arange(0, M), tl.arange(0, N)
    places = a_ptr + i[:, None] * N + j[None, :]
    b = tl.load(b_ptr + j[:, None] * N + j[None, :])
    tl.store(places, tl.dot(tl.load(places), b).to(tl.int8))


def test_the_result_takes_the_operands_place(run) -> None:
    a, b = numeric.whole((64, 64), "i8", 0), numeric.whole((64, 64), "i8", 1)
    memory = numeric.tensor(a, "i8")
    run(in_place, 1, memory, numeric.tensor(b, "i8"), 64, 64)
    numeric.assert_same(memory, (a.astype(np.int32) @ b.astype(np.int32)).astype(np.int8))

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
@pytest.mark.parametrize("dtype, fast", (("i8", False), ("bf16", False), ("bf16", True)))
def test_blocks_of_any_size(run, dtype, fast, sizes, block, batch) -> None:
    """Bytes, and bf16 of which somebody asks whether they are denormal, or nobody; small blocks are in
    registers."""
    kernel = multiplied(partial(run, fast_math=fast), dtype, sizes, block, batch=batch)
    plan = kernel.asm["plan"]
    assert "tile registers" in plan
    assert ("left in memory" in plan) == (": tiles, " in plan) == (block[0] * block[2] > 256)


def test_what_is_staged(run) -> None:
    """What lies column by column."""
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


# ---- bf16 that is looked through first


@triton.jit
def watched(a_ptr, b_ptr, c_ptr, pitch, FIXED: tl.constexpr, K, M: tl.constexpr, N: tl.constexpr,
            BK: tl.constexpr):
    """c = a b, where rows of a are `pitch` apart, or FIXED if that is none."""
    i, j, k = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    rows = i[:, None] * (pitch if FIXED == 0 else FIXED)
    total = tl.zeros([M, N], tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptr + rows + (start + k)[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * N + j[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + i[:, None] * N + j[None, :], total)


#: what a row has: nothing but a denormal number, or one of these among whole ones
ODD = {"whole": None, "denormal": 2.0 ** -130, "small": 2.0 ** -100, "nan": np.nan, "inf": np.inf, "-0": -0.0}


def watched_product(run, pitch: int, odd: str, fixed: int = 0, rounds: int = 2):
    """Of two programs; what is odd stands in one tile of one of them alone."""
    m, n, k = 64, 32, 64
    a, b = numeric.whole((2 * m, rounds * k), "bf16", 0), numeric.whole((rounds * k, n), "bf16", 1)
    b[k + 37] = np.where(b[k + 37] == 0, 1, b[k + 37])
    if ODD[odd] is not None:
        if odd in ("denormal", "small"):
            a[m + 21] = 0
        a[m + 21, k + 37] = ODD[odd]
    first = (2 * m - 1) * abs(pitch) if pitch < 0 else 0
    memory = np.full((2 * m - 1) * abs(pitch) + rounds * k, np.nan, np.float32)
    for i, row in enumerate(a):
        memory[first + i * pitch:][:rounds * k] = row
    out = numeric.poisoned((2 * m, n), "f32")
    kernel = run(watched, 2, numeric.tensor(memory, "bf16")[first:], numeric.tensor(b, "bf16"), out, pitch,
                 fixed, rounds * k, m, n, k)
    with np.errstate(invalid="ignore"):
        expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    numeric.assert_same(out, expected, signed_zeros=False)
    if odd == "denormal":
        assert 0 < abs(expected[m + 21]).max() < 2.0 ** -126
    return kernel


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("pitch", (128, 131, 2048, -2048, 2049))
def test_numbers_that_registers_clear(run, pitch, odd) -> None:
    """Whether rows are staged, which a multiple of 4 kB says when the kernel runs, or are where they are."""
    kernel = watched_product(run, pitch, odd)
    plan = kernel.asm["plan"]
    assert "left in memory" in plan
    assert "is the left operand multiplied where it lies?" in plan


@pytest.mark.parametrize("pitch", (128, 2048))
def test_pitches_that_are_known(run, pitch) -> None:
    """One way is left."""
    for odd in ("whole", "denormal"):
        plan = watched_product(run, pitch, odd, pitch).asm["plan"]
        assert "is the left operand multiplied where it lies?" not in plan
        assert ("left in memory" in plan) is (pitch == 128)
        assert ("left in tiles" in plan) is (pitch == 2048)


def test_other_numbers_in_the_same_memory(run) -> None:
    """Each launch looks again."""
    a, b = numeric.whole((64, 128), "bf16", 0), numeric.whole((128, 32), "bf16", 1)
    memory = numeric.tensor(a, "bf16")
    for scale in (1.0, 2.0 ** -130, 4.0, 2.0 ** -128, 1.0):
        memory.copy_(numeric.tensor(a * np.float32(scale), "bf16"))
        out = numeric.poisoned((64, 32), "f32")
        run(watched, 1, memory, numeric.tensor(b, "bf16"), out, 128, 0, 128, 64, 32, 64)
        expected = numeric.array(memory).astype(np.float64) @ b.astype(np.float64)
        numeric.assert_same(out, expected.astype(np.float32), signed_zeros=False)

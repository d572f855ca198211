"""lower/products/last_round.py with tile registers: sums that leave them for memory in a loop's last round,
as they are or by way of vectors. Whole numbers, so that any order of summation is exact."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from lower.test_dot_tile_registers import BUILD
from lower.test_last_round import EARLY, multiplied, product
from numeric import DTYPES
from triton_spirv.runtime.processor import TILES, processor

#: The machine, and the device where it has tile registers.
SPIRV_MODES = ("machine-vector-amx", *(("vector",) if TILES in processor().flags else ()))

SIZES = [((64, 64, 128), (64, 64, 64)),       # whole
         ((64, 128, 64), (64, 128, 64)),      # one round
         ((64, 64, 0), (64, 64, 64)),         # none
         ((32, 64, 75), (32, 64, 64)),        # the last round is masked
         ((65, 70, 128), (32, 64, 64)),       # programs at the edges
         ((3, 5, 7), (32, 32, 32)), ((128, 16, 96), (64, 16, 32)), ((8, 64, 128), (8, 64, 64))]

TYPES = [("i8", "i32"), ("i8", "i8"), ("i8", "f32"), ("bf16", "f32"), ("bf16", "bf16"), ("bf16", "f16")]


@pytest.mark.parametrize("fast_math", (False, True))
@pytest.mark.parametrize("sizes, block", SIZES, ids=str)
@pytest.mark.parametrize("dtype, out", TYPES)
def test_products(run, dtype: str, out: str, sizes, block, fast_math: bool) -> None:
    """As they are summed, and converted; operands that are watched, and a left one that lies in memory."""
    made, expected, _, _, kernel = multiplied(partial(run, fast_math=fast_math), dtype, sizes, block,
                                              "narrowed", out)
    rounded = numeric.array(numeric.tensor(expected.astype(DTYPES[out].values), out))
    numeric.assert_same(made, rounded, signed_zeros=False)
    assert "tile registers" in kernel.asm["plan"] and EARLY in kernel.asm["plan"]


WAITS = "each while the next one is multiplied"

#: Long along K, so that a tile is stored while the next one is multiplied
LATE = [((64, 64, 512), (64, 64, 512)), ((65, 70, 600), (32, 64, 512)), ((64, 128, 1000), (64, 128, 512)),
        ((32, 16, 512), (32, 16, 512)), ((16, 64, 512), (16, 64, 512))]


@pytest.mark.parametrize("sizes, block", LATE, ids=str)
@pytest.mark.parametrize("dtype, out", [("i8", "i8"), ("i8", "f32"), ("bf16", "bf16"), ("bf16", "f16")])
def test_tiles_that_wait(run, dtype: str, out: str, sizes, block) -> None:
    """Every row is stored, those of the last tile behind the others."""
    made, expected, _, _, kernel = multiplied(run, dtype, sizes, block, "narrowed", out)
    rounded = numeric.array(numeric.tensor(expected.astype(DTYPES[out].values), out))
    numeric.assert_same(made, rounded, signed_zeros=False)
    assert EARLY in kernel.asm["plan"] and WAITS in kernel.asm["plan"]
    assert ("cvtneps2bf16" in kernel.asm["spvasm"]) == (out == "bf16" == dtype)


@pytest.mark.parametrize("dtype", ("i8", "bf16"))
@pytest.mark.parametrize("how", ("twice", "over", "negated", "summed", "stored in the loop"))
def test_what_else_becomes_of_it(run, dtype: str, how: str) -> None:
    out = {"i8": "i32", "bf16": "f32"}[dtype]
    made, expected, _, _, kernel = multiplied(run, dtype, (64, 64, 128), (64, 64, 64), how, out)
    if how == "twice":
        expected = np.concatenate([expected, expected * 2])
    elif how == "negated":
        expected = -expected
    elif how == "summed":
        expected = np.concatenate([expected, expected.sum(1)[None]])
    numeric.assert_same(made, expected.astype(DTYPES[out].values), signed_zeros=False)
    # nothing but the sums themselves, asked for once, by operations of one operand (0 - x has two)
    assert (EARLY in kernel.asm["plan"]) == (how == "negated" and dtype == "bf16")


M, N = 32, 64

#: Where b and c begin, of a at 0, in elements: apart, and overlapping in any way
PLACES = [(8192, 12288), (8192, 0), (8192, 8192), (8192, 1), (8192, 64), (8192, 2000), (8192, 4095),
          (8192, 8192 + 64 * 31), (8192, 8192 - 64 * 31), (0, 0), (0, 64 * 32), (5, 3), (64, 64 * 8 + 3)]


@pytest.mark.parametrize("places", PLACES, ids=str)
@pytest.mark.parametrize("k", (64, 128, 100))
@pytest.mark.parametrize("dtype, fast_math", [("i8", False), ("bf16", False), ("bf16", True)])
def test_memory_that_overlaps(run, dtype: str, fast_math: bool, k: int, places) -> None:
    """All operands are read before the first element is stored, wherever that is; a left one that lies in
    memory is multiplied there only if it lies apart."""
    memory = np.random.default_rng(0).integers(-3, 4, 16384).astype(DTYPES[dtype].values)
    b0, c0 = places
    held = numeric.tensor(memory, dtype)
    kernel = run(product, (1, 1, 1), held, held[b0:], held[c0:], M, N, k, k, N, "narrowed", M, N, 64,
                 fast_math=fast_math)
    assert EARLY in kernel.asm["plan"]
    wide = memory.astype(np.float64)
    a, b = wide[:M * k].reshape(M, k), wide[b0:b0 + k * N].reshape(k, N)
    expected = memory.astype(np.float64)
    expected[c0:c0 + M * N] = (a @ b).reshape(-1)
    if dtype == "i8":
        expected = expected.astype(np.int64).astype(np.int8)
    else:
        expected = numeric.array(numeric.tensor(expected.astype(memory.dtype), dtype))
    numeric.assert_same(held, expected, signed_zeros=False)


@triton.jit
def scaled(a_ptr, b_ptr, c_ptr, k, scale, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Sums that every round scales first, so that products are added to them apart."""
    i, j, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros([M, N], tl.float32)
    for start in range(0, k, K):
        a = tl.load(a_ptr + i[:, None] * k + start + d[None, :])
        b = tl.load(b_ptr + (start + d[:, None]) * N + j[None, :])
        total = tl.dot(a, b, total * scale)
    tl.store(c_ptr + i[:, None] * N + j[None, :], total)


def test_sums_that_are_scaled(run) -> None:
    m, n, k = 32, 64, 192
    a, b = numeric.whole((m, k), "bf16", 0), numeric.whole((k, n), "bf16", 1)
    out = numeric.poisoned((m, n), "f32")
    run(scaled, 1, numeric.tensor(a, "bf16"), numeric.tensor(b, "bf16"), out, k, 2.0, m, n, 64)
    expected = np.zeros((m, n))
    for start in range(0, k, 64):
        expected = expected * 2 + a[:, start:start + 64].astype(np.float64) @ b[start:start + 64]
    numeric.assert_same(out, expected.astype(np.float32), signed_zeros=False)


@pytest.mark.parametrize("small", range(2))
def test_a_round_that_is_computed_exactly(run, small: int) -> None:
    """Where tile registers would clear something, the micro kernel's tiles go to memory."""
    m, n, k = 32, 64, 128
    a, b = numeric.whole((m, k), "bf16", 0), numeric.whole((k, n), "bf16", 1)
    a[:, small * 64], b[small * 64] = 2.0 ** -100, 2.0 ** -30
    out = numeric.poisoned((m, n), "f32")
    run(product, (1, 1, 1), numeric.tensor(a, "bf16"), numeric.tensor(b, "bf16"), out, m, n, k, k, n, "plain",
        m, n, 64)
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    numeric.assert_same(out, expected, signed_zeros=False)


def test_large_results_go_past_the_caches(run, mode, fetched, monkeypatch: pytest.MonkeyPatch) -> None:
    """By way of vectors, where these are aligned, and without fetching what they go to; counted over all
    programs."""
    from triton_spirv.target import known

    m, n, k = 32, 64, 64
    product.device_caches.clear()
    monkeypatch.setattr(known, "STREAMED_FROM_TILES", 2 * m * n * 4)
    for programs in (1, 2):
        fetched.clear()
        a, b = numeric.whole((m * programs, k), "i8", 0), numeric.whole((k, n), "i8", 1)
        out = numeric.poisoned((m * programs, n), "i32")
        kernel = run(product, (programs, 1, 1), numeric.tensor(a, "i8"), numeric.tensor(b, "i8"), out,
                     m * programs, n, k, k, n, "plain", m, n, 64)
        numeric.assert_same(out, a.astype(np.int32) @ b.astype(np.int32))
        assert "Nontemporal" in kernel.asm["spvasm"]
        assert mode == "vector" or bool(fetched["p1 to write", 3]) == (programs == 1)
    product.device_caches.clear()


@pytest.mark.parametrize("stride", (64, 80, 66))
def test_narrow_results_go_past_the_caches(run, monkeypatch: pytest.MonkeyPatch, stride: int) -> None:
    """Two vectors at a time, so rows must begin at multiples of 64 bytes for that."""
    from triton_spirv.target import known

    m, n, k = 64, 64, 512
    product.device_caches.clear()
    monkeypatch.setattr(known, "STREAMED_FROM_TILES", m * n * 2)
    a, b = numeric.whole((m, k), "bf16", 0), numeric.whole((k, n), "bf16", 1)
    out = numeric.poisoned((m, stride), "bf16")
    before = numeric.array(out).copy()
    kernel = run(product, (1, 1, 1), numeric.tensor(a, "bf16"), numeric.tensor(b, "bf16"), out, m, n, k, k,
                 stride, "narrowed", m, n, k)
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    before[:, :n] = numeric.array(numeric.tensor(expected, "bf16"))
    numeric.assert_same(out, before, signed_zeros=False)
    assert WAITS in kernel.asm["plan"] and "Aligned|Nontemporal 64" in kernel.asm["spvasm"]
    product.device_caches.clear()


@pytest.mark.parametrize("fast_math", (False, True))
def test_numbers_that_are_none(run, fast_math: bool) -> None:
    """NaN of both signs, infinities, the largest and the smallest normal ones, sums between two bf16."""
    m, n, k = 32, 32, 512
    given = np.array([np.nan, -np.nan, np.inf, -np.inf, 3.3895e38, -3.3895e38, 2.0 ** -126, -2.0 ** -126,
                      1.0, -0.0, 257.0, 2.0 ** 100], np.float32)
    a, b = np.zeros((m, k), np.float32), np.zeros((k, n), np.float32)
    a[:len(given), 0], b[0] = given, 1.0
    a[:, k - 1], b[k - 1, ::2] = 1.0, 2.0 ** -8
    out = numeric.poisoned((m, n), "bf16")
    kernel = run(product, (1, 1, 1), numeric.tensor(a, "bf16"), numeric.tensor(b, "bf16"), out, m, n, k, k, n,
                 "narrowed", m, n, k, fast_math=fast_math)
    assert WAITS in kernel.asm["plan"]
    held = [numeric.array(numeric.tensor(x, "bf16")).astype(np.float64) for x in (a, b)]
    with np.errstate(invalid="ignore"):
        expected = (held[0][:, :1] * held[1][:1] + held[0][:, k - 1:] * held[1][k - 1:]).astype(np.float32)
    numeric.assert_same(out, numeric.array(numeric.tensor(expected, "bf16")), signed_zeros=False)


def test_the_drivers_code(run, tmp_path: Path) -> None:
    """It takes registers that are loaded from the argument's memory and stored to it, and goes past caches
    in another way; four sums each."""
    *_, kernel = multiplied(run, "i8", (64, 64, 128), (64, 64, 64))
    found = instructions(kernel, tmp_path)
    assert found["tilestored"] % 4 == 0 and found["tilezero"] % 4 == 0 and found["tdpbssd"], found
    assert found["tilestored"] >= 12 and found["vmovntps"] + found["vmovntdq"], found


def test_the_drivers_code_of_tiles_that_wait(run, tmp_path: Path) -> None:
    """Three ways to multiply a tile, with rows past the caches, with others, and with none; two conversions
    for each store of a line, which need not be aligned."""
    *_, kernel = multiplied(run, "bf16", (64, 64, 512), (64, 64, 512), "narrowed", "bf16")
    assert WAITS in kernel.asm["plan"]
    found = instructions(kernel, tmp_path)
    assert found["vcvtneps2bf16"] and found["tdpbf16ps"] % 3 == 0, found
    assert found["vmovntps"] + found["vmovntdq"] + found["vmovntpd"], found


def instructions(kernel, folder: Path) -> Counter:
    """Of the driver's code for a processor with tile registers: those of tiles, and past the caches."""
    (folder / "kernel.spv").write_bytes(kernel.asm["spv"])
    variables = {**os.environ, "CL_CONFIG_CPU_TARGET_ARCH": "sapphirerapids", "CL_CONFIG_DUMP_ASM": "1"}
    subprocess.run([sys.executable, "-c", BUILD, "kernel.spv"], cwd=folder, env=variables, check=True,
                   timeout=120, capture_output=True)
    code = "".join(path.read_text() for path in folder.glob("*.s"))
    return Counter(re.findall(r"\b(tile\w+|tdp\w+|vmovnt\w+|vcvtne\w+)\b", code))

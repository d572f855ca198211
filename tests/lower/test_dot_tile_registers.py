"""lower/products/tile_registers.py: products on a processor's tile registers, executed by the machine of
tests/machine, which knows their sizes and what they clear; and the driver's code for them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from triton_spirv import compile as compile_text
from triton_spirv.errors import DeviceError
from triton_spirv.runtime import program
from triton_spirv.runtime.processor import TILES, Processor, processor
from triton_spirv.target import CPU, cpu_target, find_target
from triton_spirv.tools import spirv_tools

#: The machine, for a processor with tile registers, and the device where it has them.
SPIRV_MODES = ("machine-vector-amx", *(("vector",) if TILES in processor().flags else ()))

TARGET = "cpu:sapphirerapids"
INSTRUCTIONS = {"bf16": "tdpbf16ps", "i8": "tdpbssd"}
SUMS = {"bf16": "f32", "i8": "i32"}


@triton.jit
def products(a_ptr, b_ptr, out_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
             SUM: tl.constexpr):
    """[B, M, K] x [B, K, N], of one program."""
    batch, m, n, k = (tl.arange(0, B)[:, None, None], tl.arange(0, M)[None, :, None],
                      tl.arange(0, N)[None, None, :], tl.arange(0, K))
    a = tl.load(a_ptr + (batch * M + m) * K + k[None, None, :])
    b = tl.load(b_ptr + (batch * K + k[None, :, None]) * N + n)
    tl.store(out_ptr + (batch * M + m) * N + n, tl.dot(a, b, out_dtype=SUM))


@triton.jit
def summed(a_ptr, b_ptr, out_ptr, scale, ROUNDS: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
           K: tl.constexpr, SUM: tl.constexpr, SCALED: tl.constexpr, TWICE: tl.constexpr):
    """The sum over the rounds of a x b, from zero; scaled before each round, or with each product twice."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, N), SUM)
    for i in range(ROUNDS):
        a = tl.load(a_ptr + m[:, None] * (K * ROUNDS) + i * K + k[None, :])
        b = tl.load(b_ptr + (i * K + k[:, None]) * N + n[None, :])
        if SCALED:
            acc = acc * scale
        acc = tl.dot(a, b, acc, out_dtype=SUM)
        if TWICE:
            acc = tl.dot(a, b, acc, out_dtype=SUM)
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc)


def types(dtype: str):
    return {"bf16": tl.float32, "i8": tl.int32}[dtype]


def is_on_tiles(kernel) -> bool:
    """As the plan says it, and with the instruction."""
    planned, emitted = "tile registers" in kernel.asm["plan"], "llvm.x86.tdp" in kernel.asm["spvasm"]
    assert planned == emitted
    return planned


#: 2 x 2 sums, several such; four beside each other or below each other; one; fewer rows or words than a tile
SHAPES = [(1, 32, 32, 64), (1, 64, 128, 128), (2, 32, 64, 32), (1, 16, 64, 64), (1, 64, 16, 64),
          (1, 32, 16, 32), (1, 16, 16, 16), (2, 4, 32, 16), (1, 1, 16, 32), (1, 128, 32, 256)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ("bf16", "i8"))
def test_products_on_tiles(run, dtype, shape) -> None:
    """Sums of whole numbers are exact."""
    batches, m, n, k = shape
    a, b = numeric.whole((batches, m, k), dtype, 0), numeric.whole((batches, k, n), dtype, 1)
    out = numeric.poisoned((batches, m, n), SUMS[dtype])
    kernel = run(products, 1, numeric.tensor(a, dtype), numeric.tensor(b, dtype), out, *shape, types(dtype))
    assert is_on_tiles(kernel)
    kind = np.float64 if dtype == "bf16" else np.int64
    numeric.assert_same(numeric.array(out), (a.astype(kind) @ b.astype(kind)).astype(
        np.float32 if dtype == "bf16" else np.int32), signed_zeros=False)


@pytest.mark.parametrize("dtype, n, k", [("bf16", 8, 32), ("f16", 32, 32), ("f32", 32, 32), ("i8", 32, 8)])
def test_other_products_take_the_general_way(run, dtype, n, k) -> None:
    """Fewer columns than a vector, little along K, other types."""
    a, b = numeric.whole((1, 16, k), dtype, 0), numeric.whole((1, k, n), dtype, 1)
    out = numeric.poisoned((1, 16, n), SUMS.get(dtype, "f32"))
    kernel = run(products, 1, numeric.tensor(a, dtype), numeric.tensor(b, dtype), out, 1, 16, n, k,
                 tl.int32 if dtype == "i8" else tl.float32)
    assert not is_on_tiles(kernel)
    numeric.assert_same(numeric.array(out).astype(np.float64), a.astype(np.float64) @ b.astype(np.float64),
                        signed_zeros=False)


def test_bytes_wrap(run) -> None:
    """Extremes along a K whose sums pass 2 ** 24, and rounds that pass 2 ** 31."""
    rounds, k = 64, 2048
    a = np.full((16, rounds * k), -128, np.int8)
    b = np.full((rounds * k, 16), -128, np.int8)
    out = numeric.poisoned((16, 16), "i32")
    kernel = run(summed, 1, numeric.tensor(a, "i8"), numeric.tensor(b, "i8"), out, 1, rounds, 16, 16, k,
                 tl.int32, False, False)
    assert is_on_tiles(kernel)
    expected = np.array(rounds * k * 16384).astype(np.int64).astype(np.int32)
    numeric.assert_same(numeric.array(out), np.full((16, 16), expected, np.int32))


def sum_of_rounds(run, a, b, rounds: int, scale: float = 1.0, scaled: bool = False, twice: bool = False):
    (m, k), n = a.shape, b.shape[1]
    out = numeric.poisoned((m, n), "f32")
    kernel = run(summed, 1, numeric.tensor(a, "bf16"), numeric.tensor(b, "bf16"), out, scale, rounds, m, n,
                 k // rounds, tl.float32, scaled, twice)
    assert is_on_tiles(kernel)
    return numeric.array(out), kernel


@pytest.mark.parametrize("small", range(4))
def test_denormal_sums_of_any_round_are_kept(run, small) -> None:
    """One round's products are denormal: the sums hold them from there on, and those of later rounds, whose
    products are not, are added to them."""
    rounds, k = 4, 32
    a, b = np.zeros((32, rounds * k), np.float32), np.zeros((rounds * k, 32), np.float32)
    for i in range(rounds):
        a[:16, i * k], b[i * k] = 2.0 ** -50, 2.0 ** (-85 if i == small else -50)  # 2 ** -135, or 2 ** -100
    a[16:, small * k] = 2.0 ** -50                                                # the denormal ones alone
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    made, _ = sum_of_rounds(run, a, b, rounds)
    numeric.assert_same(made, expected)
    assert (expected[16:] == 2.0 ** -135).all()


@pytest.mark.parametrize("way", ("scaled", "twice"))
def test_sums_that_something_else_changes(run, way) -> None:
    """Scaling makes sums denormal that products of normal numbers are added to; two products share sums."""
    rounds, k = 2, 32
    a, b = np.zeros((16, rounds * k), np.float32), np.zeros((rounds * k, 32), np.float32)
    a[:, 0], b[0] = 2.0 ** -50, 2.0 ** (-50 if way == "scaled" else -85)
    a[:8, k], b[k] = 2.0 ** -50, 2.0 ** -50
    scale = 2.0 ** -35 if way == "scaled" else 1.0
    made, kernel = sum_of_rounds(run, a, b, rounds, scale, way == "scaled", way == "twice")
    each = [a[:, i * k:(i + 1) * k].astype(np.float64) @ b[i * k:(i + 1) * k].astype(np.float64)
            for i in range(rounds)]
    expected = each[0] * scale + each[1] if way == "scaled" else 2 * (each[0] + each[1])
    numeric.assert_same(made, expected.astype(np.float32))
    configured = kernel.asm["spvasm"].count("OpFunctionCall void %llvm.x86.ldtilecfg")
    assert configured == (1 if way == "scaled" else 2)


@pytest.mark.parametrize("dtype", ("bf16", "i8"))
def test_no_operand_is_fetched(run, mode, dtype, fetched) -> None:
    """Neither while it is staged nor while tiles are multiplied: only sums of bf16, of the tile below, and
    what the result is stored to."""
    a, b = numeric.whole((64, 128), dtype, 0), numeric.whole((128, 64), dtype, 1)
    out, kind = numeric.poisoned((64, 64), SUMS[dtype]), numeric.DTYPES[SUMS[dtype]].values
    kernel = run(summed, 1, numeric.tensor(a, dtype), numeric.tensor(b, dtype), out, 1.0, 2, 64, 64, 64,
                 tl.float32 if dtype == "bf16" else tl.int32, False, False)
    numeric.assert_same(out, a.astype(kind) @ b.astype(kind), signed_zeros=False)
    plan, text = kernel.asm["plan"], kernel.asm["spvasm"]
    assert "tile registers" in plan and "fetch next" not in plan and "fetch result" in plan
    assert mode == "vector" or not any(fetched["p1", locality] for locality in range(4))
    assert ("fetches between" in plan, "llvm.prefetch.p0" in text) == (dtype == "bf16",) * 2


def test_fast_math_asks_nothing(run) -> None:
    a, b = numeric.whole((1, 32, 64), "bf16", 0), numeric.whole((1, 64, 32), "bf16", 1)
    out = numeric.poisoned((1, 32, 32), "f32")
    kernel = run(products, 1, numeric.tensor(a, "bf16"), numeric.tensor(b, "bf16"), out, 1, 32, 32, 64,
                 tl.float32, fast_math=True)
    assert is_on_tiles(kernel) and "OpFMul" not in kernel.asm["spvasm"]
    numeric.assert_same(numeric.array(out), (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32),
                        signed_zeros=False)


@pytest.mark.parametrize("which", ("a", "b"))
@pytest.mark.parametrize("dtype", ("bf16", "i8"))
def test_operands_found_by_columns(run, dtype, which) -> None:
    """They are transposed in squares while they are staged: tiles are loaded row by row."""
    a, b = numeric.whole((64, 128), dtype, 0), numeric.whole((128, 32), dtype, 1)
    held = [x.T.copy() if name == which else x for name, x in (("a", a), ("b", b))]
    out = numeric.poisoned((64, 32), SUMS[dtype])
    kernel = run(by_columns, 1, numeric.tensor(held[0], dtype), numeric.tensor(held[1], dtype), out, 64, 32,
                 128, types(dtype), which == "a")
    assert is_on_tiles(kernel) and "transposed in squares" in kernel.asm["plan"]
    numeric.assert_same(numeric.array(out).astype(np.float64), a.astype(np.float64) @ b.astype(np.float64),
                        signed_zeros=False)


@triton.jit
def by_columns(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, SUM: tl.constexpr,
               LEFT: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    if LEFT:
        a = tl.load(a_ptr + k[None, :] * M + m[:, None])
        b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    else:
        a = tl.load(a_ptr + m[:, None] * K + k[None, :])
        b = tl.load(b_ptr + n[None, :] * K + k[:, None])
    tl.store(out_ptr + m[:, None] * N + n[None, :], tl.dot(a, b, out_dtype=SUM))


# ---- without the machine


DOT = """
module {{
  tt.func public @kernel(%x: !tt.ptr<{type}>, %out: !tt.ptr<{sum}>) {{
    %i = tt.make_range {{end = 4096 : i32, start = 0 : i32}} : tensor<4096xi32>
    %p0 = tt.splat %x : !tt.ptr<{type}> -> tensor<4096x!tt.ptr<{type}>>
    %p = tt.addptr %p0, %i : tensor<4096x!tt.ptr<{type}>>, tensor<4096xi32>
    %v = tt.load %p : tensor<4096x!tt.ptr<{type}>>
    %a = tt.reshape %v : tensor<4096x{type}> -> tensor<64x64x{type}>
    %zero = arith.constant dense<0{point}> : tensor<64x64x{sum}>
    %made = tt.dot %a, %a, %zero : tensor<64x64x{type}> * tensor<64x64x{type}> -> tensor<64x64x{sum}>
    %flat = tt.reshape %made : tensor<64x64x{sum}> -> tensor<4096x{sum}>
    %q0 = tt.splat %out : !tt.ptr<{sum}> -> tensor<4096x!tt.ptr<{sum}>>
    %q = tt.addptr %q0, %i : tensor<4096x!tt.ptr<{sum}>>, tensor<4096xi32>
    tt.store %q, %flat : tensor<4096x!tt.ptr<{sum}>>
    tt.return
  }}
}}
"""


def dot_text(dtype: str) -> str:
    return DOT.format(type=dtype, sum=SUMS[dtype], point=".0" if dtype == "bf16" else "")


@pytest.mark.parametrize("dtype", ("bf16", "i8"))
def test_without_the_capability_nothing_says_so(dtype: str) -> None:
    """Of other processors; and a module with the instructions is valid."""
    spirv_tools.validate(compile_text(dot_text(dtype), TARGET).words)
    assert INSTRUCTIONS[dtype] in compile_text(dot_text(dtype), TARGET).listing
    without = find_target(TARGET).with_options(tile_registers=frozenset())
    for target in (CPU, cpu_target("x86_64-v4"), without):
        assert "llvm.x86.t" not in compile_text(dot_text(dtype), target).listing


BUILD = """
import sys
from pathlib import Path
from triton_spirv.runtime.loader import open_cpu
library = open_cpu()
(platform,) = library.platforms()
device = library.devices(platform)[0]
context = library.create_context(device)
library.build(library.program_with_il(context, Path(sys.argv[1]).read_bytes()), device)
"""


@pytest.mark.parametrize("dtype", ("bf16", "i8"))
def test_the_drivers_code(dtype: str, tmp_path: Path) -> None:
    """Four sums stay in registers over a round of K: of two tiles, four loads for four products each."""
    (tmp_path / "kernel.spv").write_bytes(compile_text(dot_text(dtype), TARGET).words)
    variables = {**os.environ, "CL_CONFIG_CPU_TARGET_ARCH": "sapphirerapids", "CL_CONFIG_DUMP_ASM": "1"}
    subprocess.run([sys.executable, "-c", BUILD, "kernel.spv"], cwd=tmp_path, env=variables, check=True,
                   timeout=120, capture_output=True)
    code = "".join(path.read_text() for path in tmp_path.glob("*.s"))
    found = Counter(re.findall(r"\b(ldtilecfg|tile\w+|tdp\w+)\b", code))
    products = 4 * 64 // {"bf16": 32, "i8": 64}[dtype]
    assert found == {"ldtilecfg": 1, "tilezero": 4, "tileloadd": products // 2, "tileloaddt1": products // 2,
                     INSTRUCTIONS[dtype]: products, "tilestored": 4, "tilerelease": 1}


def test_a_processor_without_them_refuses() -> None:
    """By name, before the driver would end the process."""
    words = compile_text(dot_text("i8"), TARGET).words
    if TILES in processor().flags:
        program.require_processor(words)
        return
    with pytest.raises(DeviceError, match="compiled for a processor with amx_tile, which this one lacks"):
        program.require_processor(words)


@pytest.mark.parametrize(("target", "feature"), [("cpu:x86_64-v3", "avx2"),
                                                 ("cpu:sapphirerapids", "amx_tile")])
def test_older_processors_refuse(target: str, feature: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What sums products is no instruction of every processor."""
    words = compile_text(dot_text("i8"), find_target(target)).words
    monkeypatch.setattr(program, "processor", lambda: Processor("x86_64", "some", frozenset({"sse4_2"})))
    with pytest.raises(DeviceError, match=f"compiled for a processor with {feature}, which this one lacks"):
        program.require_processor(words)

"""lower/arithmetic/narrowing.py: f32 becoming bf16 by an instruction that clears denormal numbers, where none
are. Every result is exact, and every NaN has the bits that it has without the instruction."""

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
import torch
import triton
import triton.language as tl
from lower.test_dot_tile_registers import BUILD
from lower.test_last_round import EARLY, product
from triton_spirv import compile as compile_text
from triton_spirv.errors import DeviceError
from triton_spirv.runtime import program
from triton_spirv.runtime.processor import Processor, processor
from triton_spirv.target import CPU, cpu_target, find_target

#: A machine with the instruction, and the device, which has it or not.
SPIRV_MODES = ("machine-vector-amx", "vector")

TEST, CONVERSION = "llvm.x86.avx512.fpclass.ps.512", "llvm.x86.avx512bf16.cvtneps2bf16.512"
#: bits below those that bf16 keeps: nothing, the least, just below a tie, a tie, just above it, all
LOWER = (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF)
WITHOUT = "-conversions"
TARGET = "cpu:sapphirerapids"


@triton.jit
def converted(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n).to(tl.bfloat16), mask=i < n)


@triton.jit
def weighted(x_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """bf16(x) b, where x was computed."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(x_ptr + m[:, None] * K + k[None, :]) * 2.0
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.store(out_ptr + m[:, None] * N + n[None, :], tl.dot(x.to(tl.bfloat16), b))


@triton.jit
def rows_of_weights(x_ptr, out_ptr, N: tl.constexpr):
    """A softmax, stored in bf16."""
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i)
    weight = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + i, (weight / tl.sum(weight, 0)).to(tl.bfloat16))


@triton.jit
def computed(x_ptr, y_ptr, scale, out_ptr, n, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """In bf16, rounded by each operation; `scale` is a scalar."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + i, mask=i < n), tl.load(y_ptr + i, mask=i < n)
    if HOW == "sums":
        made = x + y - x * y
    elif HOW == "quotients":
        made = x / y
    elif HOW == "scaled":
        made = x * scale.to(tl.bfloat16)
    else:
        made = tl.where(x < y, tl.maximum(x, y), tl.abs(x))
    tl.store(out_ptr + i, made, mask=i < n)


def rounded(bits: np.ndarray) -> np.ndarray:
    """The bits of bf16 for those of f32: to the nearest, ties to even; a NaN is a quiet one."""
    odd = bits >> 16 & 1
    nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return (np.where(nan, bits | 0x400000, bits + 0x7FFF + odd) >> 16).astype(np.uint16)


def check(run, bits: np.ndarray, block: int, **options) -> triton.compiler.CompiledKernel:
    """Convert the f32 of these bits, in programs of so many."""
    x = torch.from_numpy(bits.astype(np.uint32).view(np.float32).copy())
    out = numeric.poisoned(x.numel(), "bf16")
    kernel = run(converted, triton.cdiv(x.numel(), block), x, out, x.numel(), block, **options)
    np.testing.assert_array_equal(out.view(torch.int16).numpy().view(np.uint16), rounded(bits))
    return kernel


def is_there(cell) -> bool:
    """Has what executes the kernel the instruction?"""
    return "amx" in str(cell) or "avx512_bf16" in processor().flags


@pytest.mark.parametrize("order", ["sorted", "shuffled", "without denormals", "without numbers"])
def test_all_classes(run, cell, order: str) -> None:
    """Every upper half with several lower ones, windows of one kind and mixed ones. The machine takes each
    61st."""
    upper = np.arange(0, 1 << 16, 61 if "machine" in str(cell) else 1, dtype=np.uint32)
    bits = (upper[:, None] << 16 | np.array(LOWER, np.uint32)).ravel()
    size = bits & 0x7FFFFFFF
    if order == "shuffled":
        bits = np.random.default_rng(0).permutation(bits)
    elif order == "without denormals":
        bits = bits[(size == 0) | (size >= 0x800000)]
    elif order == "without numbers":
        bits = bits[size > 0x7F800000]
    check(run, bits, 1024)


@pytest.mark.parametrize("block", [1, 8, 16, 32, 64, 256, 512, 4096])
def test_one_denormal_number_anywhere(run, cell, block: int) -> None:
    """Beside normal numbers, zeros, infinities and NaN; at each place in turn, and nowhere. A mask cuts the
    last block."""
    count, many = 2 * block - block // 2, "machine" not in str(cell)
    usual = np.resize(np.array([0x3F80C000, 0, 0x80000000, 0x7F800000, 0xFFA00001, 0x7F7FFFFF, 0x00800000,
                                0x3F808000, 0x3F818000, 0x80807FFF], np.uint32), count)
    for number, place in enumerate([None, *range(0, count, 1 if many and block <= 256 else count // 5 or 1)]):
        bits = usual.copy()
        if place is not None:
            bits[place] = (0x00000001, 0x007FFFFF, 0x00408000, 0x80018000, 0x807F8000)[number % 5]
        kernel = check(run, bits, block)
    if block >= 256:
        used = TEST in kernel.asm["spvasm"] and CONVERSION in kernel.asm["spvasm"]
        assert used == is_there(cell)


@pytest.mark.parametrize("how", ["sums", "quotients", "scaled", "chosen"])
@pytest.mark.parametrize("block", [1, 8, 64, 1024])
def test_arithmetic_in_bf16(run, cell, how: str, block: int) -> None:
    """As torch rounds each operation; numbers of all magnitudes, so that results are denormal, too."""
    numeric.interpreter_is_wrong_on_bf16("bf16")
    random = np.random.default_rng(block)
    count = 2 * block + block // 2
    x, y = (torch.from_numpy(random.integers(0, 1 << 16, count).astype(np.uint16).view(np.int16)).view(
        torch.bfloat16) for _ in range(2))
    scale = float(np.float32(2.0 ** -100 * 1.5))
    out = numeric.poisoned(count, "bf16")
    kernel = run(computed, triton.cdiv(count, block), x, y, scale, out, count, how, block)
    expected = {"sums": lambda: x + y - x * y, "quotients": lambda: (x.float() / y.float()).bfloat16(),
                "scaled": lambda: x * torch.tensor(scale, dtype=torch.bfloat16),
                "chosen": lambda: torch.where(x < y, torch.fmax(x, y), x.abs())}[how]()
    if how == "quotients":  # within 2.5 units of f32's last place, then rounded: at most to the next one
        near = (out.view(torch.int16).int() - expected.view(torch.int16).int()).abs() <= 1
        assert (near | (out.isnan() & expected.isnan())).all()
    else:
        numeric.assert_same(out, numeric.array(expected))
    if block == 1024:
        assert (TEST in kernel.asm["spvasm"]) == is_there(cell)


def test_without_it(run) -> None:
    kernel = check(run, np.arange(1024, dtype=np.uint32) << 13, 1024, optimise=WITHOUT)
    assert TEST not in kernel.asm["spvasm"]


@pytest.mark.parametrize("toward", ["rtz", "rtne"])
def test_only_to_nearest(run, toward: str) -> None:
    @triton.jit
    def cut(x_ptr, out_ptr, HOW: tl.constexpr, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(out_ptr + i, tl.load(x_ptr + i).to(tl.bfloat16, fp_downcast_rounding=HOW))
    bits = np.resize(np.array([0x3F80C000, 0x3F818000, 0x00018000, 0xBF80FFFF], np.uint32), 512)
    x, out = torch.from_numpy(bits.view(np.float32)), numeric.poisoned(512, "bf16")
    run(cut, 1, x, out, toward, 512)
    expected = rounded(bits) if toward == "rtne" else (bits >> 16).astype(np.uint16)
    np.testing.assert_array_equal(out.view(torch.int16).numpy().view(np.uint16), expected)


@pytest.mark.parametrize("low", [-3, -60, -138])
@pytest.mark.parametrize("m, n, k", [(16, 16, 16), (64, 32, 64), (128, 64, 128)])
def test_weights(run, cell, m: int, n: int, k: int, low: int) -> None:
    """What is staged for a product: a number in each row, which may be denormal, and rounds to a power of
    two."""
    numeric.interpreter_is_wrong_on_bf16("bf16")
    random = np.random.default_rng(m - low)
    power = 2.0 ** random.integers(max(low, -131), 1, m)
    x, b = np.zeros((m, k), np.float32), np.zeros((k, n), np.float32)
    b[:] = 2.0 ** random.integers(0, 8, (k, n))
    place = random.integers(0, k, m)
    x[np.arange(m), place] = power * (1 + 2.0 ** -10) / 2
    x = np.where(x.astype(np.float64) * 2 < 2.0 ** -133, 0, x).astype(np.float32)
    out = numeric.poisoned((m, n), "f32")
    kernel = run(weighted, 1, numeric.tensor(x, "f32"), numeric.tensor(b, "bf16"), out, m, n, k)
    held = numeric.array(numeric.tensor(x * np.float32(2), "bf16")).astype(np.float64)
    numeric.assert_same(out, (held @ b.astype(np.float64)).astype(np.float32), signed_zeros=False)
    assert (TEST in kernel.asm["spvasm"]) == is_there(cell)


@pytest.mark.parametrize("spread", [1, 30, 100])
@pytest.mark.parametrize("block", [64, 1024])
def test_softmax(run, spread: int, block: int) -> None:
    """Weights that are denormal, or 0, where scores lie far apart: the same bits by either way."""
    x = torch.from_numpy(np.random.default_rng(block).normal(0, spread, (3, block)).astype(np.float32))
    made = [numeric.poisoned(x.shape, "bf16") for _ in range(2)]
    run(rows_of_weights, 3, x, made[0], block)
    run(rows_of_weights, 3, x, made[1], block, optimise=WITHOUT)
    assert torch.equal(*(out.view(torch.int16) for out in made))
    expected = torch.softmax(x.double(), 1)
    # bf16 to half of its last bit, of numbers that f32 has to some: 2 ** -8, and a little
    np.testing.assert_allclose(made[0].double().numpy(), expected.numpy(), rtol=2.0 ** -7.9, atol=2.0 ** -132)


@pytest.mark.parametrize("power", [0, -63, -66, -70])
def test_sums_that_go_straight_to_memory(run, power: int) -> None:
    """Tiles that a product's last round converts; the power of two that whole operands are multiplied with
    makes some sums denormal, and their conversions inexact."""
    numeric.interpreter_is_wrong_on_bf16("bf16")
    a, b = (numeric.whole((64, 64), "bf16", side).astype(np.float32) * np.float32(2.0 ** power)
            for side in (0, 1))
    out = numeric.poisoned((64, 64), "bf16")
    kernel = run(product, 1, numeric.tensor(a, "bf16"), numeric.tensor(b, "bf16"), out, 64, 64, 64, 64, 64,
                 "narrowed", 64, 64, 32)
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    numeric.assert_same(out, numeric.array(numeric.tensor(expected, "bf16")), signed_zeros=False)
    assert EARLY in kernel.asm["plan"]


TEXT = """module {
  tt.func public @kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16>) {
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %q = tt.addptr %p, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %q : tensor<64x!tt.ptr<f32>>
    %w = arith.truncf %v : tensor<64xf32> to tensor<64xbf16>
    %r = tt.splat %y : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %s = tt.addptr %r, %i : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    tt.store %s, %w : tensor<64x!tt.ptr<bf16>>
    tt.return
  }
}
"""


def test_the_drivers_code(tmp_path: Path) -> None:
    """One test and one conversion for each of four vectors, and one decision for all of them."""
    (tmp_path / "kernel.spv").write_bytes(compile_text(TEXT, TARGET).words)
    variables = {**os.environ, "CL_CONFIG_CPU_TARGET_ARCH": "sapphirerapids", "CL_CONFIG_DUMP_ASM": "1"}
    subprocess.run([sys.executable, "-c", BUILD, "kernel.spv"], cwd=tmp_path, env=variables, check=True,
                   timeout=120, capture_output=True)
    code = "".join(path.read_text() for path in tmp_path.glob("*.s"))
    found = Counter(re.findall(r"\b(vfpclassps|vcvtneps2bf16|vpmovdw|kortest\w)\b", code))
    assert found == {"vfpclassps": 4, "kortestw": 1, "vcvtneps2bf16": 4, "vpmovdw": 4}


def test_where_it_is_not_used() -> None:
    """Not without the instruction, nor the optimisation, nor for short vectors, nor where the result is
    widened again."""
    for target in (CPU, cpu_target("x86_64-v4"), find_target(TARGET).optimised(WITHOUT)):
        assert TEST not in compile_text(TEXT, target).listing
    assert TEST in compile_text(TEXT, TARGET).listing
    assert TEST not in compile_text(TEXT.replace("64", "8"), TARGET).listing
    again = TEXT.replace("tt.store %s, %w", """%u = arith.extf %w : tensor<64xbf16> to tensor<64xf32>
    %t = arith.truncf %u : tensor<64xf32> to tensor<64xbf16>
    tt.store %s, %t""")
    listing = compile_text(again, TARGET).listing
    assert listing.count(CONVERSION) == compile_text(TEXT, TARGET).listing.count(CONVERSION) > 0


def test_a_processor_without_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, before the driver would end the process."""
    words = compile_text(TEXT, TARGET).words
    for lacking in ("avx512_bf16", "avx512dq"):
        monkeypatch.setattr(program, "processor", lambda name=lacking: Processor(
            "x86_64", "", frozenset({"avx512_bf16", "avx512dq"} - {name})))
        with pytest.raises(DeviceError, match=f"a processor with {lacking}, which this one lacks"):
            program.require_processor(words)


def test_a_processor_without_avx512_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """What chooses the larger of two numbers, by each width of vectors."""
    for width in (4, 8, 64):
        text = TEXT.replace("64", str(width)).replace(
            f"%w = arith.truncf %v : tensor<{width}xf32>",
            f"%m = arith.maxnumf %v, %v : tensor<{width}xf32>\n%w = arith.truncf %m : tensor<{width}xf32>")
        words = compile_text(text, cpu_target("x86_64-v4")).words
        assert b"llvm.x86.avx512.mask.range.ps" in words
        monkeypatch.setattr(program, "processor", lambda: Processor("x86_64", "", frozenset({"avx2", "avx"})))
        with pytest.raises(DeviceError, match="a processor with avx512dq, which this one lacks"):
            program.require_processor(words)

"""Targets of a user's own making: what a device offers is data, and rules ask it.

`pytest tests/lower --spirv-modes family` runs the operation tests on the target of tests/family.py.
"""

from __future__ import annotations

import ast
from pathlib import Path

import family
import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from triton.language.extra.cuda import libdevice
from triton_spirv.errors import MissingCapability
from triton_spirv.target import TARGETS
from ttgir import module

SOURCES = Path(triton_spirv.__file__).parent


@triton.jit
def scaled(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i) * 2)


@triton.jit
def reversed_bits(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, libdevice.brev(tl.load(x_ptr + i)))


@triton.jit
def product(a_ptr, b_ptr, out_ptr, SIZE: tl.constexpr, DEPTH: tl.constexpr):
    i, k = tl.arange(0, SIZE), tl.arange(0, DEPTH)
    a = tl.load(a_ptr + i[:, None] * DEPTH + k[None, :])
    b = tl.load(b_ptr + k[:, None] * SIZE + i[None, :])
    tl.store(out_ptr + i[:, None] * SIZE + i[None, :], tl.dot(a, b, input_precision="ieee"))


@pytest.fixture
def chosen(monkeypatch):
    """The target of tests/family.py is the one that kernels are compiled for."""
    monkeypatch.setenv("TRITON_SPIRV_TARGET", family.NAME)
    monkeypatch.delenv("TRITON_SPIRV_DEVICE", raising=False)
    scaled.device_caches.clear()
    yield
    scaled.device_caches.clear()


def test_what_it_offers_is_used(chosen):
    out = numeric.poisoned(256, "f32")
    made = scaled[(1,)](numeric.tensor(np.arange(256), "f32"), out, 256, num_warps=2)
    numeric.assert_same(out, np.arange(256, dtype=np.float32) * 2)
    assert made.metadata.artifact["local_size"][0] == 64
    assert made.metadata.artifact["passing"] == "arguments"
    assert "SubgroupSize 32" in made.asm["spvasm"]


def test_float64_is_refused_with_the_users_line(chosen):
    lines = Path(__file__).read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "tl.load(x_ptr" in text)
    x = numeric.tensor(np.arange(256), "f64")
    with pytest.raises(MissingCapability, match="no 64-bit floats") as caught:
        scaled[(1,)](x, x, 256)
    assert f"test_family.py:{line}:" in str(caught.value)
    assert "arith.mulf on tensor<256xf64>" in str(caught.value)
    assert family.refuses(caught.value)


def test_more_shared_memory_than_there_is_is_global_memory():
    aliases = """
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
"""
    body = """
    %v = arith.constant dense<1.0> : tensor<32768xf32, #one>
    %m = ttg.local_alloc %v : (tensor<32768xf32, #one>) -> !ttg.memdesc<32768xf32, #shared, #smem>
"""
    text = module(body, "%x: !tt.ptr<f32>", aliases, lanes=32)
    made = triton_spirv.compile(text, family.TARGET)
    assert (made.shared_bytes, made.overflow_bytes, made.hidden) == (0, 131072, ("overflow_buffer",))
    made = triton_spirv.compile(text, TARGETS["cpu-simt32"])
    assert (made.shared_bytes, made.overflow_bytes, made.hidden) == (131072, 0, ())


@pytest.mark.parametrize("bits", [32, 64])
def test_bits_are_reversed_without_the_instruction(chosen, bits):
    assert "BitInstructions" not in family.TARGET.capabilities
    x, out = numeric.pairs(f"i{bits}", 1024)[0], numeric.poisoned(1024, f"i{bits}")
    reversed_bits[(1,)](numeric.tensor(x, f"i{bits}"), out, 1024)
    texts = [format(int(value) % (1 << bits), f"0{bits}b") for value in x]
    numeric.assert_same(out, np.array([int(text[::-1], 2) for text in texts], f"u{bits // 8}").view(x.dtype))


@pytest.mark.parametrize("depth, padded", [(32, True), (64, False)])
def test_operands_may_fill_shared_memory(chosen, depth, padded):
    """Room stays free between rows of banks, unless the operands fit without it only."""
    a, b = (numeric.random(shape, "i8", seed).astype(np.float32) for seed, shape in
            enumerate([(128, depth), (depth, 128)]))
    out = numeric.poisoned((128, 128), "f32")
    made = product[(1,)](numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), out, 128, depth)
    numeric.assert_same(out, a @ b)  # sums below 2^24
    operands = 2 * 128 * depth * 4
    assert (made.metadata.shared > operands) == padded and made.metadata.shared <= family.TARGET.shared_bytes


def test_rules_name_no_target():
    """Neither targets nor environments: what differs is asked of both."""
    names = {name for name in TARGETS if name != "cpu"} | {"opencl", "vulkan"}
    for path in sorted((SOURCES / "lower").glob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text()))
        assert not {node.value for node in nodes if isinstance(node, ast.Constant)} & names, path.name

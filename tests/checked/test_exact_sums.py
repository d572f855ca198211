"""check=compiler: products of narrow floats in the form whose sums are exact in any order."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton_spirv.facts.sums import sums_of


@pytest.fixture(params=["cpu", pytest.param("vulkan", marks=pytest.mark.vulkan)])
def anywhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here and on a Vulkan device, to which the memory is copied."""
    if request.param == "vulkan":
        monkeypatch.setenv("TRITON_SPIRV_DEVICE", os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan"))


@triton.jit
def narrow_product(x, y, o, SIZE: tl.constexpr, K: tl.constexpr, OUT: tl.constexpr):
    i, j, k = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :], tl.arange(0, K)
    left, right = tl.load(x + i * K + k[None, :]), tl.load(y + k[:, None] * SIZE + j)
    tl.store(o + i * SIZE + j, tl.dot(left, right, out_dtype=OUT))


@triton.jit
def scaled_product(x, xs, y, ys, o, SIZE: tl.constexpr, K: tl.constexpr, LEFT: tl.constexpr,
                   RIGHT: tl.constexpr):
    i, j = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    left: tl.constexpr = K // 2 if LEFT == "e2m1" else K
    right: tl.constexpr = K // 2 if RIGHT == "e2m1" else K
    g = tl.arange(0, K // 32)[None, :]
    a = tl.load(x + i * left + tl.arange(0, left)[None, :])
    b = tl.load(y + tl.arange(0, right)[:, None] * SIZE + j)
    sums = tl.dot_scaled(a, tl.load(xs + i * (K // 32) + g), LEFT, b,
                         tl.load(ys + tl.arange(0, SIZE)[:, None] * (K // 32) + g), RIGHT)
    tl.store(o + i * SIZE + j, sums)


def small_integers(values: Any, most: int) -> np.ndarray:
    """What passes/comparable.py makes of operands."""
    return np.clip(np.rint(values.double().numpy() * max(1, most / 4)), -most, most)


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("dtype, out, depth, most", [
    ("float16", "float16", 32, 4), ("float16", "float16", 16, 8), ("float16", "float32", 32, 512),
    ("float8_e5m2", "float32", 32, 4), ("float8_e4m3fn", "float32", 64, 8), ("bfloat16", "float32", 32, 128)])
def test_narrow_sums_that_are_exact(dtype: str, out: str, depth: int, most: int) -> None:
    """In the form whose sums are compared in any order, results are those of integers."""
    x, y = (torch.randn(shape).to(getattr(torch, dtype)) for shape in ((16, depth), (depth, 16)))
    o = torch.zeros(16, 16, dtype=getattr(torch, out))
    constants: dict[str, Any] = {"SIZE": 16, "K": depth, "OUT": getattr(tl, out)}
    made = narrow_product[(1,)](x, y, o, **constants, compared="exact")
    assert sums_of(made.asm["ttir"]) == (True, True, frozenset(), False)
    np.testing.assert_array_equal(o.double().numpy(), small_integers(x, most) @ small_integers(y, most))
    narrow_product[(1,)](x, y, o, **constants, check="compiler")
    torch.testing.assert_close(o.double(), x.double() @ y.double(), rtol=1e-2, atol=5e-2)


FOURS = [0, 0.5, 1, 1.5, 2, 3, 4, 6]


@pytest.mark.takes_turns(2)
@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("left", ["e2m1", "e4m3", "e5m2", "bf16"])
@pytest.mark.parametrize("right", ["e2m1", "e4m3", "bf16"])
def test_scaled_sums_that_are_exact(left: str, right: str) -> None:
    types = {"e4m3": (torch.float8_e4m3fn, 8), "e5m2": (torch.float8_e5m2, 4), "bf16": (torch.bfloat16, 128)}
    depth, made = 64, []
    least = min((types[form][1] for form in (left, right) if form in types), default=0)  # for both
    for form, along in ((left, 1), (right, 0)):
        shape = (16, depth) if along else (depth, 16)
        if form == "e2m1":
            codes = torch.randint(0, 16, shape, dtype=torch.uint8)
            low, high = (codes[:, k::2] if along else codes[k::2] for k in range(2))
            numbers = np.array([*FOURS, *(-x for x in FOURS)])[codes.numpy()]
            made.append(((low | high << 4).contiguous(), numbers, numbers))
        else:
            values = torch.randn(shape).to(types[form][0])
            made.append((values, small_integers(values, least), values.double().numpy()))
    scales = [torch.randint(125, 130, (16, depth // 32), dtype=torch.uint8) for _ in range(2)]
    o = torch.zeros(16, 16)
    (a, small_a, wide_a), (b, small_b, wide_b) = made
    options: dict[str, Any] = {"SIZE": 16, "K": depth, "LEFT": left, "RIGHT": right}
    kernel = scaled_product[(1,)](a, scales[0], b, scales[1], o, **options, compared="exact")
    assert sums_of(kernel.asm["ttir"]) == (True, True, frozenset(), False)
    by_last_bit = [1.0 + (scale.numpy() & 1).repeat(32, 1) for scale in scales]
    np.testing.assert_array_equal(o.numpy(), (small_a * by_last_bit[0]) @ (small_b * by_last_bit[1].T))
    scaled_product[(1,)](a, scales[0], b, scales[1], o, **options, check="compiler")
    factors = [2.0 ** (scale.double().numpy().repeat(32, 1) - 127) for scale in scales]
    wanted = (wide_a * factors[0]) @ (wide_b * factors[1].T)
    np.testing.assert_allclose(o.numpy(), wanted, rtol=1e-4, atol=1e-3)


@triton.jit
def two_products(x, y, z, o, d, e, f):
    i = tl.arange(0, 4)[:, None, None]
    j, k = tl.arange(0, 2)[None, :, None], tl.arange(0, 128)[None, None, :]
    at = i * 256 + j * 128 + k
    tl.store(o + at, tl.dot(tl.load(x + i * 2 + j), tl.load(y + i * 128 + k), tl.load(z + at),
                            input_precision="ieee"))
    rows, depth = tl.arange(0, 4)[:, None], tl.arange(0, 32)
    left = tl.load(d + rows * 32 + depth[None, :]).to(tl.float8e4nv)
    right = tl.load(e + depth[:, None]).to(tl.float8e5)
    one, ones = tl.full((1, 1), 127, tl.uint8), tl.full((4, 1), 127, tl.uint8)
    tl.store(f + rows, tl.dot_scaled(left, ones, "e4m3", right, one, "e5m2"))


@pytest.mark.parametrize("lanes", ["cpu-simt", "cpu-simt8", "cpu-simt32"])
def test_lanes_multiply_and_add_in_one_operation(lanes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver fused a product with its sum, or did not, as the code around it was: 1 rounding or 2."""
    monkeypatch.setenv("TRITON_SPIRV_TARGET", lanes)
    x, y, z, o = torch.randn(4, 2, 1), torch.randn(4, 1, 128), torch.randn(4, 2, 128), torch.zeros(4, 2, 128)
    d, e, f = torch.randint(0, 3, (4, 32)).float(), torch.randint(0, 3, (32, 1)).float(), torch.zeros(4, 1)
    two_products[(1,)](x, y, z, o, d, e, f, num_warps=1, enable_fp_fusion=False, check="compiler")
    np.testing.assert_array_equal(f, d @ e)
    np.testing.assert_array_equal(o, (x.double() * y + z).float())

"""Bits and floats, against numpy and, for 8-bit types, torch."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from triton_spirv.ir import FloatType
from triton_spirv.ir.numbers import BitsFloat, from_bits, rounded, to_bits
from triton_spirv.ir.types import FLOAT_WIDTHS

SMALL = [name for name, width in FLOAT_WIDTHS.items() if width <= 8]
TORCH = {
    "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2", "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
}  # fmt: skip


@pytest.mark.parametrize("name", [*SMALL, "f16", "bf16"])
def test_every_pattern_comes_back(name):
    type = FloatType(name)
    for bits in range(1 << type.width):
        value = from_bits(bits, type)
        if math.isnan(value):
            assert math.isnan(from_bits(to_bits(value, type), type))
            assert BitsFloat.of(bits, type).bits == to_bits(BitsFloat.of(bits, type), type) == bits
        else:
            assert to_bits(value, type) == bits


@given(st.floats(width=64))
def test_rounding_is_numpys(value):
    with np.errstate(over="ignore"):
        assert to_bits(value, FloatType("f64")) == int(np.float64(value).view(np.uint64)) or math.isnan(value)
        if not math.isnan(value):
            assert rounded(value, FloatType("f32")) == np.float32(value)
            assert to_bits(value, FloatType("f16")) == int(np.float16(value).view(np.uint16))


@given(st.floats(width=32, allow_nan=False))
def test_bf16_rounds_half_to_even(value):
    raw = int(np.float32(value).view(np.uint32))
    expected = raw + 0x7FFF + (raw >> 16 & 1) >> 16
    assert to_bits(value, FloatType("bf16")) == expected


@pytest.mark.parametrize("name", TORCH)
def test_eight_bits_are_torchs(name):
    torch = pytest.importorskip("torch")
    type = FloatType(name)
    patterns = torch.arange(256, dtype=torch.uint8)
    expected = patterns.view(getattr(torch, TORCH[name])).to(torch.float64)
    for bits in range(256):
        value = from_bits(bits, type)
        assert value == expected[bits] or (math.isnan(value) and math.isnan(expected[bits]))


def test_too_large():
    assert to_bits(1e6, FloatType("f16")) == 0x7C00
    assert to_bits(-1e6, FloatType("f8E5M2")) == 0xFC
    assert math.isnan(from_bits(to_bits(1e6, FloatType("f8E4M3FN")), FloatType("f8E4M3FN")))
    assert from_bits(to_bits(1e6, FloatType("f4E2M1FN")), FloatType("f4E2M1FN")) == 6.0

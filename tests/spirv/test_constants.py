"""Constants: their bits are the nearest ones and what spirv-dis reads; each is there once."""

from __future__ import annotations

import math
import re
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spirv.building import assert_valid, kernel, new_module
from triton_spirv.spirv import Array, Bool, Float, Int, Pointer, Struct, Vector
from triton_spirv.spirv.literals import float_bits, scalar_bits, scalar_value
from triton_spirv.tools import disassemble

F16, F32, F64, BF16 = Float(16), Float(32), Float(64), Float(16, "BFloat16KHR")
I8, I16, I32, I64 = (Int(width) for width in (8, 16, 32, 64))

some = settings(deadline=None, max_examples=60)
ties_of_bfloat16 = st.integers(0, 0x1FFFF).map(lambda upper: _f32(upper << 15))
doubles = st.one_of(st.floats(), st.floats(width=32), st.floats(width=16), st.floats(-1e-35, 1e-35))


@some
@given(st.sampled_from([I8, I16, I32, I64]), st.integers(-2**70, 2**70))
def test_ints_wrap_and_read_back(type: Int, number: int) -> None:
    m = new_module()
    value = m.constant(type, number)
    assert value.constant == (number + 2**(type.width - 1)) % 2**type.width - 2**(type.width - 1)
    [text] = [line.split()[-1] for line in disassemble(m.words()).splitlines() if "OpConstant" in line]
    assert int(text) % 2**type.width == number % 2**type.width


@some
@given(st.sampled_from([F16, F32, F64]), st.data())
def test_float_bits_read_back_through_spirv_dis(type: Float, data: st.DataObject) -> None:
    any_bits = st.integers(0, 2**type.width - 1)
    bits = data.draw(st.one_of(any_bits, doubles.map(lambda value: float_bits(type, value))))
    m = new_module()
    m.constant_bits(type, bits)
    [text] = [line.split()[-1] for line in disassemble(m.words()).splitlines() if "OpConstant" in line]
    assert _bits_of_text(type, text) == bits


@some
@given(doubles)
def test_rounding_is_numpys(number: float) -> None:
    with np.errstate(over="ignore"):
        for type, numpy_type in ((F16, np.float16), (F32, np.float32), (F64, np.float64)):
            if not math.isnan(number):
                bits = float_bits(type, number).to_bytes(type.width // 8, "little")
                assert bits == numpy_type(number).tobytes()


@settings(max_examples=300, deadline=None)
@given(st.one_of(doubles, st.floats(-1e-38, 1e-38), ties_of_bfloat16))
def test_bfloat16_is_the_nearest_even(number: float) -> None:
    bits = float_bits(BF16, number)
    if math.isnan(number):
        assert math.isnan(_f32(bits << 16))
        return
    assert bits >> 15 == (math.copysign(1, number) < 0)
    limit = Fraction(_f32(0x7F7F0000)) + Fraction(2) ** 119    # half of a step above the largest number
    if abs(number) == math.inf or abs(Fraction(number)) >= limit:
        assert bits & 0x7FFF == 0x7F80
        return
    distance = abs(Fraction(_f32(bits << 16)) - Fraction(number))
    for neighbour in (bits - 1, bits + 1):
        if 0 <= neighbour & 0x7FFF < 0x7F80 and neighbour >> 15 == bits >> 15:
            other = abs(Fraction(_f32(neighbour << 16)) - Fraction(number))
            assert distance < other or (distance == other and bits % 2 == 0)


@given(st.sampled_from([I8, I32, I64, F16, F32, F64, BF16]), st.data())
def test_bits_of_a_value_are_the_bits(type: Int | Float, data: st.DataObject) -> None:
    bits = data.draw(st.integers(0, 2**type.width - 1))
    value = scalar_value(type, bits)
    if not (isinstance(type, Float) and math.isnan(value or 0)):
        assert scalar_bits(type, value) == bits


def test_nan_payloads_stay() -> None:
    assert float_bits(F32, math.nan) == 0x7FC00000
    assert float_bits(F16, -math.nan) == 0xFE00
    assert float_bits(F32, _f32(0x7FC12000)) == 0x7FC12000
    assert float_bits(F16, _f32(0x7FC12000)) == 0x7E09
    assert float_bits(BF16, _f32(0x7FC12000)) == 0x7FC1


def test_each_constant_is_there_once() -> None:
    m = new_module()
    assert m.constant(F32, 1) is m.constant(F32, 1.0) is m.constant_bits(F32, 0x3F800000)
    assert m.constant(I32, -1) is m.constant(I32, 0xFFFFFFFF)
    assert m.constant(F32, 0.0) is not m.constant(F32, -0.0)
    assert m.constant(Vector(F32, 4), -0.0) is not m.constant(Vector(F32, 4), 0.0)
    assert m.constant(F32, math.nan) is m.constant(F32, float("nan"))
    assert m.constant(Vector(I32, 2), (1, 1)) is m.constant(Vector(I32, 2), 1)
    assert m.constant(Vector(I32, 2), m.constant(I32, 1)) is m.constant(Vector(I32, 2), 1)
    assert m.undef(F32) is m.undef(F32) is not m.null(F32)
    assert m.constant(Bool(), True) is m.constant(Bool(), 1) is not m.constant(Bool(), False)
    assert m.constant(Int(32), np.int32(7)) is m.constant(Int(32), 7)


def test_composites_validate() -> None:
    m = new_module()
    point = Struct((F32, Vector(I16, 4), Array(I64, 2)))
    value = m.constant(point, (1.5, 7, (1, -1)))
    assert value.constant == (1.5, (7, 7, 7, 7), (1, -1))
    with kernel(m):
        variable = m.variable(point, value)
        m.emit("OpStore", variable, m.null(point))
        m.emit("OpStore", variable, m.undef(point))
    assert_valid(m)


def test_text_is_one_array() -> None:
    m = new_module()
    assert m.text("%d\n") is m.text("%d\n")
    with kernel(m):
        pointer = m.emit("OpBitcast", m.text("%d\n"), type=Pointer("UniformConstant", I8))
        m.ext("OpenCL.std", "printf", pointer, m.constant(I32, 1), type=I32)
    assert_valid(m, "spv1.2")


@pytest.mark.parametrize(("type", "value"), [
    (Bool(), 2), (I32, 1.5), (F32, "1"), (Vector(F32, 4), (1, 2)), (Struct((F32,)), (1, 2))], ids=str)
def test_wrong_values_are_refused(type: object, value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        new_module().constant(type, value)    # type: ignore[arg-type]


def test_bits_must_fit() -> None:
    with pytest.raises(ValueError, match="more than the 8 bits of i8"):
        new_module().constant_bits(I8, 256)


def _f32(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def _bits_of_text(type: Float, text: str) -> int:
    """The bits of a float as spirv-dis writes it; inf and NaN are numbers beyond the range."""
    mantissa = {16: 10, 32: 23, 64: 52}[type.width]
    bias = 2 ** (type.width - mantissa - 2) - 1
    beyond = re.fullmatch(rf"(-?)0x1\.?(\w*)p\+{bias + 1}", text)
    if beyond is None:
        return float_bits(type, float.fromhex(text) if "0x" in text else float(text))
    sign, digits = beyond.groups()
    fraction = int(digits or "0", 16) << mantissa >> 4 * len(digits)
    return (sign == "-") << (type.width - 1) | (2 * bias + 1) << mantissa | fraction

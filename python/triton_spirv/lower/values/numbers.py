"""Numbers that SPIR-V has no arithmetic for: bf16 and 8-bit floats as bits (on some devices f16, too), and
integers of one bit.

bf16 is the upper half of an f32: widening is a shift; narrowing rounds to nearest even and keeps NaN quiet
(Triton's and CUDA's conversion, RNE).
"""

from __future__ import annotations

from collections.abc import Callable

from ...errors import LoweringError
from ...ir.model import FloatType, Type
from ...spirv.builder import I32, Builder, scalar_type, width_of, with_width
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Float, Int
from .float8 import float8_to_float, float_to_float8, is_float8
from .float16 import f16_to_f32, f32_to_f16, is_bits16

F32 = Float(32)
I16 = Int(16)


def is_bf16(type: Type) -> bool:
    return isinstance(type, FloatType) and type.name == "bf16"


def bf16_to_f32(b: Builder, bits: Register) -> Register:
    """Exact."""
    return b.bitcast(b.shl(b.resize(bits, 32, signed=False), 16), F32)


def f32_to_bf16(b: Builder, value: Register, rounding: str = "rtne") -> Register:
    """Round to nearest even, or towards zero ("rtz"); NaN becomes a quiet NaN with the same sign."""
    if b.converts_bf16 and rounding == "rtne":
        b.module.require("BFloat16ConversionINTEL", extension="SPV_INTEL_bfloat16_conversion")
        return b.convert("OpConvertFToBF16INTEL", value, I16)
    bits = b.bitcast(value, I32)
    rounded = bits
    if rounding == "rtne":
        odd = b.iand(b.lshr(bits, 16), 1)
        rounded = b.iadd(bits, b.iadd(odd, 0x7FFF))
    quiet = b.ior(bits, 0x400000)
    nan = b.compare("OpFUnordNotEqual", value, value)
    return b.convert("OpUConvert", b.lshr(b.select(nan, quiet, rounded), 16), I16)


def is_bits(type: Type) -> bool:
    """Are registers of this float type its bits, as an integer?"""
    return is_bf16(type) or is_bits16(type) or is_float8(type)


def to_arithmetic(b: Builder, value: Register, type: Type) -> Register:
    """A float of any type in one that has arithmetic: f32 for those that are bits."""
    if isinstance(scalar_type(value.type), Float):
        return value  # held wide: see region.accumulator_types
    if is_float8(type):
        return float8_to_float(b, value, type, FloatType("f32"))
    if is_bits16(type):
        return f16_to_f32(b, value)
    if is_bf16(type):
        return bf16_to_f32(b, value)
    _require_arithmetic(type)
    return value


def from_arithmetic(b: Builder, value: Register, type: Type) -> Register:
    """The way back, rounded to nearest even."""
    if is_float8(type):
        return float_to_float8(b, value, type)
    if is_bits16(type):
        return f32_to_f16(b, value)
    if is_bf16(type):
        return f32_to_bf16(b, value)
    _require_arithmetic(type)
    return value


def _require_arithmetic(type: Type) -> None:
    if isinstance(type, FloatType) and type.name not in ("f16", "f32", "f64"):
        raise LoweringError(f"there is no arithmetic on {type}")


def in_f32(b: Builder, type: Type, function: Callable[..., Register], *operands: Register) -> Register:
    """Run a float formula; operands that are bits are widened first, the result (a float) rounded back.

    Where an operand is held wide already, so is the result.
    """
    if not is_bits(type):
        _require_arithmetic(type)
        return function(*operands)
    made = function(*[to_arithmetic(b, x, type) for x in operands])
    wide = any(isinstance(scalar_type(x.type), Float) for x in operands)
    return made if wide else from_arithmetic(b, made, type)


def bool_to_int(b: Builder, value: Register, element: Int = I32, true: int = 1) -> Register:
    """false, true -> 0, `true` (1, or -1 where i1 is read as signed)."""
    type = with_width(element, width_of(value.type))
    return b.select(value, b.constant(type, true), b.constant(type, 0))


def int_to_bool(b: Builder, value: Register) -> Register:
    """The lowest bit."""
    return b.compare("OpINotEqual", b.iand(value, 1), 0)


def float_test(b: Builder, name: str, value: Register) -> Register:
    """OpIsNan, OpIsInf, OpIsFinite, OpSignBitSet by the bits, which no fast math and no missing instruction
    touches."""
    kind = scalar_type(value.type)
    assert isinstance(kind, Float)
    infinity = {16: 0x7C00, 32: 0x7F80_0000, 64: 0x7FF0 << 48}[kind.width]
    bits = b.bitcast(value, Int(kind.width))
    if name == "OpSignBitSet":
        return b.compare("OpSLessThan", bits, 0)
    magnitude = b.iand(bits, (1 << (kind.width - 1)) - 1)
    test = {"OpIsNan": "OpUGreaterThan", "OpIsInf": "OpIEqual", "OpIsFinite": "OpULessThan"}[name]
    return b.compare(test, magnitude, infinity)


def is_bool(value: Register) -> bool:
    return isinstance(scalar_type(value.type), Bool)


def least(b: Builder, x: Register, y: Register) -> Register:
    """The smaller one of integers without signs."""
    return b.select(b.compare("OpULessThan", x, y), x, y)

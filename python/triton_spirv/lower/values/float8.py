"""8-bit floats: from their bits to wider floats and back, in integer arithmetic on whole vectors.

Widening goes through f16, whose exponent field all formats but one fit into: the bits are moved into place
and a multiplication by a power of two repairs the bias, denormals included (f16 denormals cost nothing to
convert, f32 denormals do on some processors). Narrowing works on the bits of an f32: normal results are
rounded by an integer addition, denormal ones by the addition of a float whose last bit is the last bit
wanted.

Formats: FP8 Formats for Deep Learning (Micikevicius et al., 2022) for E4M3FN and E5M2; their FNUZ variants
have one zero and one NaN, at 0x80, and no infinity. Triton's fp8e4b15 travels under the name f8E4M3B11FNUZ;
it has neither NaN nor infinity and both zeros.
"""

from __future__ import annotations

from typing import TypeGuard

from ...dataclass import dataclass
from ...errors import LoweringError
from ...ir.model import FloatType, Type
from ...spirv.builder import I32, Builder
from ...spirv.module import Value as Register
from ...spirv.types import Float, Int
from .float16 import f16_to_f32, f32_to_f16, is_bits16

F16, F32, F64 = Float(16), Float(32), Float(64)
I8, I16 = Int(8), Int(16)

F32_MANTISSA, F32_BIAS, F32_INFINITY = 23, 127, 0x7F800000
F16_BIAS = 15


@dataclass(frozen=True)
class Format:
    """mantissa: stored bits; largest: code of the largest finite number; nan: the code written for NaN;
    has_negative_zero: is 0x80 -0 rather than NaN; infinity: its code, where there is one.
    """

    mantissa: int
    bias: int
    largest: int
    nan: int
    has_negative_zero: bool = True
    infinity: int | None = None

    @property
    def largest_as_f32(self) -> int:
        """The largest finite number, as the bits of an f32."""
        return (self.largest << (F32_MANTISSA - self.mantissa)) + ((F32_BIAS - self.bias) << F32_MANTISSA)

    @property
    def fits_f16(self) -> bool:
        """Is every code but NaN and infinity a finite f16 after a shift?"""
        return self.mantissa == 3 or self.bias == F16_BIAS


FORMATS: dict[str, Format] = {
    "f8E4M3FN": Format(3, 7, 0x7E, 0x7F),
    "f8E5M2": Format(2, 15, 0x7B, 0x7F, infinity=0x7C),
    "f8E4M3FNUZ": Format(3, 8, 0x7F, 0x80, has_negative_zero=False),
    "f8E5M2FNUZ": Format(2, 16, 0x7F, 0x80, has_negative_zero=False),
    "f8E4M3B11FNUZ": Format(3, 15, 0x7E, 0x7E),
}


def is_float8(type: Type) -> TypeGuard[FloatType]:
    return isinstance(type, FloatType) and type.name in FORMATS


# --- wider --------------------------------------------------------------------------------------------------


def _format(type: FloatType) -> Format:
    if type.name not in FORMATS:
        raise LoweringError(f"there is no conversion from or to {type}")
    return FORMATS[type.name]


def float8_to_float(b: Builder, code: Register, source: FloatType, target: FloatType) -> Register:
    """i8 bits -> f16, f32, f64, or the bits of a bf16; exact, NaN to NaN."""
    format = _format(source)
    if target.name == "f16" and b.float16 and format.fits_f16:
        half = b.bitcast(_as_f16(b, code, format), F16)
        scale = 2.0 ** (F16_BIAS - format.bias)
        return half if scale == 1 else b.binary("OpFMul", half, b.constant(half.type, scale))
    wide = _as_f32(b, code, format)
    if is_bits16(target):
        return f32_to_f16(b, wide)
    if target.name == "bf16":
        return b.convert("OpUConvert", b.lshr(b.bitcast(wide, I32), 16), I16)
    wanted = {"f16": F16, "f32": F32, "f64": F64}[target.name]
    return wide if wanted == F32 else b.convert("OpFConvert", wide, wanted)


def _as_f16(b: Builder, code: Register, format: Format) -> Register:
    """The bits of an f16 of the same exponent field: the value times 2 ** (bias - 15)."""
    bits = b.shl(b.resize(code, 16), 10 - format.mantissa)
    if format.mantissa == 3:
        bits = b.iand(bits, -0x4001)  # the sign was extended into the exponent
    if not format.has_negative_zero:
        bits = b.select(b.compare("OpIEqual", bits, -0x8000), 0x7E00, bits)
    elif format.nan == 0x7F and format.infinity is None:  # 0x7F alone carries out of its exponent: NaN in f16
        bits = b.ior(bits, b.iand(b.iadd(bits, 0x80), 0x4000))
    return bits


def _as_f32(b: Builder, code: Register, format: Format) -> Register:
    if format.fits_f16:
        wide = f16_to_f32(b, _as_f16(b, code, format))
        scale = 2.0 ** (F16_BIAS - format.bias)
        return wide if scale == 1 else b.binary("OpFMul", wide, b.constant(wide.type, scale))
    # E5M2FNUZ reaches 2 ** 15 * 1.75 with exponent field 31. Denormals: made with an implicit one, which is
    # taken off again.
    bits = b.resize(code, 32)
    magnitude = b.iand(bits, 0x7F)
    bias = (F32_BIAS - format.bias) << F32_MANTISSA
    shifted = b.iadd(b.shl(magnitude, F32_MANTISSA - format.mantissa), bias)
    normal = b.bitcast(shifted, F32)
    implicit = b.bitcast(b.iadd(shifted, 1 << F32_MANTISSA), F32)
    denormal = b.binary("OpFSub", implicit, b.constant(implicit.type, 2.0 ** (1 - format.bias)))
    small = b.compare("OpULessThan", magnitude, 1 << format.mantissa)
    unsigned = b.bitcast(b.select(small, denormal, normal), I32)
    value = b.bitcast(b.ior(unsigned, b.iand(bits, -0x80000000)), F32)
    return b.select(b.compare("OpIEqual", code, -0x80), b.constant(value.type, float("nan")), value)


# --- narrower -----------------------------------------------------------------------------------------------


def float_to_float8(b: Builder, value: Register, target: FloatType, rounding: str = "rtne") -> Register:
    """f32 -> i8 bits, rounded to nearest even ("rtne") or towards zero ("rtz").

    What is too large, infinity included, becomes the largest finite number, as test_conversions.py of Triton
    has it; only truncation keeps the infinity of a format that has one.
    """
    format = _format(target)
    bits = b.bitcast(value, I32)
    magnitude = b.iand(bits, 0x7FFFFFFF)
    largest = b.constant(magnitude.type, format.largest_as_f32)
    finite = b.select(b.compare("OpUGreaterThan", magnitude, largest), largest, magnitude)
    normal, denormal = (_nearest if rounding == "rtne" else _truncated)(b, finite, format)
    small = b.compare("OpULessThan", finite, (F32_BIAS - format.bias + 1) << F32_MANTISSA)
    code = b.select(small, denormal, normal)
    if rounding == "rtz" and format.infinity is not None:
        code = b.select(b.compare("OpIEqual", magnitude, F32_INFINITY), format.infinity, code)
    code = b.select(b.compare("OpUGreaterThan", magnitude, F32_INFINITY), format.nan, code)
    sign = b.iand(b.lshr(bits, 24), 0x80)
    if not format.has_negative_zero:
        sign = b.select(b.compare("OpIEqual", code, 0), 0, sign)
    return b.convert("OpUConvert", b.ior(code, sign), I8)


def _nearest(b: Builder, magnitude: Register, format: Format) -> tuple[Register, Register]:
    """The code of a magnitude (bits of an f32 >= 0) if it is normal in the format, and if it is not."""
    shift = F32_MANTISSA - format.mantissa
    odd = b.iand(b.lshr(magnitude, shift), 1)
    half = (1 << (shift - 1)) - 1 - ((F32_BIAS - format.bias) << F32_MANTISSA)
    normal = b.lshr(b.iadd(b.iadd(magnitude, odd), half), shift)
    # Between 2 ** 23 and 2 ** 24 times the smallest denormal, an f32 counts in just that unit.
    value = b.bitcast(magnitude, F32)
    unit = b.constant(value.type, 2.0 ** (1 - format.bias - format.mantissa + F32_MANTISSA))
    counted = b.bitcast(b.binary("OpFAdd", value, unit), I32)
    return normal, b.iand(counted, 0xFF)


def _truncated(b: Builder, magnitude: Register, format: Format) -> tuple[Register, Register]:
    """The same, rounded towards zero."""
    shift = F32_MANTISSA - format.mantissa
    normal = b.lshr(b.isub(magnitude, (F32_BIAS - format.bias) << F32_MANTISSA), shift)
    value = b.bitcast(magnitude, F32)
    scaled = b.binary("OpFMul", value, b.constant(value.type, 2.0 ** (format.bias - 1 + format.mantissa)))
    return normal, b.convert("OpConvertFToS", scaled, I32)

"""f16 as its bits, on targets that have no arithmetic for it: to f32 and back, in integer arithmetic on whole
vectors, denormals and infinities included."""

from __future__ import annotations

import struct

from ...ir.model import FloatType, Type
from ...spirv.builder import I32, Builder, width_of, with_width
from ...spirv.module import Value as Register
from ...spirv.types import Float, Int

F16, F32, I16 = Float(16), Float(32), Int(16)

#: bits of the significand that f32 has more, and what its exponents are larger by
SHIFT, REBIAS = 13, (127 - 15) << 23
INFINITY, QUIET, LARGEST, LEAST_NORMAL = 0x7C00, 0x7E00, 0x7BFF, 0x400


def is_bits16(type: Type) -> bool:
    """Is it f16, held as bits?"""
    return isinstance(type, FloatType) and type.as_bits


def f16_to_f32(b: Builder, bits: Register) -> Register:
    """The bits of an f16 (i16) -> f32; exact, NaN to NaN. By the instruction where the target has f16."""
    if b.float16:
        return b.convert("OpFConvert", b.bitcast(bits, F16), F32)
    if isinstance(bits.constant, int):  # a number that stays known: the environment hides zeros from drivers
        return b.constant(with_width(F32, width_of(bits.type)), _number(bits.constant))
    wide = b.resize(bits, 32)
    magnitude = b.iand(wide, 0x7FFF)
    shifted = b.iadd(b.shl(magnitude, SHIFT), REBIAS)
    special = b.compare("OpUGreaterThanEqual", magnitude, INFINITY)
    normal = b.select(special, b.iadd(shifted, REBIAS), shifted)
    implicit = b.bitcast(b.iadd(shifted, 1 << 23), F32)  # with a leading one, which is taken off again
    denormal = b.bitcast(b.binary("OpFSub", implicit, b.constant(implicit.type, 2.0 ** -14)), I32)
    unsigned = b.select(b.compare("OpULessThan", magnitude, LEAST_NORMAL), denormal, normal)
    return b.bitcast(b.ior(unsigned, b.iand(wide, -0x80000000)), F32)


def _number(bits: int) -> float:
    return float(struct.unpack("<e", struct.pack("<H", bits & 0xFFFF))[0])


def f32_to_f16(b: Builder, value: Register, rounding: str = "rtne") -> Register:
    """f32 -> the bits of an f16 (i16), to nearest even or towards zero ("rtz"); NaN becomes the quiet one."""
    bits = b.bitcast(value, I32)
    magnitude = b.iand(bits, 0x7FFFFFFF)
    infinite = b.constant(magnitude.type, 0x7F800000)
    most = b.constant(magnitude.type, 0x47800000 if rounding == "rtne" else 0x477FFFFF)  # 65536, or below it
    bounded = b.select(b.compare("OpUGreaterThan", magnitude, most), most, magnitude)
    number = b.bitcast(bounded, F32)
    rebased = b.isub(bounded, REBIAS)
    if rounding == "rtne":
        odd = b.iand(b.lshr(bounded, SHIFT), 1)
        normal = b.lshr(b.iadd(b.iadd(rebased, odd), (1 << (SHIFT - 1)) - 1), SHIFT)
        # Between 1/2 and 1, an f32 counts in the smallest denormal.
        counted = b.binary("OpFAdd", number, b.constant(number.type, 0.5))
        denormal = b.isub(b.bitcast(counted, I32), 0x3F000000)
    else:
        normal = b.lshr(rebased, SHIFT)
        scaled = b.binary("OpFMul", number, b.constant(number.type, 2.0 ** 24))
        denormal = b.convert("OpConvertFToS", scaled, I32)
    code = b.select(b.compare("OpULessThan", bounded, REBIAS + (1 << 23)), denormal, normal)
    if rounding != "rtne":
        code = b.select(b.compare("OpIEqual", magnitude, infinite), INFINITY, code)
    code = b.select(b.compare("OpUGreaterThan", magnitude, infinite), QUIET, code)
    return b.convert("OpUConvert", b.ior(code, b.iand(b.lshr(bits, 16), 0x8000)), I16)


def multiply_add_to_odd(b: Builder, x: Register, y: Register, z: Register) -> Register:
    """x y + z of what f16 holds, as f32: their product is exact, and a sum that is not ends in a one, so that
    rounding it to f16 rounds once."""
    product = b.binary("OpFMul", x, y)
    total = b.binary("OpFAdd", product, z)
    added = b.binary("OpFSub", total, product)
    lost = b.binary("OpFAdd", b.binary("OpFSub", product, b.binary("OpFSub", total, added)),
                    b.binary("OpFSub", z, added))
    bits = b.bitcast(total, I32)
    outwards = b.compare("OpSGreaterThanEqual", b.ixor(bits, b.bitcast(lost, I32)), 0)
    odd = b.select(outwards, b.iadd(bits, 1), b.isub(bits, 1))
    exact = b.logical_or(b.logical_not(b.compare("OpFOrdNotEqual", lost, 0.0)),
                         b.compare("OpINotEqual", b.iand(bits, 1), 0))
    return b.bitcast(b.select(exact, bits, odd), F32)

"""Integer functions by their OpenCL names."""

from __future__ import annotations

from collections.abc import Callable

from ...spirv.builder import I32, I64, Builder, scalar_type
from ...spirv.module import Value
from ...spirv.types import Float, Int

GLSL = "GLSL.std.450"
F64 = Float(64)


def _bits(x: Value) -> int:
    return x.type.width  # type: ignore[attr-defined]


def _choose(opcode: str) -> Callable[..., Value]:
    return lambda b, x, y: b.select(b.compare(opcode, x, y), x, y)


def _absolute(b: Builder, x: Value) -> Value:
    return b.select(b.compare("OpSLessThan", x, 0), b.unary("OpSNegate", x), x)


def _popcount(b: Builder, x: Value) -> Value:
    """OpBitCount is for 32 bits only in Vulkan."""
    if _bits(x) == 64:
        halves = [b.resize(part, 32) for part in (x, b.lshr(x, 32))]
        low, high = (b.unary("OpBitCount", half) for half in halves)
        return b.resize(b.iadd(low, high), 64)
    return b.resize(b.unary("OpBitCount", b.resize(x, 32, signed=False)), _bits(x))


def _highest(b: Builder, x: Value) -> Value:
    """The position of the highest set bit of an i32; -1 for 0."""
    return b.module.ext(GLSL, "FindUMsb", x, type=I32)


def _leading_zeros(b: Builder, x: Value) -> Value:
    bits = _bits(x)
    if bits == 64:
        high, low = b.resize(b.lshr(x, 32), 32), b.resize(x, 32)
        empty = b.compare("OpIEqual", high, 0)
        found = b.select(empty, _highest(b, low), b.iadd(_highest(b, high), 32))
        return b.resize(b.isub(b.constant(I32, 63), found), 64)
    found = _highest(b, b.resize(x, 32, signed=False))
    return b.resize(b.isub(b.constant(I32, bits - 1), found), bits)


def _trailing_zeros(b: Builder, x: Value) -> Value:
    """The width for 0."""
    return _popcount(b, b.iand(b.unary("OpNot", x), b.isub(x, 1)))


def _high(signed: bool) -> Callable[..., Value]:
    """The upper half of the product."""
    def formula(b: Builder, x: Value, y: Value) -> Value:
        bits = _bits(x)
        if bits < 64:
            wide = [b.resize(part, 2 * bits, signed) for part in (x, y)]
            return b.resize(b.lshr(b.imul(*wide), bits), bits)
        low, high = [b.iand(part, 0xFFFFFFFF) for part in (x, y)], [b.lshr(part, 32) for part in (x, y)]
        bottom = b.imul(low[0], low[1])
        middle = b.iadd(b.imul(high[0], low[1]), b.lshr(bottom, 32))
        other = b.iadd(b.imul(low[0], high[1]), b.iand(middle, 0xFFFFFFFF))
        total = b.iadd(b.iadd(b.imul(high[0], high[1]), b.lshr(middle, 32)), b.lshr(other, 32))
        if not signed:
            return total
        for one, two in ((x, y), (y, x)):
            total = b.isub(total, b.iand(b.ashr(one, 63), two))
        return total
    return formula


def _average(signed: bool, up: bool) -> Callable[..., Value]:
    """(x + y) / 2 without overflow, rounded down or up."""
    def formula(b: Builder, x: Value, y: Value) -> Value:
        half = (b.ashr if signed else b.lshr)(b.ixor(x, y), 1)
        return b.isub(b.ior(x, y), half) if up else b.iadd(b.iand(x, y), half)
    return formula


def _product24(signed: bool) -> Callable[..., Value]:
    def formula(b: Builder, x: Value, y: Value) -> Value:
        shift = b.ashr if signed else b.lshr
        return b.imul(*(shift(b.shl(part, 8), 8) for part in (x, y)))
    return formula


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "s_max": _choose("OpSGreaterThan"), "u_max": _choose("OpUGreaterThan"),
    "s_min": _choose("OpSLessThan"), "u_min": _choose("OpULessThan"), "s_abs": _absolute,
    "popcount": _popcount, "clz": _leading_zeros, "ctz": _trailing_zeros,
    "s_mul_hi": _high(True), "u_mul_hi": _high(False), "s_mul24": _product24(True),
    "u_mul24": _product24(False), "s_hadd": _average(True, False), "u_hadd": _average(False, False),
    "s_rhadd": _average(True, True), "u_rhadd": _average(False, True),
}


def remainder(b: Builder, x: Value, y: Value) -> Value:
    """OpSRem, which Vulkan defines for operands that are not negative only."""
    return b.isub(x, b.imul(b.binary("OpSDiv", x, y), y))


def reversed_bits(b: Builder, x: Value) -> Value:
    """OpBitReverse, which Vulkan has for 32 bits only."""
    bits = scalar_type(x.type).width  # type: ignore[attr-defined]
    if bits < 32:
        return b.resize(b.lshr(b.unary("OpBitReverse", b.resize(x, 32, signed=False)), 32 - bits), bits)
    if bits == 32:
        return b.unary("OpBitReverse", x)
    low, high = (b.unary("OpBitReverse", b.resize(part, 32)) for part in (x, b.lshr(x, 32)))
    return b.ior(b.shl(b.resize(low, 64, signed=False), 32), b.resize(high, 64, signed=False))


def is_integer(value: Value) -> bool:
    return isinstance(value.type, Int)


#: a little less than 1, so that an estimate in f64 is never above the quotient
BELOW_ONE = 1 - 2.0 ** -50


def quotient(b: Builder, x: Value, y: Value, signed: bool) -> Value:
    """x / y of 64 bits, towards zero, by way of f64: estimates that are never too large, each of what is left
    by those before it. The first leaves at most 2^15 times the divisor, the second less than twice of it."""
    negative = None
    if signed:
        minus_x, minus_y = b.compare("OpSLessThan", x, 0), b.compare("OpSLessThan", y, 0)
        negative = b.emit("OpLogicalNotEqual", minus_x, minus_y, type=minus_x.type)
        x, y = (b.select(minus, b.isub(b.constant(value.type, 0), value), value)
                for minus, value in ((minus_x, x), (minus_y, y)))
    divisor = b.convert("OpConvertUToF", y, F64)
    total, rest = None, x
    for _ in range(2):
        ratio = b.binary("OpFDiv", b.convert("OpConvertUToF", rest, F64), divisor)
        part = b.convert("OpConvertFToU", b.binary("OpFMul", ratio, BELOW_ONE), I64)
        rest = b.isub(rest, b.imul(part, y))
        total = part if total is None else b.iadd(total, part)
    assert total is not None
    total = b.select(b.compare("OpUGreaterThanEqual", rest, y), b.iadd(total, 1), total)
    if negative is None:
        return total
    return b.select(negative, b.isub(b.constant(total.type, 0), total), total)

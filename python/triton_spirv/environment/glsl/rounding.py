"""Conversions to narrower floats in every rounding mode, and the multiply-add of one rounding, where the
device does not promise them."""

from __future__ import annotations

from ...spirv.builder import Builder
from ...spirv.module import Value
from ...spirv.types import Float, Int
from . import double_word as dw
from .number import F64, Number, Tools

#: bits, stored bits of the significand, exponent bias
SHAPES = {16: (10, 15), 32: (23, 127), 64: (52, 1023)}


def narrowed(b: Builder, value: Value, element: Float, rounding: str) -> Value:
    """A float as a narrower one (f32 to f16, f64 to f32 or f16), on its bits; rounding: RTE RTZ RTP RTN."""
    wide = value.type.width  # type: ignore[attr-defined]
    narrow = element.width
    (stored, bias), (kept, low_bias) = SHAPES[wide], SHAPES[narrow]
    whole = Int(wide)
    bits = b.bitcast(value, whole)
    negative = b.compare("OpSLessThan", bits, 0)
    size = b.iand(bits, (1 << (wide - 1)) - 1)
    exponent = b.lshr(size, stored)
    # The significand with its leading one, and how many of its bits fall off; more of them below the normals.
    significand = b.ior(b.iand(size, (1 << stored) - 1), 1 << stored)
    below = b.isub(b.constant(whole, bias - low_bias + 1), exponent)
    is_low = b.compare("OpSGreaterThan", below, 0)
    most = kept + 2
    bounded = b.select(b.compare("OpSGreaterThan", below, most), b.constant(whole, most), below)
    below = b.select(is_low, bounded, b.constant(whole, 0))
    drop = b.iadd(below, stored - kept)
    quotient = b.lshr(significand, drop)
    mask = b.isub(b.shl(b.constant(whole, 1), drop), 1)
    rest = b.iand(significand, mask)
    half = b.shl(b.constant(whole, 1), b.isub(drop, 1))
    zero = b.constant(whole, 0)
    # Exponents of normal results add to the quotient, whose leading one counts as one of them.
    normal = b.shl(b.isub(exponent, bias - low_bias + 1), kept)
    made = b.iadd(quotient, b.select(is_low, zero, normal))
    inexact = b.compare("OpINotEqual", rest, 0)
    if rounding == "RTE":
        odd = b.iand(quotient, 1)
        up = b.compare("OpUGreaterThan", b.iadd(rest, odd), half)
    elif rounding == "RTZ":
        up = b.compare("OpINotEqual", zero, 0)
    else:
        towards = negative if rounding == "RTN" else b.logical_not(negative)
        up = b.logical_and(inexact, towards)
    made = b.iadd(made, b.select(up, b.constant(whole, 1), zero))
    infinity = (2 * low_bias + 1) << kept
    largest = b.constant(whole, infinity - 1)
    overflow = b.compare("OpUGreaterThanEqual", made, infinity)
    beyond = {"RTE": b.constant(whole, infinity), "RTZ": largest,
              "RTP": b.select(negative, largest, b.constant(whole, infinity)),
              "RTN": b.select(negative, b.constant(whole, infinity), largest)}[rounding]
    made = b.select(overflow, beyond, made)
    inf = (2 * bias + 1) << stored
    made = b.select(b.compare("OpIEqual", size, inf), b.constant(whole, infinity), made)
    quiet = b.constant(whole, infinity | 1 << (kept - 1))
    made = b.select(b.compare("OpUGreaterThan", size, inf), quiet, made)
    sign = b.select(negative, b.constant(Int(narrow), -1 << (narrow - 1)), 0)
    return b.bitcast(b.ior(b.resize(made, narrow), sign), element)


def truncated(x: Number) -> Number:
    """Towards zero; of f64 by floor: Mesa's software device has Trunc and RoundEven wrong where lanes fill
    more than the processor's widest register (of 2^24 and more it takes every number for a whole one)."""
    if x.format is not F64:
        return x.tools.call("Trunc", x)
    return x.tools.call("Floor", x.abs()).with_sign_of(x)


def nearest_even(x: Number) -> Number:
    """To the nearest whole number, halves to the even one; the same way."""
    if x.format is not F64:
        return x.tools.call("RoundEven", x)
    tools, size = x.tools, x.abs()
    below = tools.call("Floor", size)
    rest, half = size - below, below * 0.5
    odd = half.differs(tools.call("Floor", half))
    up = tools.either(rest > 0.5, tools.both(rest.equals(0.5), odd))
    return tools.select(up, below + 1.0, below).with_sign_of(x)


def to_odd(total: Number, error: Number) -> Number:
    """total + error rounded to odd: so that rounding it again to fewer bits rounds once."""
    tools = total.tools
    bits = total.bits()
    even = (bits & 1).equals(0)
    inexact = tools.either(error < 0.0, error > 0.0)
    outwards = tools.b.emit("OpLogicalEqual", error > 0.0, total > 0.0, type=even.type)
    moved = tools.select(outwards, bits + 1, bits - 1)
    return tools.select(tools.both(even, inexact), moved, bits).as_float()


def multiply_add(tools: Tools, x: Value, y: Value, z: Value) -> Value:
    """x y + z, rounded once."""
    width = x.type.width  # type: ignore[attr-defined]
    b = tools.b
    wide = {16: 32, 32: 64}.get(width)
    if wide is not None and (wide == 32 or tools.target.float64):
        p, q, r = (Number(tools, b.convert("OpFConvert", value, Float(wide))) for value in (x, y, z))
        total, error = dw.two_sum(p * q, r)  # the product is exact
        return narrowed(b, to_odd(total, error).value, Float(width), "RTE")
    p, q, r = (Number(tools, value) for value in (x, y, z))
    product, low = dw.two_product(p, q)
    first, rest = dw.two_sum(r, low)
    high, tail = dw.two_sum(product, first)
    made = high + to_odd(*dw.two_sum(tail, rest))
    plain = product + r
    # Zeros have the sign of the plain sum. A product that overflows does not meet an infinity as one.
    ordinary = tools.both(made.equals(made), tools.both(plain.abs() < float("inf"), made.abs() > 0.0))
    finite = tools.both(p.abs() < float("inf"), q.abs() < float("inf"))
    made = tools.select(ordinary, made, plain)
    return tools.select(tools.both(finite, r.abs().equals(float("inf"))), r, made).value




"""Functions of bits and remainders: exact."""

from __future__ import annotations

from ...spirv.builder import I64
from ...spirv.control import While
from .number import Number


def fmod(x: Number, y: Number) -> Number:
    """x - trunc(x / y) y, by long division of the significands."""
    tools, form, b = x.tools, x.format, x.tools.b
    ax, ay = x.abs(), y.abs()
    (mx, ex), (my, ey) = _significand(ax), _significand(ay)
    at_once = 63 - form.stored - 1
    my = tools.select(my.equals(0), my.like(1), my)
    loop = While(b.module, [mx.value, (ex - ey).value])
    with loop.before():
        loop.condition(Number(tools, loop.carried[1]) > 0, loop.carried)
    with loop.body():
        rest, left = (Number(tools, value) for value in loop.arguments)
        step = tools.select(left > at_once, left.like(at_once), left)
        shifted = rest << step
        loop.yield_([b.binary("OpUMod", shifted.value, my.value), (left - step).value])
    rest = Number(tools, loop.results[0])
    rest = Number(tools, b.binary("OpUMod", rest.value, my.value))
    made = Number(tools, b.convert("OpConvertSToF", rest.resize(form.bits).value, form.as_float))
    made = made.scaled((ey - (form.bias + form.stored)).resize(form.bits))
    made = tools.select(ax < ay, ax, made).with_sign_of(x)
    inf = float("inf")
    valid = tools.both(ax < inf, ay > 0.0)
    made = tools.select(valid, made, x.like(float("nan")))
    return tools.select(y.is_nan(), y, made)


def _significand(x: Number) -> tuple[Number, Number]:
    """(m, e): x = m 2^(e - bias - stored), in 64 bits."""
    tools, form = x.tools, x.format
    bits = x.bits()
    exponent, stored = bits.shifted(form.stored), bits & ((1 << form.stored) - 1)
    denormal = exponent.equals(0)
    m = tools.select(denormal, stored, stored | (1 << form.stored))
    e = tools.select(denormal, exponent.like(1), exponent)
    return m.resize(I64.width, signed=False), e.resize(I64.width)


def remainder(x: Number, y: Number) -> Number:
    """x - n y, n the integer nearest to x / y, ties to even."""
    tools, form = x.tools, x.format
    ay = y.abs()
    doubled = ay < 2.0 ** form.bias
    n = fmod(x.abs(), tools.select(doubled, ay + ay, ay))
    first = tools.select(n > ay - n, n - ay, n)
    moved = n > ay - n
    again = tools.both(moved, first >= ay - first)
    n = tools.select(again, first - ay, first)
    sign = x.bits() & form.sign
    made = n.signed_by(sign)
    inf = float("inf")
    return tools.select(tools.both(x.abs() < inf, ay.equals(inf)), x, made)


def load_exponent(x: Number, exponent: Number) -> Number:
    """x 2^exponent."""
    made = x.scaled(exponent.resize(x.format.bits))
    plain = x.tools.both(x.abs() > 0.0, x.abs() < float("inf"))
    return x.tools.select(plain, made, x)


def exponent_of(x: Number) -> Number:
    """floor(log2 |x|) of a number that is neither 0 nor infinite, an integer as wide as x."""
    tools, form = x.tools, x.format
    size = x.abs()
    small = size < 2.0 ** (1 - form.bias)
    n = tools.select(small, size * 2.0 ** (form.stored + 1), size)
    low = tools.select(small, n.bits().like(form.bias + form.stored + 1), n.bits().like(form.bias))
    return n.bits().shifted(form.stored) - low


def integer_exponent(x: Number) -> Number:
    """ilogb, as i32: the smallest integer for 0, the largest for infinity and NaN."""
    tools = x.tools
    found = exponent_of(x).resize(32)
    found = tools.select(x.equals(0.0), found.like(-0x8000_0000), found)
    return tools.select(x.abs() < float("inf"), found, found.like(0x7FFF_FFFF))


def float_exponent(x: Number) -> Number:
    """logb."""
    tools = x.tools
    made = exponent_of(x).to_float()
    made = tools.select(x.equals(0.0), x.like(float("-inf")), made)
    return tools.select(x.abs() < float("inf"), made, x.abs())


def next_after(x: Number, y: Number) -> Number:
    tools, form = x.tools, x.format
    bits = x.bits()
    outwards = tools.b.emit("OpLogicalEqual", x < y, x > 0.0, type=(x < y).type)
    moved = tools.select(outwards, bits + 1, bits - 1).as_float()
    least = ((y.bits() & form.sign) | 1).as_float()
    made = tools.select(x.equals(0.0), least, moved)
    made = tools.select(x.equals(y), y, made)
    return tools.select(tools.either(x.is_nan(), y.is_nan()), x.like(float("nan")), made)


def positive_difference(x: Number, y: Number) -> Number:
    tools = x.tools
    return tools.select(x <= y, x.like(0.0), x - y)


def round_away(x: Number) -> Number:
    """To the nearest integer, halves away from zero."""
    tools, size = x.tools, x.abs()
    below = tools.call("Floor", size)
    return tools.select(size - below >= 0.5, below + 1.0, below).with_sign_of(x)

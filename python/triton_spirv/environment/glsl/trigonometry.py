"""Sine, cosine, tangent and their inverses. Arguments are reduced to [-pi/4, pi/4] exactly enough that the
result has its full relative precision for every argument there is."""

from __future__ import annotations

from .coefficients import ASIN, ATAN, COS, SIN
from .constants import constant, pair, parts, two_over_pi
from .number import Number
from .roots import square_root
from .rounding import nearest_even
from .words import Words

#: Up to so many quarters of a turn, each product of the count with a part of pi/2 is exact: bits of the
#: count, bits of a part, parts.
NEAR = {32: (15, 9, 5), 64: (20, 33, 3)}


def reduced(x: Number) -> tuple[Number, Number]:
    """(q, r): x = q pi/2 + r, |r| <= pi/4; q an integer, of which the lowest two bits count."""
    tools, form = x.tools, x.format
    bits, part, count = NEAR[form.bits]

    def near() -> list[Number]:
        k = nearest_even(x * constant("2/pi", form))
        r = x
        for piece in parts("pi/2", form, part, count):
            r = r - k * piece
        return [k.to_int(), r]

    def far() -> list[Number]:
        return list(_reduced_far(x))

    q, r = tools.branch(x.abs() < (1 << bits) * 1.5, near, far)
    return q, r


def _reduced_far(x: Number) -> tuple[Number, Number]:
    """The same by as many bits of 2/pi as the exponent asks for (Payne and Hanek, 1983). NaN for infinity."""
    tools, form = x.tools, x.format
    magnitude = x.bits() & (form.sign - 1)
    mantissa = (magnitude & ((1 << form.stored) - 1)) | (1 << form.stored)
    exponent = (magnitude >> form.stored) - (form.bias + form.stored)  # x = mantissa 2^exponent
    count = 3 if form.bits == 32 else 6  # words of 2/pi that matter
    zeros = 64  # in front of the table: the first window starts before the point
    longest = form.bias - form.stored + 32 * (count + 1)
    size = -(-(zeros + longest) // 32)
    table = two_over_pi(32 * size - zeros)
    words = Words(tools, [table >> (32 * (size - 1 - i)) & 0xFFFFFFFF for i in range(size)])
    # Bits of weight 4 and more times the mantissa are whole turns: start at weight 2.
    start = (exponent + (zeros - 2)).resize(32)
    highest = 32 * (size - count - 1)
    start = tools.select(start > highest, start.like(highest), start)
    window = words.window(start, count)
    product = words.product(window, mantissa)
    q, fraction = words.quadrant(product)  # fraction: signed, in units of 2^-64 of a quarter turn
    r = fraction * constant("pi/2", form)
    q, r = q.resize(form.bits), tools.select(x < 0.0, -r, r)
    q = tools.select(x < 0.0, 0 - q, q)
    return q, tools.select(x.abs() < float("inf"), r, x.like(float("nan")))


def _sine(r: Number) -> Number:
    z = r * r
    return r + (r * z) * z.polynomial(SIN[r.format.bits])


def _cosine(r: Number) -> Number:
    z = r * r
    half = 0.5 * z
    w = 1.0 - half
    return w + (((1.0 - w) - half) + (z * z) * z.polynomial(COS[r.format.bits]))


def _quadrant(q: Number, r: Number) -> Number:
    """The sine of q quarter turns and r."""
    tools = r.tools
    odd = (q & 1).differs(0)
    made = tools.select(odd, _cosine(r), _sine(r))
    return made.signed_by((q & 2) << (r.format.bits - 2))


def sine(x: Number) -> Number:
    q, r = reduced(x)
    return x.tools.select(x.equals(0.0), x, _quadrant(q, r))


def cosine(x: Number) -> Number:
    q, r = reduced(x)
    return _quadrant(q + 1, r)


def tangent(x: Number) -> Number:
    q, r = reduced(x)
    tools = x.tools
    s, c = _sine(r), _cosine(r)
    odd = (q & 1).differs(0)
    made = tools.select(odd, -c, s) / tools.select(odd, s, c)
    return tools.select(x.equals(0.0), x, made)


def _in_turns(x: Number) -> tuple[Number, Number]:
    """The quarter turns and the rest of x half turns."""
    tools, form = x.tools, x.format
    whole = x - 2.0 * nearest_even(0.5 * x)  # exact
    k = nearest_even(2.0 * whole)
    r = (whole - 0.5 * k) * constant("pi", form)
    q = tools.select(x.abs() < float("inf"), k, x.like(0.0)).to_int()
    return q, tools.select(x.abs() < float("inf"), r, x.like(float("nan")))


def sine_pi(x: Number) -> Number:
    q, r = _in_turns(x)
    integral = x.equals(x.tools.call("Floor", x))
    made = x.tools.select(integral, x.like(0.0).with_sign_of(x), _quadrant(q, r))
    return x.tools.select(x.abs() < float("inf"), made, x.like(float("nan")))


def cosine_pi(x: Number) -> Number:
    q, r = _in_turns(x)
    return _quadrant(q + 1, r)


# --- inverses -----------------------------------------------------------------------------------------------


def _small_arctangent(t: Number) -> Number:
    z = t * t
    return t + (t * z) * z.polynomial(ATAN[t.format.bits])


def _arctangent(numerator: Number, denominator: Number) -> Number:
    """Of a quotient of positive numbers, infinity included as long as not both are."""
    tools, form = numerator.tools, numerator.format
    n, d = numerator, denominator
    # above tan(3 pi/8): pi/2 - atan(d/n); above tan(pi/8): pi/4 + atan((n - d)/(n + d))
    large, middle = n > d * 2.414213562373095, n > d * 0.41421356237309503
    top = tools.select(large, -d, tools.select(middle, n - d, n))
    bottom = tools.select(large, n, tools.select(middle, n + d, d))
    t = top / bottom
    high, low = zip(pair("pi/2", form), pair("pi/4", form), strict=True)
    base = tools.select(large, n.like(high[0]), tools.select(middle, n.like(high[1]), 0.0))
    rest = tools.select(large, n.like(low[0]), tools.select(middle, n.like(low[1]), 0.0))
    z = t * t
    return base + (t + (rest + (t * z) * z.polynomial(ATAN[form.bits])))


def arctangent(x: Number) -> Number:
    tools = x.tools
    size = x.abs()
    made = _arctangent(size, size.like(1.0))
    made = tools.select(size < 2.0 ** (-x.format.stored // 2), size, made).with_sign_of(x)
    return tools.select(x.is_nan(), x, made)


def arctangent2(y: Number, x: Number) -> Number:
    """The angle of the point (x, y)."""
    tools, form = y.tools, y.format
    n, d = y.abs(), x.abs()
    inf = float("inf")
    both = tools.both(n.equals(inf), d.equals(inf))
    one = n.like(1.0)
    # far from each other and from 1, the quotient alone must not over- or underflow where it matters
    big = tools.either(n > 2.0 ** (form.bias - 2), d > 2.0 ** (form.bias - 2))
    scale = tools.select(big, n.like(0.0625), 1.0)
    none = tools.both(n.equals(0.0), d.equals(0.0))
    n_, d_ = tools.select(both, one, n * scale), tools.select(tools.either(both, none), one, d * scale)
    angle = _arctangent(n_, d_)
    high, low = pair("pi", form)
    backwards = (x.bits() & form.sign).differs(0)
    made = tools.select(backwards, high - (angle - low), angle).with_sign_of(y)
    return tools.select(tools.either(x.is_nan(), y.is_nan()), y.like(float("nan")), made)


def _arcsine_part(z: Number, s: Number) -> Number:
    """asin(s), s^2 = z <= 1/4."""
    return s + (s * z) * z.polynomial(ASIN[z.format.bits])


def arcsine(x: Number) -> Number:
    tools, form = x.tools, x.format
    size = x.abs()
    near = size <= 0.5
    z = tools.select(near, size * size, 0.5 * (1.0 - size))
    s = tools.select(near, size, square_root(z))
    part = _arcsine_part(z, s)
    high, low = pair("pi/2", form)
    made = tools.select(near, part, high - (2.0 * part - low)).with_sign_of(x)
    return tools.select(size <= 1.0, made, x.like(float("nan")))


def arccosine(x: Number) -> Number:
    tools, form = x.tools, x.format
    size = x.abs()
    near = size <= 0.5
    z = tools.select(near, size * size, 0.5 * (1.0 - size))
    root = square_root(z)
    part = _arcsine_part(z, tools.select(near, size, root))
    half_pi, rest = pair("pi/2", form)
    pi, pi_rest = pair("pi", form)
    signed = part.with_sign_of(x)
    middle = half_pi - (signed - rest)
    side = tools.select(x < 0.0, pi - (2.0 * part - pi_rest), 2.0 * part)
    return tools.select(size <= 1.0, tools.select(near, middle, side), x.like(float("nan")))




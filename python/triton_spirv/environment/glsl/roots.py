"""Division and roots, rounded correctly: Vulkan allows OpFDiv 2.5 ulp, and Sqrt what follows from it."""

from __future__ import annotations

from . import double_word as dw
from .number import Number


def divide_nearly(x: Number, y: Number) -> Number:
    """x / y within the 2.5 ulp of OpFDiv, which promises them for 2^-126 <= |y| <= 2^126 alone: beyond, both
    are scaled; a result below the normal numbers is made by the last multiplication."""
    tools, form = x.tools, x.format
    if "OpFDiv" in tools.target.rounded:
        return x / y
    ex, ey = ((n.bits() & (form.sign - 1)).shifted(form.stored) for n in (x, y))
    low = ex - ey < 27 - form.bias
    up = tools.select(ey < 1, y.like(2.0 ** (form.stored + 1)), y.like(1.0))
    scale = tools.select(ey > 2 * form.bias - 5, y.like(2.0**-4), up)
    far = 2.0 ** (form.bias // 2 + 1)
    quotient = (x * tools.select(low, scale * far, scale)) / (y * scale)
    return quotient * tools.select(low, y.like(1 / far), y.like(1.0))


def divide(x: Number, y: Number) -> Number:
    """x / y, rounded to nearest even."""
    tools, form = x.tools, x.format
    if "OpFDiv" in tools.target.rounded:
        return x / y

    def exponent(n: Number) -> Number:
        return (n.bits() & (form.sign - 1)).shifted(form.stored)

    def faithful(n: Number, d: Number) -> tuple[Number, Number]:
        """A neighbour of the quotient of numbers near 1, and n - neighbour * d, which is exact.

        Of a quotient that is 2.5 ulp off the remainder may need two bits more than there are: it is good
        enough to find a neighbour, whose own remainder is exact."""
        quotient = n / d
        quotient = quotient + rest_of(n, quotient, d) / d
        return quotient, rest_of(n, quotient, d)

    def rest_of(n: Number, quotient: Number, d: Number) -> Number:
        product, error = dw.two_product(quotient, d)
        return (n - product) - error

    def corrected(n: Number, d: Number) -> Number:
        """The nearer of two neighbours: half of their distance times d is exact, and no quotient lies in the
        middle."""
        n, d, sign = n.abs(), d.abs(), (n.bits() ^ d.bits()) & form.sign
        quotient, rest = faithful(n, d)
        return _nearer(quotient, rest, d).signed_by(sign)

    def _nearer(quotient: Number, rest: Number, d: Number) -> Number:
        bits = quotient.bits()
        above, below = (bits + 1).as_float() - quotient, quotient - (bits - 1).as_float()
        return tools.select(rest > (0.5 * above) * d, bits + 1,
                            tools.select(rest < -((0.5 * below) * d), bits - 1, bits)).as_float()

    ex, ey = exponent(x), exponent(y)
    distance = ex - ey
    ordinary = tools.both(ex > form.stored + 15, ex < 2 * form.bias - 15, ey > 15, ey < 2 * form.bias - 30,
                          distance > form.stored + 5 - form.bias, distance < form.bias - 3)

    def scaled() -> list[Number]:
        """Significands as they are, exponents apart; zeros, infinities and NaN by the plain instruction, of
        whose divisor the sign matters: it may take a reciprocal that is no number of the format."""
        inf = float("inf")
        finite = tools.both(x.abs() < inf, y.abs() < inf)
        special = tools.either(x.equals(0.0), y.equals(0.0), tools.b.logical_not(finite))
        unit = y.like(1.0).signed_by(y.bits() & form.sign)
        plain = x / tools.select(tools.both(y.abs() > 0.0, y.abs() < inf), unit, y)
        n, d = x.abs(), y.abs()
        up = 2.0 ** (form.stored + 1)
        small_n, small_d = n < 2.0 ** (1 - form.bias), d < 2.0 ** (1 - form.bias)
        n, d = tools.select(small_n, n * up, n), tools.select(small_d, d * up, d)
        shift = tools.select(small_n, ex.like(form.stored + 1), ex.like(0)) - \
            tools.select(small_d, ex.like(form.stored + 1), ex.like(0))
        k = exponent(n) - exponent(d)
        one = form.bias << form.stored
        mask = (1 << form.stored) - 1
        n, d = ((n.bits() & mask) | one).as_float(), ((d.bits() & mask) | one).as_float()
        sign = (x.bits() ^ y.bits()) & form.sign
        made = _rounded_once(n, d, k - shift).signed_by(sign)
        return [tools.select(special, plain, made)]

    def _rounded_once(n: Number, d: Number, k: Number) -> Number:
        """n / d 2^k; a denormal result is rounded where its last bit is, by adding and subtracting."""
        quotient, rest = faithful(n, d)
        normal = _nearer(quotient, rest, d).scaled(k)
        # quotient + rest + anchor, where the anchor's last bit is the result's
        low = (1 - form.bias) - k  # the result is below 2^(1 - bias) if quotient < 2^low
        bounded = tools.select(low < 0, low.like(0), low)
        bounded = tools.select(bounded > form.stored + 4, low.like(form.stored + 4), bounded)
        anchor = ((bounded + form.bias) << form.stored).as_float()
        total, lost = dw.quick_sum(anchor, quotient)
        total = _tie(total, lost, rest)
        denormal = (total - anchor).scaled(k)
        is_denormal = tools.either(low > 0, tools.both(low.equals(0), quotient < 1.0))
        return tools.select(is_denormal, denormal, normal)

    def _tie(total: Number, lost: Number, rest: Number) -> Number:
        """total + (lost + rest) rounded once: what `lost` rounded at a tie is put right by the sign of the
        rest."""
        bits = total.bits()
        unit = ((bits + 1).as_float() - total) * 0.5
        at_tie = lost.abs().equals(unit)
        up = tools.both(at_tie, lost > 0.0, rest > 0.0)
        down = tools.both(at_tie, lost < 0.0, rest < 0.0)
        bits = tools.select(up, bits + 1, tools.select(down, bits - 1, bits))
        return bits.as_float()

    return tools.branch(ordinary, lambda: [corrected(x, y)], scaled)[0]


def square_root(x: Number) -> Number:
    """Rounded to nearest even."""
    tools, form = x.tools, x.format
    if "Sqrt" in tools.target.rounded:
        return tools.call("Sqrt", x)
    small = x < 2.0 ** (2 * form.stored - form.bias)
    up = 2 * (form.stored // 2 + 3)
    n = tools.select(small, x * 2.0 ** (2 * up), x * 0.25)  # away from both ends, an even power
    root = tools.call("Sqrt", n)

    def rest_of(root: Number) -> Number:
        product, error = dw.two_product(root, root)
        return (n - product) - error

    root = root + rest_of(root) / (2.0 * root)
    # It is now one of the two neighbours; which is nearer shows in the remainder. The square of their middle
    # is a little above what it is compared with, which decides where the two are equal.
    rest, bits = rest_of(root), root.bits()
    above, below = (bits + 1).as_float() - root, root - (bits - 1).as_float()
    root = tools.select(rest > root * above, bits + 1,
                        tools.select(rest <= -(root * below), bits - 1, bits)).as_float()
    made = tools.select(small, root * 2.0 ** -up, root * 2.0)
    made = tools.select(tools.either(x.equals(0.0), x.equals(float("inf"))), x, made)
    return tools.select(tools.either(x < 0.0, x.is_nan()), x.like(float("nan")), made)


def reciprocal_root(x: Number) -> Number:
    """1 / sqrt(x): 1 ulp. Two correctly rounded steps would be 1; a step of Newton's is cheaper."""
    return divide(x.like(1.0), square_root(x))


def hypotenuse(x: Number, y: Number) -> Number:
    """sqrt(x^2 + y^2) without overflow: 1 ulp."""
    tools, form = x.tools, x.format
    a, b = x.abs(), y.abs()
    swap = a < b
    a, b = tools.select(swap, b, a), tools.select(swap, a, b)
    large, small = a > 2.0 ** (form.bias // 2), a < 2.0 ** (-form.bias // 2)
    step = form.bias // 2 + 12
    factor = tools.select(large, a.like(2.0 ** -step), tools.select(small, a.like(2.0 ** step), 1.0))
    back = tools.select(large, a.like(2.0 ** step), tools.select(small, a.like(2.0 ** -step), 1.0))
    p, e = dw.two_product(a * factor, a * factor)
    q, f = dw.two_product(b * factor, b * factor)
    total, error = dw.quick_sum(p, q)
    made = square_root(total + (error + (e + f))) * back
    inf = float("inf")
    made = tools.select(tools.either(a.equals(inf), b.equals(inf)), a.like(inf), made)
    nan = tools.both(tools.either(x.is_nan(), y.is_nan()),
                     tools.b.logical_not(tools.either(x.abs().equals(inf), y.abs().equals(inf))))
    return tools.select(nan, x.like(float("nan")), made)


def cube_root(x: Number) -> Number:
    """A guess by a third of the exponent, and Halley's steps, each of which triples the right bits: 1 ulp."""
    tools, form = x.tools, x.format
    size = x.abs()
    small = size < 2.0 ** (1 - form.bias)
    n = tools.select(small, size * 2.0 ** (3 * 18), size)
    offset = int((form.bias - form.bias / 3 - 0.0331) * 2.0 ** form.stored) if form.bits == 32 else \
        (form.bias - form.bias // 3) << form.stored
    bits = n.bits()
    b = tools.b
    third = Number(tools, b.binary("OpUDiv", bits.value, 3))
    t = (third + offset - (0 if form.bits == 32 else int(0.0331 * 2 ** 52))).as_float()
    for _ in range(2 if form.bits == 32 else 3):
        cube = t * t * t
        t = t - t * ((cube - n) / (2.0 * cube + n))
    square, low = dw.two_product(t, t)
    cube_high, cube_low = dw.multiply((square, low), (t, t.like(0.0)))
    t = t - ((cube_high - n) + cube_low) / (3.0 * square)
    made = tools.select(small, t * 2.0 ** -18, t).with_sign_of(x)
    plain = tools.both(size > 0.0, size < float("inf"))
    return tools.select(plain, made, x)

"""The error function, its complement, and the gamma function."""

from __future__ import annotations

from ...spirv.builder import I32
from ...spirv.control import While
from . import double_word as dw
from .coefficients import ERF, ERFC, GAMMA
from .constants import constant
from .exponentials import exponential, logarithm
from .number import Number
from .trigonometry import sine_pi

#: erfc(x) is 0 beyond.
VANISHES = {32: 10.1, 64: 27.3}


def _complement(x: Number) -> Number:
    """erfc(x), 1/2 <= x: exp(-x^2) P((x - 2) / (x + 2)) / (1 + 2 x); x^2 is needed exactly."""
    form = x.format
    x = x.tools.select(x > VANISHES[form.bits], x.like(VANISHES[form.bits]), x)
    y = (x - 2.0) / (x + 2.0)
    series = y.polynomial(ERFC[form.bits])
    square, error = dw.two_product(x, x)
    power = exponential("exp", -square)
    power = power - power * error
    return power * (series / (1.0 + 2.0 * x))


def error_function(x: Number) -> Number:
    tools = x.tools
    size = x.abs()
    near = x * (x * x).polynomial(ERF[x.format.bits])
    far = (1.0 - _complement(size)).with_sign_of(x)
    return tools.select(size < 1.0, near, tools.select(x.is_nan(), x, far))


def complementary_error_function(x: Number) -> Number:
    tools = x.tools
    size = x.abs()
    near = 1.0 - x * (x * x).polynomial(ERF[x.format.bits])
    tail = _complement(size)
    tail = tools.select(size > VANISHES[x.format.bits], tail.like(0.0), tail)
    far = tools.select(x < 0.0, 2.0 - tail, tail)
    return tools.select(size < 0.5, near, tools.select(x.is_nan(), x, far))


# --- gamma --------------------------------------------------------------------------------------------------

#: The gamma function overflows beyond: (f32, f64)
OVERFLOWS = {32: 35.1, 64: 171.7}


def _positive_gamma(x: Number) -> dw.Pair:
    """Gamma of a positive number that it does not overflow for: by a product down to [1, 2], or up to it."""
    tools, form = x.tools, x.format
    b, m = tools.b, tools.b.module
    bounded = tools.select(x > OVERFLOWS[form.bits], x.like(OVERFLOWS[form.bits]), x)
    tiny = bounded < 1.0
    start = tools.select(tiny, bounded + 1.0, bounded)
    # what bounded + 1 loses matters only below 2^-stored, where the result is 1 / x
    one, zero = x.like(1.0), x.like(0.0)
    loop = While(m, [start.value, one.value, zero.value, b.constant(I32, 0)])
    with loop.before():
        n, high, low = (Number(tools, value) for value in loop.carried[:3])
        go_on = tools.both(n > 2.0, b.compare("OpSLessThan", loop.carried[3], 180))
        loop.condition(go_on, loop.carried)
    with loop.body():
        n, high, low = (Number(tools, value) for value in loop.arguments[:3])
        less, lost = dw.two_sum(n, n.like(-1.0))
        high, low = dw.multiply((high, low), (less, lost))
        loop.yield_([less.value, high.value, low.value, b.iadd(loop.arguments[3], 1)])
    n, high, low = (Number(tools, value) for value in loop.results[:3])
    base = (n - 1.5).polynomial(GAMMA[form.bits])
    made = dw.multiply((high, low), (base, zero))
    small = base / bounded
    return tools.select(tiny, small, made[0]), tools.select(tiny, zero, made[1])


def gamma(x: Number) -> Number:
    tools, form = x.tools, x.format
    size = x.abs()
    inside = tools.select(size > 0.0, size, size.like(1.0))
    high, low = _positive_gamma(inside)
    made = high + low
    # x Gamma(x) Gamma(-x) = -pi / sin(pi x)
    mirrored = -(constant("pi", form) / sine_pi(inside) / inside) / made
    mirrored = tools.select(size < 2.0 ** -form.stored, 1.0 / x, mirrored)
    result = tools.select(x < 0.0, mirrored, made)
    result = tools.select(x > OVERFLOWS[form.bits], x.like(float("inf")), result)
    integral = size.equals(tools.call("Floor", size))
    result = tools.select(tools.both(x < 0.0, integral), x.like(float("nan")), result)
    result = tools.select(x.equals(0.0), x.like(float("inf")).with_sign_of(x), result)
    return tools.select(tools.either(x.is_nan(), x.equals(float("-inf"))), x.like(float("nan")), result)


def log_gamma(x: Number) -> Number:
    """log |Gamma(x)|; near its zeros with an absolute error."""
    tools, form = x.tools, x.format
    size = x.abs()
    inside = tools.select(tools.both(size > 0.0, size < float("inf")), size, size.like(1.0))
    high, low = _positive_gamma(tools.select(inside > 20.0, inside.like(20.0), inside))
    small = inside < 2.0 ** -form.stored  # Gamma(x) is 1 / x there, which may overflow
    near = logarithm("log", tools.select(small, inside, high + low))
    near = tools.select(small, -near, near)
    n = tools.select(inside < 8.0, inside.like(8.0), inside)
    inverse = 1.0 / n
    z = inverse * inverse
    series = inverse * z.polynomial([1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156,
                                     -3617 / 122400])
    far = (n - 0.5) * logarithm("log", n) - n + (0.9189385332046727 + series)
    made = tools.select(inside > 15.0, far, near)
    sine = sine_pi(inside).abs()
    mirrored = logarithm("log", constant("pi", form) / (sine * inside)) - made
    integral = size.equals(tools.call("Floor", size))
    result = tools.select(x < 0.0, tools.select(integral, x.like(float("inf")), mirrored), made)
    infinite = tools.either(x.equals(0.0), size.equals(float("inf")))
    result = tools.select(infinite, x.like(float("inf")), result)
    return tools.select(x.is_nan(), x, result)

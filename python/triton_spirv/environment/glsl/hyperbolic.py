"""Hyperbolic functions and their inverses, from exp, expm1, log and log1p."""

from __future__ import annotations

from .constants import constant
from .exponentials import expm1, exponential, log1p, logarithm
from .number import Number
from .roots import square_root

#: Where e^x overflows, or nothing but e^x is left: (f32, f64)
LARGE = {32: (88.0, 9.1), 64: (709.0, 19.1)}


def hyperbolic_sine(x: Number) -> Number:
    tools = x.tools
    size = x.abs()
    large, _ = LARGE[x.format.bits]
    e = expm1(size)
    near = 0.5 * (e + e / (e + 1.0))
    root = exponential("exp", 0.5 * size)
    made = tools.select(size > large, (0.5 * root) * root, near)
    return tools.select(tools.either(x.equals(0.0), x.is_nan()), x, made.with_sign_of(x))


def hyperbolic_cosine(x: Number) -> Number:
    tools = x.tools
    size = x.abs()
    large, _ = LARGE[x.format.bits]
    e = exponential("exp", size)
    root = exponential("exp", 0.5 * size)
    return tools.select(size > large, (0.5 * root) * root, 0.5 * e + 0.5 / e)


def hyperbolic_tangent(x: Number) -> Number:
    tools = x.tools
    size = x.abs()
    _, one = LARGE[x.format.bits]
    bounded = tools.select(size > one, size.like(one), size)
    e = expm1(2.0 * bounded)
    made = tools.select(size < 2.0 ** (-x.format.stored // 2), size, e / (e + 2.0))
    made = tools.select(size > one, made.like(1.0), made)
    return tools.select(x.is_nan(), x, made.with_sign_of(x))


def _far_logarithm(size: Number) -> Number:
    """log(2 x) for large x."""
    return logarithm("log", size) + constant("ln2", size.format)


def inverse_sine(x: Number) -> Number:
    tools = x.tools
    size = x.abs()
    far = size > 2.0 ** (x.format.stored // 2 + 2)
    n = tools.select(far, size.like(1.0), size)
    square = n * n
    near = log1p(n + square / (1.0 + square_root(square + 1.0)))
    made = tools.select(far, _far_logarithm(size), near).with_sign_of(x)
    return tools.select(tools.either(x.equals(0.0), x.is_nan()), x, made)


def inverse_cosine(x: Number) -> Number:
    tools = x.tools
    far = x > 2.0 ** (x.format.stored // 2 + 2)
    t = tools.select(far, x.like(1.0), x) - 1.0
    near = log1p(t + square_root(2.0 * t + t * t))
    made = tools.select(far, _far_logarithm(x), near)
    return tools.select(x >= 1.0, made, x.like(float("nan")))


def inverse_tangent(x: Number) -> Number:
    tools = x.tools
    size = x.abs()
    made = (0.5 * log1p(2.0 * (size / (1.0 - size)))).with_sign_of(x)
    made = tools.select(size.equals(1.0), x.like(float("inf")).with_sign_of(x), made)
    made = tools.select(size <= 1.0, made, x.like(float("nan")))
    return tools.select(x.equals(0.0), x, made)

"""Sums and products with an error term: a number as the sum of two, about twice as precise as one.

Dekker, A floating-point technique for extending the available precision, 1971; Knuth's sum of any two
numbers.
"""

from __future__ import annotations

from .number import Number

Pair = tuple[Number, Number]


def two_sum(x: Number, y: Number) -> Pair:
    """x + y rounded, and what rounding lost: exact."""
    total = x + y
    back = total - x
    return total, (x - (total - back)) + (y - back)


def quick_sum(x: Number, y: Number) -> Pair:
    """The same where |x| >= |y|."""
    total = x + y
    return total, y - (total - x)


def two_product(x: Number, y: Number) -> Pair:
    """x * y rounded, and what rounding lost: exact, but for overflow of x or y times 2^13 (2^27)."""
    product = x * y
    xh, xl = split(x)
    yh, yl = split(y)
    return product, ((xh * yh - product) + xh * yl + xl * yh) + xl * yl


def split(x: Number) -> Pair:
    """The upper half of the significant bits, and the rest: products of halves are exact.

    An odd number of bits (f64) is split at the nearer multiple, so that the rest has one bit less, and a
    sign. Where that would be infinite the upper half is cut off: two such numbers overflow anyway."""
    low = (x.format.stored + 2) // 2
    high = (x.bits() & (-1 << low)).as_float()
    if x.format.stored % 2 == 0:
        near = ((x.bits() + (1 << low - 1)) & (-1 << low)).as_float()
        high = x.tools.select(near.abs() < float("inf"), near, high)
    return high, x - high


def add(x: Pair, y: Pair) -> Pair:
    total, error = two_sum(x[0], y[0])
    return quick_sum(total, error + (x[1] + y[1]))


def multiply(x: Pair, y: Pair) -> Pair:
    product, error = two_product(x[0], y[0])
    return quick_sum(product, error + (x[0] * y[1] + x[1] * y[0]))


def divide(x: Pair, y: Pair) -> Pair:
    quotient = x[0] / y[0]
    product, error = two_product(quotient, y[0])
    rest = ((x[0] - product) - error) + x[1] - quotient * y[1]
    return quick_sum(quotient, rest / y[0])


def constant(like: Number, value: float, error: float) -> Pair:
    """A number of twice the precision: its rounded value, and the rest."""
    return like.like(value), like.like(error)

"""The error function of f32 by two polynomials: that of Intel's CPU runtime takes longer, and is off by up to
4 units in the last place, this one by 1.

Up to a boundary it is x + x p(x x). Beyond, it is 1 - exp(-t - t q(t)) of the magnitude t. Both are computed,
and one is selected. The polynomials are N. Juffa's minimax ones for single precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from ...spirv.module import Value

if TYPE_CHECKING:
    from .environment import OpenCL

BOUNDARY = 0.927734375

#: of x x, highest power first
NEAR = (-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1)

#: of t, highest power first: the first four in pairs, whose results are a polynomial of t t
PAIRS = (-1.72853470e-5, 3.83197126e-4), (-3.88396438e-3, 2.42546219e-2)
FAR = (-1.06777877e-1, -6.34846687e-1, -1.28717512e-1)


def error_function(env: OpenCL, x: Value) -> Value:
    """Of any number of f32: NaN of NaN, and 1 or -1 of infinities."""
    b = env.b

    def constant(value: float) -> Value:
        return b.match(x, value)[1]

    def continued(start: Value, terms: Sequence[float], power: Value) -> Value:
        return reduce(lambda sum, term: env.multiply_add(sum, power, constant(term)), terms, start)

    size, square = env.math("fabs", x), b.binary("OpFMul", x, x)
    near = env.multiply_add(continued(constant(NEAR[0]), NEAR[1:], square), x, x)
    high, low = (continued(constant(first), [second], size) for first, second in PAIRS)
    far = continued(env.multiply_add(high, square, low), FAR, size)
    far = env.multiply_add(far, size, b.emit("OpFNegate", size, type=size.type))
    far = b.binary("OpFSub", constant(1.0), env.math("exp", far))
    is_far = b.compare("OpFOrdGreaterThan", size, constant(BOUNDARY))
    return b.select(is_far, env.math("copysign", far, x), near)

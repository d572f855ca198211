"""Powers of two of f32 by a polynomial: without AVX-512, Intel's CPU runtime reads a table, one element at a
time.

2^x = 2^n 2^r for the whole number n next to x. The polynomial is a minimax one for the relative error of
1 + r p(r), its coefficients rounded one after the other. The largest error is 0.80 units in the last place,
0.86 of denormal results, which are rounded twice.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from ...spirv.builder import I32, width_of, with_width
from ...spirv.module import Value

if TYPE_CHECKING:
    from .environment import OpenCL

#: of r, highest power first
TERMS = (1.5329310554079711e-4, 1.3390970416367054e-3, 9.61849931627512e-3, 5.550359562039375e-2,
         2.4022647738456726e-1, 6.931471824645996e-1, 1.0)

#: from here on results are zero, and infinity
LEAST, MOST = -152.0, 129.0

#: n + 254 is in the last bits of x added to this, whose other bits are these
WHOLE = 1.5 * 2 ** 23 + 254
WHOLE_BITS = 0x4B400000


def power_of_two(env: OpenCL, x: Value) -> Value:
    """Of any number of f32: NaN of NaN, denormal results as they are."""
    b = env.b

    def constant(value: float) -> Value:
        return b.match(x, value)[1]

    above = b.select(b.compare("OpFOrdLessThan", x, constant(LEAST)), constant(LEAST), x)
    x = b.select(b.compare("OpFOrdGreaterThan", above, constant(MOST)), constant(MOST), above)
    shifted = b.binary("OpFAdd", x, constant(WHOLE))
    whole = b.binary("OpFSub", shifted, constant(WHOLE))
    rest = b.binary("OpFSub", x, whole)
    first, *terms = map(constant, TERMS)
    significand = reduce(lambda sum, term: env.multiply_add(sum, rest, term), terms, first)
    integers = with_width(I32, width_of(x.type))
    biased = b.isub(b.emit("OpBitcast", shifted, type=integers), WHOLE_BITS)
    half = b.lshr(biased, 1)
    for exponent in (half, b.isub(biased, half)):  # 2^n itself may be too small for a normal number
        power = b.emit("OpBitcast", b.shl(exponent, 23), type=x.type)
        significand = b.binary("OpFMul", significand, power)
    return significand

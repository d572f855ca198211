"""AxisInfo: what is known of the integers (or addresses) of a tensor along each dimension. The lattice.

For dimension d of a tensor v, and groups of neighbours along d that begin at multiples of the group's length:

- contiguity[d] = c: in each group of c, v grows by 1 from one element to the next (an address by one
element);
- divisibility[d]: a power of two that divides the first element of each such group (an address: in bytes);
- constancy[d] = k: in each group of k all elements are equal.

In the words of motion.py: contiguity and constancy are the lengths of groups in which the slope along d is 1,
or 0. That an index is divided or masked keeps such groups and their divisors, but no slope of the whole
dimension; so these numbers are a lattice of their own, and motion from element to element
(lower/addresses/element_motion.py) asks it first.

All are powers of two. A scalar has one dimension of length 1. Example: 128 + arange(0, 64) has contiguity 64,
divisibility 128, constancy 1; (arange(0, 64) // 16) has constancy 16. As in Triton, index arithmetic of 32
bits or more is taken not to overflow its signed type unless it is seen to (`most`), and what an index is
divided by to be positive. That elements are not negative is needed for division and remainder, which round
towards zero: groups that count up to 0 from below stay neither in one quotient nor in step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..dataclass import dataclass

LARGEST = 1 << 62  # stands for what divides 0

#: of numbers that are not negative, and may be of any size; beyond those of any type
OPEN = 1 << 64


@dataclass(frozen=True)
class AxisInfo:
    """See the module. `constant`: the value of every element, where it is known. `most`: no element is
    larger, and none is negative; OPEN where only their sign is known, None where they may be negative."""

    contiguity: tuple[int, ...]
    divisibility: tuple[int, ...]
    constancy: tuple[int, ...]
    constant: int | None = None
    most: int | None = None

    @property
    def rank(self) -> int:
        return len(self.contiguity)

    @property
    def nonnegative(self) -> bool:
        return self.most is not None

    def divisor(self, d: int, length: int, unit: int = 1) -> int:
        """A power of two that divides the elements along d at multiples of `length`; `unit`: bytes of one
        step.
        """
        c = self.contiguity[d]
        return self.divisibility[d] if length % c == 0 else min(self.divisibility[d], length * unit)

    def everywhere(self, unit: int = 1) -> int:
        """A power of two that divides all elements."""
        return max(self.divisor(d, 1, unit) for d in range(self.rank))

    def aligned(self, d: int) -> int:
        """The longest contiguous groups along d that begin at a multiple of their own length."""
        return min(self.contiguity[d], self.divisibility[d])

    def uniform(self, shape: Sequence[int]) -> bool:
        """Whether all elements are equal."""
        return all(k >= n for k, n in zip(self.constancy, shape, strict=True))


def power_of_two_divisor(value: int) -> int:
    """The largest power of two that divides `value`."""
    return min(value & -value, LARGEST) if value else LARGEST


def unknown(rank: int) -> AxisInfo:
    """Nothing is known."""
    ones = (1,) * max(rank, 1)
    return AxisInfo(ones, ones, ones)


def of_constant(value: int, shape: Sequence[int]) -> AxisInfo:
    """Every element is `value`."""
    lengths = tuple(shape) or (1,)
    rank = len(lengths)
    most = value if value >= 0 else None
    return AxisInfo((1,) * rank, (power_of_two_divisor(value),) * rank, lengths, value, most)


def meet(a: AxisInfo, b: AxisInfo, unit: int = 1) -> AxisInfo:
    """What holds of both."""
    if a == b:
        return a
    contiguity = tuple(map(math.gcd, a.contiguity, b.contiguity))
    divisibility = tuple(min(a.divisor(d, c, unit), b.divisor(d, c, unit)) for d, c in enumerate(contiguity))
    constancy = tuple(map(math.gcd, a.constancy, b.constancy))
    constant = a.constant if a.constant == b.constant else None
    most = a.most if a.most == b.most else either(a, b)
    return AxisInfo(contiguity, divisibility, constancy, constant, most)


def either(a: AxisInfo, b: AxisInfo) -> int | None:
    """`most` of elements of one or of the other, in a loop, too: it ends after two steps."""
    return OPEN if a.nonnegative and b.nonnegative else None


def meet_all(infos: Iterable[AxisInfo], unit: int = 1) -> AxisInfo:
    """What holds of each of several."""
    result: AxisInfo | None = None
    for info in infos:
        result = info if result is None else meet(result, info, unit)
    assert result is not None
    return result


def hinted(info: AxisInfo, hints: dict[str, tuple[int, ...]]) -> AxisInfo:
    """With what the user says (tl.multiple_of, max_contiguous, max_constancy): the user's word wins.

    A longer contiguity makes fewer groups, so the divisibility of their first elements stays true.
    """
    contiguity = hints.get("tt.contiguity", info.contiguity)
    constancy = hints.get("tt.constancy", info.constancy)
    divisibility = hints.get("tt.divisibility", info.divisibility)
    return replace(
        info,
        contiguity=tuple(map(max, info.contiguity, contiguity)),
        divisibility=tuple(map(max, info.divisibility, divisibility)),
        constancy=tuple(map(max, info.constancy, constancy)),
    )

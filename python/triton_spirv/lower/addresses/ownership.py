"""Which addresses belong to one lane each: when the lanes of a program cannot meet in an access.

A tensor of pointers gives each element an address. Where different elements have different addresses, and
each element is one lane's, no two lanes reach the same byte. That is proven here from what the addresses are:
a base, and for each bit of an element's index the bytes by which it moves the address. Where every such slope
is larger than the sum of all smaller ones, no two elements meet, as in the digits of a number. A bit that
moves nothing may be held by the registers of a lane, not by lanes.

    tl.arange(0, 64)                  slopes 1 2 4 8 16 32          no elements meet
    rows * 64 + columns[None, :]      1 ... 32, 64 ...              the same
    rows * stride + columns[None, :]  1 ... 32, stride ...          unknown: `stride` may be 0, or 7
    tl.load(x + i) & 7                no formula                    unknown
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dataclass import dataclass
from ...layout import Layout, log2
from ...spirv.module import Value as Register
from ..values.tensor import Pointers

#: Slopes and bases that are known when running, by their ids, or numbers.
Known = int | Register


@dataclass(frozen=True)
class Owned:
    """An access in which every address is one lane's.

    address  what tells the address of an element: the base, offsets from it, strides, the tensor's shape
    lanes    what tells which lane holds which element
    values   ids of what the address is made of, as far as the program computes it: in another round of a loop
             that they are computed in, the same ids are other addresses

    Of two accesses with the same `address` and `lanes`, while `values` are what they were, no lane reaches
    what another one does in the other.
    """

    address: tuple[object, ...]
    lanes: tuple[object, ...]
    values: frozenset[int]


def owned(ptr: object, layout: Layout | None) -> Owned | None:
    """Of an access through `ptr`, each lane what it holds under `layout`; None where two lanes may meet."""
    if layout is None or not isinstance(ptr, Pointers) or ptr.terms:
        return None
    strides: tuple[Known, ...] = (0,) * len(ptr.shape) if ptr.affine is None else ptr.affine.strides
    fixed = fixed_bits(strides, ptr.shape)
    if fixed is None or not layout.has_one_lane_each(fixed):
        return None
    parts = (ptr.base, *(() if ptr.affine is None else (ptr.affine.base,)), *strides)
    values = frozenset(part.id for part in parts if isinstance(part, Register) and part.constant is None)
    address = (ptr.shape, *(part.id if isinstance(part, Register) and part.constant is None else
                            ("constant", part.constant if isinstance(part, Register) else part)
                            for part in parts))
    return Owned(address, _lanes(layout), values)


def fixed_bits(strides: Sequence[Known], shape: tuple[int, ...]) -> int | None:
    """The bits of a row-major index that do not move the address, where elements that differ in any other bit
    have different addresses; None where those may meet."""
    fixed, slopes, bit = 0, [], 1
    for stride, length in zip(reversed(strides), reversed(shape), strict=True):
        number = stride.constant if isinstance(stride, Register) else stride
        for i in range(log2(length)):
            if number is None:
                return None
            if number:
                slopes.append(abs(number) << i)
            else:
                fixed |= bit
            bit <<= 1
    reached = 0
    for slope in sorted(slopes):
        if slope <= reached:
            return None
        reached += slope
    return fixed


def _lanes(layout: Layout) -> tuple[object, ...]:
    """Which lane holds which element: the same for layouts that differ in the order of registers only."""
    return layout.lane, layout.warp, frozenset((*layout.component, *layout.register, *layout.step)) - {0}

"""Tensors in arrays of shared memory: where their elements lie there, and how lanes write and read them."""

from __future__ import annotations

from collections.abc import Sequence

from ...environment.base import Environment
from ...ir.model import IntegerType, Type
from ...layout import Layout, SharedLayout, span
from ...spirv.builder import I32, Builder
from ...spirv.module import Value as Register
from ...spirv.types import Bool
from ...target import Target
from ..values import fragment as fragments
from ..values.tensor import Fragment, Shared
from ..values.types import storage_bytes
from ..walk.indices import Indices

#: Lanes whose offsets differ by a power of two from here on would meet in one bank of shared memory, which
#: gives one word at a time.
BANK_BYTES, WORD_BYTES = 128, 4


class SharedTensors:
    """`SharedMemory.writes` and `reads` stand before what is done here."""

    def __init__(self, b: Builder, env: Environment, target: Target, indices: Indices) -> None:
        self._b, self._env, self._target, self._indices = b, env, target, indices

    def store(self, array: Shared, fragment: Fragment) -> None:
        """Write the registers of every lane to the array; what several lanes hold they all write."""
        layout, runs = self.vectors(array, fragment.layout)
        wide = fragments.rearrange(self._b, fragment, layout)
        places = self.offsets(array, layout)
        for run in runs:
            self._env.shared_store_pieces(array.array, places[run[0]], [wide.registers[r] for r in run])

    def load(self, array: Shared, layout: Layout) -> Fragment:
        """The tensor that the array holds, under a layout."""
        wide, runs = self.vectors(array, layout)
        places = self.offsets(array, wide)
        made: dict[int, Register] = {}
        for run in runs:
            pieces = self._env.shared_load_pieces(array.array, places[run[0]], wide.width, len(run))
            made.update(zip(run, pieces, strict=True))
        registers = tuple(from_shared(self._b, array.element, made[r]) for r in range(wide.registers))
        return fragments.rearrange(self._b, Fragment(wide, array.element, registers), layout)

    def vectors(self, array: Shared, layout: Layout) -> tuple[Layout, list[tuple[int, ...]]]:
        """The layout with elements that are neighbours in the array as components, and which of its registers
        a lane transfers at once: several, where vectors are shorter than that."""
        memory = array.layout
        most = self._target.lane_bytes // storage_bytes(array.element)
        most = min([most, *(min(interval, pad & -pad) for interval, pad in memory.padding)])
        others = [memory.origin, *_placed(memory, (*layout.all_bases, layout.origin))]

        def distance(basis: int) -> int | None:
            place = span(memory.places, basis)
            alone = sum(1 for other in others if other & place) == 1
            return place if alone else None  # else a swizzle turns neighbours round in some lanes

        wide = fragments.grouped(layout, distance, min(most, self._target.components))
        longer = fragments.lengthened(wide, distance, most) if wide.width == self._target.components else wide
        return wide, fragments.runs(wide, longer)

    def offsets(self, array: Shared, layout: Layout) -> list[Register]:
        """Where component 0 of each register lies in the array, in elements (i32)."""
        b, memory = self._b, array.layout
        placed = Layout((memory.extent,), step=_placed(memory, layout.step),
                        lane=_placed(memory, layout.lane), warp=_placed(memory, layout.warp))
        dynamic = self._indices.dynamic_index(placed)
        moving = 0
        for basis in (*placed.step, *placed.lane, *placed.warp):
            moving |= basis
        known: Register | None = None
        found = []
        for index in layout.register_indices:
            static = memory.origin ^ span(memory.places, index)
            if dynamic is None:
                place = b.constant(I32, memory.padded(static))
            elif static & moving:
                place = self._padded(memory, b.ixor(dynamic, static))
            else:  # no carries between the two: they are padded one by one
                known = self._padded(memory, dynamic) if known is None else known
                place = b.iadd(known, memory.padded(static))
            found.append(place if array.start is None else b.iadd(place, array.start))
        return found

    def _padded(self, memory: SharedLayout, offset: Register) -> Register:
        """`SharedLayout.padded` of an offset that only run time knows."""
        b = self._b
        total = offset
        for interval, pad in memory.padding:
            total = b.iadd(total, b.imul(b.lshr(offset, interval.bit_length() - 1), pad))
        return total


def from_shared(b: Builder, element: Type, value: Register) -> Register:
    """Bytes of i1 become Bool; everything else is held in registers as in memory."""
    if isinstance(element, IntegerType) and element.width == 1:
        return b.compare("OpINotEqual", value, 0)
    assert not isinstance(value.type, Bool)
    return value


def _placed(memory: SharedLayout, bases: Sequence[int]) -> tuple[int, ...]:
    return tuple(span(memory.places, basis) for basis in bases)


def resident_layout(shape: tuple[int, ...], element: Type) -> SharedLayout:
    """Row-major, each row of banks followed by the widest access of a lane."""
    bytes = storage_bytes(element)
    return SharedLayout.row_major(shape, ((BANK_BYTES // bytes, max(1, 16 // bytes)),))

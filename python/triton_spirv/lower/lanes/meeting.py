"""When accesses of two lanes meet: one of them writes, and they may touch the same bytes of shared memory, or
global memory that comes from the same arguments of the kernel. spirv/passes/barriers.py asks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import cached_property

from ...dataclass import dataclass
from ...spirv.passes.barriers import OF_PROGRAM, OF_WARP
from ..addresses.ownership import Owned
from ..values.allocation import Apart, Range, Turn

#: The roots of pointers that may come from any argument.
ANYWHERE = -1


@dataclass(frozen=True)
class Global:
    """Global memory: the kernel's arguments that the pointers come from (bits), and which addresses are
    whose, where that is known.

    releases  whoever sees this access is to see what the program did before it
    acquires  what the program does after this access is to see what others did before
    exposed   other programs may write there meanwhile: reads of it must not leave the program's order
    """

    roots: int
    owned: Owned | None = None
    releases: bool = False
    acquires: bool = False
    exposed: bool = True

    def __hash__(self) -> int:
        # accesses are keys, again and again; what tells an address takes long to hash, its values do not
        values = self.owned and self.owned.values
        return hash((self.roots, values, self.releases, self.acquires, self.exposed))

    @cached_property
    def whole(self) -> Global:
        """The same, as if nobody knew whose addresses they are."""
        return self if self.owned is None else Global(
            self.roots, None, self.releases, self.acquires, self.exposed)

    def anywhere(self, exposed: bool) -> Global:
        """The same access, if any two arguments might overlap."""
        return Global(ANYWHERE, self.owned, self.releases, self.acquires, exposed)

    def overlaps(self, other: Global) -> bool:
        """May one lane's access meet another's?"""
        apart = self.owned is not None and other.owned is not None and (
            self.owned.address, self.owned.lanes) == (other.owned.address, other.owned.lanes)
        return bool(self.roots & other.roots) and not apart

    def follows(self, before: Global, writes: bool, wrote: bool) -> bool:
        """Does it have to wait for an access `before` of another lane? writes, wrote: do the two write?"""
        if (writes or wrote) and self.overlaps(before):
            return True
        return (self.releases and (wrote or before.exposed)) or (before.acquires and (writes or self.exposed))


class LaneMeetings:
    """Of lanes that share a program, in `Range` and `Global`."""

    def width(self, here: Hashable, writes: bool, before: Hashable, wrote: bool) -> int:
        if isinstance(here, Global) and isinstance(before, Global):
            return OF_PROGRAM if here.follows(before, writes, wrote) else 0
        if not isinstance(here, Range) or not isinstance(before, Range) or not here.overlaps(before):
            return 0
        if not writes and not wrote:
            return 0
        return OF_WARP if isinstance(here, Apart) and here == before else OF_PROGRAM

    def whole(self, memory: Hashable) -> Hashable:
        return memory.whole if isinstance(memory, Global) else memory

    def values(self, memory: Hashable) -> frozenset[int]:
        if isinstance(memory, Global) and memory.owned is not None:
            return memory.owned.values
        return frozenset()

    def next_round(self, memory: Hashable, pairs: set[int], lasts: Callable[[int], bool]) -> Hashable:
        if isinstance(memory, Turn) and memory.number in pairs:
            return replace(memory, ahead=not memory.ahead)
        if isinstance(memory, Global) and not all(map(lasts, self.values(memory))):
            return replace(memory, owned=None)
        return memory

"""Memory shared by the lanes of a program: who may use which bytes, and where barriers are needed.

A rule takes a scratch array (`SharedMemory.scratch`), or a buffer that lives until the last use of a value
(`SharedMemory.buffer`), and says `writes` before it stores to it and `reads` before it loads from it. Each of
these, and each access to global memory (`touches`), is a place where a barrier may be needed; which are is
decided when the kernel is complete (spirv/passes/barriers.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from ...environment.base import Environment
from ...errors import ResourceError
from ...ir.model import Operation, Type, Value
from ...layout import Layout, SharedLayout
from ...spirv.module import Module
from ...spirv.passes.barriers import Place, drop_barriers, needed_barriers
from ...spirv.passes.graph import Graph
from ...spirv.passes.verify_barriers import require_kept, require_separated
from ...target import Target
from ...traversal import Asking, every, question
from ..addresses.ownership import owned
from ..kernel import Kernel
from ..launch_contract import LaunchContract
from ..layouts import Layouts
from ..plan.recorder import Recorder
from ..plan.records import Overflow
from ..registry import RULES
from ..values.allocation import Apart, Arena, Range, last_use
from ..values.tensor import Bound, Shared
from ..values.types import register_type, storage_bytes
from .meeting import ANYWHERE, Global, LaneMeetings

if TYPE_CHECKING:
    from .shared_races import SharedRaces

MEETINGS = LaneMeetings()

#: bytes: arrays start at a multiple of it, so that a lane can move 16 bytes at once
ALIGNMENT = 16

#: Scratch arrays are spread over so many bytes: fewer barriers for the price of memory that every device has.
ROTATED_BYTES = 4096

#: Where arrays overflow into global memory, what lives long leaves a part of shared memory, one of so many,
#: to exchanges, which make do with little in several rounds.
LEFT_TO_EXCHANGES = 4

#: bytes: programs' parts of the overflow buffer start at a multiple of it, in cache lines of their own
PART_ALIGNMENT = 128

#: Overflowing arrays number their bytes from here on: no byte of theirs is one of shared memory.
OVERFLOW = 1 << 40


class SharedMemory:
    """The shared memory of one kernel."""

    def __init__(self, module: Module, env: Environment, target: Target, kernel: Kernel, layouts: Layouts,
                 launch: LaunchContract, recorder: Recorder) -> None:
        self._module, self._env, self._target, self._kernel = module, env, target, kernel
        self._layouts, self._launch, self._recorder = layouts, launch, recorder
        self.arena = Arena(ALIGNMENT)
        self.overflow = Arena(ALIGNMENT)
        self.places: list[Place] = []
        self.roots: dict[Value, int] = {}
        self.exposed = -1  # the roots whose memory other programs may write meanwhile
        self._ends: dict[Operation, list[Range]] = {}
        self.headers: list[int] = []  # of each pair of copies (Turn) the label of the loop
        self._after = 0  # where the last scratch array ended
        #: what watches all accesses, in checked mode
        self.races: SharedRaces | None = None

    # --- arrays -----------------------------------------------------------------------------------------

    @property
    def free(self) -> int:
        """Bytes that the target has beyond those in use at most so far; a guide to the size of scratch
        arrays."""
        return self._target.shared_bytes - self.arena.in_use

    @property
    def spare(self) -> int:
        """The same for arrays that may as well be small, and used in several rounds."""
        left = self.limit - self.arena.in_use
        return left if left >= ROTATED_BYTES else self.free

    @property
    def limit(self) -> int:
        """Bytes that the kernel should stay below, where it can: what lets two work-groups run on a compute
        unit, or all that there are once that is passed."""
        warps, bytes = self._target.paired
        is_paired = self._kernel.num_warps <= warps and self.arena.high <= bytes
        return bytes if is_paired else self._target.shared_bytes

    def take(self, element: Type, size: int, after: int = 0, lasting: bool = True) -> Shared:
        """An array of `size` elements, until `give_back(array.bytes)`; not `lasting`: for one exchange.
        ResourceError where shared memory has no room, and the kernel no memory to overflow into.
        """
        limit, overflows = self._target.shared_bytes, self._launch.overflows
        bytes = self.arena.find(size * storage_bytes(element), after, min(ROTATED_BYTES, limit))
        if overflows and bytes.end > limit - limit // LEFT_TO_EXCHANGES * lasting:
            return self._overflowing(element, size)
        if bytes.end > limit:
            raise ResourceError(bytes.end, limit, "shared memory")
        bytes = self.arena.take(size * storage_bytes(element), after, min(ROTATED_BYTES, limit))
        self._launch.shared_bytes = self.arena.high
        array = self._env.shared_array(register_type(element), size, bytes.start)
        return Shared((), element, array, SharedLayout((), ()), bytes)

    def _overflowing(self, element: Type, size: int) -> Shared:
        """An array in global memory, in the program's own part of a buffer that the launcher provides."""
        taken = self.overflow.take(size * storage_bytes(element))
        self._launch.overflow_bytes = -(-self.overflow.high // PART_ALIGNMENT) * PART_ALIGNMENT
        self._recorder.add(Overflow(size, str(element), taken.start))
        array = self._env.overflow_array(register_type(element), size, taken.start)
        bytes = Range(OVERFLOW + taken.start, OVERFLOW + taken.end)
        return Shared((), element, array, SharedLayout((), ()), bytes)

    def give_back(self, bytes: Range) -> None:
        """What `take` gave is free."""
        if bytes.start < OVERFLOW:
            self.arena.give_back(bytes)
        else:
            self.overflow.give_back(Range(bytes.start - OVERFLOW, bytes.end - OVERFLOW))

    @contextmanager
    def scratch(self, element: Type, size: int, part: int = 0) -> Iterator[Shared]:
        """An array of `size` elements for as long as the `with` block is emitted; it has no layout of its
        own. `part`: elements of it that each warp uses alone, 0 where all warps use all.

        Small arrays take turns over a few kilobytes: who writes one need not wait for readers of the last.
        """
        made = self.take(element, size, self._after, lasting=False)
        seen = Apart(made.bytes.start, made.bytes.end, part * storage_bytes(element))
        yield replace(made, bytes=seen) if part else made
        self.give_back(made.bytes)
        if made.bytes.end < OVERFLOW:
            self._after = made.bytes.end

    def buffer(self, value: Value, element: Type, layout: SharedLayout) -> Shared:
        """An array under `layout` that lives until nothing can read `value` any more."""
        made = self.take(element, layout.size)
        end = last_use(value, _may_be_read_later)
        if end is not None:
            self._ends.setdefault(end, []).append(made.bytes)
        return Shared(layout.shape, element, made.array, layout, made.bytes)

    def passed(self, op: Operation) -> None:
        """`op` is lowered: buffers that it used last are free again."""
        for bytes in self._ends.pop(op, ()):
            self.give_back(bytes)

    # --- barriers ---------------------------------------------------------------------------------------

    def writes(self, array: Shared) -> None:
        """What follows stores to the array; what it stores is evaluated already (it may have barriers)."""
        self._mark(True, array.bytes)

    def reads(self, array: Shared) -> None:
        """What follows loads from the array."""
        self._mark(False, array.bytes)

    def barrier(self) -> None:
        """A barrier that the program asks for."""
        self._mark(False, None)

    def touches(self, op: Operation, ptr: Bound, writes: bool, layout: Layout | None, releases: bool = False,
                acquires: bool = False, again: bool = False) -> None:
        """`op` accesses global memory through `op.ptr`, bound to `ptr`, each lane what it holds under
        `layout`; all lanes are here. layout: None for a scalar, and for messages, which bring lanes what
        others asked for.

        `releases`, `acquires`: see `Global`. Where tensors are evaluated between this and the access,
        barriers of theirs may stand in between: say so once more right behind the access, with `again`.
        """
        if self._layouts.lanes == 1:
            return
        if self.races is not None and writes and not again:
            self.races.begins_store()
        roots = ANYWHERE if self._kernel.options.overlapping else self.roots.get(op.ptr, ANYWHERE)
        self._mark(writes, Global(roots, owned(ptr, layout), releases, acquires, bool(roots & self.exposed)),
                   again)

    def _mark(self, writes: bool, bytes: Range | Global | None, again: bool = False) -> None:
        code = self._module.functions[-1].instructions
        length = len(code)
        self._env.barrier()
        if len(code) > length:  # nothing where one work-item runs the program
            self.places.append(Place(code[-1], writes, bytes, again))

    def finish(self, graph: Graph, verified: bool = False) -> bool:
        """The kernel is complete: drop the barriers that nothing needs, and tell the environment where lanes
        meet in shared memory only. Would more be needed if arguments overlapped? `verified`: follow every
        access to see that those who have to wait for it do."""
        if not self._target.optimises("barriers"):
            return False
        needed = self._needed(graph, self.places)
        # where no place needs a barrier, none does among fewer places
        outside = self._outside
        private = not self.overflow.high and not (needed and (
            len(outside) == len(self.places) or self._needed(graph, outside)))
        if private:
            self._env.keep_global_private(graph)
        assumes_disjoint = self._assumes_disjoint(graph, needed, private)
        if verified:
            require_separated(graph, self.places, needed, MEETINGS, self.headers)
        drop_barriers(graph, self.places, needed, self._env.narrow_barrier)
        if verified:
            require_kept(graph, self.places, needed)
        return assumes_disjoint

    @property
    def _outside(self) -> list[Place]:
        """The places but those of shared memory."""
        return [place for place in self.places if not isinstance(place.memory, Range)]

    def _needed(self, graph: Graph, places: list[Place]) -> dict[int, int]:
        return needed_barriers(graph, places, MEETINGS, self.headers)

    def _assumes_disjoint(self, graph: Graph, needed: dict[int, int], private: bool) -> bool:
        """Would there be other barriers, or other memory that they order, if any two arguments might
        overlap? `needed` and `private`: the barriers, and whether lanes meet in shared memory only, where
        arguments lie apart."""
        if len({place.memory.roots for place in self.places if isinstance(place.memory, Global)}) < 2:
            return False
        exposed = bool(self.exposed)
        everywhere = {
            id(place): Place(place.barrier, place.writes, place.memory.anywhere(exposed), place.again)
            if isinstance(place.memory, Global) else place for place in self.places}
        outside = self._outside
        if private:
            if self._needed(graph, [everywhere[id(place)] for place in outside]):
                return True  # a barrier that shared memory needs orders no global memory
            if len(outside) == len(self.places):
                return False  # there is nothing else, and it needs none either way
        found = self._needed(graph, list(everywhere.values()))
        return any(needed.get(id(place)) != found.get(id(everywhere[id(place)])) for place in self.places)


def _may_be_read_later(op: Operation) -> bool:
    """May the results of an operation read its operands' buffers later than where it stands?"""
    if op.name == "ttg.local_load":
        return feeds_products(op.results[0])
    return op.name in RULES and RULES[op.name].kind != "lowers"


@question
def feeds_products(value: Value) -> Asking[bool]:
    """Is the tensor used by matrix products as an operand, and by element by element operations that are?"""
    for user, index in value.uses:
        if user.has("product"):
            if user.operands[index] is user.c:
                return False
            continue
        entry = RULES.get(user.name)  # none for what ends a region
        if entry is None or entry.kind != "elementwise" or not (yield from every(user.results)):
            return False
    return bool(value.uses)

"""Which barriers a function needs: where an access may meet one of another lane that no barrier separates
from it.

Rules mark the places that access memory, each with a barrier that may be needed before it. Whether two
accesses meet is for the rules to say (`Meetings`): one of them writes, and they may touch the same bytes. A
program's loads and stores take place in the order of its text, whichever lanes do them. Over the graph of
blocks it is found which barriers separate accesses that meet; the others are dropped. """

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol

from ...dataclass import dataclass
from ..values import Words
from .graph import Graph


@dataclass(frozen=True)
class Place:
    """A point of the program that accesses memory, with the barrier that may be needed before it.

    `memory` says which; None for a barrier that the program itself asks for. `again`: an access marked before
    went on until here, perhaps behind barriers of what it needed; nothing has to wait for it here.
    """

    barrier: Words
    writes: bool
    memory: Hashable | None
    again: bool = False


#: How wide a barrier is: for the lanes of one warp, or for the whole program.
OF_WARP, OF_PROGRAM = 1, 2

Access = tuple[bool, Hashable]
#: accesses since the last barrier; those with one answer to whether an access may meet them stand together
State = dict[tuple[bool, Hashable], frozenset[Access]]


class Meetings(Protocol):
    """What the memory of places is, and when accesses to it meet."""

    def width(self, here: Hashable, writes: bool, before: Hashable, wrote: bool) -> int:
        """Who has to wait before an access, for one before it that another lane did; 0: nobody."""

    def whole(self, memory: Hashable) -> Hashable:
        """The memory without what says which addresses of it are whose: an access that has nobody to wait for
        there has nobody to wait for here."""

    def values(self, memory: Hashable) -> frozenset[int]:
        """The ids that addresses are made of: computed anew, they are others."""

    def next_round(self, memory: Hashable, pairs: set[int], lasts: Callable[[int], bool]) -> Hashable:
        """The memory of an access of the round before of a loop, in which `pairs` of copies take turns, and
        of whose values some are the same in each round: those of which `lasts` holds."""


def needed_barriers(graph: Graph, places: Sequence[Place], meetings: Meetings,
                    headers: Sequence[int] = ()) -> dict[int, int]:
    """The places whose barrier separates two accesses, over all paths through a function: how wide the
    barrier is, by the id() of the place.

    Forward over the blocks until nothing changes, like Triton's Membar analysis: what a block ends with is
    the union over its predecessors' ends, then its own accesses. A barrier once found needed stays.
    `headers`: the label of the loop that each pair of copies takes turns in.
    """
    if not (headers or _may_meet(places, meetings)):
        return {}
    by_words = {id(place.barrier): place for place in places}
    inside = [[by_words[id(words)] for words in block.instructions if id(words) in by_words]
              for block in graph.blocks]
    accesses = {id(place): {(place.writes, meetings.whole(place.memory)):
                            frozenset(((place.writes, place.memory),))}
                for place in places if place.memory is not None}
    ends: list[State | None] = [None] * len(graph.blocks)
    needed: dict[int, int] = {}
    moving = any(map(meetings.values, {place.memory for place in places} - {None}))
    homes = graph.homes if moving else {}
    turning = {label: {i for i, header in enumerate(headers) if header == label} for label in headers}

    def next_round(at: int, state: State) -> State:
        """What a block ends with that goes back to block `at`, as that one sees it: in the next round of a
        loop copies have changed places, and addresses that are computed in it are others. (What a loop
        computes stands in its header, or behind it.)"""
        pairs = turning.get(graph.blocks[at].label, set())
        return _state([(wrote, meetings.next_round(memory, pairs, lambda value: homes.get(value, -1) < at))
                       for known in state.values() for wrote, memory in known], meetings)

    changed = True
    while changed:
        changed = False
        for block in graph.blocks:
            at = block.number
            state: State = {}
            for other in block.before:
                end = ends[other.number]
                if end:
                    state = _joined(state, end if other.number < at else next_round(at, end))
            for place in inside[at]:
                width = 0 if place.again else max(_width(state, place, meetings), needed.get(id(place), 0))
                if width:
                    needed[id(place)] = width
                if width == OF_PROGRAM:
                    state = {}
                if place.memory is not None:
                    state = _joined(state, accesses[id(place)])
            if ends[at] is not state and ends[at] != state:
                ends[at] = state
                changed = bool(graph.loops)  # without one, each block comes behind all that lead to it
    return {id(place): needed[id(place)] for place in places if id(place) in needed}


def _may_meet(places: Sequence[Place], meetings: Meetings) -> bool:
    """Would any of them have to wait for any other, or itself, in whatever order? (Of copies that take turns
    the answer changes from round to round.)"""
    if any(place.memory is None for place in places):
        return True
    known = {(place.writes, meetings.whole(place.memory)) for place in places}
    return any(meetings.width(here, writes, before, wrote)
               for writes, here in known for wrote, before in known)


def _width(state: State, place: Place, meetings: Meetings) -> int:
    """Who has to wait before the place; 0: nobody."""
    if place.memory is None:
        return OF_PROGRAM
    width = 0
    for (wrote, whole), known in state.items():
        if not meetings.width(place.memory, place.writes, whole, wrote):
            continue
        for _, memory in known:
            width = max(width, meetings.width(place.memory, place.writes, memory, wrote))
            if width == OF_PROGRAM:
                return width
    return width


def _state(accesses: Iterable[Access], meetings: Meetings) -> State:
    state: dict[tuple[bool, Hashable], set[Access]] = {}
    for wrote, memory in accesses:
        state.setdefault((wrote, meetings.whole(memory)), set()).add((wrote, memory))
    return {key: frozenset(known) for key, known in state.items()}


def _joined(one: State, other: State) -> State:
    """The accesses of both."""
    if not one or one is other:
        return other
    added = {key: one[key] | known if key in one else known for key, known in other.items()
             if key not in one or not known <= one[key]}
    return {**one, **added} if added else one


def drop_barriers(graph: Graph, places: Sequence[Place], needed: dict[int, int],
                  narrow: Callable[[Words], None]) -> None:
    """Take away the barriers that nothing needs; `narrow` those that the lanes of one warp need."""
    dropped = {id(place.barrier) for place in places if id(place) not in needed}
    for place in places:
        if needed.get(id(place)) == OF_WARP:
            narrow(place.barrier)
    for block in graph.blocks if dropped else ():
        block.instructions[:] = [words for words in block.instructions if id(words) not in dropped]
    if dropped:
        graph.write()

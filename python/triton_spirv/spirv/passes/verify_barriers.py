"""Is there a barrier on every way from an access to another lane's that it meets?

barriers.py finds which barriers are needed, by what may have been accessed before each place. Here each
access is followed instead, on all ways, up to the barriers that are kept: nobody who has to wait for it may
come before.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from ...errors import InternalError
from .barriers import OF_PROGRAM, Meetings, Place
from .graph import Graph

#: Accesses of a kernel that are followed, at most: each may be followed to all others.
MOST = 600


def require_separated(graph: Graph, places: Sequence[Place], kept: Mapping[int, int], meetings: Meetings,
                      headers: Sequence[int] = ()) -> None:
    """InternalError where an access may meet one of another lane. The graph has the barriers of all places
    still; kept: how wide those are that stay, by the id() of the place. headers: as in `needed_barriers`."""
    if len(places) > MOST:
        return
    follow = _Follow(graph, places, kept, meetings, headers)
    for place in places:
        if place.memory is None and kept.get(id(place)) != OF_PROGRAM:
            raise InternalError("a barrier that the kernel asks for is dropped")
    for number, inside in enumerate(follow.inside):
        for i, place in enumerate(inside):
            if place.memory is not None:
                follow.all_ways(number, i + 1, place.writes, place.memory)


def require_kept(graph: Graph, places: Sequence[Place], kept: Mapping[int, int]) -> None:
    """InternalError where a barrier that is to stay is gone."""
    there = {id(words) for block in graph.blocks for words in block.instructions}
    if any(id(place.barrier) not in there for place in places if id(place) in kept):
        raise InternalError("a barrier that separates two accesses is dropped")


class _Follow:
    """Follows accesses through a function. inside: the places of each block."""

    def __init__(self, graph: Graph, places: Sequence[Place], kept: Mapping[int, int], meetings: Meetings,
                 headers: Sequence[int]) -> None:
        self.graph, self.kept, self.meetings = graph, kept, meetings
        by_words: dict[int, Place] = {id(place.barrier): place for place in places}
        self.inside = [[by_words[id(words)] for words in block.instructions if id(words) in by_words]
                       for block in graph.blocks]
        self.after: list[list[int]] = [[] for _ in graph.blocks]
        for block in graph.blocks:
            for other in block.before:
                self.after[other.number].append(block.number)
        self.turning = {label: {i for i, header in enumerate(headers) if header == label}
                        for label in headers}
        self.seen: set[tuple[int, bool, Hashable]] = set()

    def all_ways(self, block: int, start: int, wrote: bool, memory: Hashable) -> None:
        """From a place in a block on; ways that another access of the same kind has gone are left out."""
        pending = [(block, start, memory)]
        while pending:
            number, start, memory = pending.pop()
            if self._ends_inside(number, start, wrote, memory):
                continue
            for other in self.after[number]:
                following = memory if other > number else self._next_round(other, memory)
                if (other, wrote, following) not in self.seen:
                    self.seen.add((other, wrote, following))
                    pending.append((other, 0, following))

    def _ends_inside(self, number: int, start: int, wrote: bool, memory: Hashable) -> bool:
        """Does every way through the rest of a block come to a barrier?"""
        for place in self.inside[number][start:]:
            kept = self.kept.get(id(place), 0)
            if kept == OF_PROGRAM:
                return True
            if place.memory is not None and not place.again and self.meetings.width(
                    place.memory, place.writes, memory, wrote) > kept:
                raise InternalError(f"an access of {place.memory} has to wait for one of {memory} of another "
                                    f"lane, and no barrier separates them: block "
                                    f"%{self.graph.blocks[number].label}")
        return False

    def _next_round(self, header: int, memory: Hashable) -> Hashable:
        """The memory of an access, where a loop goes back."""
        pairs = self.turning.get(self.graph.blocks[header].label, set())
        homes = self.graph.homes
        return self.meetings.next_round(memory, pairs, lambda value: homes.get(value, -1) < header)

"""Which barriers a kernel needs: where an access may meet one of another lane that no barrier separates from
it.

Rules mark the places that access memory, each with a barrier that may be needed before it (shared.py). Two
accesses meet if one of them writes and they may touch the same bytes of shared memory, or global memory that
comes from the same arguments of the kernel: a program's loads and stores take place in the order of its text,
whichever lanes do them. Over the graph of blocks it is found which barriers separate accesses that meet; the
others are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...lower.values.allocation import Apart, Range, Turn
from .. import grammar
from ...lower.addresses.ownership import Owned

Words = list[int]


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


@dataclass(frozen=True)
class Place:
    """A point of the program that accesses memory, with the barrier that may be needed before it.

    `bytes` says which memory; None for a barrier that the program itself asks for. `again`: an access marked
    before went on until here, perhaps behind barriers of what it needed; nothing has to wait for it here.
    """

    barrier: Words
    writes: bool
    bytes: Range | Global | None
    again: bool = False


LABEL, BRANCH, BRANCH_CONDITIONAL, SWITCH = 248, 249, 250, 251

Access = tuple[bool, Range | Global]
State = frozenset[Access]  # accesses since the last barrier


#: How wide a barrier is: for the lanes of one warp, or for the whole program.
OF_WARP, OF_PROGRAM = 1, 2


def needed_barriers(instructions: Sequence[Words], places: Sequence[Place],
                    headers: Sequence[int] = ()) -> dict[int, int]:
    """The places whose barrier separates two accesses, over all paths through a function: how wide the
    barrier is, by the id() of the place.

    Forward over the blocks until nothing changes, like Triton's Membar analysis: what a block ends with is
    the union over its predecessors' ends, then its own accesses. A barrier once found needed stays.
    `headers`: the label of the loop that each pair of copies (`Turn`) takes turns in.
    """
    blocks, edges = _graph(instructions, places)
    ends: dict[int, State] = {}
    needed: dict[int, int] = {}
    before: dict[int, list[int]] = {label: [] for label in blocks}
    for label, following in edges.items():
        for other in following:
            before[other].append(label)
    order = {label: i for i, label in enumerate(blocks)}
    turning = {label: {i for i, header in enumerate(headers) if header == label} for label in headers}
    computed = _computed(instructions, order, places)

    def arriving(label: int, other: int) -> State:
        """What block `other` ends with, as `label` sees it: in the next round of a loop copies have changed
        places, and addresses that are computed in it are others."""
        state = ends.get(other, frozenset())
        if order[other] < order[label]:
            return state
        pairs = turning.get(label)
        state = _turned(state, pairs) if pairs else state
        return frozenset((writes, _next_round(bytes, computed, order[label])) for writes, bytes in state)

    changed = True
    while changed:
        changed = False
        for label, inside in blocks.items():
            state: State = frozenset().union(*(arriving(label, other) for other in before[label]))
            for place in inside:
                width = 0 if place.again else max(_width(state, place), needed.get(id(place), 0))
                if width:
                    needed[id(place)] = width
                if width == OF_PROGRAM:
                    state = frozenset()
                if place.bytes is not None:
                    state |= {(place.writes, place.bytes)}
            if ends.get(label) != state:
                ends[label] = state
                changed = True
    return {id(place): needed[id(place)] for place in places if id(place) in needed}


def _turned(state: State, pairs: set[int]) -> State:
    return frozenset((writes, replace(bytes, ahead=not bytes.ahead))
                     if isinstance(bytes, Turn) and bytes.number in pairs else (writes, bytes)
                     for writes, bytes in state)


def _computed(instructions: Sequence[Words], order: dict[int, int],
              places: Sequence[Place]) -> dict[int, int]:
    """Of the values that owned addresses are made of: the block, by its position, that computes each. (A
    block stands behind those that dominate it: what a loop computes stands in its header, or behind it.)"""
    wanted = {value for place in places if isinstance(place.bytes, Global) and place.bytes.owned is not None
              for value in place.bytes.owned.values}
    made: dict[int, int] = {}
    current = 0
    for words in instructions if wanted else ():
        if words[0] & 0xFFFF == LABEL:
            current = order[words[1]]
            continue
        instruction = grammar.instruction_by_opcode(words[0] & 0xFFFF)
        if instruction.has_result and words[1 + instruction.has_type] in wanted:
            made[words[1 + instruction.has_type]] = current
    return made


def _next_round(bytes: Range | Global, computed: dict[int, int], header: int) -> Range | Global:
    if not isinstance(bytes, Global) or bytes.owned is None:
        return bytes
    lasts = all(computed.get(value, -1) < header for value in bytes.owned.values)
    return bytes if lasts else replace(bytes, owned=None)


def _width(state: State, place: Place) -> int:
    """Who has to wait before the place; 0: nobody."""
    here, width = place.bytes, 0
    if here is None:
        return OF_PROGRAM
    for writes, bytes in state:
        if isinstance(here, Global) and isinstance(bytes, Global):
            if here.follows(bytes, place.writes, writes):
                return OF_PROGRAM
        elif isinstance(here, Range) and isinstance(bytes, Range):
            if (writes or place.writes) and here.overlaps(bytes):
                if not isinstance(here, Apart) or here != bytes:
                    return OF_PROGRAM
                width = OF_WARP
    return width


def _graph(instructions: Sequence[Words],
           places: Sequence[Place]) -> tuple[dict[int, list[Place]], dict[int, list[int]]]:
    """Per block its places, in order, and the blocks that may follow."""
    by_words = {id(place.barrier): place for place in places}
    labels = {words[1] for words in instructions if words[0] & 0xFFFF == LABEL}
    blocks: dict[int, list[Place]] = {}
    edges: dict[int, list[int]] = {}
    current = 0
    for words in instructions:
        opcode = words[0] & 0xFFFF
        if opcode == LABEL:
            current = words[1]
            blocks[current], edges[current] = [], []
        elif opcode == BRANCH:
            edges[current] = [words[1]]
        elif opcode == BRANCH_CONDITIONAL:
            edges[current] = words[2:4]
        elif opcode == SWITCH:
            edges[current] = [word for word in words[2:] if word in labels]
        elif id(words) in by_words:
            blocks[current].append(by_words[id(words)])
    return blocks, edges

"""No barrier, and no exchange between lanes, stands where lanes may have parted.

A barrier that some lanes of a program do not reach never ends, and a shuffle gives anything where lanes are
missing. Rules emit both where all lanes are: in the arms and loops of the program's own control flow, whose
conditions are scalars of the program, the same in every lane. Here that is checked on the finished function:
the conditions that a barrier or an exchange depends on are traced back to what they are made of. Lanes may
part over their own number, over what they load, and over what another lane gave them; warps over theirs too.
Who breaks this rule has found a defect of the emitter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache

from ...errors import InternalError
from ..operands import opcode
from ..types import Pointer
from ..values import Words
from .graph import LINE, OPCODE, PHI, Construct, Graph, id_places, name_of

#: How far lanes agree on a value: all of the program, those of each warp, none.
PROGRAM, WARP, LANE = range(3)

LOAD, STORE = opcode("OpLoad"), opcode("OpStore")
BARRIER, CALL = opcode("OpControlBarrier"), opcode("OpFunctionCall")
CHAINS = frozenset(map(opcode, ("OpAccessChain", "OpInBoundsAccessChain", "OpPtrAccessChain",
                                "OpInBoundsPtrAccessChain", "OpBitcast")))
#: What all lanes of a warp have the same result of.
AGREED = frozenset(opcode(f"OpGroupNonUniform{name}") for name in (
    "All", "Any", "AllEqual", "Broadcast", "BroadcastFirst", "Ballot"))
#: Storage that holds the same for all lanes, where they do not index it. (Function: a by-value argument.)
SAME = frozenset({"Input", "PushConstant", "UniformConstant", "Function"})
WORKGROUP = 2  # the scope

Around = tuple[Construct, ...]


def check_convergence(graph: Graph, scalars: AbstractSet[int], numbers: Mapping[int, int],
                      constants: Mapping[int, int]) -> None:
    """InternalError where lanes may have parted before they meet. scalars: ids of what all lanes of the
    program have the same of; numbers: ids of a lane's numbers, with how far lanes agree on each; constants:
    integers by their ids."""
    opcodes = {words[0] & OPCODE for block in graph.blocks for words in block.instructions}
    if not any(map(_is_meeting, opcodes)):
        return
    found = _Agreements(graph, scalars, numbers)
    for words, line, around in found.meetings:
        whole = words[0] & OPCODE == BARRIER and constants.get(words[1]) == WORKGROUP
        conditions = {value for construct in around for value in construct.conditions}
        if any(found.agreement(value) > (PROGRAM if whole else WARP) for value in conditions - scalars):
            raise InternalError(
                f"{name_of(words)}, made for line {line}, stands where lanes may have parted")


@cache
def _is_meeting(number: int) -> bool:
    name = name_of([number])
    return number == BARRIER or name.startswith(("OpGroup", "OpSubgroup", "OpCooperativeMatrixMul"))


class _Agreements:
    """How far lanes agree on the values of a function.

    meetings: instructions in constructs for which lanes have to be together, the lines they were made for,
    and these constructs; choices: of a phi the constructs that choose its value; stores: into each Function
    variable, with the constructs around. """

    def __init__(self, graph: Graph, scalars: AbstractSet[int], numbers: Mapping[int, int]) -> None:
        self.types, self.made, self.scalars, self.numbers = graph.types, graph.made, scalars, numbers
        self.meetings: list[tuple[Words, int, Around]] = []
        self.choices: dict[int, list[Construct]] = {}
        self.stores: dict[int, list[tuple[Words, Around]]] = {
            words[2]: [] for words in graph.function.variables}
        for block in graph.blocks:
            around, ended = graph.constructs[block.number]
            line = 0
            for words in block.instructions:
                number = words[0] & OPCODE
                if number == LINE:
                    line = words[2]
                elif number == PHI:
                    self.choices[words[2]] = [*ended, *(own for own in around if own.header == block.number)]
                elif number == STORE:
                    self.stores.get(self._root(words[1]), []).append((words, around))
                elif around and _is_meeting(number):
                    self.meetings.append((words, line, around))

    def agreement(self, value: int) -> int:
        """How far lanes agree on a value, at least: the least of all that it is made of."""
        pending, seen, least = [value], {value}, PROGRAM
        while pending:
            here = pending.pop()
            known = self.numbers.get(here)
            if known is not None:
                least = max(least, known)
                continue
            words = self.made.get(here)
            if here in self.scalars or words is None:  # constants, parameters, variables
                continue
            fixed, parts = self._made_of(words)
            least = max(least, fixed)
            if least == LANE:
                return LANE
            pending += [part for part in parts if part not in seen]
            seen.update(parts)
        return least

    def _made_of(self, words: Words) -> tuple[int, list[int]]:
        """What an instruction brings in itself, and the values that it takes the rest from."""
        number = words[0] & OPCODE
        if number == PHI:
            return PROGRAM, [*words[3::2], *self._conditions(self.choices[words[2]])]
        if number == LOAD:
            stores = self.stores.get(self._root(words[3]))
            if stores is not None:
                return PROGRAM, [words[3], *(value for store, around in stores
                                             for value in (*store[1:3], *self._conditions(around)))]
            pointer = self.made.get(words[3])
            storage = self.types[pointer[1]] if pointer is not None else None
            same = storage is None or (isinstance(storage, Pointer) and storage.storage_class in SAME)
            return (PROGRAM if same else LANE), [words[3]]
        if number in AGREED:
            return WARP, []
        if _is_meeting(number) or number == CALL or name_of(words).startswith(("OpAtomic", "OpReadClock")):
            return LANE, []
        return PROGRAM, [words[at] for at in id_places(words)]

    def _conditions(self, constructs: Iterable[Construct]) -> Iterator[int]:
        for construct in constructs:
            yield from construct.conditions

    def _root(self, pointer: int) -> int:
        """The variable, or the address, that a pointer was made from."""
        words = self.made.get(pointer)
        while words is not None and words[0] & OPCODE in CHAINS:
            pointer = words[3]
            words = self.made.get(pointer)
        return pointer

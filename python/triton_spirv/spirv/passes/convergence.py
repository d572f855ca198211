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
from dataclasses import dataclass, field
from functools import cache

from ...errors import InternalError
from .. import grammar
from ..builder import I32
from ..module import Function
from ..operands import opcode
from ..types import Pointer, Type
from ...lower.context import Context
from .liveness import Words, id_places

#: How far lanes agree on a value: all of the program, those of each warp, none.
PROGRAM, WARP, LANE = range(3)

LABEL, LINE, PHI, LOAD, STORE = map(opcode, ("OpLabel", "OpLine", "OpPhi", "OpLoad", "OpStore"))
LOOP_MERGE, SELECTION_MERGE = opcode("OpLoopMerge"), opcode("OpSelectionMerge")
CONDITIONAL, SWITCH = opcode("OpBranchConditional"), opcode("OpSwitch")
BARRIER, CALL = opcode("OpControlBarrier"), opcode("OpFunctionCall")
CHAINS = frozenset(map(opcode, ("OpAccessChain", "OpInBoundsAccessChain", "OpPtrAccessChain",
                                "OpInBoundsPtrAccessChain", "OpBitcast")))
#: What all lanes of a warp have the same result of.
AGREED = frozenset(opcode(f"OpGroupNonUniform{name}") for name in (
    "All", "Any", "AllEqual", "Broadcast", "BroadcastFirst", "Ballot"))
#: Storage that holds the same for all lanes, where they do not index it. (Function: a by-value argument.)
SAME = frozenset({"Input", "PushConstant", "UniformConstant", "Function"})
WORKGROUP = 2  # the scope


@dataclass(eq=False)
class _Construct:
    """A selection or a loop: the label behind it, and the conditions by which lanes may part in it."""

    merge: int
    is_loop: bool
    conditions: list[int] = field(default_factory=list)


Around = tuple[_Construct, ...]


def check_convergence(ctx: Context, function: Function) -> None:
    """InternalError where lanes may have parted before they meet."""
    numbers = {number.id: level for number, level in ((ctx.env.lane_id(), LANE), (ctx.env.warp_id(), WARP))
               if number.constant is None}
    found = _Structure(function, ctx.b.module.types, ctx.scalars, numbers)
    for words, line, around in found.meetings:
        number = words[0] & 0xFFFF
        whole = number == BARRIER and words[1] == ctx.b.constant(I32, WORKGROUP).id
        conditions = {value for construct in around for value in construct.conditions}
        if any(found.agreement(value) > (PROGRAM if whole else WARP) for value in conditions - ctx.scalars):
            name = grammar.instruction_by_opcode(number).name
            raise InternalError(f"{name}, made for line {line}, stands where lanes may have parted")


@cache
def _is_meeting(number: int) -> bool:
    name = grammar.instruction_by_opcode(number).name
    return number == BARRIER or name.startswith(("OpGroup", "OpSubgroup", "OpCooperativeMatrixMul"))


class _Structure:
    """The constructs of a function, and what its values are made of.

    Blocks stand in the order of their nesting: all of a construct between its header and the block behind it.
    meetings: instructions for which lanes have to be together, the lines they were made for, and the
    constructs around them; made: the instruction of each value; choices: of a phi the constructs that choose
    its value; stores: into each Function variable.
    """

    def __init__(self, function: Function, types: Mapping[int, Type], scalars: set[int],
                 numbers: Mapping[int, int]) -> None:
        self.types, self.scalars, self.numbers = types, scalars, numbers
        self.meetings: list[tuple[Words, int, Around]] = []
        self.made: dict[int, Words] = {}
        self.choices: dict[int, list[_Construct]] = {}
        self.stores: dict[int, list[tuple[Words, Around]]] = {words[2]: [] for words in function.variables}
        inside: list[_Construct] = []
        closed: list[_Construct] = []  # by the block at hand
        phis: list[int] = []  # of the block at hand
        selects, line = False, 0
        for words in (*function.opening, *function.instructions):
            number = words[0] & 0xFFFF
            if len(words) > 2 and words[1] in types:
                self.made[words[2]] = words
            if number == LABEL:
                closed, phis, selects = [], [], False
                while any(construct.merge == words[1] for construct in inside):
                    closed.append(inside.pop())
            elif number == LINE:
                line = words[2]
            elif number == PHI:
                phis.append(words[2])
                self.choices[words[2]] = list(closed)
            elif number == STORE:
                self.stores.get(self._root(words[1]), []).append((words, tuple(inside)))
            elif number in (LOOP_MERGE, SELECTION_MERGE):
                selects = number == SELECTION_MERGE
                inside.append(_Construct(words[1], not selects))
                for phi in () if selects else phis:
                    self.choices[phi].append(inside[-1])
            elif number in (CONDITIONAL, SWITCH):
                left = [inside[-1]] if selects else [
                    construct for construct in inside if construct.is_loop and construct.merge in words[2:4]]
                for construct in left:
                    construct.conditions.append(words[1])
            if inside and _is_meeting(number):
                self.meetings.append((words, line, tuple(inside)))

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
        number = words[0] & 0xFFFF
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
        name = grammar.instruction_by_opcode(number).name
        if _is_meeting(number) or number == CALL or name.startswith(("OpAtomic", "OpReadClock")):
            return LANE, []
        return PROGRAM, [words[at] for at in id_places(words)]

    def _conditions(self, constructs: Iterable[_Construct]) -> Iterator[int]:
        for construct in constructs:
            yield from construct.conditions

    def _root(self, pointer: int) -> int:
        """The variable, or the address, that a pointer was made from."""
        words = self.made.get(pointer)
        while words is not None and words[0] & 0xFFFF in CHAINS:
            pointer = words[3]
            words = self.made.get(pointer)
        return pointer

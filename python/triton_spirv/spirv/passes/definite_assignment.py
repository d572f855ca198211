"""Definite assignment: an element of a private array is read only where all ways there have written it.

What an array holds that nobody wrote is what the stack did before: such a read is a defect of the emitter,
and the results are wrong without a word. This is a forward analysis over the blocks of an emitted function.
What is known at each point is, for every array, which of its elements all ways there have written, as bits of
a number.

A walk writes a window in each turn, at a place that is linear in the bits of the turn's number (layout.py):
the xor of a constant and of a basis for each bit that is set. So what is known inside a loop is known of
*this* turn: elements, to be xored with the bases of this turn's bits. A loop from 0 to a power of two comes
to every number: behind it, the elements are closed under each basis. Other loops may have no turn at all,
and leave nothing behind.

One pass over the blocks does: they come after those that lead to them, but for the way back of a loop, and
that brings nothing, since nothing is ever taken back, and what is known of a turn is not known of the next.
What a selector says of the way that was taken counts, too (selectors.py).

A place that is not linear (a number from memory) is no write that counts, and a read of all that the function
writes at any linear place. Arrays whose pointers go where the analysis does not follow are left out,
and those of sums that begin in a loop's first round (lower/products/zeroed_sums.py): nothing here tells
rounds apart.
"""

from __future__ import annotations

from ...errors import InternalError
from ..interface import Interface
from ..operands import opcode
from ..types import Array
from ..values import Words
from .graph import CONDITIONAL, LINE, OPCODE, Block, Graph
from .places import (
    NOTHING,
    WHOLE,
    Bases,
    Elements,
    Linear,
    Place,
    bytes_of,
    closed,
    elements_of,
    further,
    scalar_bytes,
)
from .selectors import Selectors, Told

Known = dict[tuple[int, Bases], int]  # array, bases of this turn's bits -> the elements that are written

(LOAD, STORE, ACCESS, ACCESS_IN_BOUNDS, POINTER, POINTER_IN_BOUNDS, BITCAST, ADD, SUB, MUL, SHL, SHR, AND, OR,
 XOR, EXTEND, EXTEND_ZERO, SLESS, ULESS) = map(opcode, (
     "OpLoad", "OpStore", "OpAccessChain", "OpInBoundsAccessChain", "OpPtrAccessChain",
     "OpInBoundsPtrAccessChain", "OpBitcast", "OpIAdd", "OpISub", "OpIMul", "OpShiftLeftLogical",
     "OpShiftRightLogical", "OpBitwiseAnd", "OpBitwiseOr", "OpBitwiseXor", "OpSConvert", "OpUConvert",
     "OpSLessThan", "OpULessThan"))
CHAINS = {ACCESS: False, ACCESS_IN_BOUNDS: False, POINTER: True, POINTER_IN_BOUNDS: True}
ARITHMETIC = frozenset((ADD, SUB, MUL, SHL, SHR, AND, OR, XOR, EXTEND, EXTEND_ZERO))

#: Operations in a row that a place is followed through.
DEEP = 50

#: Other instructions that may take a pointer; so may any of the extensions'.
ESCAPES = frozenset(map(opcode, (
    "OpFunctionCall", "OpExtInst", "OpSelect", "OpCopyMemory", "OpCopyMemorySized", "OpPtrCastToGeneric",
    "OpConvertPtrToU"))) | frozenset(range(opcode("OpAtomicLoad"), opcode("OpAtomicXor") + 1))
EXTENSIONS = opcode("OpSubgroupBallotKHR")  # from here on
POINTERS = CHAINS.keys() | {BITCAST}
FOLLOWED = frozenset((LINE, STORE, LOAD))
COLLECTED = ARITHMETIC | POINTERS | ESCAPES | FOLLOWED | {SLESS, ULESS}


def require_definite(graph: Graph, module: Interface) -> None:
    """InternalError where an element of a private array may be read that was not written."""
    if any(isinstance(graph.types[words[1]].pointee, Array)  # type: ignore[attr-defined]
           for words in graph.function.variables):
        check = _Definite(module, graph)
        check.collect()
        check.run()


class _Definite:
    """One function. `units`: of each array that is followed, by the id of its variable, bytes of an element;
    `wanted`: the elements that are written at any linear place.
    """

    def __init__(self, module: Interface, graph: Graph) -> None:
        self.module, self.types = module, graph.types
        self.graph = graph
        self.units: dict[int, int] = {}
        self.wanted: dict[int, int] = {}
        self.places: dict[int, Place] = {}
        for words in graph.function.variables:
            held = self.types[words[1]].pointee  # type: ignore[attr-defined]
            if isinstance(held, Array) and scalar_bytes(held) and len(words) == 4 \
                    and words[2] not in self.graph.function.begun:
                self.units[words[2]] = scalar_bytes(held)
                self.places[words[2]] = Place(words[2], Linear(0), held)
        self.constants = module.integers()
        self.events: list[list[tuple[int, Words]]] = []  # what is followed, in order, by block
        self.elements: dict[int, Elements] = {}  # by the id of the pointer
        self.numbers: dict[int, Linear] = {}  # as far as they were asked for
        self.made: dict[int, Words] = {}      # arithmetic, by the id of its result
        self.loops: dict[int, tuple[int, int]] = {}  # header -> the number of its turn, the block behind it

    # --- numbers and places ---------------------------------------------------------------------------------

    def collect(self) -> None:
        """Counted loops, and where pointers point to."""
        ends: list[tuple[int, Words, Words, int]] = []  # header, phi, comparison, the block behind the loop
        pointers: list[Words] = []
        others: list[Words] = []
        for block in self.graph.blocks:
            events: list[tuple[int, Words]] = []
            tests: list[Words] = []
            code = block.instructions if block.number else [*self.graph.function.opening, *block.instructions]
            for words in code:
                op = words[0] & OPCODE
                if op not in COLLECTED and op < EXTENSIONS:
                    continue
                if op in ARITHMETIC:
                    self.made[words[2]] = words
                elif op in POINTERS:
                    pointers.append(words)
                elif op in FOLLOWED:
                    events.append((op, words))
                elif op in (SLESS, ULESS):
                    tests.append(words)
                else:
                    others.append(words)
            self.events.append(events)
            ends += _ends_of(block, tests)
        for header, phi, test, behind in ends:
            bits = self._turns(phi, test[4])
            if bits is not None:
                self.loops[header] = phi[2], behind
                bases = frozenset(((phi[2], bit), 1 << bit) for bit in range(bits))
                self.numbers[phi[2]] = Linear(0, bases)
        for words in pointers:
            if words[3] in self.places:
                self.places[words[2]] = self._place(words[0] & OPCODE, words)
        self.selectors = Selectors(self.graph, self.module, [*pointers, *others])
        for words in others:
            for word in words[1:]:
                if word in self.places:
                    self.units.pop(self.places[word].array, None)
        for events in self.events:
            for op, words in events:
                if op == STORE and words[1] in self.places:
                    self._note(words[1])

    def _turns(self, phi: Words, end: int) -> int | None:
        """Of a loop from 0 by 1 to a power of two, the bits of the number of its turn."""
        upper, step = self.constants.get(end, 0), self.made.get(phi[5]) if len(phi) == 7 else None
        if upper <= 0 or upper & (upper - 1) or step is None or step[0] & OPCODE != ADD:
            return None
        if self.constants.get(phi[3]) != 0 or step[3] != phi[2] or self.constants.get(step[4]) != 1:
            return None
        return upper.bit_length() - 1

    def _operand(self, id: int, depth: int = 0) -> Linear:
        known = self.numbers.get(id)
        if known is None:
            constant, words = self.constants.get(id), self.made.get(id)
            if constant is not None:
                known = Linear(constant)
            elif words is None or depth > DEEP:
                return Linear(0, frozenset({((id, WHOLE), 1)}))
            else:
                known = self._number(words[0] & OPCODE, words, depth + 1)
            self.numbers[id] = known
        return known

    def _number(self, op: int, words: Words, depth: int) -> Linear:
        """What an instruction computes, where that is linear; else a number that is known by its id."""
        unknown = Linear(0, frozenset({((words[2], WHOLE), 1)}))
        x = self._operand(words[3], depth)
        if op in (EXTEND, EXTEND_ZERO):
            return x if x.reach >= 0 else unknown
        y = self._operand(words[4], depth)
        if op in (MUL, ADD, XOR, OR) and not x.bases:
            x, y = y, x
        if op in (ADD, XOR, OR) and not y.constant and not y.bases:
            return x
        if x.reach < 0 and not y.bases:
            if op == ADD:
                return Linear(x.constant + y.constant, x.bases)
            if op == AND and 0 <= y.constant < 1 << 31 and not x.constant:
                (bit, _), = x.bases
                return Linear(0, frozenset(
                    ((bit[0], i), 1 << i) for i in range(y.constant.bit_length()) if y.constant >> i & 1))
        if x.reach < 0 or y.reach < 0 or y.constant < 0:
            return unknown
        if op == XOR or (op in (ADD, OR) and not x.reach & y.reach):
            return x.xor(y)
        if op == SUB and not x.bases and x.constant & y.reach == y.reach:  # a turn counted from the end
            return x.xor(y)
        if y.bases:
            return unknown
        if op == AND:
            return x.shifted(0, y.constant)
        if op in (SHL, SHR):
            return x.shifted(y.constant if op == SHL else -y.constant)
        if op == MUL and not y.constant & (y.constant - 1):
            return x.shifted(y.constant.bit_length() - 1) if y.constant else Linear(0)
        if op == MUL and not x.constant and len(x.bases) == 1 and x.reach == 1:
            (bit, _), = x.bases
            return Linear(0, frozenset({(bit, y.constant)}))
        if not x.bases and op in (ADD, SUB, MUL):
            made = x.constant + y.constant if op == ADD else x.constant * y.constant
            made = x.constant - y.constant if op == SUB else made
            return Linear(made) if made >= 0 else unknown
        return unknown

    def _place(self, op: int, words: Words) -> Place:
        """Where a pointer points to that is made of another one."""
        base = self.places[words[3]]
        type, first, indices = base.type, base.first, words[4:]
        if op == BITCAST:
            return Place(base.array, first, self.types[words[1]].pointee)  # type: ignore[attr-defined]
        if CHAINS[op]:
            first, indices = further(first, self._operand(indices[0]), bytes_of(type), words[2]), indices[1:]
        for index in indices:
            type = type.element  # type: ignore[attr-defined]
            first = further(first, self._operand(index), bytes_of(type), words[2])
        return Place(base.array, first, type)

    def _elements(self, pointer: int) -> Elements | None:
        """What a pointer points to; None where that is not followed."""
        known = self.elements.get(pointer)
        if known is None and pointer in self.places:
            place = self.places[pointer]
            unit = self.units.get(place.array)
            if unit is None:
                return None
            known = self.elements[pointer] = elements_of(place, unit)
        return known

    def _note(self, pointer: int) -> None:
        """All elements that a store may write in any turn."""
        found = self._elements(pointer)
        if found is not None and found.whole and not found.anywhere:
            reach = closed(found.mask, found.bases)
            self.wanted[found.array] = self.wanted.get(found.array, 0) | reach

    # --- the analysis ---------------------------------------------------------------------------------------

    def run(self) -> None:
        """Follow all ways through the blocks."""
        selectors = self.selectors
        arriving: dict[int, Known] = {}
        telling: dict[int, Told] = {}
        ways: dict[int, int] = {}
        for block, events in zip(self.graph.blocks, self.events, strict=True):
            known = arriving.pop(block.label, None) if block.number else {}
            if known is None:
                continue
            line: Words = []
            told = telling.pop(block.label, {})
            for op, words in events:
                if op == LINE:
                    line = words
                    continue
                if op == STORE and words[1] in selectors.variables:
                    selectors.store(words, known, told)
                    continue
                found = self._elements(words[1 if op == STORE else 3])
                if found is None:
                    continue
                if op == LOAD:
                    self._require_written(found, known, line)
                elif found.whole:
                    key = found.array, found.bases
                    known[key] = known.get(key, 0) | found.mask
            chosen = selectors.told_by(block, told)
            for after in block.after:
                to = after.label
                if after.number <= block.number:
                    self._leave_loop(to, known, arriving, ways)
                    continue
                besides, telling_here = chosen.get(to, ({}, told))
                if selectors.variables:
                    telling[to] = selectors.arriving(to, telling_here,
                                                     telling.get(to, {} if to in ways else None))
                ways[to] = ways.get(to, 0) + 1
                before = arriving.get(to)
                here = _with(known, besides) if besides else known
                arriving[to] = dict(here) if before is None else {
                    key: both for key, mask in before.items() if (both := mask & here.get(key, 0))}

    def _require_written(self, found: Elements, known: Known, line: Words) -> None:
        if not self._is_written(found, known):
            array, place = self.places[found.array].type, self._place_of(line)
            raise InternalError(f"{place}: a private array, {array}, is read where not all ways to "
                                "there have written it")

    def _place_of(self, line: Words) -> str:
        """The user's file, line and column, from an OpLine."""
        return f"{self.module.string_text(line[1])}:{line[2]}:{line[3]}" if line else self.graph.function.name

    def _leave_loop(
        self, header: int, known: Known, arriving: dict[int, Known], ways: dict[int, int]
    ) -> None:
        """Behind a counted loop: what its last turn knows, of every turn."""
        if header not in self.loops:
            return
        turn, behind = self.loops[header]
        after = arriving.get(behind)
        if after is None or ways[behind] != 1:
            return
        for (array, bases), mask in known.items():
            mine = frozenset([x for x in bases if x[0][0] == turn]) if bases else bases
            key = array, bases - mine
            after[key] = after.get(key, 0) | closed(mask, mine)

    def _is_written(self, found: Elements, known: Known) -> bool:
        mask, bases = found.mask, found.bases
        if not mask & ~known.get((found.array, bases), 0):
            return True
        if found.anywhere:
            return not self.wanted.get(found.array, 0) & ~known.get((found.array, NOTHING), 0)
        for (array, have), written in known.items():
            if array == found.array and have <= bases and not closed(mask, bases - have) & ~written:
                return True
        return False


def _with(known: Known, besides: Known) -> Known:
    """What is known by either."""
    return {**known, **{key: known.get(key, 0) | mask for key, mask in besides.items()}}


def _ends_of(block: Block, tests: list[Words]) -> list[tuple[int, Words, Words, int]]:
    """Where a loop may end by comparing a phi of this block: its label, the phi, the comparison, and the
    label behind the loop."""
    end = block.terminator
    if not tests or end[0] & OPCODE != CONDITIONAL:
        return []
    phis = {words[2]: words for words in block.phis()}
    return [(block.label, phis[words[3]], words, end[3]) for words in tests
            if words[2] == end[1] and words[3] in phis]

"""`Graph`: a function's blocks, in their order, and what follows from them: ways, loops, constructs,
definitions.

A function is a list of instructions until its module's words are made, each a list of words. Every pass over
it reads this one graph, so there is one answer to what a block is, where control goes, and which word is an
id. Blocks stand in the order of the specification, 2.4: what dominates a block comes before it. A loop's
blocks stand together, from its header to the block that goes back there.

A pass may change the instructions of blocks, and says `write` then: the function has them, and what was
derived is derived again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from functools import cache, cached_property
from itertools import chain
from typing import NamedTuple

from ...dataclass import dataclass
from .. import grammar
from ..declarations import Declarations
from ..operands import TERMINATORS, opcode
from ..types import Type
from ..values import Function, Words

#: The part of an instruction's first word that says which it is; the rest is the number of its words.
OPCODE = 0xFFFF

LABEL, PHI, FUNCTION_END = opcode("OpLabel"), opcode("OpPhi"), opcode("OpFunctionEnd")
LINE, NO_LINE = opcode("OpLine"), opcode("OpNoLine")
BRANCH, CONDITIONAL, SWITCH = opcode("OpBranch"), opcode("OpBranchConditional"), opcode("OpSwitch")
LOOP_MERGE, SELECTION_MERGE = opcode("OpLoopMerge"), opcode("OpSelectionMerge")
LINES, MERGES = frozenset((LINE, NO_LINE)), frozenset((LOOP_MERGE, SELECTION_MERGE))
ENDS = frozenset(map(opcode, TERMINATORS))
#: What leaves the numbers in its operands as they are.
MOVES = frozenset(map(opcode, ("OpCompositeConstruct", "OpCompositeExtract", "OpVectorShuffle", "OpSelect",
                               "OpPhi", "OpCopyObject")))


def instruction(name: str, *operands: int) -> Words:
    """The words of an instruction, by its name; result type and result stand among the operands."""
    return [(1 + len(operands)) << 16 | opcode(name), *operands]


@cache
def numbers(*names: str) -> frozenset[int]:
    """Opcodes by name."""
    return frozenset(opcode(name) for name in names)


def name_of(words: Words) -> str:
    """The name of an instruction."""
    return grammar.instruction_by_opcode(words[0] & OPCODE).name


@cache
def places(number: int) -> tuple[int, int]:
    """Of an opcode: the index of the first operand's word, and a mask of the words that are no ids."""
    known = grammar.instruction_by_opcode(number)
    first = 1 + known.has_type + known.has_result
    literal = 0
    for at, operand in enumerate(known.operands, first):
        repeated = operand.quantifier == "*"
        if operand.kind.startswith(("Id", "PairIdRef")):
            if repeated:
                return first, literal
        elif repeated or operand.quantifier == "?":
            return first, literal | -1 << at
        else:
            literal |= 1 << at
    return first, literal


def id_places(words: Words) -> list[int]:
    """The indices of an instruction's words that are ids of operands."""
    first, literal = places(words[0] & OPCODE)
    return [at for at in range(first, len(words)) if not literal >> at & 1]


def targets(terminator: Words) -> Sequence[int]:
    """The labels that a terminator may go to. (No switch over more than 32 bits is made.)"""
    number = terminator[0] & OPCODE
    if number == BRANCH:
        return terminator[1:2]
    if number == CONDITIONAL:
        return terminator[2:4]
    return (terminator[2], *terminator[4::2]) if number == SWITCH else ()


@dataclass(eq=False, slots=True)
class Block:
    """`instructions` follow the label, up to the terminator, with OpLine between them."""

    number: int
    label: int
    instructions: list[Words]
    before: list[Block] = field(default_factory=list)
    after: list[Block] = field(default_factory=list)

    @property
    def terminator(self) -> Words:
        return self.instructions[-1]

    @property
    def merge(self) -> Words | None:
        """The merge instruction, which stands right before the terminator."""
        last = self.instructions[-2:-1]
        return last[0] if last and last[0][0] & OPCODE in MERGES else None

    @property
    def end(self) -> int:
        """Where the merge instruction or else the terminator stands: new instructions fit in before."""
        return len(self.instructions) - (2 if self.merge else 1)

    def phis(self) -> list[Words]:
        """They come first."""
        found = []
        for words in self.instructions:
            if words[0] & OPCODE != PHI:
                break
            found.append(words)
        return found

    def with_lines(self) -> Iterator[tuple[Words, Words]]:
        """Each instruction with the OpLine in effect, which is empty for none."""
        line: Words = []
        for words in self.instructions:
            if words[0] & OPCODE in LINES:
                line = words if len(words) > 1 else []
            else:
                yield words, line


@dataclass(eq=False)
class Construct:
    """A selection or a loop: its header and the label behind it; the conditions by which control leaves the
    header of a selection, or the loop."""

    header: int
    merge: int
    is_loop: bool
    conditions: list[int] = field(default_factory=list)


class Constructs(NamedTuple):
    """Of a block: the constructs around it, outermost first, and those that end where it begins. A loop's
    header is in the loop, a selection's is not in the selection."""

    around: tuple[Construct, ...]
    ended: tuple[Construct, ...]


class Graph:
    """The blocks of a function whose last block is complete. What stands at the head of the first block for
    all blocks to use is in `function.opening`, and in no block."""

    def __init__(self, module: Declarations, function: Function) -> None:
        self.module, self.function = module, function
        self.generation = 0  # how often the function was rewritten
        code = function.instructions
        assert function.variables_at is not None
        self.head = code[:function.variables_at - 1]  # the function and its parameters
        starts = [at for at, words in enumerate(code) if words[0] & OPCODE == LABEL]
        end = len(code) - (code[-1][0] & OPCODE == FUNCTION_END)
        self.blocks = [Block(number, code[at][1], code[at + 1:until]) for number, (at, until)
                       in enumerate(zip(starts, (*starts[1:], end), strict=True))]
        self.by_label = {block.label: block for block in self.blocks}
        for block in self.blocks:
            for label in targets(block.terminator):
                block.after.append(self.by_label[label])
                self.by_label[label].before.append(block)

    def write(self) -> None:
        """Give the function what its blocks hold now; their ways are as they were."""
        self.generation += 1
        code = self.function.instructions
        last = code[-1:] if code[-1][0] & OPCODE == FUNCTION_END else []
        written = list(self.head)
        for block in self.blocks:
            written.append(instruction("OpLabel", block.label))
            written += block.instructions
        code[:] = written + last
        for name in ("types", "made", "homes", "users"):
            self.__dict__.pop(name, None)

    # --- values ---------------------------------------------------------------------------------------------

    @cached_property
    def types(self) -> dict[int, Type]:
        """The types of the module by their ids."""
        return self.module.types

    def result(self, words: Words) -> int:
        """The value that an instruction makes; 0 for none."""
        return words[2] if len(words) > 2 and words[1] in self.types else 0

    def every(self) -> Iterator[Words]:
        """All instructions: the function's head, the head of its first block, then block by block."""
        return chain(self.head, self.function.opening, *[block.instructions for block in self.blocks])

    @cached_property
    def made(self) -> dict[int, Words]:
        """The instruction of each value, variables left out."""
        types = self.types
        return {words[2]: words for words in self.every() if len(words) > 2 and words[1] in types}

    @cached_property
    def homes(self) -> dict[int, int]:
        """The number of the block that makes each value."""
        types = self.types
        return {words[2]: block.number for block in self.blocks for words in block.instructions
                if len(words) > 2 and words[1] in types}

    @cached_property
    def users(self) -> dict[int, list[Words]]:
        """The instructions that use each value made in the function, in order."""
        found: dict[int, list[Words]] = {value: [] for value in self.made}
        for words in self.every():
            for at in id_places(words):
                if words[at] in found and (not found[words[at]] or found[words[at]][-1] is not words):
                    found[words[at]].append(words)
        return found

    def moved(self, values: Iterable[int]) -> set[int]:
        """The values, which may be constants, and all of the function that has one of them for an element."""
        found = set(values)
        moves = [words for words in self.made.values() if words[0] & OPCODE in MOVES]
        before = -1
        while before != len(found):
            before = len(found)
            found.update(words[2] for words in moves if any(words[at] in found for at in id_places(words)))
        return found

    # --- ways -----------------------------------------------------------------------------------------------

    @cached_property
    def dominators(self) -> list[int]:
        """The immediate dominator of each block, by number; that of the first is itself, as is that of a
        block that nothing leads to."""
        over = list(range(len(self.blocks)))
        known = [True] + [False] * (len(self.blocks) - 1)
        changed = True
        while changed:
            changed = False
            for block in self.blocks[1:]:
                at, found = block.number, -1
                for other in block.before:
                    if known[other.number]:
                        found = other.number if found < 0 else _meeting(found, other.number, over)
                if found >= 0 and (not known[at] or over[at] != found):
                    over[at], known[at], changed = found, True, True
        return over

    def meeting(self, one: int, other: int) -> int:
        """The nearest block that dominates both."""
        return _meeting(one, other, self.dominators)

    def dominates(self, one: int, other: int) -> bool:
        """Does every way to the block `other` lead through `one`?"""
        return _meeting(one, other, self.dominators) == one

    @cached_property
    def loops(self) -> dict[int, int]:
        """The headers of loops, each with the last block that goes back there, by number."""
        last: dict[int, int] = {}
        for block in self.blocks:
            for after in block.after:
                if after.number <= block.number:
                    last[after.number] = max(block.number, last.get(after.number, 0))
        return last

    def loops_around(self, block: int) -> tuple[int, ...]:
        """The headers of the loops that a block is in."""
        return tuple(header for header, last in self.loops.items() if header <= block <= last)

    @cached_property
    def constructs(self) -> list[Constructs]:
        """Those of each block."""
        inside: list[Construct] = []
        found: list[Constructs] = []
        for block in self.blocks:
            ended: list[Construct] = []
            while any(construct.merge == block.label for construct in inside):
                ended.append(inside.pop())
            merge, terminator = block.merge, block.terminator
            kind = merge[0] & OPCODE if merge else 0
            if merge and kind == LOOP_MERGE:
                inside.append(Construct(block.number, merge[1], is_loop=True))
            found.append(Constructs(tuple(inside), tuple(ended)))
            if merge and kind == SELECTION_MERGE:
                inside.append(Construct(block.number, merge[1], is_loop=False))
            if terminator[0] & OPCODE in (CONDITIONAL, SWITCH):
                left = inside[-1:] if kind == SELECTION_MERGE else [
                    construct for construct in inside
                    if construct.is_loop and construct.merge in targets(terminator)]
                for construct in left:
                    construct.conditions.append(terminator[1])
        return found


def _meeting(one: int, other: int, over: Sequence[int]) -> int:
    while one != other:
        if one > other:
            if over[one] == one:
                return 0
            one = over[one]
        else:
            if over[other] == other:
                return 0
            other = over[other]
    return one

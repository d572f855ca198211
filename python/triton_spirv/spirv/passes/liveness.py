"""How many bytes of a thread's registers are live at once in each block of a function.

An estimate from the instructions as they are written: a value takes its bits in every lane, one that all
lanes share takes them once, a truth value a bit in every lane. What a compiler keeps besides (copies, what it
computes early) is not in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache

from ...dataclass import dataclass
from ..operands import opcode
from ..types import Bool, Float, Int, Pointer, Type, Vector
from ..values import Words
from .graph import ENDS, MERGES, OPCODE, PHI, Block, Graph, id_places, instruction, numbers

#: What ends a block.
TAIL = ENDS | MERGES

#: Instructions that depend on their operands alone, by the first and last of ranges of opcodes; and those
#: that depend on which lanes are there, too: these are the same in all of a block.
ALONE = (
    ("OpAccessChain", "OpInBoundsPtrAccessChain"), ("OpVectorExtractDynamic", "OpTranspose"),
    ("OpConvertFToU", "OpBitcast"), ("OpSNegate", "OpSMulExtended"), ("OpAny", "OpFUnordGreaterThanEqual"),
    ("OpShiftRightLogical", "OpBitCount"), ("OpConvertFToBF16INTEL", "OpConvertBF16ToFINTEL"),
    ("OpSDot", "OpSUDotAccSat"), ("OpUndef", "OpUndef"),
)
TOGETHER = (("OpGroupNonUniformElect", "OpGroupNonUniformQuadSwap"),
            ("OpSubgroupShuffleINTEL", "OpSubgroupShuffleXorINTEL"))

#: Instructions of sub-groups whose result all lanes share: votes, and reductions of all lanes.
SHARED = (("OpGroupNonUniformAll", "OpGroupNonUniformBallot"),
          ("OpGroupNonUniformIAdd", "OpGroupNonUniformLogicalXor"))
REDUCE = 0  # GroupOperation


@dataclass(eq=False, slots=True)
class Step:
    """An instruction: its result (0 for none) and the values that it uses. `free`: it may stand anywhere in
    its block between those and its own users; `alone`: in other blocks, too, as no other lane matters.
    `line`: the OpLine in effect, empty for none.
    """

    words: Words
    result: int
    uses: tuple[int, ...]
    free: bool
    alone: bool
    line: Words


@dataclass(eq=False)
class Steps:
    """The instructions of a block: phis, what may be placed anew, merge and terminator. `live`: values that
    are live behind it; `after`: the blocks that may follow."""

    block: Block
    phis: list[Step] = field(default_factory=list)
    body: list[Step] = field(default_factory=list)
    tail: list[Step] = field(default_factory=list)
    live: frozenset[int] = frozenset()
    after: tuple[Steps, ...] = ()

    def instructions(self) -> Iterator[Words]:
        """With OpLine where the place in the source changes. None comes between a merge and its branch."""
        line: Words = []
        for step in (*self.phis, *self.body, *self.tail[:1]):
            if step.line != line:
                line = step.line
                yield line or instruction("OpNoLine")
            yield step.words
        yield from (step.words for step in self.tail[1:])


@cache
def _ranges(ranges: tuple[tuple[str, str], ...]) -> frozenset[int]:
    return frozenset(number for first, last in ranges for number in range(opcode(first), opcode(last) + 1))


def truths(graph: Graph) -> list[int]:
    """The truth values of a function, those at its head left out."""
    return [value for value in graph.homes if isinstance(graph.types[graph.made[value][1]], Bool)]


def read(graph: Graph, lanes: int, register: int) -> tuple[list[Steps], dict[int, int]]:
    """The steps of each block, and bytes of a hardware thread that values take, by id: whole registers of so
    many bytes where lanes hold different ones."""
    function, types = graph.function, graph.types
    varying = _varying(graph)
    sizes = {value: _bytes(types[words[1]]) for value, words in graph.made.items()}
    for value, words in graph.made.items():
        if isinstance(types[words[1]], Bool):
            sizes[value] = (lanes + 7) // 8
        elif value in varying:
            sizes[value] = -(-lanes * sizes[value] // register) * register
    pointers = {value for value, words in graph.made.items() if isinstance(types[words[1]], Pointer)}
    pointers.update(value.id for value in function.parameters if isinstance(value.type, Pointer))
    blocks = [_steps(graph, block, sizes, pointers) for block in graph.blocks]
    for steps in blocks:
        steps.after = tuple(blocks[after.number] for after in steps.block.after)
    find_live(blocks)
    return blocks, sizes


def peak(body: Sequence[Step], live: Iterable[int], sizes: Mapping[int, int]) -> int:
    """The most bytes that are live at once in a block with that body, where `live` are live behind it."""
    alive = set(live)
    most = total = sum(sizes[value] for value in alive)
    for step in reversed(body):
        if step.result:
            if step.result not in alive:
                most = max(most, total + sizes[step.result])
            else:
                alive.discard(step.result)
                total -= sizes[step.result]
        for value in step.uses:
            if value not in alive:
                alive.add(value)
                total += sizes[value]
        most = max(most, total)
    return most


def _bytes(type: Type) -> int:
    """Of a value in one lane."""
    if isinstance(type, Vector):
        return type.count * _bytes(type.element)
    if isinstance(type, (Int, Float)):
        return type.width // 8
    return 8 if isinstance(type, Pointer) else 0


def _varying(graph: Graph) -> set[int]:
    """Values that may differ between lanes: a lane's number, what atomic operations and calls give, and what
    is loaded from private variables, loaded by or computed from such values."""
    shared = _ranges(SHARED)
    follows = _ranges(ALONE) | _ranges(TOGETHER) | numbers("OpPhi", "OpExtInst", "OpLoad")
    load, parameter = opcode("OpLoad"), opcode("OpFunctionParameter")
    varying = {words[2] for words in graph.function.variables}
    open: list[tuple[int, list[int]]] = []  # values, and what decides whether they vary
    for value, words in graph.made.items():
        number = words[0] & OPCODE
        if number in shared:
            varies = len(words) > 5 and words[4] != REDUCE
        elif number == load and len(words) == 4 and isinstance(graph.types[words[1]], Int):
            varies = True  # of the environment: the lane's number, or the warp's
        elif number in follows:
            operands = [words[at] for at in id_places(words)]
            varies = not varying.isdisjoint(operands)
            if not varies:
                open.append((value, operands))
        else:
            varies = number != parameter
        if varies:
            varying.add(value)
    grown = True
    while grown:
        found = {value for value, operands in open if not varying.isdisjoint(operands)}
        varying |= found
        open = [(value, operands) for value, operands in open if value not in found]
        grown = bool(found)
    return varying


def _steps(graph: Graph, block: Block, sizes: Mapping[int, int], pointers: set[int]) -> Steps:
    alone, together, extended = _ranges(ALONE), _ranges(TOGETHER), opcode("OpExtInst")
    made = Steps(block)
    for words, line in block.with_lines():
        number = words[0] & OPCODE
        uses = tuple(dict.fromkeys(words[at] for at in id_places(words) if words[at] in sizes))
        apart = number in alone or (number == extended and pointers.isdisjoint(words[5:]))
        step = Step(words, graph.result(words), uses, apart or number in together, apart, line)
        (made.phis if number == PHI else made.tail if number in TAIL else made.body).append(step)
    return made


def find_live(blocks: Sequence[Steps]) -> None:
    """Set `live` of all blocks: backward, until nothing changes."""
    needs: dict[int, set[int]] = {}
    makes: dict[int, set[int]] = {}
    for block in blocks:
        made = {step.result for step in block.phis}
        need: set[int] = set()
        for step in (*block.body, *block.tail):
            need.update(value for value in step.uses if value not in made)
            made.add(step.result)
        needs[block.block.label], makes[block.block.label] = need, made
        block.live = frozenset()
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            live: set[int] = set()
            for after in block.after:
                live |= needs[after.block.label] | (after.live - makes[after.block.label])
                for phi in after.phis:
                    live.update(arriving(phi, block))
            if live != block.live:
                block.live = frozenset(live)
                changed = True


def arriving(phi: Step, block: Steps) -> list[int]:
    """The value, if it is one, that a phi has when control comes from a block."""
    return [value for value, label in zip(phi.words[3::2], phi.words[4::2], strict=True)
            if label == block.block.label and value in phi.uses]

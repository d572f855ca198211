"""How many bytes of a thread's registers are live at once in each block of a function.

An estimate from the instructions as they are written: a value takes its bits in every lane, one that all
lanes share takes them once, a truth value a bit in every lane. What a compiler keeps besides (copies, what it
computes early) is not in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from .. import grammar
from ..module import Function
from ..operands import TERMINATORS, opcode
from ..types import Bool, Float, Int, Pointer, Type, Vector

Words = list[int]

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


@cache
def places(number: int) -> tuple[int, int]:
    """Of an opcode: the index of the first operand's word, and a mask of the words that are no ids."""
    instruction = grammar.instruction_by_opcode(number)
    first = 1 + instruction.has_type + instruction.has_result
    literal = 0
    for at, operand in enumerate(instruction.operands, first):
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
    first, literal = places(words[0] & 0xFFFF)
    return [at for at in range(first, len(words)) if not literal >> at & 1]


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
class Block:
    """A block: label and phis, what may be ordered, merge and terminator. `live`: values live behind it."""

    label: int
    phis: list[Step] = field(default_factory=list)
    body: list[Step] = field(default_factory=list)
    tail: list[Step] = field(default_factory=list)
    live: frozenset[int] = frozenset()
    follow: tuple[Block, ...] = ()


@cache
def numbers(*names: str) -> frozenset[int]:
    """Opcodes by name."""
    return frozenset(opcode(name) for name in names)


@cache
def _ranges(ranges: tuple[tuple[str, str], ...]) -> frozenset[int]:
    return frozenset(number for first, last in ranges for number in range(opcode(first), opcode(last) + 1))


def truths(function: Function, types: Mapping[int, Type]) -> list[int]:
    """The truth values of a function."""
    return [words[2] for words in function.instructions
            if len(words) > 2 and isinstance(types.get(words[1]), Bool)]


def read(function: Function, types: Mapping[int, Type], lanes: int,
         register: int) -> tuple[list[Block], dict[int, int]]:
    """The blocks of a function, and bytes of a hardware thread that its values take, by id: whole registers
    of so many bytes where lanes hold different ones."""
    every = [words for words in (*function.opening, *function.instructions)
             if len(words) > 2 and words[1] in types]
    varying = _varying(types, every, (words[2] for words in function.variables))
    sizes = {words[2]: _bytes(types[words[1]]) for words in every}
    for words in every:
        if isinstance(types[words[1]], Bool):
            sizes[words[2]] = (lanes + 7) // 8
        elif words[2] in varying:
            sizes[words[2]] = -(-lanes * sizes[words[2]] // register) * register
    pointers = {words[2] for words in every if isinstance(types[words[1]], Pointer)}
    pointers.update(value.id for value in (*function.parameters,) if isinstance(value.type, Pointer))
    blocks = _blocks(function.instructions, types, sizes, pointers)
    by_label = {block.label: block for block in blocks}
    for block in blocks:
        block.follow = tuple(by_label[word] for word in block.tail[-1].words[1:] if word in by_label)
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


def _varying(types: Mapping[int, Type], every: Sequence[Words], private: Iterable[int]) -> set[int]:
    """Values that may differ between lanes: a lane's number, what atomic operations and calls give, and what
    is loaded from private variables, loaded by or computed from such values."""
    shared = _ranges(SHARED)
    follows = _ranges(ALONE) | _ranges(TOGETHER) | numbers("OpPhi", "OpExtInst", "OpLoad")
    load, parameter = opcode("OpLoad"), opcode("OpFunctionParameter")
    varying = set(private)
    grown = True
    while grown:
        before = len(varying)
        for words in every:
            number = words[0] & 0xFFFF
            if number in shared:
                varies = len(words) > 5 and words[4] != REDUCE
            elif number == load and len(words) == 4 and isinstance(types[words[1]], Int):
                varies = True  # of the environment: the lane's number, or the warp's
            elif number in follows:
                varies = not varying.isdisjoint(words[at] for at in id_places(words))
            else:
                varies = number != parameter
            if varies:
                varying.add(words[2])
        grown = len(varying) > before
    return varying


def _blocks(instructions: Sequence[Words], types: Mapping[int, Type], sizes: Mapping[int, int],
            pointers: set[int]) -> list[Block]:
    blocks: list[Block] = []
    line: Words = []
    alone, together, extended = _ranges(ALONE), _ranges(TOGETHER), opcode("OpExtInst")
    label, phi, lines = opcode("OpLabel"), opcode("OpPhi"), numbers("OpLine", "OpNoLine")
    ends = numbers(*TERMINATORS, "OpLoopMerge", "OpSelectionMerge")
    for words in instructions:
        number = words[0] & 0xFFFF
        if number == label:
            blocks.append(Block(words[1]))
            line = []
        elif number in lines:
            line = words if len(words) > 1 else []
        elif blocks and number != opcode("OpFunctionEnd"):
            result = words[2] if len(words) > 2 and words[1] in types else 0
            uses = tuple(dict.fromkeys(words[at] for at in id_places(words) if words[at] in sizes))
            apart = number in alone or (number == extended and pointers.isdisjoint(words[5:]))
            step = Step(words, result, uses, apart or number in together, apart, line)
            block = blocks[-1]
            (block.phis if number == phi else block.tail if number in ends else block.body).append(step)
    return blocks


def find_live(blocks: Sequence[Block]) -> None:
    """Set `live` of all blocks: backward, until nothing changes."""
    needs: dict[int, set[int]] = {}
    makes: dict[int, set[int]] = {}
    for block in blocks:
        made = {step.result for step in block.phis}
        need: set[int] = set()
        for step in (*block.body, *block.tail):
            need.update(value for value in step.uses if value not in made)
            made.add(step.result)
        needs[block.label], makes[block.label] = need, made
        block.live = frozenset()
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            live: set[int] = set()
            for after in block.follow:
                live |= needs[after.label] | (after.live - makes[after.label])
                for phi in after.phis:
                    live.update(arriving(phi, block))
            if live != block.live:
                block.live = frozenset(live)
                changed = True


def arriving(phi: Step, block: Block) -> list[int]:
    """The value, if it is one, that a phi has when control comes from a block."""
    return [value for value, label in zip(phi.words[3::2], phi.words[4::2], strict=True)
            if label == block.label and value in phi.uses]

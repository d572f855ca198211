"""Differences of integers of 64 bits are computed in words of 32, for a driver that takes a difference and a
maximum or a choice of the same numbers for one operation that saturates, and has that one wrong."""

from __future__ import annotations

from collections.abc import Callable

from ..builder import scalar_type, width_of
from ..module import Module
from ..operands import opcode
from ..types import Bool, Int, Vector
from ..values import Words
from .graph import OPCODE, Graph, instruction

WHOLE, WORD = Int(64), Int(32)
SUBTRACT, NEGATE = opcode("OpISub"), opcode("OpSNegate")


class _Ids:
    """Of the types and constants that words are made with."""

    def __init__(self, m: Module) -> None:
        self.whole, self.word = m.type_id(WHOLE), m.type_id(WORD)
        self.pair, self.truth = m.type_id(Vector(WORD, 2)), m.type_id(Bool())
        self.zero, self.one = (m.constant(WORD, value).id for value in (0, 1))
        self.nothing = m.constant(WHOLE, 0).id


def part_differences(m: Module, graph: Graph) -> None:
    """Each OpISub and OpSNegate of such integers, or of vectors of them, in place."""
    found = {words[2] for words in graph.made.values()
             if words[0] & OPCODE in (SUBTRACT, NEGATE) and scalar_type(graph.types[words[1]]) == WHOLE}
    if not found:
        return
    ids = _Ids(m)
    for block in graph.blocks:
        code: list[Words] = []
        for words in block.instructions:
            if words[0] & OPCODE in (SUBTRACT, NEGATE) and words[2] in found:
                code += _in_words(words, width_of(graph.types[words[1]]), ids, m.new_id)
            else:
                code.append(words)
        block.instructions[:] = code
    graph.write()


def _in_words(words: Words, count: int, ids: _Ids, new_id: Callable[[], int]) -> list[Words]:
    """Instructions that make the same value: a component at a time, and of each the lower word first."""
    code: list[Words] = []

    def make(name: str, type: int, *operands: int) -> int:
        made = new_id()
        code.append(instruction(name, type, made, *operands))
        return made

    def parts(value: int) -> tuple[int, int]:
        pair = make("OpBitcast", ids.pair, value)
        low, high = (make("OpCompositeExtract", ids.word, pair, half) for half in range(2))
        return low, high

    differences = list[int]()
    for c in range(count):
        operands = [make("OpCompositeExtract", ids.whole, value, c) if count > 1 else value
                    for value in words[3:]]
        x, y = operands if len(operands) == 2 else (ids.nothing, *operands)
        (x_low, x_high), (y_low, y_high) = parts(x), parts(y)
        below = make("OpULessThan", ids.truth, x_low, y_low)
        borrow = make("OpSelect", ids.word, below, ids.one, ids.zero)
        low = make("OpISub", ids.word, x_low, y_low)
        high = make("OpISub", ids.word, make("OpISub", ids.word, x_high, y_high), borrow)
        differences.append(make("OpCompositeConstruct", ids.pair, low, high))
    if count == 1:
        return [*code, instruction("OpBitcast", words[1], words[2], *differences)]
    wholes = [make("OpBitcast", ids.whole, pair) for pair in differences]
    return [*code, instruction("OpCompositeConstruct", words[1], words[2], *wholes)]

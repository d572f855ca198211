"""Differences of integers of 64 bits, and sums that stand for one, are computed in words of 32, for a driver
that takes a difference and a maximum or a choice of the same numbers for one operation that saturates, and
has that one wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..builder import scalar_type, width_of
from ..module import Module
from ..operands import opcode
from ..types import Bool, Int, Vector
from ..values import Words
from .graph import OPCODE, Graph, instruction

WHOLE, WORD = Int(64), Int(32)
ADD, SUBTRACT, NEGATE = opcode("OpIAdd"), opcode("OpISub"), opcode("OpSNegate")
NOT, EXCLUSIVE_OR, MULTIPLY = opcode("OpNot"), opcode("OpBitwiseXor"), opcode("OpIMul")


class _Ids:
    """Of the types and constants that words are made with."""

    def __init__(self, m: Module) -> None:
        self.whole, self.word = m.type_id(WHOLE), m.type_id(WORD)
        self.pair, self.truth = m.type_id(Vector(WORD, 2)), m.type_id(Bool())
        self.zero, self.one = (m.constant(WORD, value).id for value in (0, 1))
        self.nothing = m.constant(WHOLE, 0).id


def part_differences(m: Module, graph: Graph) -> None:
    """Each OpISub and OpSNegate of such integers, or of vectors of them, in place; and each OpIAdd whose
    operand stands for a difference: `x + ~y + 1` and `x + y * -1` are `x - y`."""
    opposite = _opposites(m, graph)
    found = {words[2] for words in graph.made.values()
             if scalar_type(graph.types[words[1]]) == WHOLE
             and (words[0] & OPCODE in (SUBTRACT, NEGATE)
                  or (words[0] & OPCODE == ADD and not opposite.isdisjoint(words[3:])))}
    if not found:
        return
    ids = _Ids(m)
    for block in graph.blocks:
        code: list[Words] = []
        for words in block.instructions:
            if len(words) > 2 and words[2] in found and words[0] & OPCODE in (ADD, SUBTRACT, NEGATE):
                code += _in_words(words, width_of(graph.types[words[1]]), ids, m.new_id)
            else:
                code.append(words)
        block.instructions[:] = code
    graph.write()


def _opposites(m: Module, graph: Graph) -> set[int]:
    """What makes a difference of a sum: negative constants, products by them, `~y`, and what these become
    by being moved."""
    constants = m.constants()
    negative = {id for id, value in constants.items()
                if scalar_type(value.type) == WHOLE and any(x < 0 for x in _each(value.constant))}
    ones = {id for id in negative if -1 in _each(constants[id].constant)}
    opposite = {words[2] for words in graph.made.values()
                if words[0] & OPCODE == NOT
                or (words[0] & OPCODE == EXCLUSIVE_OR and not ones.isdisjoint(words[3:]))
                or (words[0] & OPCODE == MULTIPLY and not negative.isdisjoint(words[3:]))} | negative
    return graph.moved(opposite)


def _each(constant: Any) -> tuple[Any, ...]:
    """The numbers of a constant, or of a vector of them."""
    return constant if isinstance(constant, tuple) else (constant,)


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

    name = "OpIAdd" if words[0] & OPCODE == ADD else "OpISub"
    made_pairs = list[int]()
    for c in range(count):
        operands = [make("OpCompositeExtract", ids.whole, value, c) if count > 1 else value
                    for value in words[3:]]
        x, y = operands if len(operands) == 2 else (ids.nothing, *operands)
        (x_low, x_high), (y_low, y_high) = parts(x), parts(y)
        low = make(name, ids.word, x_low, y_low)
        wraps = make("OpULessThan", ids.truth, *((low, x_low) if name == "OpIAdd" else (x_low, y_low)))
        carry = make("OpSelect", ids.word, wraps, ids.one, ids.zero)
        high = make(name, ids.word, make(name, ids.word, x_high, y_high), carry)
        made_pairs.append(make("OpCompositeConstruct", ids.pair, low, high))
    if count == 1:
        return [*code, instruction("OpBitcast", words[1], words[2], *made_pairs)]
    wholes = [make("OpBitcast", ids.whole, pair) for pair in made_pairs]
    return [*code, instruction("OpCompositeConstruct", words[1], words[2], *wholes)]

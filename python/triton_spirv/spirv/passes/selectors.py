"""Ways through a function that a selector tells apart.

A block that only some ways lead to stands behind all of them, where a variable of integers says which way was
taken (lower/control/blocks.py):

    on one way     write array 0;  selector = 3
    on another     selector = 5
    behind both    if selector = 3: read array 0

All ways to the code behind both have not written the array; all ways that have put 3 into the selector have.
So beside what holds on all ways, `Told` has what holds where a selector is a number. Around a loop it is
forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from ..interface import Interface
from ..operands import opcode
from ..types import Int
from ..values import Words
from .graph import CONDITIONAL, OPCODE, Block, Graph

LOAD, STORE, EQUAL, EXTENDED = map(opcode, ("OpLoad", "OpStore", "OpIEqual", "OpExtInst"))

#: array, bases of this turn's bits -> elements, as in definite_assignment.py
Known = dict[tuple[int, frozenset[tuple[tuple[int, int], int]]], int]

#: variable -> number -> what is known where the variable is this number, which is one of these
Told = dict[int, dict[int, Known]]


class Selectors:
    """The selectors of a function: variables of an integer, to which constants are stored. `others`:
    instructions that may do anything else with a variable."""

    def __init__(self, graph: Graph, module: Interface, others: Iterable[Words]) -> None:
        self.constants = module.integers()
        self.variables = {words[2] for words in graph.function.variables if len(words) == 4
                          and isinstance(graph.types[words[1]].pointee, Int)}  # type: ignore[attr-defined]
        if not self.variables:
            return
        self.headers = {after.label for block in graph.blocks for after in block.after
                        if after.number <= block.number}
        for words in others:
            self.variables.difference_update(words[5 if words[0] & OPCODE == EXTENDED else 3:])
        for block in graph.blocks:
            for words in block.instructions:
                if words[0] & OPCODE == STORE and words[2] not in self.constants:
                    self.variables.discard(words[1])

    def store(self, words: Words, known: Known, told: Told) -> None:
        """What is told behind a store."""
        if words[1] in self.variables:
            told[words[1]] = {self.constants[words[2]]: dict(known)}

    def told_by(self, block: Block, told: Told) -> dict[int, tuple[Known, Told]]:
        """Where a block ends by comparing a selector with a number: by the labels that it leads to, what is
        known there besides, and what is told."""
        end = block.terminator
        if not told or end[0] & OPCODE != CONDITIONAL or end[2] == end[3]:
            return {}
        loads: dict[int, int] = {}
        for words in block.instructions:
            op = words[0] & OPCODE
            if op == LOAD and words[3] in told:
                loads[words[2]] = words[3]
            elif op == EQUAL and words[2] == end[1] and words[3] in loads:
                variable, number = loads[words[3]], self.constants.get(words[4])
                if number is None:
                    return {}
                numbers = told[variable]
                parts = ({n: known for n, known in numbers.items() if (n == number) is equal}
                         for equal in (True, False))
                return {label: (_on_all(part.values()), {**told, variable: part})
                        for label, part in zip(end[2:4], parts, strict=True)}
        return {}

    def arriving(self, label: int, told: Told, before: Told | None) -> Told:
        """What is told in a block to which this way leads; `before`: to which other ways lead that tell
        that."""
        if label in self.headers:
            return {}
        if before is None:
            return {variable: dict(numbers) for variable, numbers in told.items()}
        return {variable: _either(numbers, before[variable]) for variable, numbers in told.items()
                if variable in before}


def _on_all(ways: Iterable[Known]) -> Known:
    """What is known on all of some ways; nothing for none."""
    first, *others = list(ways) or [{}]
    return {key: both for key, mask in first.items()
            if (both := reduce(int.__and__, [other.get(key, 0) for other in others], mask))}


def _either(numbers: dict[int, Known], others: dict[int, Known]) -> dict[int, Known]:
    """What is known by the numbers that a selector has on either way."""
    both = {**numbers, **others}
    for number in numbers.keys() & others.keys():
        both[number] = _on_all((numbers[number], others[number]))
    return both

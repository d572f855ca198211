"""Floats that are made narrower and then wider again, for drivers that take the two conversions for nothing.

What the wide float is computed from is followed back through the instructions of a function. A load counts
as a narrow float that was stored where such a store stands before it, or in the same loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..module import Function
from ..operands import opcode
from ..types import Float, Type, Vector

Words = list[int]

CONVERT, LABEL, LOOP_MERGE = opcode("OpFConvert"), opcode("OpLabel"), opcode("OpLoopMerge")
LOADS = frozenset(opcode(name) for name in ("OpLoad", "OpCooperativeMatrixLoadKHR"))
STORES = frozenset(opcode(name) for name in ("OpStore", "OpCooperativeMatrixStoreKHR"))


def joined_conversions(function: Function, types: Mapping[int, Type]) -> list[tuple[Words, Type]]:
    """The conversions to a wider float of what may have been made narrower in the function, each with the
    type of that."""
    code = function.instructions
    made = {words[2]: types[words[1]] for words in code if len(words) > 2 and words[1] in types}
    converted = [words for words in code if words[0] & 0xFFFF == CONVERT and words[3] in made]
    wider = [words for words in converted if bits_of(made[words[3]]) < bits_of(made[words[2]])]
    narrowed = {words[2] for words in converted if bits_of(made[words[3]]) > bits_of(made[words[2]])}
    if not wider or not narrowed:
        return []
    _spread(code, types, narrowed, _loops(code))
    return [(words, made[words[3]]) for words in wider if words[3] in narrowed]


def bits_of(type: Type) -> int:
    """Of a float, or of each in a vector."""
    element = type.element if isinstance(type, Vector) else type
    assert isinstance(element, Float)
    return element.width


def _spread(code: Sequence[Words], types: Mapping[int, Type], narrowed: set[int],
            loops: Sequence[tuple[int, int]]) -> None:
    """Add all that is computed from narrowed values. (A literal may have the number of one: that costs an
    instruction, and no more.)"""
    first_store = len(code)
    storing: set[tuple[int, int]] = set()  # loops
    before = None
    while before != (len(narrowed), first_store, len(storing)):
        before = len(narrowed), first_store, len(storing)
        for at, words in enumerate(code):
            operation = words[0] & 0xFFFF
            if operation in STORES:
                if words[2] in narrowed:
                    first_store = min(first_store, at)
                    storing.update(loop for loop in loops if loop[0] <= at < loop[1])
            elif len(words) > 2 and words[1] in types and words[2] not in narrowed:
                found = first_store < at or any(first <= at < end for first, end in storing) \
                    if operation in LOADS else not narrowed.isdisjoint(words[3:])
                if found:
                    narrowed.add(words[2])


def _loops(code: Sequence[Words]) -> list[tuple[int, int]]:
    """Where the loops begin and end."""
    labels = {words[1]: at for at, words in enumerate(code) if words[0] & 0xFFFF == LABEL}
    found, block = [], 0
    for at, words in enumerate(code):
        if words[0] & 0xFFFF == LABEL:
            block = at
        elif words[0] & 0xFFFF == LOOP_MERGE:
            found.append((block, labels[words[1]]))
    return found

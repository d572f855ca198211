"""Products of integers that were both extended from 32 to 64 bits without a sign, for drivers that take what
compares one with a number for an instruction that they cannot compile.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..module import Function
from ..operands import opcode
from ..types import Int, Type, Vector

Words = list[int]

EXTEND, MULTIPLY = opcode("OpUConvert"), opcode("OpIMul")
#: What leaves the numbers in its operands as they are.
MOVES = frozenset(opcode(name) for name in (
    "OpCompositeConstruct", "OpCompositeExtract", "OpVectorShuffle", "OpSelect", "OpPhi", "OpCopyObject"))


def extended_products(function: Function, types: Mapping[int, Type]) -> list[tuple[Words, Type]]:
    """The multiplications of two such integers, or of vectors of them, each with its type."""
    code = function.instructions
    made = {words[2]: types[words[1]] for words in code if len(words) > 2 and words[1] in types}
    products = [words for words in code if words[0] & 0xFFFF == MULTIPLY and _bits(made[words[2]]) == 64]
    extended = {words[2] for words in code if words[0] & 0xFFFF == EXTEND and _bits(made[words[2]]) == 64
                and (words[3] not in made or _bits(made[words[3]]) == 32)}
    before = -1
    while products and before != len(extended):
        before = len(extended)
        # a literal or a label may have the number of one: that costs an instruction, and no more
        extended.update(words[2] for words in code
                        if words[0] & 0xFFFF in MOVES and not extended.isdisjoint(words[3:]))
    return [(words, made[words[2]]) for words in products if words[3] in extended and words[4] in extended]


def _bits(type: Type) -> int | None:
    """Of an integer, or of each in a vector."""
    element = type.element if isinstance(type, Vector) else type
    return element.width if isinstance(element, Int) else None

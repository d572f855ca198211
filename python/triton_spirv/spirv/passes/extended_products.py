"""Products of integers that were both extended from 32 to 64 bits without a sign get an upper bit that the
driver does not know, for drivers that take what compares such a product with a number for an instruction that
they cannot compile. """

from __future__ import annotations

from collections.abc import Callable

from ..operands import opcode
from ..types import Int, Type, Vector
from ..values import Words
from .graph import OPCODE, Graph, instruction

EXTEND, MULTIPLY = opcode("OpUConvert"), opcode("OpIMul")


def hide_products(graph: Graph, new_id: Callable[[], int], upper: Callable[[Type], int]) -> None:
    """upper: the id of an integer, or a vector of them, whose upper bit no driver knows; it is 0."""
    products = set(extended_products(graph))
    for block in graph.blocks if products else ():
        code: list[Words] = []
        for words in block.instructions:
            if words[0] & OPCODE == MULTIPLY and words[2] in products:
                type, unknown = words[1], upper(graph.types[words[1]])
                made = new_id()
                code += [instruction("OpIMul", type, made, *words[3:]),
                         instruction("OpBitwiseOr", type, words[2], made, unknown)]
            else:
                code.append(words)
        block.instructions[:] = code
    if products:
        graph.write()


def extended_products(graph: Graph) -> list[int]:
    """The products of two such integers, or of vectors of them."""
    made, types = graph.made, graph.types
    products = [words for words in made.values()
                if words[0] & OPCODE == MULTIPLY and _bits(types[words[1]]) == 64]
    if not products:
        return []
    extended = {value for value, words in made.items()
                if words[0] & OPCODE == EXTEND and _bits(types[words[1]]) == 64
                and (words[3] not in made or _bits(types[made[words[3]][1]]) == 32)}
    extended = graph.moved(extended)
    return [words[2] for words in products if words[3] in extended and words[4] in extended]


def _bits(type: Type) -> int | None:
    """Of an integer, or of each in a vector."""
    element = type.element if isinstance(type, Vector) else type
    return element.width if isinstance(element, Int) else None

"""Something unknown stands between a conversion to a narrower float and the one back, for drivers that take
the two for nothing.

What the wide float is computed from is followed back through the instructions of a function. A load counts
as a narrow float that was stored where such a store stands before it, or in the same loop.
"""

from __future__ import annotations

from collections.abc import Callable

from ..operands import opcode
from ..types import Float, Type, Vector
from ..values import Words
from .graph import OPCODE, Graph, instruction, numbers

CONVERT = opcode("OpFConvert")
LOADS = numbers("OpLoad", "OpCooperativeMatrixLoadKHR")
STORES = numbers("OpStore", "OpCooperativeMatrixStoreKHR")

#: Of the type of a narrow float, the type of its bits and the id of a 0 of it that no driver knows.
Unknown = Callable[[Type], tuple[int, int]]


def part_conversions(graph: Graph, new_id: Callable[[], int], unknown: Unknown) -> None:
    """The bits of the narrow float, or an unknown 0, are what the conversion to the wider one takes."""
    joined = set(joined_conversions(graph))
    for block in graph.blocks if joined else ():
        code: list[Words] = []
        for words in block.instructions:
            if words[0] & OPCODE == CONVERT and words[2] in joined:
                narrow = graph.made[words[3]][1]
                whole, clear = unknown(graph.types[narrow])
                bits, both, hidden = new_id(), new_id(), new_id()
                code += [instruction("OpBitcast", whole, bits, words[3]),
                         instruction("OpBitwiseOr", whole, both, bits, clear),
                         instruction("OpBitcast", narrow, hidden, both)]
                words[3] = hidden
            code.append(words)
        block.instructions[:] = code
    if joined:
        graph.write()


def joined_conversions(graph: Graph) -> list[int]:
    """The conversions to a wider float of what may have been made narrower in the function."""
    made, types = graph.made, graph.types
    converted = [words for words in made.values() if words[0] & OPCODE == CONVERT and words[3] in made]
    grown = {words[2]: bits_of(types[words[1]]) - bits_of(types[made[words[3]][1]]) for words in converted}
    narrowed = {value for value, bits in grown.items() if bits < 0}
    if not narrowed or all(bits <= 0 for bits in grown.values()):
        return []
    _spread(graph, narrowed)
    return [words[2] for words in converted if grown[words[2]] > 0 and words[3] in narrowed]


def bits_of(type: Type) -> int:
    """Of a float, or of each in a vector."""
    element = type.element if isinstance(type, Vector) else type
    assert isinstance(element, Float)
    return element.width


def _spread(graph: Graph, narrowed: set[int]) -> None:
    """Add all that is computed from narrowed values."""
    pending = list(narrowed)
    place = {id(words): at for at, words in enumerate(graph.every())}
    block_of = {id(words): block.number for block in graph.blocks for words in block.instructions}
    loads = [words for words in graph.made.values() if words[0] & OPCODE in LOADS]
    first, storing = len(place), set[int]()  # the first store of such a value; headers of loops with one
    while pending:
        for user in graph.users[pending.pop()]:
            number = user[0] & OPCODE
            found: list[Words] = []
            if number in STORES and user[2] in narrowed:
                first = min(first, place[id(user)])
                storing.update(graph.loops_around(block_of[id(user)]))
                found = [words for words in loads if place[id(words)] > first
                         or not storing.isdisjoint(graph.loops_around(block_of.get(id(words), 0)))]
            elif number not in STORES and number not in LOADS and graph.result(user):
                found = [user]
            for words in found:
                if words[2] not in narrowed:
                    narrowed.add(words[2])
                    pending.append(words[2])

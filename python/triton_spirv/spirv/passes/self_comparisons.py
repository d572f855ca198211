"""Whether a float equals itself is asked of its bits, for a driver on which a NaN that it computes while it
compiles does."""

from __future__ import annotations

from ..builder import scalar_type, width_of, with_width
from ..module import Module
from ..operands import opcode
from ..types import Float, Int
from ..values import Words
from .graph import OPCODE, Graph, instruction

#: The comparison of a float with itself -> that of the bits of its size with an infinity's.
COMPARISONS = {opcode("OpFOrdEqual"): "OpULessThanEqual", opcode("OpFUnordNotEqual"): "OpUGreaterThan"}
INFINITY = {16: 0x7C00, 32: 0x7F80_0000, 64: 0x7FF0 << 48}


def compare_bits(m: Module, graph: Graph) -> None:
    """Each OpFOrdEqual and OpFUnordNotEqual of a number made in the function with itself, in place."""
    found = {words[2] for words in graph.made.values()
             if words[0] & OPCODE in COMPARISONS and words[3] == words[4] and words[3] in graph.made}
    for block in graph.blocks if found else ():
        code: list[Words] = []
        for words in block.instructions:
            if words[0] & OPCODE in COMPARISONS and words[2] in found:
                code += _of_bits(m, graph, words)
            else:
                code.append(words)
        block.instructions[:] = code
    if found:
        graph.write()


def _of_bits(m: Module, graph: Graph, words: Words) -> list[Words]:
    kind = graph.types[graph.made[words[3]][1]]
    element, count = scalar_type(kind), width_of(kind)
    assert isinstance(element, Float)
    whole = with_width(Int(element.width), count)
    infinity = INFINITY[element.width]
    size, limit = (m.constant(whole, (value,) * count if count > 1 else value).id
                   for value in ((1 << element.width - 1) - 1, infinity))
    bits, magnitude = m.new_id(), m.new_id()
    return [instruction("OpBitcast", m.type_id(whole), bits, words[3]),
            instruction("OpBitwiseAnd", m.type_id(whole), magnitude, bits, size),
            instruction(COMPARISONS[words[0] & OPCODE], words[1], words[2], magnitude, limit)]

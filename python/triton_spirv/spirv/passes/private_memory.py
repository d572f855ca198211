"""Memory that no lane shares with another needs no order: barriers and accesses say so.

For functions in which no access to global memory meets one of another lane of the program.
"""

from __future__ import annotations

from ..operands import opcode
from .graph import OPCODE, Graph

BARRIER = opcode("OpControlBarrier")
#: Where OpLoad and OpStore have their memory operands, and bits of those (specification, 3.26).
MEMORY_OPERANDS = {opcode("OpLoad"): 4, opcode("OpStore"): 3}
VOLATILE, ALIGNED, NON_PRIVATE = 0x1, 0x2, 0x20


def order_shared_memory(graph: Graph, everything: int, shared: int) -> None:
    """Barriers that order all memory order what lanes share; both semantics by their ids."""
    for block in graph.blocks:
        for words in block.instructions:
            if words[0] & OPCODE == BARRIER and words[3] == everything:
                words[3] = shared


def keep_private(graph: Graph) -> None:
    """Accesses to global memory, which are those that state an alignment, need not be made available or
    visible: they are plain then, which devices cache and combine."""
    for block in graph.blocks:
        for words in block.instructions:
            at = MEMORY_OPERANDS.get(words[0] & OPCODE, len(words))
            if at < len(words) and words[at] & (VOLATILE | ALIGNED) == ALIGNED:
                words[at] &= ~NON_PRIVATE

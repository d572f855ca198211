"""Values that a loop hands to one another from round to round go through memory, for a compiler that mixes
them up.

`a, b = b, a` in a loop is two phis of its header, each with the other for its value of the next round. All
phis of a block take their values at once (specification, OpPhi). Intel's OpenCL CPU runtime (2026.22), asked
not to optimise, keeps the phis of a loop with a barrier or an exchange between lanes in memory, and writes
them one after the other: the second gets the new value of the first. A value that is loaded from a variable
is no phi, and is not touched. tests/lower/test_permuted_phis.py shows the fault on a module without that,
and fails once a driver is right: this file may go then.
"""

from __future__ import annotations

from ..module import Module
from ..types import Pointer
from ..values import Function, Words
from .graph import Graph, instruction

FUNCTION = 7  # the storage class


def separate_phis(module: Module, graph: Graph) -> None:
    """Where a phi takes another phi of its own block, it takes it through a Function variable instead: stored
    behind the phis, loaded at the end of the block that the value comes from."""
    variables: dict[int, int] = {}  # by the phi that they hold
    stores: dict[int, list[Words]] = {}  # by the block whose phis are stored
    loads: dict[int, list[Words]] = {}   # by the block that they come from
    for block in graph.blocks:
        phis = block.phis()
        made = {words[2] for words in phis}
        for phi in phis:
            for at in range(3, len(phi), 2):
                value, origin = phi[at:at + 2]
                if value == phi[2] or value not in made:
                    continue
                if value not in variables:
                    variables[value] = _variable(module, graph.function, phi[1])
                    stored = instruction("OpStore", variables[value], value)
                    stores.setdefault(block.number, []).append(stored)
                phi[at] = module.new_id()
                loaded = instruction("OpLoad", phi[1], phi[at], variables[value])
                loads.setdefault(graph.by_label[origin].number, []).append(loaded)
    for block in graph.blocks:
        code, first, end = block.instructions, len(block.phis()), block.end
        code[end:end] = loads.get(block.number, ())
        code[first:first] = stores.get(block.number, ())
    if variables:
        graph.write()


def _variable(module: Module, function: Function, type: int) -> int:
    """A Function variable of a type, by the type's id."""
    made, pointer = module.new_id(), module.type_id(Pointer("Function", module.types[type]))
    function.variables.append(instruction("OpVariable", pointer, made, FUNCTION))
    return made

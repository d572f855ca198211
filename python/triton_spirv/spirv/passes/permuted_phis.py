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

from ..module import Function, Module
from ..operands import TERMINATORS, opcode
from ..types import Pointer
from ..values import Words

LABEL, PHI, VARIABLE, LOAD, STORE = (
    opcode(f"Op{name}") for name in ("Label", "Phi", "Variable", "Load", "Store"))
ENDS = frozenset(map(opcode, TERMINATORS))
MERGES = frozenset({opcode("OpLoopMerge"), opcode("OpSelectionMerge")})
FUNCTION = 7  # the storage class


def separate_phis(module: Module, function: Function) -> None:
    """Where a phi takes another phi of its own block, it takes it through a Function variable instead: stored
    behind the phis, loaded at the end of the block that the value comes from."""
    code = function.instructions
    blocks, ends = _blocks(code)
    before: dict[int, list[Words]] = {}  # what is inserted, by position
    variables: dict[int, int] = {}  # by the phi that they hold
    for phis, body in blocks:
        made = {words[2] for words in phis}
        for phi in phis:
            for at in range(3, len(phi), 2):
                value, origin = phi[at:at + 2]
                if value == phi[2] or value not in made:
                    continue
                if value not in variables:
                    variables[value] = _variable(module, function, phi[1])
                    before.setdefault(body, []).append([3 << 16 | STORE, variables[value], value])
                phi[at] = module.new_id()
                loaded = [4 << 16 | LOAD, phi[1], phi[at], variables[value]]
                before.setdefault(ends[origin], []).append(loaded)
    if before:
        code[:] = [words for i, old in enumerate(code) for words in (*before.get(i, ()), old)]


def _blocks(code: list[Words]) -> tuple[list[tuple[list[Words], int]], dict[int, int]]:
    """Of each block with phis these, and the position behind them; of each block, by its label, the position
    of its branch and what must stand right before that."""
    blocks: list[tuple[list[Words], int]] = []
    ends: dict[int, int] = {}
    label, phis = 0, list[Words]()
    for i, words in enumerate(code):
        number = words[0] & 0xFFFF
        if number == LABEL:
            label = words[1]
        elif number == PHI:
            phis.append(words)
            continue
        elif number in ENDS:
            ends[label] = i - (code[i - 1][0] & 0xFFFF in MERGES)
        if phis:
            blocks.append((phis, i))
            phis = []
    return blocks, ends


def _variable(module: Module, function: Function, type: int) -> int:
    """A Function variable of a type, by the type's id."""
    made, pointer = module.new_id(), module.type_id(Pointer("Function", module.types[type]))
    function.variables.append([4 << 16 | VARIABLE, pointer, made, FUNCTION])
    return made

"""Numbers that programs look up, one after the other: the row of an embedding, the page of a cache.

A load of the kernel's first block whose pointer grows by one element from program to program looks up the
number of this program; one element further on is the number of the next.
"""

from __future__ import annotations

from ..ir.model import Block, Operation, Value
from ..traversal import Asking, Known, answer
from .motion import FAR, UNKNOWN, Motion, Program, motion
from .slopes import Slope


def next_program(pointers: Value, block: Block) -> tuple[Slope[Value] | None, frozenset[Value]]:
    """How pointers move from this program to the next one, a hint, and the numbers looked up in the kernel's
    first block that the slope stands for: of these it is the next program's less this one's."""
    looked_up: set[Value] = set()
    steps: Known = {}

    def source(op: Operation) -> Motion | None:
        added = answer(_steps, op.ptr, block, known=steps) if op.has("loads") else 0
        if added == 0:
            return None
        if added != 1 or len(steps) > FAR or not _is_sure(op):
            return UNKNOWN
        looked_up.add(op.results[0])
        return Motion(None, op.results[0])

    slope = motion(pointers, Program("x"), hint=True, source=source).slope
    return slope, frozenset(looked_up)


def may_look_up(load: Operation, block: Block) -> bool:
    """Does every program with a next one make such a load, so that what that will load may be loaded here?"""
    return load.has("loads") and load.parent is block and _is_sure(load) and answer(
        _steps, load.ptr, block) == 1


def _is_sure(load: Operation) -> bool:
    """Is it made whatever a mask says, and at once?"""
    return len(load.operands) == 1 and not load.attributes.get("isVolatile")


def _steps(value: Value, body: Block) -> Asking[int | None]:
    """How many times the program's number is added to make this value; None where anything else is done with
    it."""
    op = value.defining_op
    if op is None or op.parent is not body:
        return 0
    if op.name == "tt.get_program_id":
        return 1 if op.attributes["axis"] == "x" else 0
    parts: list[int | None] = []
    for operand in op.operands:
        parts.append((yield operand, body))
    if op.has("widens") or op.has("zero_extends"):  # of what is not negative
        return parts[0]
    if op.has("offsets") and parts == [0, 1]:
        return 1
    return 0 if op.is_pure and all(part == 0 for part in parts) else None

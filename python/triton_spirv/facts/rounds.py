"""How often a counted loop may go round, as far as its operands say it."""

from __future__ import annotations

from ..ir.model import Operation, Value

#: a loop of no more rounds ends soon
FEW = 1 << 16


def may_be_long(loop: Operation) -> bool:
    """May an scf.for go round more than FEW times?"""
    lower, upper, step = (_constant(value) for value in (loop.lower, loop.upper, loop.step))
    if lower is None or upper is None or step is None or step <= 0:
        return True
    return upper - lower > FEW * step


def _constant(value: Value) -> int | None:
    maker = value.defining_op
    number = maker.attributes["value"] if maker is not None and maker.has("constant") else None
    return number if isinstance(number, int) else None

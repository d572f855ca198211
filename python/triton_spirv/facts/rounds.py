"""How often a counted loop may go round, as far as its operands say it."""

from __future__ import annotations

from ..ir.model import Operation, Value

#: a loop of no more rounds ends soon
FEW = 1 << 16


def may_be_long(loop: Operation) -> bool:
    """May an scf.for go round more than FEW times, with the rounds of loops inside it that may not?"""
    return _rounds(loop) > FEW


def _rounds(loop: Operation) -> int:
    """Rounds of the innermost loops in it, at most; more than FEW: nobody knows."""
    lower, upper, step = (_constant(value) for value in (loop.lower, loop.upper, loop.step))
    if lower is None or upper is None or step is None or step <= 0:
        return FEW + 1
    inside = [rounds for op in loop.walk() if op is not loop and op.has("counts")
              and (rounds := _rounds(op)) <= FEW]
    return max(0, -(-(upper - lower) // step)) * max((1, *inside))


def _constant(value: Value) -> int | None:
    maker = value.defining_op
    number = maker.attributes["value"] if maker is not None and maker.has("constant") else None
    return number if isinstance(number, int) else None

"""Kernels that check=compiler runs besides: of the same form, but for what they add.

    exact       operands of products become small integers, so that their sums are exact in any order
    magnitudes  atomic operations that add floats add their magnitudes
    counts      ... add 1

or two of them, as exact+counts.
"""

from __future__ import annotations

from ..facts.sums import MOST_BEFORE, greatest_operand, is_addition
from ..ir.model import Module, Operation, Value
from .checked.sites import Before


def make_comparable(module: Module, forms: str) -> None:
    """Change the kernel to these forms, in place; to none for an empty text."""
    for form in filter(None, forms.split("+")):
        for op in list(module.walk()):
            if form == "exact" and op.has("product") and (most := greatest_operand(op)):
                _make_exact(op, most)
            elif form != "exact" and is_addition(op):
                make, value = Before(op), op.val
                added = make.make("math.absf", [value], value.type) if form == "magnitudes" else (
                    make.number(1.0, value.type))
                op.set_operand(op.operand_names().index("val"), added)


def _make_exact(op: Operation, most: int) -> None:
    for index, name in enumerate(op.operand_names()):
        limit, scale = (MOST_BEFORE, 1.0) if name == "c" else (most, max(1.0, most / 4))
        op.set_operand(index, _integers(op.operands[index], float(limit), scale, Before(op)))


def _integers(value: Value, limit: float, scale: float, make: Before) -> Value:
    """The value times a scale, rounded to an integer of at most that size; for a NaN, one end."""
    type = value.type
    scaled = make.make("arith.mulf", [value, make.number(scale, type)], type)
    low = make.make("arith.maxnumf", [scaled, make.number(-limit, type)], type)
    held = make.make("arith.minnumf", [low, make.number(limit, type)], type)
    return make.make("math.roundeven", [held], type)

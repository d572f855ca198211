"""What is known of the elements for which a mask is false: which number they have, and whether anything asks
for them.

    x = tl.load(p, mask, other=0)       # 0 outside of the mask
    y = tl.where(mask, x * x, 0)        # 0 outside, so that x * x is not asked for there
    tl.store(q, x * x, mask)            # nor here

A mask is its parts (bounds.py): another one that has all of them is false wherever this one is.
"""

from __future__ import annotations

from ..ir.model import DenseAttr, Operation, TensorType, Value
from ..traversal import Asking, answer, some
from .bounds import conjunction


def implies(mask: Value | None, other: Value) -> bool:
    """Does `other` hold wherever the mask does, by the parts that both are made of?"""
    return mask is not None and _parts(other) <= _parts(mask)


def _parts(mask: Value) -> set[tuple[Operation | Value, tuple[Operation, ...]]]:
    return {(part.comparison or part.mask, part.views) for part in conjunction(mask)}


def governed(value: Value) -> tuple[Value, Value] | None:
    """A mask, and another value that this one is equal to wherever the mask is false: `tl.where` and masked
    loads. None where it is made in another way."""
    op = value.defining_op
    if op is None:
        return None
    if op.has("picks") and op.has("elementwise"):
        return (op.condition, op.false_value) if isinstance(op.condition.type, TensorType) else None
    if op.has("loads") and op.mask is not None and op.other is not None:
        return op.mask, op.other
    return None


def number(value: Value) -> float | int | None:
    """The number that all elements of a constant are."""
    op = value.defining_op
    if op is None or not op.has("constant"):
        return None
    constant = op.attributes["value"]
    if isinstance(constant, DenseAttr):
        constant = constant.values if constant.splat else None
    return constant if isinstance(constant, (int, float)) else None


def is_asked_outside(value: Value, mask: Value) -> bool:
    """Does anything depend on the elements of a value for which the mask, of its shape, is false?"""

    def rule(value: Value) -> Asking[bool]:
        for user, _ in value.uses:
            if (yield from asks(value, user)):
                return True
        return False

    def asks(value: Value, user: Operation) -> Asking[bool]:
        if user.name == "tt.store":
            return value is user.mask or not implies(user.mask, mask)
        chosen = governed(user.results[0]) if user.results else None
        if chosen is not None and implies(chosen[0], mask):
            return value in chosen
        if not user.has("elementwise") or not user.is_pure:
            return True
        return (yield from some(user.results))

    return answer(rule, value)

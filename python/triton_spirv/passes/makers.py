"""What values are computed by behind an operation, where all of that may be moved before it."""

from __future__ import annotations

from collections.abc import Iterable

from ..ir.model import Operation, Value


def makers(values: Iterable[Value], anchor: Operation) -> list[Operation] | None:
    """The operations behind `anchor`, in its block, that values are computed by, in their order; None where
    one has an effect, reads memory or needs a result of the anchor."""
    assert anchor.parent is not None
    operations = anchor.parent.operations
    needed = {value.defining_op for value in values}
    found: list[Operation] = []
    for op in reversed(operations[operations.index(anchor):]):
        if op in needed:
            if op is anchor or not is_movable(op):
                return None
            found.append(op)
            needed.update(operand.defining_op for operand in op.operands)
    return found[::-1]


def is_movable(op: Operation) -> bool:
    """Up, before others that it does not need: it has no effect, reads no memory and cannot fail."""
    return op.is_pure and not op.regions and not op.has("divides")

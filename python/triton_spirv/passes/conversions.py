"""Conversions of layouts where a pass has given one side of an edge another layout than the other."""

from __future__ import annotations

from ..facts.edges import edges
from ..ir.model import Operation, TensorType, Value
from ..ir.module import Module

CONVERSION = "ttg.convert_layout"


def convert_at_edges(module: Module) -> None:
    """Values that cross an edge have the layout that they have on the other side, in place."""
    for op in list(module.walk()):
        for edge in edges(op):
            pairs = list(zip(edge.given, edge.taken, strict=True))
            for index, (given, taken) in enumerate(pairs, edge.first):
                if given.type != taken.type and isinstance(given.type, TensorType):
                    edge.user.set_operand(index, _converted(given, taken, edge.user))


def _converted(value: Value, like: Value, before: Operation) -> Value:
    op = Operation(CONVERSION, [value], {}, [like.type], [value.name], before.location)
    assert before.parent is not None
    before.parent.insert_before(before, op)
    return op.result

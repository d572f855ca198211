"""Tensors that hold one value."""

from __future__ import annotations

from triton_spirv.ir.model import DenseAttr, TensorType, Value


def is_uniform(value: Value, known: dict[Value, bool] | None = None) -> bool:
    """Does the tensor hold one value, by the way it is made? Splats, and element by element arithmetic on
    them.

    Scalars are. `known` keeps answers between calls.
    """
    known = {} if known is None else known
    stack = [value]
    while stack:
        top = stack[-1]
        if top in known:
            stack.pop()
            continue
        operands = _must_be_uniform(top)
        if operands is None:
            known[top] = False
        elif any(known.get(operand) is False for operand in operands):
            known[top] = False
        else:
            waiting = [operand for operand in operands if operand not in known]
            if waiting:
                stack.append(waiting[0])
                continue
            known[top] = True
        stack.pop()
    return known[value]


def _must_be_uniform(value: Value) -> list[Value] | None:
    """The values on which it depends whether `value` is uniform; None: it is not."""
    if not isinstance(value.type, TensorType):
        return []
    op = value.defining_op
    if op is None:
        return None
    if op.has("splats"):
        return []
    if op.has("constant"):
        constant = op.attributes["value"]
        return [] if isinstance(constant, DenseAttr) and constant.splat else None
    if op.has("view") or op.has("elementwise"):
        return op.operands
    return None

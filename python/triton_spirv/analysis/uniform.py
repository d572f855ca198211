"""Tensors that hold one value, and loops that move a tensor by one."""

from __future__ import annotations

from ..ir.model import DenseAttr, Operation, TensorType, Value

_VIEWS = {"tt.expand_dims", "tt.broadcast", "tt.reshape", "tt.trans"}


def is_uniform(value: Value) -> bool:
    """Does the tensor hold one value, by the way it is made? (Splats, and element by element arithmetic on them.)"""
    if not isinstance(value.type, TensorType):
        return True
    op = value.defining_op
    if op is None:
        return False
    if op.name == "tt.splat":
        return True
    if op.name == "arith.constant":
        constant = op.attributes["value"]
        return isinstance(constant, DenseAttr) and constant.splat
    if op.name in _VIEWS or op.name.startswith("arith."):
        return all(is_uniform(operand) for operand in op.operands)
    return False


def uniform_step(loop: Operation, index: int) -> list[Value] | None:
    """The uniform values that iteration adds to iter_arg `index` of an scf.for; None where it does anything else to it.

    The yielded value must be a chain of tt.addptr or arith.addi that starts at the iter_arg.
    """
    body = loop.regions[0].entry
    argument = body.arguments[1 + index]
    value = body.terminator.operands[index]
    chain: list[Value] = []
    while value is not argument:
        op = value.defining_op
        if op is None or op.parent is not body or op.name not in ("tt.addptr", "arith.addi"):
            return None
        first, second = op.operands
        if op.name == "arith.addi" and is_uniform(first):
            first, second = second, first
        if not is_uniform(second):
            return None
        chain.append(second)
        value = first
    return chain

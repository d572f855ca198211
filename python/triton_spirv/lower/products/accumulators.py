"""What products are added to: zero, or an array that they may overwrite."""

from __future__ import annotations

from dataclasses import replace

from ...ir.model import Operation, Value
from ..context import Context, StepLoop
from ..registry import RULES
from ..values.tensor import Deferred, Stored, Tensor, Uniform


def is_zero(tensor: Tensor) -> bool:
    return isinstance(tensor, Uniform) and tensor.scalar.constant == 0


def accumulator(ctx: Context, op: Operation, c: Tensor) -> Stored:
    """An array of the dot's own with the elements of c: the array that c is made of, where nothing else needs
    it, or a new one."""
    known = overwritable(ctx, op, op.c, c)
    if isinstance(c, Deferred) and c.evaluated is not None:
        c = c.evaluated
    if known is not None and known is c:
        array = replace(known)
        ctx.recorder.renames(known, array)
        return array
    array = replace(known) if known is not None else ctx.arrays.allocate(c.shape, c.element)
    layout = ctx.layouts.default(c.shape)
    walk = ctx.walks.plan(op, [(c, layout)])
    with StepLoop(ctx.walks, len(layout.step)):
        ctx.arrays.write(array, ctx.evaluation.fragment(c, layout))
    ctx.walks.finish(walk)
    return array


def overwritable(ctx: Context, op: Operation, value: Value, bound: object) -> Stored | None:
    """The array that `value` is, or is computed from element by element, if `op` is the last to need it."""
    if len(value.uses) != 1 or not ctx.target.optimises("array-reuse"):
        return None
    if isinstance(bound, Deferred) and bound.evaluated is None:
        if RULES[bound.operation.name].kind != "elementwise":
            return None
        below = zip(bound.operation.operands, bound.operands, strict=True)
        found = [overwritable(ctx, op, operand, each) for operand, each in below]
        fitting = [x for x in found if x is not None and (x.shape, x.element) == (bound.shape, bound.element)]
        return fitting[0] if fitting else None
    if isinstance(bound, Deferred):
        return bound.evaluated if isinstance(bound.evaluated, Stored) and _is_inside(op, value) else None
    if not isinstance(bound, Stored) or not _is_inside(op, value):
        return None
    return bound if value.defining_op is None or _makes_array(value.defining_op) else None


def _makes_array(op: Operation) -> bool:
    """Is an array that it results in its own, which a product may overwrite?"""
    return op.has("product") or op.has("carries")


def _is_inside(op: Operation, value: Value) -> bool:
    """Is the value made in the block of `op`? Any other is needed again by the next iteration."""
    return (value.owner if value.defining_op is None else value.defining_op.parent) is op.parent

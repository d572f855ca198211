"""Turns of a reduction in which nothing is to be reduced: `tl.sum(tl.where(mask, x, 0))` beyond the end of a
row, of which blocks are longer than the row.

Where the mask is false everywhere, all that a turn reduces is one number. It is skipped if the combiner makes
that number of two of them: then any count of them has the effect of one. What the walk keeps in arrays is
written all the same, as the number that it is there, or as anything if no one asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...facts.masked_elements import governed, implies, is_asked_outside, number
from ...ir.dialects import with_trait
from ...ir.model import FloatType, Operation, Region, Type, Value
from ...layout import Layout
from ...spirv.builder import scalar_type, with_width
from ...spirv.module import Value as Register
from ...spirv.types import Bool
from ..addresses.masks import Idle
from ..context import Context
from ..control.region import operations_of, to_accumulator
from ..values.tensor import Bound, Deferred, Fragment, Tensor, Uniform
from ..values.types import element_of, register_type
from ..walk.scopes import OpenWalk

#: what other combiners leave as it is when they meet it twice (0.0 and -0.0 are two numbers)
LEFT = {"arith.addf": 0, "arith.addi": 0, "arith.mulf": 1, "arith.muli": 1, "arith.xori": 0}


def mask_of(src: Tensor) -> Tensor | None:
    """The mask outside of which all elements are one number, of a tensor that is still to be computed."""
    if not isinstance(src, Deferred) or src.evaluated is not None:
        return None
    known = governed(src.operation.results[src.index])
    mask = None if known is None else _bound(src, known[0])
    return mask if isinstance(mask, Deferred) else None


def idle_turns(ctx: Context, op: Operation, srcs: Sequence[Tensor], layout: Layout, walk: OpenWalk, rows: int,
               types: Sequence[Type]) -> Idle | None:
    """Of the reduction of tensors, to so many registers of each of `types`: the turns to skip. None where
    there are none, or something is asked for in them."""
    if not layout.step or any(layout.lane) or any(layout.warp):  # lanes would part
        return None
    masks = [mask_of(src) for src in srcs]
    governing = [governed(value) for value in op.srcs]
    mask, first = masks[0], governing[0]
    if mask is None or first is None or any(each is not mask for each in masks):
        return None
    others = [number(each[1]) for each in governing if each is not None and each[0] is first[0]]
    if len(others) != len(srcs) or not _is_left(op.regions[0], [value.type for value in op.srcs], others):
        return None
    kept = {node: _outside(node, first[0]) for node in walk.by_products}
    if None in kept.values() or any(each.layout != layout for each in walk.by_products.values()) \
            or not all(map(_may_be_skipped, ctx.requests.of([(src, layout) for src in srcs]))):
        return None

    def body() -> Sequence[Register]:
        for node, made in kept.items():
            assert made is not None
            ctx.open_walks.write(walk, node, made(ctx, layout))
        reduced = []
        for src, value, each, type in zip(srcs, op.srcs, governing, types, strict=True):
            assert isinstance(src, Deferred) and each is not None
            other = ctx.evaluation.fragment(_bound(src, each[1]), layout)  # type: ignore[arg-type]
            reduced.append(to_accumulator(ctx, other.registers[0], element_of(value.type), type))
        return reduced * rows

    return Idle(mask, layout, body)


def _bound(node: Deferred, operand: Value) -> Bound | None:
    """What an operand of a deferred operation is."""
    return node.operands[node.operation.operands.index(operand)]


def _is_left(region: Region, types: Sequence[Type], constants: Sequence[float | int | None]) -> bool:
    """Does the combiner make a number of two of it, for each of the tensors?"""
    if any(constant is None or isinstance(element_of(type), FloatType) != isinstance(constant, float)
           for type, constant in zip(types, constants, strict=True)):
        return False
    names = operations_of(region)
    if None not in names:
        return all(name in with_trait("idempotent") or (name in LEFT and constant == LEFT[name])
                   for name, constant in zip(names, constants, strict=True))
    return len(region.blocks) == 1 and len(region.entry.arguments) == 2 and _chooses(region)


def _chooses(region: Region) -> bool:
    """Is the combiner's result one of its arguments?"""
    waiting = list(region.entry.operations[-1].operands)
    while waiting:
        value = waiting.pop()
        maker = value.defining_op
        if maker is None:
            if value not in region.entry.arguments:
                return False
        elif maker.has("picks") and maker.has("elementwise"):
            waiting += [maker.true_value, maker.false_value]
        else:
            return False
    return True


def _may_be_skipped(request: tuple[Deferred | Fragment, object]) -> bool:
    """Is evaluating a value of no effect but the value?"""
    node = request[0]
    if isinstance(node, Fragment):
        return True
    op = node.operation
    return op.is_pure or (op.has("loads") and not op.attributes.get("isVolatile"))


def _outside(node: Deferred, mask: Value) -> Callable[[Context, Layout], Fragment] | None:
    """How to make a by-product where the mask is false; None where that is as dear as anywhere."""
    value = node.operation.results[node.index]
    known = governed(value)
    if known is not None and implies(known[0], mask):
        other = _bound(node, known[1])
        if isinstance(other, Uniform):
            return lambda ctx, layout: ctx.evaluation.fragment(other, layout)
    if is_asked_outside(value, mask):
        return None

    def nothing(ctx: Context, layout: Layout) -> Fragment:
        type = with_width(register_type(node.element), layout.width)
        zero = ctx.b.constant(type, False if isinstance(scalar_type(type), Bool) else 0)
        return Fragment(layout, node.element, (zero,) * layout.registers)

    return nothing

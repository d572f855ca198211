"""Masks of 2D block messages as edges of their surfaces."""

from __future__ import annotations

from ...dataclass import dataclass
from ...facts.axis import axis_facts
from ...facts.bounds import Part, conjunction
from ...facts.slopes import number
from ...facts.views import source_dims
from ...ir.model import Operation
from ...layout import Layout
from ...spirv.builder import I32
from ...spirv.module import Value as Register
from ..addresses.element_motion import slope_along
from ..context import Context
from ..plan.accesses import Message
from ..registry import SOURCE_LAYOUTS
from ..values.tensor import Bound, Deferred, Tensor, Uniform
from ..values.types import shape_of
from .block_stride import is_computable, unevaluated

#: More than any index of a block.
FAR = 1 << 16


@dataclass(frozen=True)
class Edges:
    """Per dimension: how many elements of each block, counted from its first, are inside; None for all."""

    limits: tuple[tuple[Register, ...] | None, tuple[Register, ...] | None]


@dataclass(frozen=True)
class Limit:
    """A part of a mask that is an edge of surfaces: along a dimension of the block, indices are inside that
    lie below `bound`, or reach it, too. index: they, under `starts`; None: all are inside if `bound`, a truth
    value, holds."""

    dim: int
    starts: Layout
    bound: Register
    index: Tensor | None = None
    reached: bool = False


def limits_of(mask: object, starts: Layout, message: Message) -> tuple[Limit, ...] | None:
    """The bounds that a mask stands for; None where it is more than bounds, or a row of a surface would not
    end at a multiple of 4 bytes.
    """
    found: list[Limit] = []
    for part in conjunction(mask, _made_of):
        if not _add_limits(part, starts, message, found):
            return None
    return tuple(found)


def edges(ctx: Context, limits: tuple[Limit, ...]) -> Edges:
    """How much of each block these limits leave."""
    b = ctx.b
    inside: list[tuple[Register, ...] | None] = [None, None]
    found = [(limit.dim, _inside(ctx, limit)) for limit in limits]
    for dim, values in found:
        before = inside[dim]
        inside[dim] = values if before is None else tuple(
            b.ext("s_min", x, y) for x, y in zip(before, values, strict=True))
    return Edges((inside[0], inside[1]))


def _inside(ctx: Context, limit: Limit) -> tuple[Register, ...]:
    """How many elements of each block are inside, counted from its first."""
    b = ctx.b
    if limit.index is None:
        return (b.select(limit.bound, b.constant(I32, FAR), 0),) * limit.starts.registers
    first = ctx.evaluation.registers(unevaluated(limit.index), limit.starts)
    distance = [b.isub(limit.bound, x) for x in first]
    if limit.reached:  # there need be no number behind the bound itself
        distance = [b.iadd(b.ext("s_min", x, b.constant(x.type, FAR)), 1) for x in distance]
    return tuple(x if x.type == I32 else b.resize(_clamped(ctx, x), 32) for x in distance)


def _made_of(mask: object) -> tuple[Operation, tuple[Bound | None, ...]] | None:
    """How a mask was made, whether it is evaluated by now or not."""
    return (mask.operation, mask.operands) if isinstance(mask, Deferred) else None


def _add_limits(part: Part, starts: Layout, message: Message, found: list[Limit]) -> bool:
    """Add the bounds of a part of a mask; is it nothing but bounds?"""
    dims: tuple[int, ...] = (0, 1)  # of the block, for each of the part's
    for view in part.views:
        sources = source_dims(view)
        if sources is None or view.name not in SOURCE_LAYOUTS:
            return False
        kept = {source: dims[d] for d, source in enumerate(sources) if source is not None}
        dims = tuple(kept.get(d, -1) for d in range(len(shape_of(view.src.type))))
        starts = SOURCE_LAYOUTS[view.name](view, starts)
    if isinstance(part.mask, Uniform):
        if part.mask.scalar.constant is not True:
            found.append(Limit(message.down, starts, part.mask.scalar))
        return True
    op = part.comparison
    if op is None:
        return False
    left, right = part.operands
    predicate = part.predicate
    if predicate in ("sgt", "sge") and isinstance(left, Uniform):  # bound > x
        left, right, predicate = right, left, {"sgt": "slt", "sge": "sle"}[predicate]
        index = op.operands[1]
    else:
        index = op.operands[0]
    if predicate == "sge" and isinstance(right, Uniform) and right.scalar.constant == 0:
        facts = axis_facts(index)
        return facts is not None and facts.nonnegative
    if predicate not in ("slt", "sle") or not isinstance(right, Uniform) or not is_computable(left):
        return False
    slopes = [number(slope_along(left, i, n)) for i, n in enumerate(starts.shape)]
    moving = [i for i, slope in enumerate(slopes) if slope != 0]
    if [slopes[i] for i in moving] != [1]:
        return False
    (own,) = moving
    if dims[own] == message.across:
        facts, limit = axis_facts(index), axis_facts(op.operands[1 - op.operands.index(index)])
        if predicate != "slt" or facts is None or limit is None or any(
                x * message.bytes % 4 for x in (facts.divisibility[own], limit.everywhere())):
            return False
    found.append(Limit(dims[own], starts, right.scalar, left, predicate == "sle"))
    return True


def _clamped(ctx: Context, value: Register) -> Register:
    far = ctx.b.constant(value.type, FAR)
    return ctx.b.ext("s_min", ctx.b.ext("s_max", value, ctx.b.constant(value.type, 0)), far)

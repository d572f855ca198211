"""tt.histogram: how often each bin's number occurs in a tensor.

The counts stand in a private array that every element increments in turn; elements that are masked, or that
no bin takes, go to an entry behind the last bin, so that nothing branches.
"""

from __future__ import annotations

from typing import Any

from ..ir.model import IntegerType, Operation
from ..layout import row_major
from ..spirv.builder import I32, with_width
from .context import Context, StepLoop
from .registry import lowers
from .tensor import Fragment, Stored
from .types import shape_of


@lowers("tt.histogram")
def histogram(ctx: Context, op: Operation, src: Any, mask: Any) -> Any:
    """src, mask [N] -> counts [BINS] in i32; numbers are read as unsigned, those from BINS on are dropped."""
    b = ctx.b
    shape = shape_of(op.results[0].type)
    bins = shape[0]
    walk = row_major(op.src.type.shape, ctx.target.vector_width, 1, 1)
    plan = ctx.plan(op, [(x, walk) for x in (src, mask) if x is not None])
    counts = _zeros(ctx, bins)
    with StepLoop(ctx, len(walk.step)):
        number = b.resize(ctx.fragment(src, walk).registers[0], 32, signed=False)
        counted = b.compare("OpULessThan", number, bins)
        if mask is not None:
            counted = b.logical_and(counted, ctx.fragment(mask, walk).registers[0])
        places = b.select(counted, number, bins)
        for c in range(walk.width):
            place = b.extract(places, c)
            seen = ctx.env.private_load(counts.array, counts.width, I32, place, 1)
            ctx.env.private_store(counts.array, counts.width, place, b.iadd(seen, 1))
    ctx.finish(plan)
    layout = ctx.layout_of(op.results[0].type)
    return counts if layout.step else ctx.fragment(counts, layout)


def _zeros(ctx: Context, bins: int) -> Stored:
    """An array of zeros for the bins, and at least one entry more."""
    width = min(bins, ctx.target.vector_width)
    counts = Stored((bins,), IntegerType(32), ctx.env.private_array(I32, bins + width, width), width)
    walk = row_major((bins,), width, ctx.target.window, ctx.target.window)
    zero = ctx.b.constant(with_width(I32, width), 0)
    with StepLoop(ctx, len(walk.step)):
        ctx.write(counts, Fragment(walk, counts.element, (zero,) * walk.registers))
    return counts

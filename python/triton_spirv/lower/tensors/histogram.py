"""tt.histogram: how often each bin's number occurs in a tensor.

The counts stand in an array that every element increments in turn: a private one, or one in shared memory
that all lanes increment atomically. Elements that are masked, or that no bin takes, go to an entry behind the
last bin, so that nothing branches.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from ...ir.model import IntegerType, Operation
from ...layout import Layout, SharedLayout, row_major
from ...spirv.builder import I32, with_width
from ...spirv.module import Value as Register
from ..addresses.masks import guarded as where_masks_hold
from ..addresses.masks import is_provable, is_proven
from ..context import Context, StepLoop
from ..lanes.elements import guarded, owner, redundant, visited_layout
from ..registry import lowers
from ..values.tensor import Fragment, Stored, Tensor
from ..values.types import shape_of


@lowers("tt.histogram")
def histogram(ctx: Context, op: Operation, src: Tensor, mask: Tensor | None) -> Tensor:
    """src, mask [N] -> counts [BINS] in i32; numbers are read as unsigned, those from BINS on are dropped."""
    bins = shape_of(op.results[0].type)[0]
    if ctx.layouts.of(op.src.type).lane:
        return _in_lanes(ctx, op, src, mask, bins)
    walk = row_major(op.src.type.shape, ctx.target.vector_width, 1, 1)
    copies = _copies(walk, bins)
    places = _array_of_places(ctx, op, src, mask, bins, copies)
    counts = _zeros(ctx, copies, bins)
    with StepLoop(ctx.walks, len(walk.step)):
        first = ctx.indices.dynamic_index(walk)
        first = ctx.b.constant(I32, 0) if first is None else first
        for c in range(walk.width):
            place = ctx.env.private_load(places.array, places.width, I32, first, 1, c)
            seen = ctx.env.private_load(counts.array, counts.width, I32, place, 1)
            ctx.env.private_store(counts.array, counts.width, place, ctx.b.iadd(seen, 1))
    return _sum(ctx, op, counts)


def _array_of_places(ctx: Context, op: Operation, src: Tensor, mask: Tensor | None, bins: int,
                     copies: int) -> Stored:
    """The entries that the elements increment, in an array: loading one from there is faster than taking it
    out of a vector."""
    layout = ctx.layouts.of(op.src.type)
    inputs = [(x, layout) for x in (src, mask) if x is not None]
    optional = [] if mask is None or not is_provable(mask, layout) else [mask]
    walk = ctx.walks.plan(op, inputs, optional=optional)
    places = ctx.arrays.allocate(layout.shape, IntegerType(32))

    def write() -> list[Register]:
        known = None if is_proven(ctx, mask, layout) else mask
        made = tuple(_places(ctx, src, known, layout, bins, copies))
        ctx.arrays.write(places, Fragment(layout, places.element, made))
        return []
    with StepLoop(ctx.walks, len(layout.step)):
        where_masks_hold(ctx, inputs, [] if mask is None else [(mask, layout)], write)
    ctx.walks.finish(walk)
    return places


def _copies(walk: Layout, bins: int) -> int:
    """Components of a vector count in so many arrays, in turn, which are added in the end.

    An increment waits for the one before it where both may mean one bin, and processors guess which do. On
    Zen 4 an element takes 6 to 14 ns with one array of bins, about 1 ns with two or more; the more, the
    fewer numbers repeat within one.
    """
    copies = min(2, walk.width)
    while copies < walk.width and 2 * copies * bins <= min(walk.numel, 4096):
        copies *= 2
    return copies


def _sum(ctx: Context, op: Operation, counts: Stored) -> Tensor:
    """[copies, BINS] -> [BINS]"""
    layout = ctx.layouts.of(op.results[0].type)
    copies, bins = counts.shape
    total = ctx.arrays.allocate((bins,), counts.element) if layout.step else None
    with StepLoop(ctx.walks, len(layout.step)):
        bases = [replace(layout, shape=counts.shape, origin=copy * bins) for copy in range(copies)]
        rows = [ctx.evaluation.fragment(counts, each).registers for each in bases]
        sums = tuple(reduce(ctx.b.iadd, column) for column in zip(*rows, strict=True))
        made = Fragment(layout, counts.element, sums)
        if total is not None:
            ctx.arrays.write(total, made)
    return total or made


def _places(ctx: Context, src: Tensor, mask: Tensor | None, layout: Layout, bins: int,
            copies: int) -> list[Register]:
    """Per register the entries that its elements increment; component c counts in copy c modulo `copies`."""
    b = ctx.b
    starts: Register | int = 0
    if copies > 1:
        parts = tuple(c % copies * bins for c in range(layout.width))
        starts = b.constant(with_width(I32, layout.width), parts)
    places = []
    masks = [None] * layout.registers if mask is None else ctx.evaluation.fragment(mask, layout).registers
    for register, inside in zip(ctx.evaluation.fragment(src, layout).registers, masks, strict=True):
        number = b.resize(register, 32, signed=False)
        counted = b.compare("OpULessThan", number, bins)
        if inside is not None:
            counted = b.logical_and(counted, inside)
        places.append(b.select(counted, b.iadd(number, starts), copies * bins))
    return places


def _in_lanes(ctx: Context, op: Operation, src: Tensor, mask: Tensor | None, bins: int) -> Fragment:
    """Counts in shared memory; what several lanes hold one of them counts."""
    env, layout, result = ctx.env, visited_layout(ctx, op.src.type), ctx.layouts.of(op.results[0].type)
    one = ctx.b.constant(I32, 1)
    nothing = Fragment(result, IntegerType(32), (ctx.b.constant(I32, 0),) * result.registers)
    places = _places(ctx, src, mask, layout, bins, 1)
    with ctx.shared.scratch(nothing.element, bins + 1) as scratch:
        counts = replace(scratch, shape=(bins,), layout=SharedLayout.row_major((bins,)))
        ctx.shared.writes(counts)
        ctx.shared_tensors.store(counts, nothing)
        ctx.shared.writes(counts)

        def count() -> None:
            for place in places:
                env.shared_add(counts.array, place, one)

        guarded(ctx, owner(ctx, *redundant(layout)), count)
        ctx.shared.reads(counts)
        return ctx.shared_tensors.load(counts, result)


def _zeros(ctx: Context, copies: int, bins: int) -> Stored:
    """An array [copies, BINS] of zeros, and at least one entry more."""
    size, width = copies * bins, min(copies * bins, ctx.target.vector_width)
    array = ctx.env.private_array(I32, size + width, width)
    counts = Stored((copies, bins), IntegerType(32), array, width)
    walk = row_major(counts.shape, width, ctx.target.window, ctx.target.window)
    zero = ctx.b.constant(with_width(I32, width), 0)
    with StepLoop(ctx.walks, len(walk.step)):
        ctx.arrays.write(counts, Fragment(walk, counts.element, (zero,) * walk.registers))
    return counts

"""ts.swap: a view in which the two elements along an axis of size 2 have changed places.

The axis is one bit of the index. Where a component or a register of the layout holds that bit, the registers
that the work-item has anyway are rearranged, and a chain of swaps shares a loop with the arithmetic between
them. Where a step holds it, the operand is read as the other step would read it. passes/simplify.py makes
this operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ...ir.model import Operation
from ...layout import Layout
from ..context import Context
from ..registry import pulled, symbolic
from ..values import fragment as fragments
from ..values.tensor import Deferred, Fragment, Tensor, Uniform


def _source(op: Operation, layout: Layout) -> Layout:
    """The same registers, or the same layout from the other element on.

    Where a step holds the bit, no layout says what is read (`swap` does it); the one given here is asked of
    nothing, and is not the natural one, so that no walk counts on by-products of the operand.
    """
    bit = layout.axis_mask(op.attributes["axis"])
    if bit in layout.component + layout.register:
        return layout
    step = tuple(basis for basis in layout.step if basis != bit)
    return replace(layout, step=step, origin=layout.origin ^ bit)


@pulled("ts.swap", weight=0, source_layout=_source)
def swap(ctx: Context, op: Operation, layout: Layout, src: Tensor) -> Fragment:
    """[..., 2, ...] -> the same with the elements 0 and 1 along the axis exchanged."""
    b = ctx.b
    bit = layout.axis_mask(op.attributes["axis"])
    if bit in layout.component + layout.register:
        other = replace(layout, origin=layout.origin ^ bit)
        made = fragments.rearrange(b, ctx.evaluation.fragment(src, layout), other)
    elif bit in layout.step:
        with _other_step(ctx, layout.step.index(bit)):
            made = ctx.evaluation.fragment(src, layout)
    elif bit in layout.lane:
        held = ctx.evaluation.fragment(src, layout)
        made = replace(held, registers=tuple(
            ctx.env.shuffle_xor(x, 1 << layout.lane.index(bit)) for x in held.registers))
    else:
        made = ctx.evaluation.fragment(src, replace(layout, origin=layout.origin ^ bit))
    return Fragment(layout, made.element, made.registers)


@symbolic("ts.swap")
def swap_computed(ctx: Context, op: Operation, src: Tensor) -> Tensor | None:
    """Uniform tensors stay as they are. What another step must read is computed at once, not walk by walk."""
    if isinstance(src, Uniform):
        return src
    layout = ctx.layouts.of(op.src.type)
    if isinstance(src, Deferred) and layout.axis_mask(op.attributes["axis"]) in layout.step:
        ctx.pending.precompute([src])
    return None


@contextmanager
def _other_step(ctx: Context, position: int) -> Iterator[None]:
    """Code in here is emitted as for the step whose number differs in the bit at `position` of the layout.

    Nothing that is known of the step around it holds: no fragments, no masks, and no by-products are due.
    """
    pieces, ctx.indices.pieces = ctx.indices.pieces, []
    for index, bits in pieces:
        if 0 <= position < bits:
            index = ctx.b.ixor(index, 1 << position)
        ctx.indices.pieces.append((index, bits))
        position -= bits
    try:
        with ctx.scopes.none(), ctx.masks.none_holding(), ctx.open_walks.none():
            yield
    finally:
        ctx.indices.pieces = pieces



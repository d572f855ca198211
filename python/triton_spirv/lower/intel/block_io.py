"""Operands of a matrix unit by 2D block messages: a sub-group loads a block of rows with one instruction.

A message needs a surface: a base at a multiple of 64 bytes, rows at a fixed distance (the pitch), and a width
and a height beyond which it reads 0. Each message here has a surface of its own, which begins just before its
block, so that nothing but the base depends on where the block is. A mask that compares indices with a bound
becomes the surface's edge.

What must hold is proven from the pointers: along one dimension neighbours in memory, along the other a
distance that is the same from row to row within a block (`x % n` keeps neighbours together in aligned groups,
which is enough), and addresses at multiples of 16 bytes. That rows lie far enough apart can only be known
when the kernel is launched: the artifact asks for it.

The parts: block_stride.py (the proofs), block_message.py (what one message moves), block_edges.py (masks),
block_motion.py and block_resting.py (loops that move a block over a surface that rests), block_whole.py
(surfaces that are whole matrices), block_store.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...facts.axis import axis_facts
from ...ir.model import Block, Operation, Value
from ...layout import Layout
from ...spirv.builder import I32, I64, with_width
from ...spirv.module import Value as Register
from ..addresses.element_motion import pointer_slope
from ..context import Context
from ..values.tensor import Bound, Fragment, Pointers, Tensor, Uniform
from ..values.types import element_of, register_type, shape_of, storage_bytes
from .block_edges import Edges, edges
from .block_message import (
    ALIGNMENT,
    LEAST_PITCH,
    Message,
    addresses,
    covered,
    is_loadable,
    message_for,
    prefetch_starts,
    starts_of,
)
from .block_resting import Resting, rest
from .block_stride import unevaluated
from .block_whole import has_lower_edge, whole_surfaces


def block_load(ctx: Context, op: Operation, layout: Layout, ptr: Tensor, mask: Tensor | None,
               other: Tensor | None) -> Fragment | None:
    """The operand of a product by 2D block messages; None where that cannot be."""
    zero = other is None or (isinstance(other, Uniform) and other.scalar.constant == 0)
    if not isinstance(ptr, Pointers) or not (mask is None or zero):
        return None
    resting = ctx.prepared.loads.get(op)
    if isinstance(resting, Resting) and ptr.base.id in ctx.prepared.displaced:
        resting.prefetch(ctx)
        message, starts = resting.message, resting.starts
        surfaces = [resting.surface(ctx, first, 0) for first in resting.surfaces]
        return loaded(ctx, op, layout, message, starts, surfaces)
    if resting is None and has_lower_edge(op):
        return load_from_whole(ctx, op, layout, ptr)
    loads = None if isinstance(resting, Resting) else resting
    moved = ctx.prepared.displaced.get(ptr.base.id)
    if loads is None or moved is None:
        loads, moved = prepare_load(ctx, op, ptr), None
    if loads is None:
        return None
    message = loads.message
    limits = edges(ctx, mask, loads.starts, message)
    if limits is None:
        return None
    if moved is not None:
        moved = ctx.b.imul(moved, message.bytes)
        loads.prefetch(ctx, moved)
    surfaces = [loads.surface(ctx, i, moved, limits) for i in range(loads.starts.registers)]
    return loaded(ctx, op, layout, message, loads.starts, surfaces)


def load_from_whole(ctx: Context, op: Operation, layout: Layout, ptr: Pointers) -> Fragment | None:
    """The operand as blocks of the matrix that it is part of; None where that cannot be."""
    message = message_for(ctx, op, ptr, layout) if is_loadable(ctx, layout, ptr) else None
    surfaces = None if message is None else whole_surfaces(ctx, op, layout, message)
    if message is None or surfaces is None:
        return None
    return loaded(ctx, op, layout, message, starts_of(layout, message), surfaces)


def loaded(ctx: Context, op: Operation, layout: Layout, message: Message, starts: Layout,
           surfaces: Sequence[tuple[Register, ...]]) -> Fragment:
    """The fragment that messages on these surfaces, one for each start, load."""
    b, element = ctx.b, register_type(element_of(op.result.type))
    made: dict[int, Register] = {}
    part = with_width(message.word, message.words)
    for start, surface in zip(starts.register_indices, surfaces, strict=True):
        block = ctx.env.load_block(message.kind, message.bytes, message.block, surface, part)
        for index, words in zip(covered(layout, message, start), block, strict=True):
            type = with_width(element, layout.width)
            made[index] = words if words.type == type else b.emit("OpBitcast", words, type=type)
    registers = tuple(made[index] for index in layout.register_indices)
    return Fragment(layout, element_of(op.result.type), registers)


def prepare_load(ctx: Context, op: Operation, ptr: Pointers, step: Register | None = None) -> Loads | None:
    """What the messages of a load have in common in all iterations of a loop that moves the pointers by
    `step` elements; None where messages cannot load it.
    """
    layout = ctx.layout_of(op.result.type)
    if not is_loadable(ctx, layout, ptr):
        return None
    message = message_for(ctx, op, ptr, layout)
    return None if message is None else prepared(ctx, op, ptr, layout, message, step)


def prepared(ctx: Context, op: Operation, ptr: Pointers, layout: Layout, message: Message,
             step: Register | None = None) -> Loads | None:
    """These messages, where their surfaces' rows lie at one distance that the launcher can vouch for."""
    b = ctx.b
    pitch = pointer_slope(ptr, message.down, message.height)
    assert pitch is not None
    factor = pitch.factor * message.bytes
    least = LEAST_PITCH + ALIGNMENT * _has_right_edge(op, message)
    if not ctx.launch.asks_for_pitch(factor, pitch.parameter, least):
        return None
    distance = b.constant(I32, factor) if pitch.parameter is None else b.imul(
        b.resize(pitch.parameter, 32), factor)
    ptr = replace(ptr, terms=tuple(map(unevaluated, ptr.terms)))
    starts = starts_of(layout, message)
    ahead = prefetch_starts(layout, message) if step is not None else None
    return Loads(message, starts, distance, addresses(ctx, ptr, starts, message.bytes),
                 None if ahead is None else addresses(ctx, ptr, ahead, message.bytes), step)


def _has_right_edge(op: Operation, message: Message) -> bool:
    """May the mask differ along a row?"""
    facts = None if op.mask is None else axis_facts(op.mask)
    return op.mask is not None and (facts is None or facts.constancy[message.across] < shape_of(op.mask.type)[
        message.across])


def prepare_loads(ctx: Context, body: Block, initial: Sequence[Bound],
                  steps: Sequence[Sequence[Value] | None]) -> None:
    """Before a loop: prepare the loads of its body whose pointers start at `initial` and move by `steps`
    (None: they do anything else) in each iteration.
    """
    for op in body.operations:
        if op.name != "tt.load" or "ts.natural" not in op.attributes or op.ptr.owner is not body:
            continue
        pointers, values = initial[op.ptr.index - 1], steps[op.ptr.index - 1]
        if not isinstance(pointers, Pointers) or values is None:
            continue
        size = storage_bytes(element_of(op.result.type))
        facts = [axis_facts(value) for value in values]
        if any(fact is None or fact.everywhere() * size % ALIGNMENT for fact in facts):
            continue
        known = [ctx.frame.values.get(value) for value in values]
        step = None
        for bound in known:
            scalar = bound.scalar if isinstance(bound, Uniform) else bound
            if isinstance(scalar, Register):
                scalar = ctx.b.resize(scalar, 64)
                step = scalar if step is None else ctx.b.iadd(step, scalar)
        if any(bound is None for bound in known):
            step = None
        resting = rest(ctx, op, body, pointers, values)
        if resting is not None:
            ctx.prepared.loads[op] = resting
            continue
        made = prepare_load(ctx, op, pointers, step)
        if made is not None:
            made.align_all(ctx)
            ctx.prepared.loads[op] = made


class Loads:
    """The messages of one load: surfaces that begin at most 64 bytes before each block, 128 where its right
    edge is in question.
    """

    def __init__(self, message: Message, starts: Layout, pitch: Register, places: Sequence[Register],
                 ahead: Sequence[Register] | None, step: Register | None) -> None:
        self.message, self.starts, self.pitch = message, starts, pitch
        self.places, self.ahead, self.step = places, ahead, step
        self._aligned: dict[int, tuple[Register, Register]] = {}

    def aligned(self, ctx: Context, place: Register) -> tuple[Register, Register]:
        """The surface's base for a block, and the bytes before the block."""
        b = ctx.b
        if place.id not in self._aligned:
            self._aligned[place.id] = (b.iand(place, b.constant(I64, -ALIGNMENT)),
                                       b.iand(b.resize(place, 32), ALIGNMENT - 1))
        return self._aligned[place.id]

    def align_all(self, ctx: Context) -> None:
        """Compute all bases here, so that a loop need not."""
        for place in (*self.places, *(self.ahead or ())):
            self.aligned(ctx, place)

    def surface(self, ctx: Context, i: int, moved: Register | None, limits: Edges) -> tuple[Register, ...]:
        """(base, width in bytes, height, pitch in bytes, x, y) of block `i`, `moved` bytes further on."""
        b, message, size = ctx.b, self.message, self.message.bytes
        across, down = limits.limits[message.across], limits.limits[message.down]
        base, before = self.aligned(ctx, self.places[i])
        if moved is not None:
            base = b.iadd(base, moved)
        width = b.constant(I32, 2 * ALIGNMENT)
        if across is not None:
            base = b.isub(base, b.constant(I64, ALIGNMENT))
            before = b.iadd(before, ALIGNMENT)
            row = b.constant(I32, message.width * message.count)
            inside = b.ext("s_min", b.ext("s_max", across[i], b.constant(I32, 0)), row)
            width = b.iadd(before, b.imul(inside, size))
        height, y = b.constant(I32, message.height), b.constant(I32, 0)
        if down is not None:
            height = b.ext("s_max", b.ext("s_min", down[i], height), b.constant(I32, 1))
            y = b.select(b.compare("OpSLessThan", down[i], 1), b.constant(I32, 1), 0)
        shift = (4 if message.kind == "transpose" else size).bit_length() - 1
        return base, width, height, self.pitch, b.lshr(before, shift), y

    def prefetch(self, ctx: Context, moved: Register) -> None:
        """Ask for what a later iteration will load; how much later, the launch option num_stages says."""
        b, message = ctx.b, self.message
        distance = ctx.kernel.options.num_stages - 1
        if self.ahead is None or self.step is None or distance < 1:
            return
        moved = b.iadd(moved, b.imul(self.step, distance * message.bytes))
        for place in self.ahead:
            base, before = self.aligned(ctx, place)
            row = message.width * message.count
            surface = (b.iadd(base, moved), b.constant(I32, 2 * ALIGNMENT), b.constant(I32, message.height),
                       self.pitch, b.lshr(before, message.bytes.bit_length() - 1), b.constant(I32, 0))
            ctx.env.prefetch_block(message.bytes, (row, message.height, 1), surface)

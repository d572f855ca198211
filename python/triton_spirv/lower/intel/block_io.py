"""Operands of a matrix unit by 2D block messages: a sub-group loads a block of rows with one instruction.

A message needs a surface: a base at a multiple of 64 bytes, rows at a fixed distance (the pitch), and a width
and a height beyond which it reads 0. Each message here has a surface of its own, which begins just before its
block, so that nothing but the base depends on where the block is. A mask that compares indices with a bound
becomes the surface's edge.

What must hold is proven from the pointers: along one dimension neighbours in memory, along the other a
distance that is the same from row to row within a block (`x % n` keeps neighbours together in aligned groups,
which is enough), and addresses at multiples of 16 bytes. That rows lie far enough apart can only be known
when the kernel is launched: the artifact asks for it.

All of that is decided, as a record of the plan, before a word of it (`plan_block_load`, `plan_block_store`);
emission does as the record says.

The parts: block_stride.py (the proofs), block_message.py (what one message moves), block_edges.py (masks),
block_near.py (surfaces that begin just before a block), block_motion.py and block_resting.py (loops that move
a block over a surface that rests), block_whole.py (surfaces that are whole matrices), block_store.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...facts.axis import axis_facts
from ...ir.model import Block, Operation, Value
from ...layout import Layout
from ...spirv.builder import with_width
from ...spirv.module import Value as Register
from ..context import Context
from ..plan.accesses import Blocks
from ..values.tensor import Bound, Fragment, Pointers, Tensor, Uniform
from ..values.types import element_of, register_type, storage_bytes
from .block_edges import edges, limits_of
from .block_message import ALIGNMENT, covered, is_loadable, message_for
from .block_near import Loads, NearBlocks, plan_near
from .block_resting import Resting, RestingBlocks, plan_resting
from .block_whole import WholeBlocks, has_lower_edge, plan_whole, whole_surfaces


def plan_block_load(ctx: Context, op: Operation, layout: Layout, ptr: Tensor, mask: Tensor | None,
                    other: Tensor | None) -> Blocks | None:
    """How 2D block messages load the operand of a product; None where they cannot."""
    zero = other is None or (isinstance(other, Uniform) and other.scalar.constant == 0)
    if not isinstance(ptr, Pointers) or not (mask is None or zero):
        return None
    prepared, moves = ctx.prepared.loads.get(op), ptr.base.id in ctx.prepared.displaced
    if isinstance(prepared, Resting) and moves:
        return prepared.blocks
    if prepared is None and has_lower_edge(op):
        message = message_for(ctx, op, ptr, layout) if is_loadable(ctx, layout, ptr) else None
        return None if message is None else plan_whole(ctx, op, layout, message)
    moving = prepared.blocks if isinstance(prepared, Loads) and moves else None
    near = moving or plan_load_near(ctx, op, ptr)
    limits = None if near is None else limits_of(mask, near.starts, near.message)
    return None if near is None or limits is None else near.limited(limits, moves=moving is not None)


def plan_load_near(ctx: Context, op: Operation, ptr: Pointers, in_loop: bool = False) -> NearBlocks | None:
    """Messages on surfaces of their own, without the mask; None where messages cannot load it."""
    layout = ctx.layouts.of(op.result.type)
    message = message_for(ctx, op, ptr, layout) if is_loadable(ctx, layout, ptr) else None
    return None if message is None else plan_near(ctx, op, ptr, layout, message, in_loop)


def block_load(ctx: Context, op: Operation, layout: Layout, ptr: Pointers, blocks: Blocks) -> Fragment:
    """The operand of a product, as it was decided."""
    if isinstance(blocks, RestingBlocks):
        resting = ctx.prepared.loads[op]
        assert isinstance(resting, Resting)
        resting.prefetch(ctx)
        return loaded(ctx, op, layout, blocks, [resting.surface(ctx, first, 0) for first in resting.surfaces])
    if isinstance(blocks, WholeBlocks):
        return loaded(ctx, op, layout, blocks, whole_surfaces(ctx, blocks))
    assert isinstance(blocks, NearBlocks)
    moved = ctx.prepared.displaced[ptr.base.id] if blocks.surface == "moving" else None
    loads = Loads.of(ctx, blocks) if moved is None else ctx.prepared.loads[op]
    assert isinstance(loads, Loads)
    inside = edges(ctx, blocks.limits)
    if moved is not None:
        moved = ctx.b.imul(moved, blocks.message.bytes)
        loads.prefetch(ctx, moved)
    surfaces = [loads.surface(ctx, i, moved, inside) for i in range(blocks.starts.registers)]
    return loaded(ctx, op, layout, blocks, surfaces)


def loaded(ctx: Context, op: Operation, layout: Layout, blocks: Blocks,
           surfaces: Sequence[tuple[Register, ...]]) -> Fragment:
    """The fragment that messages on these surfaces, one for each start, load."""
    b, element, message = ctx.b, register_type(element_of(op.result.type)), blocks.message
    made: dict[int, Register] = {}
    part = with_width(message.word, message.words)
    for start, surface in zip(blocks.starts.register_indices, surfaces, strict=True):
        block = ctx.env.load_block(message.kind, message.bytes, message.block, surface, part)
        for index, words in zip(covered(layout, message, start), block, strict=True):
            type = with_width(element, layout.width)
            made[index] = words if words.type == type else b.emit("OpBitcast", words, type=type)
    registers = tuple(made[index] for index in layout.register_indices)
    return Fragment(layout, element_of(op.result.type), registers)


def prepare_loads(ctx: Context, body: Block, initial: Sequence[Bound],
                  steps: Sequence[Sequence[Value] | None]) -> None:
    """Before a loop: prepare the loads of its body whose pointers start at `initial` and move by `steps`
    (None: they do anything else) in each iteration.
    """
    for op in body.operations:
        if not op.has("loads") or "ts.natural" not in op.attributes or op.ptr.owner is not body:
            continue
        pointers, values = initial[op.ptr.index - 1], steps[op.ptr.index - 1]
        if not isinstance(pointers, Pointers) or values is None:
            continue
        size = storage_bytes(element_of(op.result.type))
        facts = [axis_facts(value) for value in values]
        if any(fact is None or fact.everywhere() * size % ALIGNMENT for fact in facts):
            continue
        known = [ctx.bindings.frame.values.get(value) for value in values]
        step = None
        for bound in known:
            scalar = bound.scalar if isinstance(bound, Uniform) else bound
            if isinstance(scalar, Register):
                scalar = ctx.b.resize(scalar, 64)
                step = scalar if step is None else ctx.b.iadd(step, scalar)
        if any(bound is None for bound in known):
            step = None
        resting = plan_resting(ctx, op, body, pointers, values)
        if resting is not None:
            ctx.prepared.loads[op] = Resting.of(ctx, resting)
            continue
        near = plan_load_near(ctx, op, pointers, in_loop=step is not None)
        if near is not None:
            made = Loads.of(ctx, near, step)
            made.align_all(ctx)
            ctx.prepared.loads[op] = made

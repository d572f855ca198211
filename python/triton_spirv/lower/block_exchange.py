"""An exchange through shared memory where what a lane wants are whole columns of blocks: operands of a matrix
unit made from another product's result.

A register of the target, a vector, then is one block of shared memory: lanes side by side in a row,
components below one another. A sub-group reads it with one message, in the order in which the matrix unit
wants it.
"""

from __future__ import annotations

from dataclasses import replace

from ..layout import Layout, SharedLayout
from ..spirv.builder import scalar_type, width_of
from . import fragment as fragments
from .context import Context
from .shared import offsets
from .tensor import Fragment
from .types import register_type, storage_bytes

#: Rows of a block that are worth it; neighbours that a lane of the source must hold, or its stores are many.
ROWS, HELD = 8, 4


def block_layout(source: Layout, target: Layout) -> SharedLayout | None:
    """Where elements wait; None where blocks would not do."""
    inside = (*target.lane, *target.component)
    bits = [1 << i for i in range(target.numel.bit_length() - 1)]
    wanted = [basis for basis in (*inside, *target.register, *target.warp) if basis]
    whole = sorted(wanted) == bits and 0 not in inside and not target.origin
    lowest = target.lane[:HELD.bit_length() - 1]
    if not whole or target.width < ROWS or not set(lowest) <= set(source.register):
        return None
    order = [*inside, *(bit for bit in bits if bit not in inside)]
    return SharedLayout(source.shape, tuple(1 << order.index(bit) for bit in bits))


def through_blocks(ctx: Context, source: Fragment, target: Layout) -> Fragment | None:
    """The elements under a layout of other lanes and warps; None where that takes another way. source: of
    one component."""
    bytes = storage_bytes(source.element)
    lanes = ctx.target.sub_group_size
    memory = block_layout(source.layout, target) if 1 << len(target.lane) == lanes else None
    if memory is None or not ctx.env.has_shared_blocks(bytes) or memory.size * bytes > ctx.shared.free:
        return None
    element = scalar_type(register_type(source.element))
    registers = []
    with ctx.shared.scratch(source.element, memory.size) as array:
        view = replace(array, shape=source.shape, layout=memory)
        ctx.shared.writes(array)
        ctx.shared.store(view, source)
        ctx.shared.reads(array)
        for place in offsets(ctx, view, replace(target, lane=())):
            parts = [ctx.env.shared_block(array.array, ctx.b.iadd(place, row * lanes), ROWS)
                     for row in range(0, target.width, ROWS)]
            registers.append(ctx.b.bitcast(fragments.concatenate(ctx.b, parts), element))
    assert all(width_of(register.type) == target.width for register in registers)
    return Fragment(target, source.element, tuple(registers))

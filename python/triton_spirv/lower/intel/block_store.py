"""Results of a matrix unit to memory by 2D block messages: each accumulator is a block of rows as it is.

What must hold is what loads need (block_io.py); a mask that compares indices with bounds is an edge of the
surface, beyond which nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...facts.axis import axis_facts
from ...facts.slopes import Multiple
from ...ir.model import Operation, TensorType
from ...matrices.layout import is_matrix
from ...spirv.module import Value as Register
from ...spirv.types import Int
from ..context import Context
from ..plan.accesses import Blocks, Message
from ..values.tensor import Fragment, Pointers, Tensor
from ..values.types import element_of, storage_bytes
from .block_edges import edges, limits_of
from .block_message import is_dense, is_loadable
from .block_near import Loads, NearBlocks, plan_near
from .block_stride import longest_run
from .block_whole import WholeBlocks, has_lower_edge, plan_whole, whole_surfaces

#: The rows of a message, and its columns: one for each lane.
ROWS, COLUMNS = 8, 16


def store_message(ctx: Context, op: Operation, ptr: Tensor) -> Message | None:
    """How a store's value, in the layout of a product's result, becomes blocks; None where it cannot."""
    type = op.value.type
    if not isinstance(type, TensorType) or type.encoding is None or not is_matrix(type.encoding) \
            or not isinstance(ptr, Pointers):
        return None
    layout, facts = ctx.layouts.of(type), axis_facts(op.ptr)
    size = storage_bytes(element_of(type))
    if type.encoding["operand"] != "c" or size not in (2, 4) or facts is None:
        return None
    if not is_loadable(ctx, layout, ptr) or layout.width != ROWS or 1 << len(layout.lane) != COLUMNS:
        return None
    if 0 in layout.warp or not is_dense(layout) or facts.divisor(1, COLUMNS, size) < 16:
        return None
    if longest_run(ptr, 1, COLUMNS, Multiple(1)) < COLUMNS or longest_run(ptr, 0, ROWS, None) < ROWS:
        return None
    return Message("plain", 1, size, ROWS, COLUMNS, 1, ROWS, Int(8 * size), ROWS)


def plan_block_store(ctx: Context, op: Operation, ptr: Tensor, mask: Tensor | None) -> Blocks | None:
    """How 2D block messages store a value [M, N] in the layout of a product's result; None where they
    cannot."""
    message = store_message(ctx, op, ptr)
    if message is None:
        return None
    assert isinstance(ptr, Pointers)
    layout = ctx.layouts.of(op.value.type)
    if has_lower_edge(op):
        return plan_whole(ctx, op, layout, message)
    near = plan_near(ctx, op, ptr, layout, message)
    limits = None if near is None else limits_of(mask, near.starts, message)
    return None if near is None or limits is None else near.limited(limits, moves=False)


def block_surfaces(ctx: Context, blocks: Blocks) -> list[tuple[Register, ...]]:
    """Where a store's blocks go."""
    if isinstance(blocks, WholeBlocks):
        return whole_surfaces(ctx, blocks)
    assert isinstance(blocks, NearBlocks)
    loads, inside = Loads.of(ctx, blocks), edges(ctx, blocks.limits)
    return [loads.surface(ctx, i, None, inside) for i in range(blocks.starts.registers)]


def block_store(ctx: Context, blocks: Blocks, surfaces: Sequence[tuple[Register, ...]],
                value: Fragment) -> None:
    """Store a value there."""
    registers = dict(zip(value.layout.register_indices, value.registers, strict=True))
    for start, surface in zip(blocks.starts.register_indices, surfaces, strict=True):
        block = ctx.b.splat(registers[start], ROWS)
        ctx.env.store_block(blocks.message.bytes, blocks.message.block, surface,
                            ctx.b.bitcast(block, blocks.message.word))

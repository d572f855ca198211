"""Results of a matrix unit to memory by 2D block messages: each accumulator is a block of rows as it is.

What must hold is what loads need (block_io.py); a mask that compares indices with bounds is an edge of the
surface, beyond which nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable

from ...facts.axis import axis_facts
from ...ir.model import Operation, TensorType
from ...layout import Layout
from ...matrices.layout import is_matrix
from ...spirv.module import Value as Register
from ...spirv.types import Int
from ..addresses.element_motion import Slope
from ..context import Context
from ..values.tensor import Pointers, Tensor
from ..values.types import element_of, storage_bytes
from .block_edges import edges
from .block_io import prepared
from .block_message import Message, is_dense, is_loadable, starts_of
from .block_stride import longest_run
from .block_whole import has_lower_edge, whole_surfaces

#: The rows of a message, and its columns: one for each lane.
ROWS, COLUMNS = 8, 16


def store_message(ctx: Context, op: Operation, ptr: Tensor) -> Message | None:
    """How a store's value, in the layout of a product's result, becomes blocks; None where it cannot."""
    type = op.value.type
    if not isinstance(type, TensorType) or not is_matrix(type.encoding) or not isinstance(ptr, Pointers):
        return None
    layout, facts = ctx.layout_of(type), axis_facts(op.ptr)
    size = storage_bytes(element_of(type))
    if type.encoding["operand"] != "c" or size not in (2, 4) or facts is None:
        return None
    if not is_loadable(ctx, layout, ptr) or layout.width != ROWS or 1 << len(layout.lane) != COLUMNS:
        return None
    if 0 in layout.warp or not is_dense(layout) or facts.divisibility[1] < 16:
        return None
    neighbours = min(longest_run(ptr, 1, COLUMNS, Slope(1)), facts.contiguity[1])
    if neighbours < COLUMNS or longest_run(ptr, 0, ROWS, None) < ROWS:
        return None
    return Message("plain", 1, size, ROWS, COLUMNS, 1, ROWS, Int(8 * size), ROWS)


def block_store(ctx: Context, op: Operation, ptr: Tensor,
                mask: Tensor | None) -> Callable[[Tensor], None] | None:
    """What stores a value [M, N] in the layout of a product's result by 2D block messages; None where that
    cannot be.
    """
    message = store_message(ctx, op, ptr)
    if message is None:
        return None
    layout = ctx.layout_of(op.value.type)
    starts = starts_of(layout, message)
    surfaces = whole_surfaces(ctx, op, layout, message) if has_lower_edge(op) else near_surfaces(
        ctx, op, ptr, mask, layout, message)
    if surfaces is None:
        return None

    def emit(value: Tensor) -> None:
        registers = dict(zip(layout.register_indices, ctx.fragment(value, layout).registers, strict=True))
        for start, surface in zip(starts.register_indices, surfaces, strict=True):
            block = ctx.b.splat(registers[start], ROWS)
            ctx.env.store_block(message.bytes, message.block, surface, ctx.b.bitcast(block, message.word))
    return emit


def near_surfaces(ctx: Context, op: Operation, ptr: Tensor, mask: Tensor | None, layout: Layout,
                  message: Message) -> list[tuple[Register, ...]] | None:
    """A surface for each block, which begins just before it."""
    assert isinstance(ptr, Pointers)
    blocks = prepared(ctx, op, ptr, layout, message)
    limits = None if blocks is None else edges(ctx, mask, blocks.starts, message)
    if blocks is None or limits is None:
        return None
    return [blocks.surface(ctx, i, None, limits) for i in range(blocks.starts.registers)]

"""An exchange through shared memory where what a lane wants are whole columns of blocks: operands of a matrix
unit made from another product's result.

A register of the target, a vector, then is one block of shared memory: lanes side by side in a row,
components below one another. A sub-group reads it with one message, in the order in which the matrix unit
wants it.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.model import Type
from ...layout import Layout, SharedLayout, log2
from ...spirv.builder import scalar_type, with_width
from ...spirv.types import Int
from ..context import Context
from ..values.tensor import Fragment
from ..values.types import register_type, storage_bytes

#: Rows of a block: 8 words for each lane, of 16 or 32 bits. Neighbours below them share a word.
ROWS = 8


def inside(target: Layout) -> tuple[int, ...]:
    """The index bits inside one block, as they lie in memory: what shares a word, lanes, rows."""
    shared = log2(target.width // ROWS) if target.width >= ROWS else 0
    return (*target.component[:shared], *target.lane, *target.component[shared:])


def block_layout(source: Layout, target: Layout, most: int) -> SharedLayout | None:
    """Where elements wait; None where blocks would not do, or take more messages than vectors of lanes, of up
    to `most` elements, do.
    """
    block = inside(target)
    bits = [1 << i for i in range(target.numel.bit_length() - 1)]
    wanted = [basis for basis in (*block, *target.register, *target.warp) if basis]
    if sorted(wanted) != bits or 0 in block or target.origin or target.width < ROWS:
        return None
    order = [*block, *(bit for bit in bits if bit not in block)]
    own = next((i for i, bit in enumerate(order) if bit not in source.register), len(order))
    both = sum(bit in (*target.component, *target.register) and bit in source.register for bit in bits)
    by_blocks = (source.registers >> min(own, log2(most))) + target.registers
    by_lanes = source.registers + target.registers * target.width >> min(both, log2(most))
    if by_blocks >= by_lanes:
        return None
    return SharedLayout(source.shape, tuple(1 << order.index(bit) for bit in bits))


def memory_of_blocks(ctx: Context, source: Layout, target: Layout, element: Type) -> SharedLayout | None:
    """Where elements wait on their way to other lanes and warps; None where that takes another way. source:
    of one component."""
    bytes = storage_bytes(element)
    if 1 << len(target.lane) != ctx.target.sub_group_size or not ctx.env.has_shared_blocks(
            bytes * target.width // ROWS):
        return None
    memory = block_layout(source, target, min(ctx.target.lane_bytes // bytes, ctx.target.components))
    return None if memory is None or memory.size * bytes > ctx.shared.free else memory


def through_blocks(ctx: Context, source: Fragment, target: Layout, memory: SharedLayout) -> Fragment:
    """The elements under a layout of other lanes and warps."""
    word = storage_bytes(source.element) * target.width // ROWS
    type = with_width(scalar_type(register_type(source.element)), target.width)
    registers = []
    with ctx.shared.scratch(source.element, memory.size) as array:
        view = replace(array, shape=source.shape, layout=memory)
        ctx.shared.writes(array)
        ctx.shared_tensors.store(view, source)
        ctx.shared.reads(array)
        for place in ctx.shared_tensors.offsets(view, replace(target, lane=())):
            block = ctx.env.shared_block(array.array, place, Int(8 * word), ROWS)
            registers.append(block if block.type == type else ctx.b.emit("OpBitcast", block, type=type))
    return Fragment(target, source.element, tuple(registers))

"""What one 2D block message moves of an operand, and where the blocks of an operand begin."""

from __future__ import annotations

from collections.abc import Sequence

from ...facts.axis import axis_facts
from ...facts.slopes import Multiple
from ...ir.model import Operation
from ...layout import Layout
from ...spirv.module import Value as Register
from ...spirv.types import Int
from ..addresses.access import element_offsets
from ..context import Context
from ..plan.accesses import Message
from ..values.tensor import Pointers
from ..values.types import element_of, storage_bytes
from .block_stride import is_computable, longest_run

#: Rows and bytes of a row that one message moves at most, and the alignment of a surface in bytes.
ROWS, ROW_BYTES, ALIGNMENT = 32, 64, 64

#: Bytes that a surface's rows must at least be apart.
LEAST_PITCH = 128


def message_for(ctx: Context, op: Operation, pointers: Pointers, layout: Layout) -> Message | None:
    """The largest message that moves part of an operand; None where the pointers do not prove one."""
    encoding = op.result.type.encoding  # type: ignore[attr-defined]
    unit = ctx.target.matrix
    assert unit is not None
    operand, size = encoding["operand"], storage_bytes(element_of(op.result.type))
    inner = 1 if operand in ("a", "bt") else 0  # the dimension of K
    tile = _tile(layout)
    facts = axis_facts(op.ptr)
    if facts is None:
        return None
    for across in (1, 0):
        contiguous = longest_run(pointers, across, ROW_BYTES // size, Multiple(1))
        if contiguous * size < 16:
            continue
        if facts.divisor(across, contiguous, size) < 16:
            return None
        contiguous = min(contiguous, tile[across])
        rows = min(longest_run(pointers, 1 - across, ROWS, None), tile[1 - across])
        bits = size * 8
        if operand[0] == "a" and across == inner:
            word = Int(16 if bits < 32 else 32)
            width = 16 * word.width // bits if bits < 32 else 8
            step, words = unit.rows, unit.rows * (1 if bits < 32 else width) // (1 if bits < 32 else 16)
            kind = "plain"
        elif operand[0] == "b" and across != inner:
            word, width, step = Int(32), 16, layout.width
            kind, words = ("plain" if bits == 32 else "transform"), layout.width * bits // 32
        elif operand[0] == "b":
            word, width, step, words = Int(32), 256 // bits, layout.width, layout.width * bits // 32
            fits = rows >= 16 and contiguous >= width
            return Message("transpose", across, size, 16, width, 1, step, word, words) if fits else None
        else:
            return None
        if rows < (unit.rows if operand[0] == "a" else unit.depth(bits)):
            return None
        count = max(1, min(contiguous // width, ROW_BYTES // (width * size)))
        if contiguous < width:
            return None
        return Message(kind, across, size, rows, width, count, step, word, words)
    return None


def _tile(layout: Layout) -> tuple[int, ...]:
    """The part of the tensor that one sub-group holds."""
    reach = 0
    for basis in (*layout.component, *layout.register, *layout.lane):
        reach |= basis
    return tuple(index + 1 for index in layout.unravel(reach))


def is_dense(layout: Layout) -> bool:
    """Does a sub-group hold a whole block of the tensor, with no gaps?"""
    height, width = _tile(layout)
    return height * width == layout.registers * layout.width << len(layout.lane)


def is_loadable(ctx: Context, layout: Layout, ptr: Pointers) -> bool:
    """Are there such messages, and are the pointers known without memory?"""
    return ctx.target.block_2d and ctx.kernel.options.block_io and len(layout.shape) == 2 and all(
        map(is_computable, (ptr.affine, *ptr.terms)))


# --- where blocks are ---------------------------------------------------------------------------------------


def _starts(layout: Layout, extent: Sequence[int], height: int, width: int, down: int) -> list[int]:
    """The bases of blocks of `height` x `width` that make up `extent`."""
    bases = []
    for dim in (0, 1):
        low, _ = layout.dim_bits[dim]
        size = height if dim == down else width
        while size < extent[dim]:
            bases.append(size << low)
            size *= 2
    return bases


def starts_of(layout: Layout, message: Message) -> Layout:
    """The first elements of the blocks, one register each."""
    bases = _starts(layout, _tile(layout), message.height, message.width * message.count, message.down)
    return Layout(layout.shape, (), tuple(bases), (), (), layout.warp)


def prefetch_starts(layout: Layout, message: Message) -> Layout:
    """The blocks of the whole tensor that are fetched ahead, shared out to the warps."""
    bases = _starts(layout, layout.shape, message.height, message.width * message.count, message.down)
    warps = len(layout.warp)
    mine, others = bases[:warps], bases[warps:]
    return Layout(layout.shape, (), tuple(others), (), (), tuple(mine) + (0,) * (warps - len(mine)))


def covered(layout: Layout, message: Message, start: int) -> list[int]:
    """The indices of the registers that a block holds, in the order in which it has them."""
    (low_down, low_across) = (layout.dim_bits[d][0] for d in (message.down, message.across))
    if message.kind == "transpose":
        return [start + (c << low_across) for c in range(0, message.width, message.step)]
    return [start + (r << low_down) + (c * message.width << low_across)
            for c in range(message.count) for r in range(0, message.height, message.step)]


def addresses(ctx: Context, ptr: Pointers, starts: Layout, bytes: int) -> list[Register]:
    """Of the first elements of blocks."""
    b, base = ctx.b, ctx.env.address(ptr.base)
    return [base if offset is None else b.iadd(base, b.imul(offset, bytes))
            for offset in element_offsets(ctx, ptr, starts)]

"""Operands of a matrix unit that wait in shared memory, for devices whose lanes load them.

A product of a few steps along K needs little of its operands at a time, so they stay in shared memory, in the
blocks that one message each brings (block_exchange.py), and are read step by step: registers hold the sums,
and the blocks of one step. Both operands are written before either is read.

Lanes load B so that they hold the neighbours along K that share a word: then they write whole vectors.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from ..analysis.conversion import moves
from ..ir.model import Value
from ..layout import Layout, log2
from ..spirv.builder import scalar_type, with_width
from ..spirv.module import Value as Register
from ..spirv.types import Int
from . import fragment as fragments
from .block_exchange import ROWS, block_layout
from .context import Context
from .convert_layout import is_anywhere
from .shared import offsets
from .tensor import Deferred, Fragment, Shared
from .types import bits_of, element_of, register_type, storage_bytes


@dataclass(frozen=True)
class Waiting:
    """An operand in shared memory, to be read under `layout`, register by register; `held` is the layout of
    the array's own tensor, which may be a transposed one, with its registers in the same order.
    """

    array: Shared
    layout: Layout
    held: Layout
    places: list[Register]

    def register(self, ctx: Context, number: int) -> Register:
        """One register, by one message."""
        element = register_type(self.array.element)
        type = with_width(scalar_type(element), self.held.width)
        word = Int(storage_bytes(self.array.element) * self.held.width // ROWS * 8)
        block = ctx.env.shared_block(self.array.array, self.places[number], word, ROWS)
        return block if block.type == type else ctx.b.emit("OpBitcast", block, type=type)


@dataclass(frozen=True)
class Held:
    """An operand in registers."""

    fragment: Fragment

    @property
    def layout(self) -> Layout:
        return self.fragment.layout

    def register(self, ctx: Context, number: int) -> Register:
        """One register."""
        return self.fragment.registers[number]


def waiting(ctx: Context, stack: ExitStack, tensor: Any, value: Value,
            layout: Layout) -> Waiting | None:
    """The operand `tensor` (what the IR's `value` is bound to) in shared memory until `stack` is left; None
    where it need not go through it, or blocks would not do. The caller writes and reads no other shared
    memory before all operands are written.
    """
    if ctx.target.block_2d or is_anywhere(tensor):
        return None
    loaded = _loaded_by_lanes(ctx, tensor)
    if loaded is None:
        source, held = fragments.flat(ctx.layout_of(value.type)), layout
    else:
        tensor, held = loaded
        source = _staged(ctx, tensor, held)
    if moves(source, fragments.flat(held)) is not None:
        return None
    element = tensor.element
    word = storage_bytes(element) * held.width // ROWS
    if not ctx.env.has_shared_blocks(word):
        return None
    memory = block_layout(source, held, min(ctx.target.lane_bytes * 8 // bits_of(element),
                                            ctx.target.components))
    if memory is None or memory.size * storage_bytes(element) > ctx.shared.free:
        return None
    made = ctx.fragment(tensor, source)
    array = stack.enter_context(ctx.shared.scratch(element, memory.size))
    view = replace(array, shape=source.shape, layout=memory)
    ctx.shared.writes(array)
    ctx.shared.store(view, made)
    return Waiting(view, layout, held, offsets(ctx, view, replace(held, lane=())))


def _loaded_by_lanes(ctx: Context, tensor: Any) -> tuple[Deferred, Layout] | None:
    """The load below an operand, perhaps transposed, with the layout in which the operand asks for it."""
    if not isinstance(tensor, Deferred):
        return None
    if tensor.operation.name == "tt.trans" and tensor.stored is None:
        (tensor,) = tensor.operands
    if not isinstance(tensor, Deferred) or tensor.operation.name != "tt.load" or tensor.stored is not None:
        return None
    if "ts.natural" not in tensor.operation.attributes:
        return None
    return tensor, ctx.layout_of(tensor.operation.results[0].type)


def _staged(ctx: Context, load: Deferred, held: Layout) -> Layout:
    """The layout in which lanes load an operand: neighbours in memory, as many as a lane moves, then what
    shares a word with them, then lanes and warps along memory; as it was where it is too small for that.
    """
    op = load.operation
    natural = ctx.layout_of(replace(op.results[0].type, encoding=op.attributes["ts.natural"]))  # type: ignore[type-var]
    bytes = storage_bytes(element_of(op.results[0].type))
    word = [basis for basis in held.component[:log2(held.width // ROWS)] if basis]
    order = op.attributes["ts.natural"]["order"]
    along, other = natural.dim_bits[order[0]], natural.dim_bits[order[1]]
    fast = [1 << along[0] + i for i in range(along[1])]
    slow = [1 << other[0] + i for i in range(other[1])]
    vector = fast[:log2(max(1, ctx.target.lane_bytes // bytes))]
    own = [*vector, *(basis for basis in word if basis not in vector)]
    rest = [basis for basis in (*fast, *slow) if basis not in own]
    lanes, warps = log2(ctx.target.sub_group_size), log2(ctx.num_warps)
    if len(rest) < lanes + warps:
        return fragments.flat(natural)
    spread, left = rest[:lanes + warps], rest[lanes + warps:]
    return Layout(natural.shape, (), (*own, *left), (), tuple(spread[:lanes]), tuple(spread[lanes:]))

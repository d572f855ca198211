"""Operands of a matrix unit that wait in shared memory, for devices whose lanes load them.

A product of a few steps along K needs little of its operands at a time, so they stay in shared memory, in the
blocks that one message each brings (block_exchange.py), and are read step by step: registers hold the sums,
and the blocks of one step. Both operands are written before either is read.

Lanes load B so that they hold the neighbours along K that share a word: then they write whole vectors.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TypeGuard

from ...dataclass import dataclass
from ...ir.model import Operation, Type, Value
from ...layout import Layout, SharedLayout, log2
from ...spirv.builder import scalar_type, with_width
from ...spirv.module import Value as Register
from ...spirv.types import Int
from ..context import Context
from ..lanes.block_exchange import ROWS, block_layout, inside
from ..lanes.conversion import find_shuffles
from ..values import fragment as fragments
from ..values.tensor import Bound, Deferred, Fragment, Shared, Tensor, is_anywhere
from ..values.types import element_of, register_type, storage_bytes

#: What is resident in shared memory is at most one part in so many of what is free.
ROOM = 2


@dataclass(frozen=True)
class Waiting:
    """An operand in shared memory, to be read under `layout`, register by register; `own` is the layout of
    the array's own tensor, which may be a transposed one, with its registers in the same order.
    """

    array: Shared
    layout: Layout
    own: Layout
    places: list[Register]

    def register(self, ctx: Context, number: int) -> Register:
        """One register, by one message."""
        element = register_type(self.array.element)
        type = with_width(scalar_type(element), self.own.width)
        word = Int(storage_bytes(self.array.element) * self.own.width // ROWS * 8)
        block = ctx.env.shared_block(self.array.array, self.places[number], word, ROWS)
        return block if block.type == type else ctx.b.emit("OpBitcast", block, type=type)


@dataclass(frozen=True)
class InRegisters:
    """An operand in registers."""

    fragment: Fragment

    @property
    def layout(self) -> Layout:
        return self.fragment.layout

    def register(self, ctx: Context, number: int) -> Register:
        """One register."""
        return self.fragment.registers[number]


@dataclass(frozen=True)
class Wait:
    """That an operand waits in shared memory: `tensor`, under `source`, goes to `memory`, from where it is
    read as one of the layout `own`; memory is None where it lies there already."""

    tensor: Tensor
    source: Layout
    memory: SharedLayout | None
    own: Layout


def wait_of(ctx: Context, tensor: Tensor, value: Value, layout: Layout) -> Wait | None:
    """Does the operand `tensor` (what the IR's `value` is bound to) wait in shared memory? None where it need
    not go through it, or blocks would not do.
    """
    if ctx.target.block_2d or is_anywhere(tensor):
        return None
    below: Bound | None = tensor
    source, own = fragments.flat(ctx.layouts.of(value.type)), layout
    if isinstance(tensor, Deferred) and tensor.operation.has("transposes") and tensor.evaluated is None:
        (below,), value = tensor.operands, tensor.operation.src
    if isinstance(below, Shared):
        maker = value.defining_op
        is_loaded = maker is not None and maker.has("loads")  # others lie there in rows
        return Wait(below, source, None, ctx.layouts.of(value.type)) if is_loaded else None
    if _is_load(below):
        tensor, own = below, ctx.layouts.of(value.type)
        source = _staged(ctx, tensor.operation, own)
    memory = _memory(ctx, tensor.element, source, own)
    if memory is None or memory.size * storage_bytes(tensor.element) > ctx.shared.free:
        return None
    return Wait(tensor, source, memory, own)


def waiting(ctx: Context, stack: ExitStack, wait: Wait, layout: Layout) -> Waiting:
    """An operand in shared memory until `stack` is left. The caller writes and reads no other shared memory
    before all operands are written."""
    if wait.memory is None:
        assert isinstance(wait.tensor, Shared)
        return _read(ctx, wait.tensor, layout, wait.own)
    made = ctx.evaluation.fragment(wait.tensor, wait.source)
    array = stack.enter_context(ctx.shared.scratch(wait.tensor.element, wait.memory.size))
    view = replace(array, shape=wait.source.shape, layout=wait.memory)
    ctx.shared.writes(array)
    ctx.shared_tensors.store(view, made)
    return _read(ctx, view, layout, wait.own)


def resident(ctx: Context, op: Operation, tensor: Tensor) -> Shared | None:
    """What is loaded before a loop whose products read it, in shared memory for as long as they do; None
    where blocks would not do, or there is little room. A view of such a tensor is the tensor.
    """
    if not op.has("loads") or not _is_load(tensor):
        return None
    value = op.results[0]
    own = ctx.layouts.of(value.type)
    source = _staged(ctx, op, own)
    memory = _memory(ctx, tensor.element, source, own)
    if memory is None or memory.size * storage_bytes(tensor.element) * ROOM > ctx.shared.free:
        return None
    made = ctx.evaluation.fragment(tensor, source)
    view = replace(ctx.shared.buffer(value, tensor.element, memory), shape=source.shape)
    ctx.shared.writes(view)
    ctx.shared_tensors.store(view, made)
    ctx.shared.reads(view)  # here, so that a loop need not wait in each iteration
    return view


def _read(ctx: Context, view: Shared, layout: Layout, own: Layout) -> Waiting:
    return Waiting(view, layout, own, ctx.shared_tensors.offsets(view, replace(own, lane=())))


def _memory(ctx: Context, element: Type, source: Layout, own: Layout) -> SharedLayout | None:
    """Where the elements wait; None where they need not, or blocks would not do."""
    bytes = storage_bytes(element)
    if find_shuffles(source, fragments.flat(own)) is not None:
        return None
    if not ctx.env.has_shared_blocks(bytes * own.width // ROWS):
        return None
    return block_layout(source, own, min(ctx.target.lane_bytes // bytes, ctx.target.components))


def _is_load(tensor: object) -> TypeGuard[Deferred]:
    """Is it an operand that is still to be loaded?"""
    if not isinstance(tensor, Deferred) or tensor.evaluated is not None:
        return False
    return tensor.operation.has("loads") and "ts.natural" in tensor.operation.attributes


def _staged(ctx: Context, op: Operation, layout: Layout) -> Layout:
    """The layout in which lanes load an operand: neighbours in memory, as many as a lane moves, then what
    lies beside them in a block, then lanes and warps along memory; as it was where it is too small for that.
    """
    natural = ctx.layouts.of(replace(op.results[0].type, encoding=op.attributes["ts.natural"]))  # type: ignore[type-var]
    order = op.attributes["ts.natural"]["order"]
    along, other = natural.dim_bits[order[0]], natural.dim_bits[order[1]]
    fast = [1 << along[0] + i for i in range(along[1])]
    slow = [1 << other[0] + i for i in range(other[1])]
    lanes, warps = log2(ctx.target.sub_group_size), log2(ctx.kernel.num_warps)
    wide = log2(max(1, ctx.target.lane_bytes // storage_bytes(element_of(op.results[0].type))))
    own = len(fast) + len(slow) - lanes - warps
    if own < wide:
        return fragments.flat(natural)
    mine = fast[:wide]
    beside = [basis for basis in (inside(layout) or ())[:wide] if basis and basis not in mine]
    mine += beside[:own - wide]
    others = [basis for basis in (*fast, *slow) if basis not in mine]
    spread, left = others[:lanes + warps], others[lanes + warps:]
    return Layout(natural.shape, (), (*mine, *left), (), tuple(spread[:lanes]), tuple(spread[lanes:]))

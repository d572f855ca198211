"""ttg.convert_layout: the same elements in other lanes, by the cheapest way that there is.

Where no element leaves its sub-group, registers change places inside a lane and sub-group shuffles do the
rest (lower/lanes/decide.py plans it, most often without a single shuffle); otherwise the tensor goes
through shared memory. Values that are known without registers (uniform, affine, cheap index arithmetic on
those) do not move at all: each consumer makes them where it needs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir.model import Operation, Type, Value
from ...layout import Layout, SharedLayout, span
from ...spirv.builder import I32
from ...spirv.module import Value as Register
from ...traversal import Asking, answer
from ..context import Context
from ..lanes.block_exchange import through_blocks
from ..lanes.decide import plan_exchange
from ..lanes.shared import feeds_products
from ..lanes.shared_tensors import resident_layout
from ..plan.records import Exchange
from ..plan.shuffles import Shuffles
from ..products.cooperative import LeftMatrices, is_resident_for_matrices, memory_for_matrices, rows_of_warps
from ..registry import lowers
from ..values import fragment as fragments
from ..values.allocation import Apart
from ..values.tensor import Affine, Fragment, Pointers, Shared, Tensor, is_anywhere
from ..values.types import element_of, shape_of, storage_bytes


@lowers("ttg.convert_layout")
def convert_layout(ctx: Context, op: Operation, src: Tensor) -> Tensor | LeftMatrices:
    """src [...] -> the same elements under the layout of the result.

    An operand of a matrix product, which many lanes hold, stays in shared memory for the product to read.
    """
    if op in ctx.prepared.conversions:
        return ctx.prepared.conversions[op]
    if isinstance(src, Shared) and feeds_products(op.results[0]):
        return src
    source, result = ctx.layouts.of(op.src.type), op.results[0]
    if feeds_products(result) and not is_anywhere(src):
        memory = _resident_layout(ctx, result, source.shape, src.element)
        if is_resident_for_matrices(ctx, result):
            memory = memory_for_matrices(source, storage_bytes(src.element))
        array = ctx.shared.buffer(result, src.element, memory)
        part = rows_of_warps(ctx, result, source, memory)
        if part:
            bytes = part * storage_bytes(src.element)
            array = replace(array, bytes=Apart(array.bytes.start, array.bytes.end, bytes))
        fragment = ctx.evaluation.fragment(src, source)
        ctx.shared.writes(array)
        ctx.shared_tensors.store(array, fragment)
        return array
    return in_form_of(ctx, src, source, ctx.layouts.of(result.type))


def _resident_layout(ctx: Context, value: Value, shape: tuple[int, ...], element: Type) -> SharedLayout:
    """`resident_layout`, or plain row-major where the operands of a product that uses `value` would not fit
    with what stays free in it."""
    memory = resident_layout(shape, element)
    needed = max(sum(_resident_bytes(operand.type) for operand in (op.a, op.b)) for op in _products(value))
    fits = needed <= ctx.target.shared_bytes and memory.size * storage_bytes(element) <= ctx.shared.free
    return memory if fits else SharedLayout.row_major(shape)


def _resident_bytes(type: Type) -> int:
    return resident_layout(shape_of(type), element_of(type)).size * storage_bytes(element_of(type))


def _products(value: Value) -> list[Operation]:
    """The products that use the value, or what is computed from it; there is one, as it feeds products."""
    found: dict[Operation, None] = {}

    def collect(value: Value) -> Asking[None]:
        for user, _ in value.uses:
            if user.has("product"):
                found[user] = None
                continue
            for result in user.results:
                yield (result,)

    answer(collect, value)
    return list(found)


def in_form_of(ctx: Context, tensor: Tensor, source: Layout, target: Layout) -> Tensor:
    """A tensor held under `source` for consumers that ask for it under `target`; its form is kept."""
    if is_anywhere(tensor):
        return tensor
    if isinstance(tensor, Pointers):
        return replace(tensor, terms=tuple(in_form_of(ctx, term, source, target) for term in tensor.terms))
    if isinstance(tensor, Affine) and tensor.exact is not None:
        exact = in_form_of(ctx, tensor.exact, source, target)
        return replace(tensor, exact=exact)  # type: ignore[arg-type]  # evaluated, from here on
    return ctx.evaluation.fragment(ctx.evaluation.fragment(tensor, source), target)


def convert(ctx: Context, source: Fragment, layout: Layout) -> Fragment:
    """The registers of `source` under a layout of other lanes or warps."""
    source = fragments.rearrange(ctx.b, source, fragments.flat(source.layout))
    target = fragments.flat(layout)
    lanes = max(len(source.layout.lane), len(target.lane))
    warps = max(len(source.layout.warp), len(target.warp))
    source = Fragment(_with_lanes(source.layout, lanes, warps), source.element, source.registers)
    target = _with_lanes(target, lanes, warps)
    plan = plan_exchange(ctx, source, target, layout)
    ctx.recorder.add(plan)
    if plan.way == "blocks":
        assert plan.memory is not None
        return through_blocks(ctx, source, layout, plan.memory)
    made = through_memory(ctx, source, target, plan) if plan.shuffles is None else within_warps(
        ctx, source, target, plan.shuffles)
    return fragments.rearrange(ctx.b, replace(made, layout=fragments.flat(layout)), layout)


def _with_lanes(layout: Layout, lanes: int, warps: int) -> Layout:
    """The layout with a basis for every bit of the lane and the warp; those that it lacks do not matter to
    it."""
    return replace(layout, lane=layout.lane + (0,) * (lanes - len(layout.lane)),
                   warp=layout.warp + (0,) * (warps - len(layout.warp)))


# --- inside sub-groups --------------------------------------------------------------------------------------


def within_warps(ctx: Context, source: Fragment, target: Layout, plan: Shuffles) -> Fragment:
    """Registers picked by lane, one shuffle a register, registers turned by lane: what is not needed is not
    emitted."""
    env = ctx.env
    mine = _added(ctx, source.registers, plan.pick, plan.pick_warp)
    sent = [mine[span(plan.register, q) ^ plan.register_origin] for q in range(target.registers)]
    offsets = [span(plan.lane_round, q) ^ plan.lane_origin for q in range(target.registers)]
    if plan.crosses:
        start = _span(ctx, plan.lane, plan.lane_warp)
        sent = [env.shuffle(x, ctx.b.ixor(start, offset)) for x, offset in zip(sent, offsets, strict=True)]
    else:
        sent = [env.shuffle_xor(x, offset) if offset else x for x, offset in zip(sent, offsets, strict=True)]
    return Fragment(target, source.element, tuple(_added(ctx, sent, plan.turn, ())))


def _span(ctx: Context, by_lane: Sequence[int], by_warp: Sequence[int]) -> Register:
    """The xor of the images of the lane's and the warp's bits (i32)."""
    size = 1 << max(image.bit_length() for image in (*by_lane, *by_warp, 0))
    index = ctx.indices.dynamic_index(Layout((size,), lane=tuple(by_lane), warp=tuple(by_warp)))
    return ctx.b.constant(I32, 0) if index is None else index


def _added(ctx: Context, registers: Sequence[Register], by_lane: Sequence[int],
           by_warp: Sequence[int]) -> list[Register]:
    """Register r of the result is register r ^ (what the lane and the warp add) of the given ones."""
    b = ctx.b
    conditions: dict[int, Register] = {}
    for images, number in ((by_lane, ctx.env.lane_id), (by_warp, ctx.env.warp_id)):
        for bit, image in enumerate(images):
            if image:
                here = b.lshr(number(), bit)
                conditions[image] = b.ixor(conditions[image], here) if image in conditions else here
    mine = list(registers)
    for image, parity in conditions.items():
        other = b.compare("OpINotEqual", b.iand(parity, 1), 0)
        mine = [b.select(other, mine[r ^ image], mine[r]) for r in range(len(mine))]
    return mine


# --- through shared memory ----------------------------------------------------------------------------------


def through_memory(ctx: Context, source: Fragment, target: Layout, plan: Exchange) -> Fragment:
    """All lanes write what they hold, then read what they want; in several rounds where memory is short.

    A round handles the elements with one value of the index bits `plan.apart`.
    """
    memory, apart = plan.memory, plan.apart
    assert memory is not None
    mask = sum(apart)
    registers: list[Register | None] = [None] * target.registers
    indices, wanted = source.layout.register_indices, target.register_indices
    with ctx.shared.scratch(source.element, memory.size) as array:
        view = replace(array, shape=source.shape, layout=memory)
        for part in sorted({index & mask for index in wanted}):
            mine = [r for r, index in enumerate(indices) if index & mask == part]
            asked = [r for r, index in enumerate(wanted) if index & mask == part]
            ctx.shared.writes(array)
            ctx.shared_tensors.store(view, _part(source, mine, apart, part))
            ctx.shared.reads(array)
            made = ctx.shared_tensors.load(view, _part_layout(target, apart, part))
            for r, register in zip(asked, made.registers, strict=True):
                registers[r] = register
    return Fragment(target, source.element, tuple(x for x in registers if x is not None))


def _part_layout(layout: Layout, apart: Sequence[int], part: int) -> Layout:
    kept = tuple(basis for basis in layout.register if basis not in apart)
    return replace(layout, register=kept, origin=layout.origin & ~sum(apart) | part)


def _part(source: Fragment, registers: Sequence[int], apart: Sequence[int], part: int) -> Fragment:
    """The registers whose elements have the index bits `part`."""
    return Fragment(_part_layout(source.layout, apart, part), source.element,
                    tuple(source.registers[r] for r in registers))

"""ttg.convert_layout: the same elements in other lanes, by the cheapest way that there is.

Where no element leaves its sub-group, registers change places inside a lane and sub-group shuffles do the
rest (lower/lanes/conversion.py plans it, most often without a single shuffle); otherwise the tensor goes
through shared memory. Values that are known without registers (uniform, affine, cheap index arithmetic on
those) do not move at all: each consumer makes them where it needs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...ir.model import Operation, Type, Value
from ...layout import Layout, SharedLayout, log2, span
from ...spirv.builder import I32
from ...spirv.module import Value as Register
from ...traversal import Asking, answer
from ..context import Context
from ..lanes.block_exchange import through_blocks
from ..lanes.conversion import Moves, moves
from ..lanes.shared import BANK_BYTES, WORD_BYTES, feeds_products, resting_layout
from ..plan.records import Exchange
from ..products.cooperative import memory_for_matrices, rests_for_matrices, rows_of_warps
from ..registry import lowers
from ..values import fragment as fragments
from ..values.allocation import Apart
from ..values.tensor import Affine, Fragment, Pointers, Shared, is_anywhere
from ..values.types import element_of, shape_of, storage_bytes


@lowers("ttg.convert_layout")
def convert_layout(ctx: Context, op: Operation, src: Any) -> Any:
    """src [...] -> the same elements under the layout of the result.

    An operand of a matrix product, which many lanes hold, stays in shared memory for the product to read.
    """
    if op in ctx.prepared.conversions:
        return ctx.prepared.conversions[op]
    if isinstance(src, Shared) and feeds_products(op.results[0]):
        return src
    source, result = ctx.layout_of(op.src.type), op.results[0]
    if feeds_products(result) and not is_anywhere(src):
        memory = _resting_layout(ctx, result, source.shape, src.element)
        if rests_for_matrices(ctx, result):
            memory = memory_for_matrices(source, storage_bytes(src.element))
        array = ctx.shared.buffer(result, src.element, memory)
        part = rows_of_warps(ctx, result, source, memory)
        if part:
            bytes = part * storage_bytes(src.element)
            array = replace(array, bytes=Apart(array.bytes.start, array.bytes.end, bytes))
        fragment = ctx.fragment(src, source)
        ctx.shared.writes(array)
        ctx.shared.store(array, fragment)
        return array
    return moved(ctx, src, source, ctx.layout_of(result.type))


def _resting_layout(ctx: Context, value: Value, shape: tuple[int, ...], element: Type) -> SharedLayout:
    """`resting_layout`, or plain row-major where the operands of a product that uses `value` would not fit
    with what stays free in it."""
    memory = resting_layout(shape, element)
    needed = max(sum(_resting_bytes(operand.type) for operand in (op.a, op.b)) for op in _products(value))
    fits = needed <= ctx.target.shared_bytes and memory.size * storage_bytes(element) <= ctx.shared.free
    return memory if fits else SharedLayout.row_major(shape)


def _resting_bytes(type: Type) -> int:
    return resting_layout(shape_of(type), element_of(type)).size * storage_bytes(element_of(type))


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


def moved(ctx: Context, tensor: Any, source: Layout, target: Layout) -> Any:
    """A tensor held under `source` for consumers that ask for it under `target`; its form is kept."""
    if is_anywhere(tensor):
        return tensor
    if isinstance(tensor, Pointers):
        return replace(tensor, terms=tuple(moved(ctx, term, source, target) for term in tensor.terms))
    if isinstance(tensor, Affine):
        return replace(tensor, exact=moved(ctx, tensor.exact, source, target))
    return ctx.fragment(ctx.fragment(tensor, source), target)


def convert(ctx: Context, source: Fragment, layout: Layout) -> Fragment:
    """The registers of `source` under a layout of other lanes or warps."""
    source = fragments.rearrange(ctx.b, source, fragments.flat(source.layout))
    target = fragments.flat(layout)
    lanes = max(len(source.layout.lane), len(target.lane))
    warps = max(len(source.layout.warp), len(target.warp))
    source = Fragment(_with_lanes(source.layout, lanes, warps), source.element, source.registers)
    target = _with_lanes(target, lanes, warps)
    plan = moves(source.layout, target)
    by_blocks = through_blocks(ctx, source, layout) if plan is None else None
    if by_blocks is not None:
        ctx.recorder.add(Exchange("blocks", source.shape, str(source.element)))
        return by_blocks
    made = through_memory(ctx, source, target) if plan is None else within_warps(ctx, source, target, plan)
    return fragments.rearrange(ctx.b, replace(made, layout=fragments.flat(layout)), layout)


def _with_lanes(layout: Layout, lanes: int, warps: int) -> Layout:
    """The layout with a basis for every bit of the lane and the warp; those that it lacks do not matter to
    it."""
    return replace(layout, lane=layout.lane + (0,) * (lanes - len(layout.lane)),
                   warp=layout.warp + (0,) * (warps - len(layout.warp)))


# --- inside sub-groups --------------------------------------------------------------------------------------


def within_warps(ctx: Context, source: Fragment, target: Layout, plan: Moves) -> Fragment:
    """Registers picked by lane, one shuffle a register, registers turned by lane: what is not needed is not
    emitted."""
    env = ctx.env
    shuffles = target.registers if plan.crosses else sum(
        span(plan.lane_round, q) ^ plan.lane_origin != 0 for q in range(target.registers))
    ctx.recorder.add(Exchange("shuffles" if shuffles else "registers", source.shape, str(source.element),
                              shuffles))
    held = _added(ctx, source.registers, plan.pick, plan.pick_warp)
    sent = [held[span(plan.register, q) ^ plan.register_origin] for q in range(target.registers)]
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
    held = list(registers)
    for image, parity in conditions.items():
        other = b.compare("OpINotEqual", b.iand(parity, 1), 0)
        held = [b.select(other, held[r ^ image], held[r]) for r in range(len(held))]
    return held


# --- through shared memory ----------------------------------------------------------------------------------


def through_memory(ctx: Context, source: Fragment, target: Layout) -> Fragment:
    """All lanes write what they hold, then read what they want; in several rounds where memory is short.

    A round handles the elements with one value of some index bits that are registers on both sides.
    """
    bytes = storage_bytes(source.element)
    common = [basis for basis in source.layout.register
              if _is_apart(basis, source.layout) and _is_apart(basis, target)]
    apart: list[int] = []
    most = min(ctx.target.lane_bytes // bytes, ctx.target.components)
    memory = exchange_layout(source.layout, target, 0, bytes, most)
    while memory.size * bytes > ctx.shared.spare and common:
        apart.append(common.pop())
        memory = exchange_layout(source.layout, target, sum(apart), bytes, most)
    mask = sum(apart)
    registers: list[Register | None] = [None] * target.registers
    indices, wanted = source.layout.register_indices, target.register_indices
    ctx.recorder.add(Exchange("shared memory", source.shape, str(source.element), 1 << len(apart),
                              memory.size * bytes))
    with ctx.shared.scratch(source.element, memory.size) as array:
        view = replace(array, shape=source.shape, layout=memory)
        for part in sorted({index & mask for index in wanted}):
            held = [r for r, index in enumerate(indices) if index & mask == part]
            asked = [r for r, index in enumerate(wanted) if index & mask == part]
            ctx.shared.writes(array)
            ctx.shared.store(view, _part(source, held, apart, part))
            ctx.shared.reads(array)
            made = ctx.shared.load(view, _part_layout(target, apart, part))
            for r, register in zip(asked, made.registers, strict=True):
                registers[r] = register
    return Fragment(target, source.element, tuple(x for x in registers if x is not None))


def _is_apart(basis: int, layout: Layout) -> bool:
    """Is this one index bit that a register has to itself?"""
    return basis & (basis - 1) == 0 and basis in layout.register and sum(
        1 for other in layout.all_bases if other & basis) == 1


def _part_layout(layout: Layout, apart: Sequence[int], part: int) -> Layout:
    kept = tuple(basis for basis in layout.register if basis not in apart)
    return replace(layout, register=kept, origin=layout.origin & ~sum(apart) | part)


def _part(source: Fragment, registers: Sequence[int], apart: Sequence[int], part: int) -> Fragment:
    """The registers whose elements have the index bits `part`."""
    return Fragment(_part_layout(source.layout, apart, part), source.element,
                    tuple(source.registers[r] for r in registers))


def exchange_layout(source: Layout, target: Layout, apart: int, bytes: int, most: int) -> SharedLayout:
    """Where elements wait between two layouts, so that no two lanes of either side meet in one bank; index
    bits `apart` have no place.

    Bits that are registers on both sides lie lowest: a lane moves up to `most` neighbours at once. Above them
    lies a row of banks. Lanes of the source fill it; a lane bit of the target that finds its place in the row
    taken goes further up, and toggles that place too (a swizzle).
    """
    bits = [1 << i for i in range(source.numel.bit_length() - 1) if not apart >> i & 1]
    both = [bit for bit in bits if bit in target.register and bit in source.register]
    places = {bit: 1 << i for i, bit in enumerate(both[:log2(most)])}
    low = len(places)
    vector = bytes << low
    row = range(low, low + log2(max(1, BANK_BYTES // vector)))
    word = low + log2(max(1, WORD_BYTES // vector))  # the first bit that tells one bank from another
    writing, reading = ([basis for basis in layout.lane[:len(row)] if basis in bits]
                        for layout in (source, target))
    free = list(row)
    for bit in [bit for bit in writing if bit in reading] + [bit for bit in writing if bit not in reading]:
        places[bit] = 1 << free.pop(0)
    shared = [1 << i for i in row if i >= word and 1 << i not in [places.get(bit) for bit in reading]]
    turned = {}
    for bit in [bit for bit in reading if bit not in places]:
        own = next((i for i in free if i >= word and 1 << i in shared), None)
        if own is not None:
            free.remove(own)
            places[bit] = 1 << own
            shared.remove(1 << own)
        elif shared:
            turned[bit] = shared.pop(0)
    above = iter([*free, *range(row.stop, row.stop + len(bits))])
    for bit in bits:
        if bit not in places and bit not in turned:
            places[bit] = 1 << next(above)
    above = iter(i for i in range(low, low + 2 * len(bits)) if 1 << i not in places.values())
    for bit, toggled in turned.items():
        places[bit] = 1 << next(above) | toggled
    every = tuple(places.get(1 << i, 0) for i in range(source.numel.bit_length() - 1))
    return SharedLayout(source.shape, every)

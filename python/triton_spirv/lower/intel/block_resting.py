"""Surfaces of 2D block messages that rest while a loop moves the block over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...dataclass import dataclass
from ...facts.axis import axis_facts
from ...facts.axis_info import LARGEST
from ...facts.divisors import pointer_divisor
from ...facts.slopes import Multiple
from ...ir.model import Block, Operation, Value
from ...layout import Layout
from ...spirv.builder import I32, I64
from ...spirv.module import Value as Register
from ...target import MOST, Requirement
from ..addresses.element_motion import pitch_of
from ..context import Context
from ..plan.accesses import Blocks, Message
from ..values.tensor import Pointers, Uniform
from ..values.types import shape_of
from .block_message import (
    ALIGNMENT,
    LEAST_PITCH,
    addresses,
    is_loadable,
    message_for,
    prefetch_starts,
    starts_of,
)
from .block_motion import Bound, bounds, counter_step, step_of
from .block_near import pitch_in_bytes
from .block_stride import is_computable, unevaluated

Surface = tuple[Register, ...]


@dataclass(frozen=True, kw_only=True)
class RestingBlocks(Blocks):
    """The block lies `count` times the loop's counter further along `moving`.

    pitch     from row to row, in elements
    pointers  of the first iteration's tensor, not evaluated
    limits    by dimension: the mask
    turn      what an iteration adds to the counter
    """

    pitch: Multiple[Register]
    pointers: Pointers
    limits: Mapping[int, Bound]
    later: Layout | None
    moving: int
    count: int
    turn: int
    counter: Value


def plan_resting(ctx: Context, op: Operation, body: Block, ptr: Pointers,
                 values: Sequence[Value]) -> RestingBlocks | None:
    """Surfaces for all iterations of a loop; None where the block, or its mask, does not move as one that
    rests would need.
    """
    loop = body.parent.parent
    limits = bounds(op.mask, body)
    layout = ctx.layouts.of(op.result.type)
    turn = None if loop is None else counter_step(loop)
    if not turn or limits is None or not is_loadable(ctx, layout, ptr):
        return None
    message = message_for(ctx, op, ptr, layout)
    pitch = None if message is None else pitch_of(ptr, message.down, message.height)
    if message is None or pitch is None:
        return None
    known = ctx.launch.parameters
    parameters = {known.get(register.id): value for value, register in ctx.bindings.frame.values.items()
                  if isinstance(register, Register)}
    number = None if pitch.scalar is None else ctx.launch.parameter_number(pitch.scalar)
    if pitch.scalar is not None and number is None:
        return None
    step = step_of(list(values), pitch.factor, None if number is None else parameters[number])
    if step is None or step[1] % turn:
        return None
    count = step[1] // turn
    moving = message.down if step[0] else message.across
    if any(limit.slope != (-count if limit.dim == moving else 0) for limit in limits):
        return None
    by_dim = {limit.dim: limit for limit in limits}
    if len(by_dim) < len(limits) or any(_scalar(ctx, limit) is None for limit in limits):
        return None
    requires: set[Requirement] = set()
    if moving == message.across:
        ends = _ending(ctx, op, message, pitch, number, by_dim[moving]) if moving in by_dim else None
        if ends is None:
            return None
        requires |= ends
    fixed_edge = by_dim.get(message.across) if moving == message.down else None
    if fixed_edge is not None and not _is_even(message, fixed_edge):
        return None
    least = LEAST_PITCH if fixed_edge is None else LEAST_PITCH + ALIGNMENT
    asked = ctx.launch.of_pitch(pitch.factor * message.bytes, pitch.scalar, least)
    if asked is None:
        return None
    ahead = ctx.kernel.options.num_stages - 1
    return RestingBlocks(surface="resting", message=message, starts=starts_of(layout, message),
                         edges=tuple(sorted(by_dim)), requires=tuple(sorted(requires | set(asked))),
                         ahead=max(ahead, 0), pitch=pitch,
                         pointers=replace(ptr, terms=tuple(map(unevaluated, ptr.terms))), limits=by_dim,
                         later=prefetch_starts(layout, message) if ahead > 0 else None,
                         moves=(moving, step[1]), moving=moving, count=count, turn=turn,
                         counter=body.arguments[0])


@dataclass(frozen=True)
class Resting:
    """Surfaces that stay where they are. surfaces: (base, width, height, pitch, x, y) of each block of the
    first iteration; ahead: of what a warp fetches ahead."""

    blocks: RestingBlocks
    surfaces: list[Surface]
    ahead: list[Surface]

    @staticmethod
    def of(ctx: Context, blocks: RestingBlocks) -> Resting:
        """Before the loop."""
        ctx.launch.requires |= set(blocks.requires)
        pitch = pitch_in_bytes(ctx, blocks.pitch, blocks.message.bytes)
        ahead = [] if blocks.later is None else _surfaces(ctx, blocks, blocks.later, pitch)
        return Resting(blocks, _surfaces(ctx, blocks, blocks.starts, pitch), ahead)

    def surface(self, ctx: Context, first: Surface, later: int) -> Surface:
        """The surface with the block's place so many iterations later than this one."""
        b, blocks, message = ctx.b, self.blocks, self.blocks.message
        count = blocks.count
        *bounds, x, y = first
        if blocks.moving == message.across and message.kind == "transpose":
            count = count * message.bytes // 4
        moved = b.imul(b.iadd(b.resize(ctx.bindings.scalar(blocks.counter), 32), later * blocks.turn), count)
        if blocks.moving == message.across:
            return (*bounds, b.iadd(moved, x), y)
        return (*bounds, x, b.iadd(moved, y))

    def prefetch(self, ctx: Context) -> None:
        """Ask for what a later iteration will load; how much later, the launch option num_stages says."""
        message = self.blocks.message
        for first in self.ahead:
            *bounds, x, y = self.surface(ctx, first, self.blocks.ahead)
            if message.kind == "transpose":
                x = ctx.b.imul(x, 4 // message.bytes)
            block = (message.width * message.count, message.height, 1)
            ctx.env.prefetch_block(message.bytes, block, (*bounds, x, y))


def _surfaces(ctx: Context, blocks: RestingBlocks, starts: Layout, distance: Register) -> list[Surface]:
    """Of the blocks of the first iteration that begin there."""
    b, message, moving, by_dim = ctx.b, blocks.message, blocks.moving, blocks.limits
    sizes = [0, 0]
    sizes[message.down], sizes[message.across] = message.height, message.width * message.count
    together = _shared(blocks.pointers, message, blocks.pitch, starts, moving)
    anchors = replace(starts, register=tuple(x for x in starts.register if x not in together))
    reach = [x + size for x, size in zip(starts.unravel(sum(together)), sizes, strict=True)]
    inside: list[list[Register]] = [[], []]
    for dim, limit in by_dim.items():
        first = ctx.evaluation.registers(unevaluated(ctx.bindings.value(limit.index)),
                              along(anchors, dim, shape_of(limit.index.type), limit.own))
        bound = _scalar(ctx, limit)
        assert bound is not None
        inside[dim] = [b.resize(b.isub(bound, x), 32) for x in first]
    across, down = inside[message.across], inside[message.down]
    shift = (4 if message.kind == "transpose" else message.bytes).bit_length() - 1
    row, one, none = (b.constant(I32, x) for x in (reach[message.across], 1, 0))
    made: dict[int, Surface] = {}
    for i, place in enumerate(addresses(ctx, blocks.pointers, anchors, message.bytes)):
        base, width = b.iand(place, b.constant(I64, -ALIGNMENT)), b.constant(I32, 2 * ALIGNMENT)
        before = b.iand(b.resize(place, 32), ALIGNMENT - 1)
        height, y = b.constant(I32, MOST if moving == message.down else reach[message.down]), none
        if moving == message.across:
            width, before = b.imul(across[i], message.bytes), none
        elif across:
            base, before = b.isub(base, b.constant(I64, ALIGNMENT)), b.iadd(before, ALIGNMENT)
            columns = b.ext("s_min", b.ext("s_max", across[i], none), row)
            width = b.iadd(before, b.imul(columns, message.bytes))
        if down:
            height = b.ext("s_max", b.ext("s_min", down[i], height), one)
            y = b.select(b.compare("OpSLessThan", down[i], 1), b.constant(I32, MOST), 0)
        made[anchors.register_indices[i]] = (base, width, height, distance, b.lshr(before, shift), y)
    placed = []
    for index in starts.register_indices:
        *bounds, x, y = made[index & ~sum(together)]
        further = starts.unravel(index & sum(together))
        x = b.iadd(x, further[message.across] * message.bytes >> shift)
        placed.append((*bounds, x, b.iadd(y, further[message.down])))
    return placed


def _shared(ptr: Pointers, message: Message, pitch: Multiple[Register], starts: Layout,
            moving: int) -> list[int]:
    """The bits of the first elements that a place on one surface tells apart: rows that are at one distance
    from each other, and columns where the surface is as wide as the matrix or they lie within 64 bytes.
    """
    found = []
    for bit in starts.register:
        down, across = (starts.unravel(bit)[dim] for dim in (message.down, message.across))
        if down:
            fits = pitch_of(ptr, message.down, 2 * down) == pitch
        else:
            near = moving == message.across or 2 * across * message.bytes <= ALIGNMENT
            fits = near and pitch_of(ptr, message.across, 2 * across) == Multiple(1)
        if fits:
            found.append(bit)
    return found


def _scalar(ctx: Context, limit: Bound) -> Register | None:
    """The bound as a scalar; None where it is a tensor of many."""
    bound = ctx.bindings.frame.values.get(limit.limit)
    bound = bound.scalar if isinstance(bound, Uniform) else bound
    return bound if isinstance(bound, Register) and is_computable(ctx.bindings.value(limit.index)) else None


def _is_even(message: Message, limit: Bound) -> bool:
    """Does a surface that ends at the bound have rows of a multiple of 4 bytes?"""
    index, end = axis_facts(limit.index), axis_facts(limit.limit)
    return index is not None and end is not None and not any(
        x * message.bytes % 4 for x in (index.divisibility[limit.own], end.everywhere()))


def along(starts: Layout, dim: int, shape: tuple[int, ...], own: int | None = None) -> Layout:
    """The layout of starts for a tensor that varies along one dimension only, which is its own `own` (None:
    the same).
    """
    mask = starts.axis_mask(dim)
    low = starts.dim_bits[dim][0]
    target = Layout(shape).dim_bits[dim if own is None else own][0]
    return starts.map(shape, lambda basis: (basis & mask) >> low << target)


def _ending(ctx: Context, op: Operation, message: Message, pitch: Multiple[Register], number: int | None,
            limit: Bound) -> set[Requirement] | None:
    """What the launcher must see to for a surface to be as wide as the matrix; None where it cannot. Blocks
    begin at multiples of 64 bytes then, and rows are of 64 bytes at least, and of not more than their
    distance.
    """
    found = ctx.bindings.frame.values.get(limit.limit)
    end = found.scalar if isinstance(found, Uniform) else found
    facts, sizes = axis_facts(limit.limit), {message.down: message.height,
                                            message.across: message.width * message.count}
    loop_value = op.ptr.owner.parent.parent.init[op.ptr.index - 1]
    apart, base = pointer_divisor(loop_value, (sizes[0], sizes[1]), message.bytes)
    known = ctx.bindings.frame.values.get(base) if base is not None else None
    if not isinstance(end, Register) or not isinstance(known, Register) or facts is None:
        return None
    if apart % ALIGNMENT or facts.everywhere() * message.bytes % 4 or number is None:
        return None
    last, start = ctx.launch.parameter_number(end), ctx.launch.parameter_number(known)
    if last is None or start is None:
        return None
    index = axis_facts(limit.index)
    if index is None or index.divisibility[limit.own] < LARGEST:  # it begins at 0
        return None
    factor = pitch.factor * message.bytes
    return {Requirement(number, factor, 0, last, message.bytes), Requirement(last, message.bytes, ALIGNMENT),
            Requirement(start, 0, 0)}

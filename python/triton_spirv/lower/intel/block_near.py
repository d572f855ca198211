"""Surfaces of 2D block messages that begin just before their block. Their rows lie at one distance, which the
launcher can vouch for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...dataclass import dataclass
from ...facts.axis import axis_facts
from ...facts.slopes import Multiple
from ...ir.model import Operation
from ...layout import Layout
from ...spirv.builder import I32, I64
from ...spirv.module import Value as Register
from ..addresses.element_motion import pitch_of
from ..context import Context
from ..plan.accesses import Blocks, Message
from ..values.tensor import Pointers
from ..values.types import shape_of
from .block_edges import Edges, Limit
from .block_message import ALIGNMENT, LEAST_PITCH, addresses, prefetch_starts, starts_of
from .block_stride import unevaluated


@dataclass(frozen=True, kw_only=True)
class NearBlocks(Blocks):
    """pitch: from row to row, in elements; pointers: of the tensor, not evaluated; later: the first elements
    of blocks that a loop fetches ahead; limits: the mask."""

    pitch: Multiple[Register]
    pointers: Pointers
    later: Layout | None = None
    limits: tuple[Limit, ...] = ()

    def limited(self, limits: tuple[Limit, ...], moves: bool) -> NearBlocks:
        """The same under a mask, in a loop that moves the block or outside of one."""
        return replace(self, surface="moving" if moves else "near", limits=limits,
                       edges=tuple(sorted({limit.dim for limit in limits})), ahead=self.ahead if moves else 0)


def plan_near(ctx: Context, op: Operation, ptr: Pointers, layout: Layout, message: Message,
              in_loop: bool = False) -> NearBlocks | None:
    """These messages, which a loop may prepare (`in_loop`); None where no launcher could vouch for the
    pitch."""
    pitch = pitch_of(ptr, message.down, message.height)
    assert pitch is not None
    least = LEAST_PITCH + ALIGNMENT * _has_right_edge(op, message)
    requires = ctx.launch.of_pitch(pitch.factor * message.bytes, pitch.scalar, least)
    if requires is None:
        return None
    bare = replace(ptr, terms=tuple(map(unevaluated, ptr.terms)))
    return NearBlocks(surface="near", message=message, starts=starts_of(layout, message), requires=requires,
                      ahead=ctx.kernel.options.num_stages - 1 if in_loop else 0, pitch=pitch, pointers=bare,
                      later=prefetch_starts(layout, message) if in_loop else None)


def _has_right_edge(op: Operation, message: Message) -> bool:
    """May the mask differ along a row?"""
    facts = None if op.mask is None else axis_facts(op.mask)
    return op.mask is not None and (facts is None or facts.constancy[message.across] < shape_of(op.mask.type)[
        message.across])


def pitch_in_bytes(ctx: Context, pitch: Multiple[Register], bytes: int) -> Register:
    """The distance of rows, as a message takes it."""
    b, factor = ctx.b, pitch.factor * bytes
    if pitch.scalar is None:
        return b.constant(I32, factor)
    return b.imul(b.resize(pitch.scalar, 32), factor)


class Loads:
    """The messages of one load: surfaces that begin at most 64 bytes before each block, 128 where its right
    edge is in question.
    """

    def __init__(self, blocks: NearBlocks, pitch: Register, places: Sequence[Register],
                 ahead: Sequence[Register] | None, step: Register | None) -> None:
        self.blocks, self.message, self.pitch = blocks, blocks.message, pitch
        self.places, self.ahead, self.step = places, ahead, step
        self._aligned: dict[int, tuple[Register, Register]] = {}

    @staticmethod
    def of(ctx: Context, blocks: NearBlocks, step: Register | None = None) -> Loads:
        """What the messages have in common in all iterations of a loop that moves the pointers by `step`
        elements."""
        ctx.launch.requires |= set(blocks.requires)
        pointers, bytes = blocks.pointers, blocks.message.bytes
        pitch = pitch_in_bytes(ctx, blocks.pitch, bytes)
        places = addresses(ctx, pointers, blocks.starts, bytes)
        later = None if blocks.later is None else addresses(ctx, pointers, blocks.later, bytes)
        return Loads(blocks, pitch, places, later, step)

    def aligned(self, ctx: Context, place: Register) -> tuple[Register, Register]:
        """The surface's base for a block, and the bytes before the block."""
        b = ctx.b
        if place.id not in self._aligned:
            self._aligned[place.id] = (b.iand(place, b.constant(I64, -ALIGNMENT)),
                                       b.iand(b.resize(place, 32), ALIGNMENT - 1))
        return self._aligned[place.id]

    def align_all(self, ctx: Context) -> None:
        """Compute all bases here, so that a loop need not."""
        for place in (*self.places, *(self.ahead or ())):
            self.aligned(ctx, place)

    def surface(self, ctx: Context, i: int, moved: Register | None, limits: Edges) -> tuple[Register, ...]:
        """(base, width in bytes, height, pitch in bytes, x, y) of block `i`, `moved` bytes further on."""
        b, message, size = ctx.b, self.message, self.message.bytes
        across, down = limits.limits[message.across], limits.limits[message.down]
        base, before = self.aligned(ctx, self.places[i])
        if moved is not None:
            base = b.iadd(base, moved)
        width = b.constant(I32, 2 * ALIGNMENT)
        if across is not None:
            base = b.isub(base, b.constant(I64, ALIGNMENT))
            before = b.iadd(before, ALIGNMENT)
            row = b.constant(I32, message.width * message.count)
            inside = b.ext("s_min", b.ext("s_max", across[i], b.constant(I32, 0)), row)
            width = b.iadd(before, b.imul(inside, size))
        height, y = b.constant(I32, message.height), b.constant(I32, 0)
        if down is not None:
            height = b.ext("s_max", b.ext("s_min", down[i], height), b.constant(I32, 1))
            y = b.select(b.compare("OpSLessThan", down[i], 1), b.constant(I32, 1), 0)
        shift = (4 if message.kind == "transpose" else size).bit_length() - 1
        return base, width, height, self.pitch, b.lshr(before, shift), y

    def prefetch(self, ctx: Context, moved: Register) -> None:
        """Ask for what a later iteration will load; how much later, the launch option num_stages says."""
        b, message = ctx.b, self.message
        distance = self.blocks.ahead
        if self.ahead is None or self.step is None or distance < 1:
            return
        moved = b.iadd(moved, b.imul(self.step, distance * message.bytes))
        for place in self.ahead:
            base, before = self.aligned(ctx, place)
            row = message.width * message.count
            surface = (b.iadd(base, moved), b.constant(I32, 2 * ALIGNMENT), b.constant(I32, message.height),
                       self.pitch, b.lshr(before, message.bytes.bit_length() - 1), b.constant(I32, 0))
            ctx.env.prefetch_block(message.bytes, (row, message.height, 1), surface)

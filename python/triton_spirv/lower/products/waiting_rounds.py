"""Rounds of a loop over K that are multiplied together.

    for k in range(0, K, 64): total = tl.dot(x, y, total)

A block of sums lies in the second cache, and each round reads and writes all of it: at 64 steps along K that
takes as long as a sixth of the multiplications. So a round only packs its right operand and waits, until
there are some hundred steps, or the loop ends; then tiles are summed in registers over all of these rounds,
in the same order as they would be one by one. That takes:

- packed right operands that stay: they lie on a shelf (kept_panels.py), which the program has while rounds
  wait;
- left operands that are then what they would have been: the kernel writes behind the loop only, and through
  other arguments (facts/kept_panels.py). Where the last round stores tiles, it is asked whether they lie
  apart from what is still to be read;
- sums that nothing but the product asks for in the loop (facts/running_sums.py).

Two products of a loop, as of a layer and its gate, wait each for itself, with a shelf each. A left operand
that both have is read where it lies by both.

The label of a round on its shelf says where its left operand lies. A round whose left operand is not whole in
memory, or which has no place on the shelf, does not wait, and those that do are multiplied first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

from ... import panel_layout as layout
from ...dataclass import dataclass
from ...ir.model import Operation
from ...spirv.builder import I32, I64
from ...spirv.control import IfElse, if_
from ...spirv.module import Value as Register
from ...spirv.types import Bool
from ..addresses.masks import one_of
from ..context import Context
from ..memory.prefetch import SpreadFetches
from ..plan.records import Product
from ..values.types import shape_of
from .decide import staging_of_right
from .in_memory import InMemory
from .kept_panels import Kept, Shelved, kept_right
from .last_round import Straight, is_last_round
from .loops import counted
from .operand import Block, Operand
from .rounds import Rounds, Waiting

#: Rows of the result from which on it pays, and of a tile, at most.
LEAST_ROWS, ROWS = 64, 6

#: Multiplies rounds, of a right operand: is the first round of the loop among them, is the current one?
Tiles = Callable[[Rounds, Block, Register, Register], Sequence[Register]]


def rounds_of(ctx: Context, op: Operation, plan: Product, here: InMemory, left: Operand, right: Operand,
              whole: Register | None, panel: int) -> Joined | None:
    """For a product whose left operand is multiplied where it lies in memory, if `whole` holds; the right one
    in panels of so many columns. None where rounds do not wait."""
    (rows, depth), target = left.shape[-2:], ctx.target
    most = max(1, target.joined_steps // depth)
    if op not in ctx.launch.joined or rows < LEAST_ROWS or ctx.kernel.stops_rounds \
            or plan.tile[1] != target.accumulators[1] * target.vector_width or panel != plan.tile[1]:
        return None
    waiting = Waiting.of(ctx, most)
    nobody, staging = SpreadFetches(shares=1), staging_of_right(ctx, right)
    kept = kept_right(ctx, op, right, staging, panel, nobody, None, waiting)
    if kept is None or kept.shelved is None:
        return None
    tiles = -(-rows // ROWS)
    return Joined(op, waiting, kept, kept.shelved, here, whole, -(-rows // tiles), (rows, depth))


@dataclass(frozen=True)
class Joined:
    """A product of this round and those that wait. here: where its left operand lies, of `shape`, if `whole`
    holds; rows: of a tile."""

    product: Operation
    waiting: Waiting
    kept: Kept
    shelved: Shelved
    here: InMemory
    whole: Register | None
    rows: int
    shape: tuple[int, int]

    def apart_from(self, ctx: Context, straight: Straight | None) -> Straight | None:
        """The same, where what is stored lies apart from the left operands of rounds that wait: they are read
        meanwhile."""
        if straight is None:
            return None
        b, env = ctx.b, ctx.env
        size = env.pointee_bytes(straight.pointer)
        count = self.waiting.before(ctx)
        branch = IfElse(b.module, b.logical_and(straight.now, b.compare("OpSGreaterThan", count, 0)))
        with branch.then():
            pitch = b.imul(_wide(ctx, straight.strides[-2]), size)
            columns = shape_of(self.product.results[0].type)[-1]
            begin, end = self._span(ctx, env.address(straight.pointer), pitch, columns * size)
            start = b.isub(self.shelved.round, b.resize(count, I64.width))
            labels = self.shelved.label_of(ctx, start)
            with counted(ctx, count, carried=[b.constant(Bool(), True)]) as loop:
                address, down = (env.load(env.pointer(b.iadd(labels, b.iadd(b.imul(b.resize(
                    loop.index, I64.width), layout.LABEL_BYTES), 8 * word)), I64), 1)
                    for word in (layout.LEFT, layout.LEFT_DOWN))
                width = env.pointee_bytes(self.here.pointer)
                first, last = self._span(ctx, address, b.imul(down, width), self.shape[1] * width)
                apart = b.logical_or(b.compare("OpULessThanEqual", last, begin),
                                     b.compare("OpULessThanEqual", end, first))
                loop.yield_([b.logical_and(loop.carried[0], apart)])
            branch.yield_([loop.results[0]])
        with branch.otherwise():
            branch.yield_([b.constant(Bool(), True)])
        return replace(straight, now=b.logical_and(straight.now, branch.results[0]))

    def _span(self, ctx: Context, address: Register, pitch: Register, row: int) -> tuple[Register, Register]:
        """Where rows of so many bytes begin and end, from the first one's address on."""
        b = ctx.b
        last = b.iadd(address, b.imul(pitch, self.shape[0] - 1))
        down = b.compare("OpSLessThan", pitch, 0)
        return b.select(down, last, address), b.iadd(b.select(down, address, last), row)

    def multiply(self, ctx: Context, tiles: Tiles, otherwise: Callable[[], Sequence[Register]]
                 ) -> list[Register]:
        """This round waits, or is multiplied with those that do. otherwise: multiplies one whose left operand
        is not whole in memory."""
        b, loop = ctx.b, self.product.parent_op
        assert loop is not None
        count, there = self.waiting.before(ctx), self.shelved.on_shelf
        with if_(b.module, there):
            self._say_where(ctx)
        if self.whole is not None:
            there = b.logical_and(there, self.whole)
        room = b.compare("OpSLessThan", count, self.waiting.most - 1)
        waits = reduce(b.logical_and, [there, room, b.logical_not(is_last_round(ctx, loop))])

        def wait() -> list[Register]:
            self.waiting.wait(ctx, b.iadd(count, 1), self.shelved.number)
            return []

        def multiplied() -> list[Register]:
            self._multiplied(ctx, count, there, tiles)
            if self.whole is not None:
                one_of(ctx, self.whole, "is all of the left operand in memory?", ("hot", lambda: []),
                       ("cold", otherwise))
            self.waiting.wait(ctx, b.constant(I32, 0), self.shelved.number)
            return []
        if self.waiting.most == 1:
            multiplied()
            self.kept.end(ctx)
            return []
        made = one_of(ctx, waits, "does this round wait for the next ones?", ("it waits", wait),
                      ("it is multiplied with those that wait", multiplied))
        self.kept.end(ctx)
        return made

    def _say_where(self, ctx: Context) -> None:
        """The left operand of this round, in its label."""
        words = {layout.LEFT: ctx.env.address(self.here.pointer),
                 layout.LEFT_DOWN: _wide(ctx, self.here.outer)}
        for word, value in words.items():
            ctx.env.store(ctx.env.pointer(ctx.b.iadd(self.shelved.label, 8 * word), I64), value)

    def _multiplied(self, ctx: Context, count: Register, there: Register, tiles: Tiles) -> None:
        """Those that wait, and this round with them if it is `there`; then this round, if it is whole, but
        has no place on the shelf."""
        b = ctx.b
        zero, one = b.constant(I32, 0), b.constant(I32, 1)
        together = b.iadd(count, b.select(there, one, zero))
        alone = b.logical_not(self.shelved.on_shelf)
        if self.whole is not None:
            alone = b.logical_and(alone, self.whole)
        with counted(ctx, 2) as turn:
            first = b.compare("OpIEqual", turn.index, 0)
            size = b.select(first, together, b.select(alone, one, zero))
            with if_(b.module, b.compare("OpSGreaterThan", size, 0)):
                ctx.scopes.open(walks=True)
                ctx.recorder.reads(self.kept.block.stored, None)
                earlier = b.select(first, b.resize(count, I64.width), b.constant(I64, 0))
                start = b.isub(self.shelved.round, earlier)
                labels, array = self.shelved.from_round(ctx, start, first)
                right = replace(self.kept.block, stored=replace(self.kept.block.stored, array=array))
                rounds = Rounds(self.here, labels, b.logical_not(first), size, self.shelved.elements)
                begins, last = b.compare("OpIEqual", start, 0), b.logical_or(b.logical_not(first), there)
                tiles(rounds, right, begins, last)
                ctx.scopes.close()


def _wide(ctx: Context, stride: Register | int) -> Register:
    return ctx.b.constant(I64, stride) if isinstance(stride, int) else ctx.b.resize(stride, I64.width)

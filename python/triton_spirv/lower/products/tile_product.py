"""tt.dot on a processor's tile registers: what is staged, where the sums begin, stay and go, and when the
general way is gone instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

from ...dataclass import dataclass
from ...facts.running_sums import sums_from_zero
from ...ir.model import Operation
from ...layout import Layout
from ...spirv.builder import I64
from ...spirv.control import if_
from ...spirv.module import Value as Register
from ..addresses.masks import known_whole, one_of
from ..context import Context
from ..memory.prefetch import SpreadFetches
from ..plan.accesses import Access, Vectors
from ..plan.records import Product
from ..values.tensor import Stored, Tensor
from ..values.types import element_of, storage_bytes
from .accumulators import accumulator, is_zero
from .decide import plan_in_arrays, staging_for_tiles, staging_of_right
from .destination import destination_of
from .grouped import Grouped, grouped_for_tiles
from .in_memory import InMemory, in_memory
from .kept_panels import kept_right
from .last_round import Straight, is_last_round, straight_to_memory
from .late_tiles import may_wait
from .micro_kernel import Kernel, kernel_of
from .operand import Block, compute_before, stage_left, stage_right
from .pairs import NormalSums, Watched, clears_nothing, either_way, least_of, pairs
from .panels import multiply
from .tile_registers import COLUMNS, SIDE, Fetches, Tiling, by_rows, in_rows, in_tiles
from .zeroed_sums import clear, is_first_round

#: Bytes of the second cache of all processors with tile registers. The left operand and the sums take half.
SECOND_CACHE = 2 << 20


@dataclass(frozen=True)
class Begun:
    """What a product is added to, where another form may add to it as well: as in Sums. normal: does the
    array hold denormal numbers? None where that makes no difference, or they are added behind."""

    array: Stored
    accumulate: bool
    begins: Register | None
    normal: NormalSums | None

    @staticmethod
    def of(ctx: Context, op: Operation, c: Tensor, normal: NormalSums | None) -> Begun:
        """c, in an array of the product's own."""
        if is_zero(c):
            return Begun(ctx.arrays.allocate(c.shape, c.element), False, None, None)
        array = accumulator(ctx, op, c)
        return Begun(array, True, is_first_round(ctx, op), normal)


def normal_sums(ctx: Context, op: Operation, a: Tensor, c: Tensor) -> NormalSums | None:
    """Of a product on tile registers: are the sums that it adds to without denormal numbers?"""
    is_told = _is_exact(ctx, a) and not is_zero(c) and sums_from_zero(op)
    return NormalSums.of(ctx) if is_told else None


def _is_exact(ctx: Context, a: Tensor) -> bool:
    """May tile registers clear no denormal number of this operand, or of its products?"""
    return str(a.element) == "bf16" and not ctx.kernel.options.fast_math


def product_on_tile_registers(ctx: Context, op: Operation, a: Tensor, b: Tensor, c: Tensor,
                              begun: Begun | None = None) -> Stored | None:
    """a x b + c where the target's tile registers multiply that, else None. Operands of bf16 are watched
    while they are staged, or before: where tile registers would clear something, pairs are taken apart.
    begun: c, if it is known."""
    found = grouped_for_tiles(ctx, a, b, element_of(op.results[0].type))
    if found is None:
        return None
    left, right, form = found
    exact = _is_exact(ctx, a)
    watched = pairs(ctx, left, right) if exact else (left, right)
    if watched is None:
        return None
    left, right = watched
    plan = plan_in_arrays(ctx, op, left, form, added=not is_zero(c), most=COLUMNS)
    normal = normal_sums(ctx, op, a, c) if begun is None else begun.normal
    tiling = Tiling.of(left, form, plan.tile[1], exact and normal is None)
    place = _place(ctx, op, left)
    staging = staging_for_tiles(ctx, left, SIDE)
    if place is None:
        x = stage_left(ctx, op, left, staging, _nobody(), tile=SIDE)
        read: list[tuple[Tensor, Layout]] = []
    else:
        read = left.operand.inputs(ctx.layouts.default(left.operand.shape))
        compute_before(ctx, op, read)
    second = staging_of_right(ctx, right)
    kept = kept_right(ctx, op, right, second, plan.tile[1], _nobody(), least_of(right))
    y = stage_right(ctx, op, right, second, plan.tile[1], _nobody()) if kept is None else kept.block
    begun = begun or Begun.of(ctx, op, c, normal)
    ctx.recorder.add(Product(op, "tile registers", (*tiling.block, tiling.words),
                             ("in memory" if place is not None else staging, second), form,
                             begins=begun.begins is not None, keeps=kept is not None,
                             parts=tiling.steps if tiling.fetches and not is_zero(c) else 1))
    sums = Sums.of(ctx, op, begun, tiling, read)
    fetches = Fetches(None if kept is None else _lies_far(ctx, op, y),
                      None if sums.straight is None else destination_of(ctx, op))
    product = TileProduct(ctx, tiling, kernel_of(ctx, plan, left), y, sums, normal, fetches)
    ctx.recorder.reads(y.stored, None)
    if place is not None and exact:
        product.looked_through(op, left, right, staging, *place)
    elif place is not None:
        product.in_place(op, left, *place)
    elif exact:
        either_way(ctx, left, right, lambda: product.by_tiles(x), lambda: product.exactly(x),
                   None if normal is None else normal.hold(ctx))
    else:
        product.by_tiles(x)
    sums.end(ctx)
    if kept is not None:
        kept.end(ctx)
    return sums.array


def _place(ctx: Context, op: Operation, left: Grouped) -> tuple[InMemory, Register | None] | None:
    """Where the left operand is multiplied where it lies, if that may be: where it lies, and what must hold
    when the kernel runs. Rows of one that is looked through may not displace each other in the nearest cache:
    it takes longer to come twice than to be staged."""
    if ctx.env.watch_global is not None:
        return None
    if not isinstance(left.operand, Watched):
        return in_memory(ctx, op, left.operand, integers=True)
    found = in_memory(ctx, op, left.operand.operand)
    if found is None:
        return None
    there, whole = found
    spread = there.is_spread(ctx)
    if spread.constant is False:
        return None
    test = spread if whole is None else ctx.b.logical_and(whole, spread)
    return there, None if test.constant is True else test


def _lies_far(ctx: Context, op: Operation, panels: Block) -> Register | None:
    """A scalar Bool: are the panels of all rounds more than stay in the second cache? None where nothing is
    fetched."""
    loop, b = op.parent_op, ctx.b
    if loop is None or not ctx.target.optimises("prefetch"):
        return None
    lower, upper, step = (b.resize(ctx.bindings.scalar(x), I64.width) for x in loop.operands[:3])
    bytes = prod(panels.stored.shape) * storage_bytes(panels.stored.element)
    return b.compare("OpSGreaterThan", b.imul(b.isub(upper, lower), bytes), b.imul(step, SECOND_CACHE // 2))


def _nobody() -> SpreadFetches:
    """Who fetches what the next round reads: staging reads long rows, which the processor foresees, and to
    fetch them while tiles are multiplied gained nothing."""
    return SpreadFetches(shares=1)


@dataclass(frozen=True)
class Sums:
    """What a product adds to, and leaves: an array, which holds something if `accumulate`.

    begins     a scalar Bool, if the array counts as zero where that holds
    straight   where the sums go in the last round, if they may
    tiled      a scalar Bool: does the array hold tiles one by one between the rounds? Only this product looks
               at it then, unless the last round may not go straight: it puts it in order
    """

    array: Stored
    accumulate: bool
    begins: Register | None
    straight: Straight | None
    tiled: Register | None

    @staticmethod
    def of(ctx: Context, op: Operation, begun: Begun, tiling: Tiling,
           read: Sequence[tuple[Tensor, Layout]]) -> Sums:
        """On top of what has begun; read: what is read in memory while tiles are multiplied."""
        array, begins = begun.array, begun.begins
        if not begun.accumulate:
            ctx.recorder.writes(array, None)
            return Sums(array, False, None, None, None)
        ctx.recorder.reads(array, None)
        ctx.recorder.writes(array, None)
        straight = straight_to_memory(ctx, op, array, read, needs_loop=True,
                                      may_wait=not tiling.apart and may_wait(tiling.block, tiling.steps))
        tiled = None if straight is None or begins is None or tiling.rows != SIDE else straight.whole
        return Sums(array, True, begins, straight, tiled)

    def end(self, ctx: Context) -> None:
        """The round has multiplied everything."""
        straight, b = self.straight, ctx.b
        if straight is None:
            return
        if self.tiled is not None and straight.compares:
            loop = straight.found.loop
            assert loop is not None
            last = b.logical_and(is_last_round(ctx, loop), b.logical_not(straight.now))
            with if_(b.module, b.logical_and(self.tiled, last)):
                in_rows(ctx, self.array, self.array.shape[-1])
        straight.end(ctx)


@dataclass(frozen=True)
class TileProduct:
    """One of staged operands; `right` is in panels. kernel: the micro kernel that goes the general way;
    normal: whether it has been gone."""

    ctx: Context
    tiling: Tiling
    kernel: Kernel
    right: Block
    sums: Sums
    normal: NormalSums | None
    fetches: Fetches

    def by_tiles(self, left: Block | InMemory) -> Sequence[Register]:
        sums = self.sums
        if isinstance(left, Block):
            self.ctx.recorder.reads(left.stored, None)
        self.tiling.multiply(self.ctx, left, self.right, sums.array, sums.accumulate, sums.begins,
                             sums.straight, sums.tiled, self.fetches)
        return ()

    def exactly(self, left: Block) -> Sequence[Register]:
        """The general way, of operands and sums that are put in order for it."""
        ctx, sums, b = self.ctx, self.sums, self.ctx.b
        if self.normal is not None:
            self.normal.end(ctx)
        if sums.begins is not None:
            with if_(b.module, sums.begins):
                clear(ctx, sums.array)
            if sums.tiled is not None:
                with if_(b.module, b.logical_and(sums.tiled, b.logical_not(sums.begins))):
                    in_rows(ctx, sums.array, sums.array.shape[-1])
        multiply(ctx, replace(self.kernel, split=True, parts=1), by_rows(ctx, left), self.right, sums.array,
                 sums.accumulate, straight=sums.straight)
        if sums.tiled is not None:
            with if_(b.module, sums.tiled):
                in_tiles(ctx, sums.array, sums.array.shape[-1])
        return ()

    def in_place(self, op: Operation, left: Grouped, there: InMemory, whole: Register | None) -> None:
        """A left operand where it lies in memory, if `whole` holds."""

        def cold() -> Sequence[Register]:
            return self.by_tiles(stage_left(self.ctx, op, left, "by rows", _nobody(), tested=True))
        self._where_it_lies(whole, lambda: self._there(left, there), cold)

    def looked_through(self, op: Operation, left: Grouped, right: Grouped, staging: str, there: InMemory,
                       direct: Register | None) -> None:
        """A watched left operand: where `direct` holds, it is looked through, and multiplied where it lies.
        The general way, of which there is one for both, stages it, or stages it again."""
        ctx, b, watched = self.ctx, self.ctx.b, left.operand
        assert isinstance(watched, Watched)
        array = ctx.arrays.allocate(left.shape, left.target)

        def staged() -> Block:
            return stage_left(ctx, op, left, staging, _nobody(), tile=SIDE, array=array)

        def either(multiply: Callable[[], Sequence[Register]]) -> Sequence[Register]:
            normal = clears_nothing(ctx, left, right, None if self.normal is None else self.normal.hold(ctx))
            with if_(b.module, normal):
                ctx.scopes.open()
                multiply()
                ctx.scopes.close()
            return (normal,)

        def hot() -> Sequence[Register]:
            with known_whole(ctx, watched.inputs(ctx.layouts.default(watched.shape))):
                watched.look_through(ctx)
            return either(lambda: self._there(left, there))

        def cold() -> Sequence[Register]:
            x = staged()
            return either(lambda: self.by_tiles(x))
        (normal,) = self._where_it_lies(direct, hot, cold)
        with if_(b.module, b.logical_not(normal)):
            ctx.scopes.open()
            self.exactly(staged())
            ctx.scopes.close()

    def _there(self, left: Grouped, there: InMemory) -> Sequence[Register]:
        layout = self.ctx.layouts.default(left.operand.shape)
        self.ctx.recorder.add(Access(there.load, "tiles", layout, Vectors(layout)))
        return self.by_tiles(there)

    def _where_it_lies(self, direct: Register | None, hot: Callable[[], Sequence[Register]],
                       cold: Callable[[], Sequence[Register]]) -> Sequence[Register]:
        """One of both ways, if there are two."""
        if direct is None:
            return hot()
        return one_of(self.ctx, direct, "is the left operand multiplied where it lies?", ("hot", hot),
                      ("cold", cold))

"""tt.dot on private arrays: the form for devices where one work-item runs a whole program.

The operands are staged once, in the type that is computed in (operand.py). A micro kernel keeps a tile of
the result in registers, rows x vectors, over the whole of K; the target says how large a tile its registers
hold. An accumulator that nothing else reads is updated where it stands, and so is one that is computed from
such an array element by element, as the rescaled accumulator of attention.

Where the target has tile registers, or instructions that sum neighbours along K, they are used
(tile_registers.py, grouped.py). Elsewhere
products of 8-bit integers are summed as floats, which every processor multiplies fast: 1024 of them stay
below 2 ** 24, where f32 counts exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from ...facts.running_sums import sums_from_zero
from ...ir.model import FloatType, IntegerType, Operation, Type, Value, bits_of
from ...layout import Layout
from ...spirv.builder import I32
from ...spirv.control import if_
from ...spirv.module import Value as Register
from ..addresses.masks import one_of
from ..context import Context, StepLoop
from ..intel.matrix_unit import product_on_matrix_unit
from ..memory.prefetch import SpreadFetches
from ..plan.accesses import Access, Vectors
from ..plan.records import Product
from ..registry import RULES, lowers
from ..values.tensor import Deferred, Fragment, Stored, Tensor, Uniform
from ..values.types import element_of, shape_of
from .cooperative import grid_of, product_in_matrices
from .decide import in_turn, plan_in_arrays, staging_for_tiles, staging_of_left, staging_of_right
from .destination import destination_of
from .fma import product_in_lanes
from .grouped import Grouped, grouped, grouped_for_tiles
from .in_memory import InMemory, in_memory
from .last_round import Straight, is_last_round, straight_to_memory
from .micro_kernel import Kernel, multiply
from .operand import Block, Operand, Plain, compute_before, stage_left, stage_right
from .pairs import NormalSums, either_way, pairs
from .tile_registers import COLUMNS, SIDE, Tiling, by_rows, in_rows, in_tiles
from .tiles import Tiles
from .zeroed_sums import clear, is_first_round

F32 = FloatType("f32")


@lowers("tt.dot")
def dot(ctx: Context, op: Operation, a: Tensor, b: Tensor, c: Tensor) -> Stored | Fragment | Tiles:
    """a [..., M, K] x b [..., K, N] + c [..., M, N]; narrow floats are exact products summed in f32, integers
    wrap. `inputPrecision` and `maxNumImpreciseAcc` allow less precision than this has."""
    grid = grid_of(ctx, op)
    if grid is not None:
        return product_in_matrices(ctx, op, grid, a, b, c)
    result = element_of(op.results[0].type)
    if "ts.left" in op.attributes:
        return product_on_matrix_unit(ctx, op, a, b, c)
    on_tiles = product_on_tile_registers(ctx, op, a, b, c)
    if on_tiles is not None:
        return on_tiles
    found = grouped(ctx, a, b, result)
    if found is not None and found[2] == "bf16" and not ctx.kernel.options.fast_math:
        watched = pairs(ctx, *found[:2])
        if watched is not None:
            return product_of_pairs(ctx, op, watched, c)
    elif found is not None:
        return product(ctx, op, found[0], found[1], c, found[2])
    compute = compute_type(element_of(op.a.type), result)
    return product(ctx, op, Plain(a, compute), Plain(b, compute), c)


def compute_type(operand: Type, accumulator: Type) -> Type:
    """The type that products are summed in: every float up to f32 and 8-bit integers in f32."""
    if str(accumulator) == "f64" or (isinstance(accumulator, IntegerType) and bits_of(operand) > 8):
        return accumulator
    return F32


def product(ctx: Context, op: Operation, left: Operand, right: Operand, c: Tensor, form: str = ""
            ) -> Stored | Fragment:
    """left x right + c for any operands; `op` has an operand `c` and one result. `form`: that of the groups
    that the operands are in."""
    if ctx.layouts.of(op.results[0].type).lane:
        return product_in_lanes(ctx, op, left, right, c)
    plan = plan_in_arrays(ctx, op, left, form, added=not _is_zero(c))
    kernel = kernel_of(ctx, plan, left)
    fetches = _fetches(kernel, op)
    found = in_memory(ctx, op, left)
    if found is not None:
        return product_in_memory(ctx, plan, kernel, left, right, c, fetches, *found)
    plan, a, b = staged(ctx, plan, left, right, fetches, fetches is not None)
    ctx.recorder.add(plan)
    result = Result.of(ctx, op, kernel, c, _read_meanwhile(ctx, right, b))
    return result.bound(ctx, result.compute(ctx, kernel, a, b, fetches))


def product_in_memory(ctx: Context, plan: Product, kernel: Kernel, left: Operand, right: Operand,
                      c: Tensor, fetches: SpreadFetches | None, a: InMemory,
                      whole: Register | None) -> Stored | Fragment:
    """The same for a left operand that is multiplied where it lies in memory, if `whole` holds."""
    op = plan.operation
    layout = ctx.layouts.default(left.shape)
    inputs = left.inputs(layout)
    compute_before(ctx, op, inputs)
    if fetches is not None:
        fetches.takes(ctx, inputs, len(layout.step))
    panel = panel_of(plan, kernel.width)
    second = staging_of_right(ctx, right)
    if fetches is not None:
        second = in_turn(ctx, plan, right, second, panel)
    b = stage_right(ctx, op, right, second, panel, fetches)
    ctx.recorder.add(replace(plan, staging=("in memory", second)))
    result = Result.of(ctx, op, kernel, c, [*inputs, *_read_meanwhile(ctx, right, b)])

    def in_place() -> list[Register]:
        ctx.recorder.add(Access(a.load, "one by one", layout, Vectors(layout)))
        return result.compute(ctx, kernel, a, b, fetches)

    def by_rows() -> list[Register]:
        return result.compute(ctx, kernel, stage_left(ctx, op, left, "by rows", fetches, tested=True), b)
    if whole is None:
        return result.bound(ctx, in_place())
    return result.bound(ctx, one_of(ctx, whole, "is all of the left operand in memory?",
                                    ("hot", in_place), ("cold", by_rows)))


def product_of_pairs(ctx: Context, op: Operation, watched: tuple[Grouped, Grouped], c: Tensor
                     ) -> Stored | Fragment:
    """The same for operands of bf16 that are watched while they are staged: where the instruction would clear
    something, pairs are taken apart."""
    plan = plan_in_arrays(ctx, op, watched[0], "bf16", added=not _is_zero(c))
    kernel = kernel_of(ctx, plan, watched[0])
    fetches = _fetches(kernel, op)
    plan, a, b = staged(ctx, plan, *watched, fetches)
    ctx.recorder.add(plan)
    result = Result.of(ctx, op, kernel, c, _read_meanwhile(ctx, watched[1], b))
    fast, exact = replace(kernel, apart=True), replace(kernel, split=True)
    return result.bound(ctx, either_way(ctx, *watched, lambda: result.compute(ctx, fast, a, b, fetches),
                                        lambda: result.compute(ctx, exact, a, b)))


def product_on_tile_registers(ctx: Context, op: Operation, a: Tensor, b: Tensor, c: Tensor) -> Stored | None:
    """a x b + c where the target's tile registers multiply that, else None. Operands of bf16 are watched
    while they are staged: where tile registers would clear something, pairs are taken apart."""
    found = grouped_for_tiles(ctx, a, b, element_of(op.results[0].type))
    if found is None:
        return None
    left, right, form = found
    exact = form == "bf16" and not ctx.kernel.options.fast_math
    watched = pairs(ctx, left, right) if exact else (left, right)
    if watched is None:
        return None
    zero = _is_zero(c)
    plan = plan_in_arrays(ctx, op, left, form, added=not zero, most=COLUMNS)
    kernel = kernel_of(ctx, plan, left)
    first, second = staging_for_tiles(ctx, watched[0], SIDE), staging_of_right(ctx, watched[1])
    panel = plan.tile[1]
    normal = NormalSums.of(ctx) if exact and not zero and sums_from_zero(op) else None
    tiling = Tiling.of(left, form, panel, exact and normal is None)
    # Nobody fetches ahead: tiles are loaded as fast as memory gives lines, so each line that is fetched
    # meanwhile delays them, and staging reads long rows, which the processor foresees.
    fetches = SpreadFetches(shares=1)
    in_place = None if exact or ctx.env.watch_global is not None else \
        in_memory(ctx, op, left.operand, integers=True)
    if in_place is not None:
        first = "in memory"
        layout = ctx.layouts.default(left.operand.shape)
        compute_before(ctx, op, left.operand.inputs(layout))
    x = stage_left(ctx, op, watched[0], first, fetches, tile=SIDE) if in_place is None else None
    y = stage_right(ctx, op, watched[1], second, panel, fetches)
    result = ctx.arrays.allocate(c.shape, c.element) if zero else accumulator(ctx, op, c)
    begins = is_first_round(ctx, op)
    tile = *tiling.block, tiling.words
    ctx.recorder.add(Product(op, "tile registers", tile, (first, second), form, begins=begins is not None))
    ctx.recorder.reads(y.stored, None)
    if not zero:
        ctx.recorder.reads(result, None)
    ctx.recorder.writes(result, None)
    read = [] if in_place is None else left.operand.inputs(layout)
    straight = None if zero else straight_to_memory(ctx, op, result, read)
    # Only this product looks at the sums, and the last round leaves them elsewhere.
    tiled = straight.whole if straight is not None and begins is not None and tiling.rows == SIDE else None

    def by_tiles(a: Block | InMemory) -> Sequence[Register]:
        if isinstance(a, Block):
            ctx.recorder.reads(a.stored, None)
        tiling.multiply(ctx, a, y, result, not zero, begins, straight, tiled)
        return ()

    def exactly(a: Block) -> Sequence[Register]:
        if normal is not None:
            normal.end(ctx)
        if begins is not None:
            with if_(ctx.b.module, begins):
                clear(ctx, result)
        if tiled is not None and begins is not None:
            with if_(ctx.b.module, ctx.b.logical_and(tiled, ctx.b.logical_not(begins))):
                in_rows(ctx, result, result.shape[-1])
        multiply(ctx, replace(kernel, split=True), by_rows(ctx, a), y, result, not zero, straight=straight)
        if tiled is not None:
            with if_(ctx.b.module, tiled):
                in_tiles(ctx, result, result.shape[-1])
        return ()

    def where_it_lies(a: InMemory) -> Sequence[Register]:
        ctx.recorder.add(Access(a.load, "tiles", layout, Vectors(layout)))
        return by_tiles(a)
    if in_place is not None:
        there, whole = in_place
        if whole is None:
            where_it_lies(there)
        else:
            one_of(ctx, whole, "is all of the left operand in memory?", ("hot", lambda: where_it_lies(there)),
                   ("cold", lambda: by_tiles(stage_left(ctx, op, left, "by rows", fetches, tested=True))))
    elif exact:
        assert x is not None
        either_way(ctx, *watched, lambda: by_tiles(x), lambda: exactly(x),
                   None if normal is None else normal.hold(ctx))
    else:
        assert x is not None
        by_tiles(x)
    if straight is not None:
        if tiled is not None and straight.compares:
            last = ctx.b.logical_and(is_last_round(ctx, straight.found.loop), ctx.b.logical_not(straight.now))
            with if_(ctx.b.module, ctx.b.logical_and(tiled, last)):
                in_rows(ctx, result, result.shape[-1])
        straight.end(ctx)
    return result


def _fetches(kernel: Kernel, op: Operation) -> SpreadFetches | None:
    """What the loops of the product fetch for the next round; None where each walk does it itself."""
    shape = shape_of(op.results[0].type)
    in_registers = prod(shape) == kernel.rows * kernel.vectors * kernel.width
    shares = kernel.shares(shape)
    return SpreadFetches(shares) if shares > 1 and not in_registers else None


def _is_zero(tensor: Tensor) -> bool:
    return isinstance(tensor, Uniform) and tensor.scalar.constant == 0


def _read_meanwhile(ctx: Context, right: Operand, b: Block) -> list[tuple[Tensor, Layout]]:
    """What is read of the right operand while tiles are multiplied."""
    return right.inputs(ctx.layouts.default(right.shape)) if b.pack is not None else []


def kernel_of(ctx: Context, plan: Product, left: Operand) -> Kernel:
    """The innermost loop of a product."""
    shape, element = shape_of(plan.operation.results[0].type), element_of(plan.operation.results[0].type)
    rows, columns, _ = plan.tile
    width = min(shape[-1], ctx.target.vector_width)
    compute = element if plan.form else left.target
    return Kernel(left.target, compute, element, width, left.shape[-1], rows, columns // width, plan.turn,
                  plan.form)


def staged(ctx: Context, plan: Product, left: Operand, right: Operand,
           fetches: SpreadFetches | None, may_wait: bool = False) -> tuple[Product, Block, Block]:
    """Both operands as the innermost loop reads them, and the plan with where they lie. may_wait: panels of
    the right one may be packed when they are multiplied."""
    op = plan.operation
    first = staging_of_left(left)
    a = stage_left(ctx, op, left, first, fetches)
    panel = panel_of(plan, min(shape_of(op.results[0].type)[-1], ctx.target.vector_width))
    second = staging_of_right(ctx, right)
    if may_wait:
        second = in_turn(ctx, plan, right, second, panel)
    b = stage_right(ctx, op, right, second, panel, fetches)
    return replace(plan, staging=(first, second)), a, b


def panel_of(plan: Product, width: int) -> int:
    """Columns of a panel of the right operand: those of a tile where they are a power of two, else one
    vector, and a tile reads several panels."""
    columns = plan.tile[1]
    return columns if columns & columns - 1 == 0 else width


@dataclass(frozen=True)
class Result:
    """Where a product goes: into registers, if one tile is all of it, or into an array. old: what it is added
    to, if that is in registers; accumulate: if there is anything. begins: do
    tiles begin with zero all the same? straight: how they leave the array out."""

    layout: Layout
    element: Type
    array: Stored | None
    old: Sequence[Register] | None
    accumulate: bool
    operation: Operation
    begins: Register | None = None
    straight: Straight | None = None

    @staticmethod
    def of(ctx: Context, op: Operation, kernel: Kernel, c: Tensor, read: Sequence[tuple[Tensor, Layout]]
           ) -> Result:
        """For a product of these tiles on top of c; read: what is read while they are multiplied."""
        shape, element = shape_of(op.results[0].type), element_of(op.results[0].type)
        zero = _is_zero(c)
        layout = ctx.layouts.default(shape)
        one_tile = layout.registers == kernel.rows * kernel.vectors and layout.width == kernel.width
        if one_tile and layout.steps == 1:
            old = None if zero else [
                ctx.b.splat(x, kernel.width) for x in ctx.evaluation.registers(c, layout)]
            return Result(layout, element, None, old, not zero, op)
        if zero:
            return Result(layout, element, ctx.arrays.allocate(shape, element), None, False, op)
        array = accumulator(ctx, op, c)
        begins = is_first_round(ctx, op)
        straight = straight_to_memory(ctx, op, array, read)
        return Result(layout, element, array, None, True, op, begins, straight)

    def compute(self, ctx: Context, kernel: Kernel, a: Block | InMemory, b: Block,
                fetches: SpreadFetches | None = None) -> list[Register]:
        """Multiply; the registers, if it goes there."""
        for operand in (a, b):
            if isinstance(operand, Block) and operand.pack is None:
                ctx.recorder.reads(operand.stored, None)
        if self.array is not None:
            if self.accumulate:
                ctx.recorder.reads(self.array, None)
            ctx.recorder.writes(self.array, None)
            behind = destination_of(ctx, self.operation)
            multiply(ctx, kernel, a, b, self.array, self.accumulate, fetches, behind,
                     self.begins, self.straight)
            return []
        origin = ctx.b.constant(I32, 0)
        left = a.origin(ctx, origin, origin)
        return kernel.run(ctx, a, b, left, origin, self.old, kernel.offsets(ctx, b, origin))

    def bound(self, ctx: Context, registers: Sequence[Register]) -> Stored | Fragment:
        """The tensor, of which everything is computed."""
        if self.straight is not None:
            self.straight.end(ctx)
        return self.array or Fragment(self.layout, self.element, tuple(registers))


# --- accumulators -------------------------------------------------------------------------------------------


def accumulator(ctx: Context, op: Operation, c: Tensor) -> Stored:
    """An array of the dot's own with the elements of c: the array that c is made of, where nothing else needs
    it, or a new one."""
    known = overwritable(ctx, op, op.c, c)
    if isinstance(c, Deferred) and c.evaluated is not None:
        c = c.evaluated
    if known is not None and known is c:
        array = replace(known)
        ctx.recorder.renames(known, array)
        return array
    array = replace(known) if known is not None else ctx.arrays.allocate(c.shape, c.element)
    layout = ctx.layouts.default(c.shape)
    walk = ctx.walks.plan(op, [(c, layout)])
    with StepLoop(ctx.walks, len(layout.step)):
        ctx.arrays.write(array, ctx.evaluation.fragment(c, layout))
    ctx.walks.finish(walk)
    return array


def overwritable(ctx: Context, op: Operation, value: Value, bound: object) -> Stored | None:
    """The array that `value` is, or is computed from element by element, if `op` is the last to need it."""
    if len(value.uses) != 1 or not ctx.target.optimises("array-reuse"):
        return None
    if isinstance(bound, Deferred) and bound.evaluated is None:
        if RULES[bound.operation.name].kind != "elementwise":
            return None
        below = zip(bound.operation.operands, bound.operands, strict=True)
        found = [overwritable(ctx, op, operand, each) for operand, each in below]
        fitting = [x for x in found if x is not None and (x.shape, x.element) == (bound.shape, bound.element)]
        return fitting[0] if fitting else None
    if isinstance(bound, Deferred):
        return bound.evaluated if isinstance(bound.evaluated, Stored) and _is_inside(op, value) else None
    if not isinstance(bound, Stored) or not _is_inside(op, value):
        return None
    return bound if value.defining_op is None or _makes_array(value.defining_op) else None


def _makes_array(op: Operation) -> bool:
    """Is an array that it results in its own, which a product may overwrite?"""
    return op.has("product") or op.has("carries")


def _is_inside(op: Operation, value: Value) -> bool:
    """Is the value made in the block of `op`? Any other is needed again by the next iteration."""
    return (value.owner if value.defining_op is None else value.defining_op.parent) is op.parent

"""tt.dot on private arrays: the form for devices where one work-item runs a whole program.

The operands are staged once, in the type that is computed in (operand.py). A micro kernel keeps a tile of
the result in registers, rows x vectors, over the whole of K; the target says how large a tile its registers
hold. An accumulator that nothing else reads is updated where it stands, and so is one that is computed from
such an array element by element, as the rescaled accumulator of attention.

Where the target has tile registers, or instructions that sum neighbours along K, they are used
(tile_product.py, grouped.py). Elsewhere products of 8-bit integers are summed as floats, which every
processor multiplies fast: 1024 of them stay below 2 ** 24, where f32 counts exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from ...dataclass import dataclass
from ...ir.model import FloatType, IntegerType, Operation, Type, bits_of
from ...layout import Layout
from ...spirv.builder import I32
from ...spirv.module import Value as Register
from ..addresses.masks import one_of
from ..context import Context
from ..intel.matrix_unit import product_on_matrix_unit
from ..memory.prefetch import SpreadFetches
from ..plan.accesses import Access, Vectors
from ..plan.records import Product
from ..registry import lowers
from ..values.tensor import Fragment, Stored, Tensor
from ..values.types import element_of, shape_of
from .accumulators import accumulator, is_zero
from .cooperative import grid_of, product_in_matrices
from .decide import in_turn, plan_in_arrays, staging_of_left, staging_of_right
from .destination import destination_of
from .edges import Edges, edges_of
from .fma import product_in_lanes
from .grouped import Grouped, grouped, grouped_for_tiles
from .in_memory import InMemory, in_memory
from .in_place import in_place
from .inner_products import inner_products
from .last_round import Straight, straight_to_memory
from .micro_kernel import Kernel, kernel_of
from .one_row import OneRow
from .operand import Block, Operand, Plain, compute_before, stage_left, stage_right
from .pairs import either_way, pairs
from .panels import multiply, multiply_few
from .rounds import Rounds
from .row_in_place import row_in_place
from .tile_product import Begun, normal_sums, product_on_tile_registers
from .tiles import Tiles
from .waiting_rounds import rounds_of
from .zeroed_sums import is_first_round

F32 = FloatType("f32")

#: Rows of a tile whose left operand lies in memory, at most, in tiles of one vector: each has an address, and
#: x86-64 has sixteen registers for these and for everything else.
ROWS_IN_MEMORY = 8


@lowers("tt.dot")
def dot(ctx: Context, op: Operation, a: Tensor, b: Tensor, c: Tensor) -> Stored | Fragment | Tiles:
    """a [..., M, K] x b [..., K, N] + c [..., M, N]; narrow floats are exact products summed in f32, integers
    wrap. `inputPrecision` and `maxNumImpreciseAcc` allow less precision than this has."""
    grid = grid_of(ctx, op)
    if grid is not None:
        return product_in_matrices(ctx, op, grid, a, b, c)
    if "ts.left" in op.attributes:
        return product_on_matrix_unit(ctx, op, a, b, c)
    of_one_row = row_by_columns(ctx, op, a, b, c)
    if of_one_row is not None:
        return of_one_row
    on_tiles = product_on_tile_registers(ctx, op, a, b, c)
    return whole_product(ctx, op, a, b, c) if on_tiles is None else on_tiles


def whole_product(ctx: Context, op: Operation, a: Tensor, b: Tensor, c: Tensor, into: Result | None = None
                  ) -> Stored | Fragment:
    """a x b + c in the type, or by the instructions, that suit it; into: where it goes, if that is known."""
    result = element_of(op.results[0].type)
    found = grouped(ctx, a, b, result)
    if found is not None and found[2] == "bf16" and not ctx.kernel.options.fast_math:
        watched = pairs(ctx, *found[:2])
        if watched is not None:
            return product_of_pairs(ctx, op, watched, c, into)
    elif found is not None:
        return product(ctx, op, found[0], found[1], c, found[2], into=into)
    compute = compute_type(element_of(op.a.type), result)
    return product(ctx, op, Plain(a, compute), Plain(b, compute), c, into=into)


def row_by_columns(ctx: Context, op: Operation, a: Tensor, b: Tensor, c: Tensor) -> Stored | None:
    """The same where nothing but the first row is stored, which is found out when the kernel runs; None where
    it never is, or the right operand is put into panels even so."""
    if ctx.layouts.of(op.results[0].type).lane:
        return None
    found = inner_products(ctx, op, a, b) or row_in_place(ctx, op, a, b)
    if found is None:
        return None
    if grouped_for_tiles(ctx, a, b, F32) is not None:
        return _row_or_tiles(ctx, op, a, b, c, found)
    read = [(x, ctx.layouts.default(x.shape)) for x in (a, b)]
    kernel = kernel_of(ctx, plan_in_arrays(ctx, op, found.left, added=not is_zero(c)), found.left)
    into = Result.of(ctx, op, kernel, c, read, in_array=True)
    assert into.array is not None
    found.unless(ctx, into.array, into.accumulate, into.begins,
                 lambda: whole_product(ctx, op, a, b, c, into))
    return into.array


def _row_or_tiles(ctx: Context, op: Operation, a: Tensor, b: Tensor, c: Tensor, found: OneRow
                  ) -> Stored:
    """The same where tile registers multiply what is no row. These would clear denormal sums."""
    begun = Begun.of(ctx, op, c, normal_sums(ctx, op, a, c))

    def on_tiles() -> None:
        made = product_on_tile_registers(ctx, op, a, b, c, begun)
        assert made is begun.array  # operands of a vector of words and more
    found.unless(ctx, begun.array, begun.accumulate, begun.begins, on_tiles, begun.normal)
    return begun.array


def compute_type(operand: Type, accumulator: Type) -> Type:
    """The type that products are summed in: every float up to f32 and 8-bit integers in f32."""
    if str(accumulator) == "f64" or (isinstance(accumulator, IntegerType) and bits_of(operand) > 8):
        return accumulator
    return F32


def product(ctx: Context, op: Operation, left: Operand, right: Operand, c: Tensor, form: str = "",
            all_terms: bool = False, into: Result | None = None) -> Stored | Fragment:
    """left x right + c for any operands; `op` has an operand `c` and one result. `form`: that of the groups
    that the operands are in. all_terms: of zeros that both operands' masks give, too. into: where it goes, if
    that is known."""
    if ctx.layouts.of(op.results[0].type).lane:
        return product_in_lanes(ctx, op, left, right, c)
    plan = plan_in_arrays(ctx, op, left, form, added=not is_zero(c))
    kernel = kernel_of(ctx, plan, left, None if all_terms else right)
    fetches = _fetches(kernel, op)
    found = in_memory(ctx, op, left)
    if found is not None:
        return product_in_memory(ctx, plan, kernel, left, right, c, fetches, *found, into)
    ctx.later_uses.computes_for_all(op)
    plan, a, b = staged(ctx, plan, left, right, fetches, fetches is not None)
    ctx.recorder.add(_with_edges(ctx, plan, kernel))
    result = into or Result.of(ctx, op, kernel, c, _read_meanwhile(ctx, right, b))
    return result.bound(ctx, result.compute(ctx, kernel, a, b, fetches, right))


def product_in_memory(ctx: Context, plan: Product, kernel: Kernel, left: Operand, right: Operand,
                      c: Tensor, fetches: SpreadFetches | None, a: InMemory,
                      whole: Register | None, into: Result | None) -> Stored | Fragment:
    """The same for a left operand that is multiplied where it lies in memory, if `whole` holds."""
    op = plan.operation
    plan = replace(plan, narrow=min(plan.narrow, ROWS_IN_MEMORY))
    layout = ctx.layouts.default(left.tensor.shape)
    inputs = [(left.tensor, layout)]
    compute_before(ctx, op, inputs)
    panel = panel_of(plan, kernel.width)
    second = staging_of_right(ctx, right)
    if fetches is not None:
        second = in_turn(ctx, plan, right, second, panel)
    joined = None if into is not None else rounds_of(ctx, op, plan, a, left, right, whole, panel)
    kept = None if joined is None else joined.kept
    if kept is not None:
        second = staging_of_right(ctx, right)
    b = stage_right(ctx, op, right, second, panel, fetches) if kept is None else kept.block
    elsewhere = None if fetches is None else replace(fetches, walks=list(fetches.walks))
    if fetches is not None:
        fetches.takes(ctx, inputs, len(layout.step))
    plan = replace(plan, staging=("in memory", second), keeps=kept is not None)
    if joined is not None:
        plan = replace(plan, tile=(joined.rows, *plan.tile[1:]), joins=joined.waiting.most, parts=1)
    ctx.recorder.add(_with_edges(ctx, plan, kernel))
    result = into or Result.of(ctx, op, kernel, c, [*inputs, *_read_meanwhile(ctx, right, b)])

    def in_place() -> list[Register]:
        ctx.recorder.add(Access(a.load, "one by one", layout, Vectors(layout)))
        return result.compute(ctx, replace(kernel, narrow=plan.narrow), a, b, fetches)

    def by_rows(result: Result = result) -> list[Register]:
        staged = stage_left(ctx, op, left, "by rows", elsewhere, tested=True)
        fetched = elsewhere if ctx.target.fetches_at_edges else None
        return result.compute(ctx, replace(kernel, narrow=0, fewer=0, parts=1), staged, b, fetched, right)
    if joined is not None:
        apart = replace(result, straight=joined.apart_from(ctx, result.straight))

        def together(rounds: Rounds, right: Block, begins: Register, last: Register) -> Sequence[Register]:
            ctx.recorder.add(Access(a.load, "one by one", layout, Vectors(layout)))
            tile = replace(kernel, rows=joined.rows, narrow=plan.narrow)
            return apart.joined(ctx, tile, rounds, right, begins, last)

        def alone() -> Sequence[Register]:
            return by_rows(apart)
        return apart.bound(ctx, joined.multiply(ctx, together, alone))
    if whole is None:
        return result.bound(ctx, in_place())
    return result.bound(ctx, one_of(ctx, whole, "is all of the left operand in memory?",
                                    ("hot", in_place), ("cold", by_rows)))


def product_of_pairs(ctx: Context, op: Operation, watched: tuple[Grouped, Grouped], c: Tensor,
                     into: Result | None = None) -> Stored | Fragment:
    """The same for operands of bf16 that are watched while they are staged: where the instruction would clear
    something, pairs are taken apart."""
    plan = plan_in_arrays(ctx, op, watched[0], "bf16", added=not is_zero(c))
    kernel = kernel_of(ctx, plan, *watched)
    fetches = _fetches(kernel, op)
    plan, a, b = staged(ctx, plan, *watched, fetches)
    ctx.recorder.add(_with_edges(ctx, plan, kernel))
    result = into or Result.of(ctx, op, kernel, c, _read_meanwhile(ctx, watched[1], b))
    fast, exact = replace(kernel, apart=True), replace(kernel, split=True, narrow=0, fewer=0, parts=1)
    return result.bound(ctx, either_way(ctx, *watched, lambda: result.compute(ctx, fast, a, b, fetches),
                                        lambda: result.compute(ctx, exact, a, b)))


def _fetches(kernel: Kernel, op: Operation) -> SpreadFetches | None:
    """What the loops of the product fetch for the next round; None where each walk does it itself."""
    shares = kernel.shares(shape_of(op.results[0].type))
    return SpreadFetches(shares) if shares > 1 and not _is_one_tile(kernel, op) else None


def _is_one_tile(kernel: Kernel, op: Operation) -> bool:
    return prod(shape_of(op.results[0].type)) == kernel.rows * kernel.columns


def _with_edges(ctx: Context, plan: Product, kernel: Kernel) -> Product:
    """The plan with what is left out."""
    edges = not _is_one_tile(kernel, plan.operation) and edges_of(ctx, plan.operation) is not None
    return replace(plan, edges=edges, ends=kernel.terms is not None)


def _read_meanwhile(ctx: Context, right: Operand, b: Block) -> list[tuple[Tensor, Layout]]:
    """What is read of the right operand while tiles are multiplied."""
    return right.inputs(ctx.layouts.default(right.shape)) if b.pack is not None else []


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
    tiles begin with zero all the same? straight: how they leave the array out. edges: what is left out."""

    layout: Layout
    element: Type
    array: Stored | None
    old: Sequence[Register] | None
    accumulate: bool
    operation: Operation
    begins: Register | None = None
    straight: Straight | None = None
    edges: Edges | None = None

    @staticmethod
    def of(ctx: Context, op: Operation, kernel: Kernel, c: Tensor, read: Sequence[tuple[Tensor, Layout]],
           in_array: bool = False) -> Result:
        """For a product of these tiles on top of c; read: what is read while they are multiplied; in_array:
        even if one tile is all of it."""
        shape, element = shape_of(op.results[0].type), element_of(op.results[0].type)
        zero = is_zero(c)
        layout = ctx.layouts.default(shape)
        one_tile = layout.registers == kernel.rows * kernel.vectors and layout.width == kernel.width
        if one_tile and layout.steps == 1 and not in_array:
            old = None if zero else [
                ctx.b.splat(x, kernel.width) for x in ctx.evaluation.registers(c, layout)]
            return Result(layout, element, None, old, not zero, op)
        if zero:
            array = ctx.arrays.allocate(shape, element)
            straight = straight_to_memory(ctx, op, array, read)
            return Result(layout, element, array, None, False, op, None, straight, edges_of(ctx, op))
        array = accumulator(ctx, op, c)
        begins = is_first_round(ctx, op)
        straight = straight_to_memory(ctx, op, array, read)
        return Result(layout, element, array, None, True, op, begins, straight, edges_of(ctx, op))

    def compute(self, ctx: Context, kernel: Kernel, a: Block | InMemory, b: Block,
                fetches: SpreadFetches | None = None, right: Operand | None = None) -> list[Register]:
        """Multiply; the registers, if it goes there. right: what b is packed from, if it may be multiplied
        where it lies."""
        for operand in (a, b):
            if isinstance(operand, Block) and operand.pack is None:
                ctx.recorder.reads(operand.stored, None)
        if self.array is not None:
            if self.accumulate:
                ctx.recorder.reads(self.array, None)
            ctx.recorder.writes(self.array, None)
            return self._multiply(ctx, kernel, a, b, self.array, fetches, right)
        origin = ctx.b.constant(I32, 0)
        left = a.origin(ctx, origin, origin)
        return kernel.run(ctx, a, b, left, origin, self.old, kernel.offsets(ctx, b, origin))

    def joined(self, ctx: Context, kernel: Kernel, rounds: Rounds, b: Block, begins: Register, last: Register
               ) -> list[Register]:
        """Rounds of a loop, multiplied together; begins: is the first of the loop among them? last: is this
        round?"""
        assert self.array is not None
        deep = replace(kernel, terms=None, parts=1)
        straight = self.straight
        if straight is not None:
            straight = replace(straight, now=ctx.b.logical_and(straight.now, last))
        ctx.recorder.reads(self.array, None)
        ctx.recorder.writes(self.array, None)
        multiply(ctx, deep, rounds, b, self.array, self.accumulate, None, destination_of(ctx, self.operation),
                 None if self.begins is None else begins, straight, self.edges)
        return []

    def _multiply(self, ctx: Context, kernel: Kernel, a: Block | InMemory, b: Block, array: Stored,
                  fetches: SpreadFetches | None, right: Operand | None) -> list[Register]:
        """Into the array."""
        size, edges = (array.shape[-2], array.shape[-1]), self.edges

        def packed() -> list[Register]:
            multiply(ctx, kernel, a, b, array, self.accumulate, fetches, destination_of(ctx, self.operation),
                     self.begins, self.straight, edges)
            return []
        found = None if right is None else in_place(ctx, self.operation, right, b, edges, size, kernel.rows)
        if found is None or edges is None:
            return packed()

        def where_it_lies(rows: int) -> list[Register]:
            found.record(ctx)
            fit = kernel.rows * kernel.vectors // rows
            wide = min(array.shape[-1] // kernel.width, 1 << fit.bit_length() - 1)
            multiply_few(ctx, replace(kernel, rows=rows, vectors=wide, parts=1), a, found, array,
                         self.accumulate, self.begins, edges)
            return []

        def one_of_them(few: Sequence[tuple[int, Register]]) -> list[Register]:
            if not few:
                return packed()
            (rows, test), *others = few
            return one_of(ctx, test, f"is nothing stored but {rows} rows?",
                          ("right operand in place", lambda: where_it_lies(rows)),
                          ("others", lambda: one_of_them(others)))
        return one_of_them(found.few)

    def bound(self, ctx: Context, registers: Sequence[Register]) -> Stored | Fragment:
        """The tensor, of which everything is computed."""
        if self.straight is not None:
            self.straight.end(ctx)
        return self.array or Fragment(self.layout, self.element, tuple(registers))

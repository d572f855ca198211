"""The micro kernel: a tile of a product, in registers over the whole of K, and the loops around it.

Rows of a pass and vectors of a panel that tiles do not divide are left to smaller ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

from ...ir.model import IntegerType, Type
from ...layout import log2
from ...spirv.builder import I32, with_width
from ...spirv.control import IfElse, if_
from ...spirv.module import Value as Register
from ..arithmetic.cast import to_float
from ..context import Context
from ..memory.prefetch import SpreadFetches
from ..plan.records import Product
from ..values.tensor import Stored
from ..values.types import element_of, register_type, shape_of
from .destination import Destination
from .edges import Edges, Place, terms
from .in_memory import InMemory
from .last_round import Straight
from .loops import counted
from .operand import Block, Operand
from .pairs import halves

#: So many products of two 8-bit integers have a sum that f32 holds exactly: 2 ** 24 / (128 * 128).
EXACT_PRODUCTS = 1024

#: So many sums over each column of a panel are made side by side: each addition takes some cycles.
CHAINS = 4


def multiply(ctx: Context, kernel: Kernel, a: Block | InMemory, b: Block, result: Stored, accumulate: bool,
             fetches: SpreadFetches | None = None, behind: Destination | None = None,
             begins: Register | None = None, straight: Straight | None = None,
             edges: Edges | None = None) -> None:
    """result [..., M, N] (+)= a x b, tile by tile: panels of b outside, so that one stays in the cache while
    the rows of a pass by. What whole tiles leave over is computed in smaller ones. A share of the fetches is
    made for each tile, where all are alike, else for each panel. begins: a scalar
    Bool, do tiles begin with zero all the same? straight: where they go instead, if they may. edges: what is
    left out."""
    rows, columns = result.shape[-2:]
    shared = fetches if fetches is not None and fetches.shares > 1 else None
    by_panels = rows % kernel.rows != 0
    tiles = _Tiles(ctx, a, b, result, accumulate, None if by_panels else shared, behind, begins, straight,
                   edges)
    with counted(ctx, prod(result.shape[:-2])) as batch:
        for vectors, start, count in parts(columns // kernel.width, kernel.vectors):
            with counted(ctx, count) as loop:
                panel = ctx.b.iadd(ctx.b.imul(batch.index, count), loop.index)
                if by_panels and shared is not None:
                    shared.fetch(ctx, panel)
                width = vectors * kernel.width
                column = ctx.b.iadd(ctx.b.imul(loop.index, width), start * kernel.width)
                tiles.panel(replace(kernel, vectors=vectors), kernel.rows, panel, batch.index, column)


def parts(size: int, step: int) -> list[tuple[int, int, int]]:
    """A size in steps, and what they leave over: (step, start, how many)."""
    whole, left = divmod(size, step)
    found = [(step, 0, whole)] if whole else []
    return [*found, (left, whole * step, 1)] if left else found


@dataclass(frozen=True)
class _Tiles:
    """What `multiply` says, of one panel at a time. A place is (batch, row, column)."""

    ctx: Context
    a: Block | InMemory
    b: Block
    result: Stored
    accumulate: bool
    fetches: SpreadFetches | None
    behind: Destination | None
    begins: Register | None
    straight: Straight | None
    edges: Edges | None

    def panel(self, kernel: Kernel, height: int, number: Register, batch: Register, column: Register) -> None:
        """All tiles of so many rows in the columns from one on."""
        ctx, (rows, _) = self.ctx, self.result.shape[-2:]

        def each(tile: Callable[[Kernel, Register, Register, int], None]) -> None:
            for size, above, passes in parts(rows, height):
                with counted(ctx, passes) as down:
                    row = ctx.b.iadd(ctx.b.imul(down.index, size), above)
                    share = ctx.b.iadd(ctx.b.imul(number, passes), down.index)
                    tile(replace(kernel, rows=size), row, share, above)

        def multiplied() -> None:
            if self.b.pack is not None:
                self.b.pack(number)
            right = ctx.b.iadd(ctx.b.imul(batch, self.b.batch), self.b.column(ctx, column))
            offsets = kernel.offsets(ctx, self.b, right)

            def tile(kernel: Kernel, row: Register, share: Register, above: int) -> None:
                if self.fetches is not None:
                    self.fetches.fetch(ctx, share)
                place = batch, row, column
                self._or_clear(place, (kernel.rows, kernel.columns), above,
                               lambda: self._tile(kernel, place, right, offsets),
                               lambda: self._clear(kernel, place))
            each(tile)
        first = batch, ctx.b.constant(I32, 0), column
        self._or_clear(first, (rows, kernel.columns), 0, multiplied,
                       lambda: each(lambda kernel, row, *_: self._clear(kernel, (batch, row, column))))

    def _or_clear(self, place: Place, size: tuple[int, int], above: int, multiplied: Callable[[], None],
                  clear: Callable[[], None]) -> None:
        """Multiply, but for what is known not to be stored. If nothing is there yet, that is zero."""
        ctx = self.ctx
        left_out = None if self.edges is None else self.edges.left_out(ctx, place[1:], size, above)
        if left_out is None:
            return multiplied()
        branch = IfElse(ctx.b.module, left_out)
        with branch.then():
            if not self.accumulate:
                clear()
            elif self.begins is not None:
                with if_(ctx.b.module, self.begins):
                    clear()
        with branch.otherwise():
            ctx.scopes.open()
            multiplied()
            ctx.scopes.close()

    def _places(self, kernel: Kernel, place: Place) -> tuple[Register, list[int]]:
        """Where a tile lies in the array of sums: its first element, and how far behind it each vector is."""
        builder, (rows, columns) = self.ctx.b, self.result.shape[-2:]
        batch, row, column = place
        above = builder.iadd(builder.imul(batch, rows * columns), builder.imul(row, columns))
        offsets = [i * columns + j * kernel.width for i in range(kernel.rows) for j in range(kernel.vectors)]
        return builder.iadd(above, column), offsets

    def _clear(self, kernel: Kernel, place: Place) -> None:
        """Zeros for a tile that is left out."""
        self._keep(kernel, place, [self._zero(kernel)] * (kernel.rows * kernel.vectors))

    def _keep(self, kernel: Kernel, place: Place, values: Sequence[Register]) -> None:
        first, offsets = self._places(kernel, place)
        for each, value in zip(offsets, values, strict=True):
            self.ctx.env.private_store(self.result.array, self.result.width, first, value, each)

    def _zero(self, kernel: Kernel) -> Register:
        return self.ctx.b.constant(with_width(register_type(self.result.element), kernel.width), 0)

    def _tile(self, kernel: Kernel, place: Place, right: Register, offsets: Sequence[Register]) -> None:
        """One tile of the result; right: where its columns begin in b."""
        ctx, result, straight = self.ctx, self.result, self.straight
        if self.behind is not None:
            self.behind.fetch(ctx, place, kernel.rows, kernel.columns)

        def before() -> list[Register]:
            first, places = self._places(kernel, place)
            element = register_type(result.element)
            return [ctx.env.private_load(result.array, result.width, element, first, kernel.width, each)
                    for each in places]
        old: list[Register] | None = None
        if self.accumulate and self.begins is None:
            old = before()
        elif self.accumulate and self.begins is not None:
            branch = IfElse(ctx.b.module, self.begins)
            with branch.then():
                branch.yield_([self._zero(kernel)] * (kernel.rows * kernel.vectors))
            with branch.otherwise():
                branch.yield_(before())
            old = branch.results
        made = kernel.run(ctx, self.a, self.b, self.a.origin(ctx, *place[:2]), right, old, offsets)
        if straight is None:
            return self._keep(kernel, place, made)
        branch = IfElse(ctx.b.module, straight.now)
        with branch.then():
            straight.store(ctx, place, made, kernel.rows, kernel.width)
        with branch.otherwise():
            self._keep(kernel, place, made)


@dataclass(frozen=True)
class Kernel:
    """The innermost loop: a tile of `rows` x `vectors` of the result, in registers over the whole of K.

    operand: the type of operands in their arrays; compute: that of sums; element: that of the result; width:
    components of a vector; depth: the size of K, in groups; turn: steps along it in one turn of the loop;
    form: of the groups, "" for single elements;
    terms: how many groups along K make a difference, where only the launch knows (I32);
    apart: products are summed on their own, and added to what there was (f32) at the end; split: pairs of
    bf16 are multiplied one after the other.
    """

    operand: Type
    compute: Type
    element: Type
    width: int
    depth: int
    rows: int
    vectors: int
    turn: int
    form: str = ""
    terms: Register | None = None
    apart: bool = False
    split: bool = False

    @property
    def columns(self) -> int:
        return self.vectors * self.width

    def shares(self, shape: tuple[int, ...]) -> int:
        """In how many shares `multiply` makes fetches, for a result [..., M, N]; 1: in none."""
        columns = shape[-1] // self.width
        if columns % self.vectors:
            return 1
        panels = prod(shape[:-2]) * (columns // self.vectors)
        return panels if shape[-2] % self.rows else panels * (shape[-2] // self.rows)

    def run(self, ctx: Context, a: Block | InMemory, b: Block, left: Register, right: Register,
            old: Sequence[Register] | None, offsets: Sequence[Register]) -> list[Register]:
        """The tile, in vectors of the result's type, on top of `old`, and of `offsets` in every row; left and
        right: where k = 0 is."""
        zeros = [self._zero(ctx)] * (self.rows * self.vectors)
        if isinstance(self.element, IntegerType) and not isinstance(self.compute, IntegerType):
            return self._run_exactly(ctx, a, b, left, right, old, zeros)
        start = zeros
        if old is not None and not self.apart:
            start = [_convert(ctx, x, self.element, self.compute) for x in old]
        if offsets:
            start = [ctx.b.iadd(x, offsets[i % self.vectors]) for i, x in enumerate(start)]
        sums = self._sum(ctx, a, b, left, right, self._depth, start)
        if self.apart and old is not None:
            return [ctx.b.binary("OpFAdd", x, y) for x, y in zip(sums, old, strict=True)]
        return [_convert(ctx, x, self.compute, self.element) for x in sums]

    def offsets(self, ctx: Context, b: Block, right: Register) -> list[Register]:
        """What makes up for the 128 that was added to the left operand of VPDPBUSD: -128 times the sums over
        the columns of the panel at `right`."""
        if self.form != "i8":
            return []
        builder = ctx.b
        ones = builder.constant(with_width(I32, self.width), 0x01010101)
        chains = min(CHAINS, self.depth & -self.depth)
        zeros = [self._zero(ctx)] * (chains * self.vectors)
        with counted(ctx, self.depth, chains, carried=zeros) as loop:
            first = builder.iadd(right, builder.imul(loop.index, b.depth))
            vectors = [x for k in range(chains)
                       for x in self._vectors(ctx, b, first, k)]
            loop.yield_([ctx.env.sum_products(self.form, ones, y, x)
                         for x, y in zip(loop.carried, vectors, strict=True)])
        sums = list(loop.results)
        while len(sums) > self.vectors:
            half = len(sums) // 2
            sums = [builder.iadd(x, y) for x, y in zip(sums[:half], sums[half:], strict=True)]
        return [builder.imul(x, -128) for x in sums]

    @property
    def _depth(self) -> Register | int:
        return self.depth if self.terms is None else self.terms

    def _zero(self, ctx: Context) -> Register:
        return ctx.b.constant(with_width(register_type(self.compute), self.width), 0)

    def _vectors(self, ctx: Context, b: Block, first: Register, k: int) -> list[Register]:
        """The panel's vectors of one k: so many behind that whose first element is known."""
        element = register_type(self.operand)
        return [ctx.env.private_load(b.array, b.width, element, first, self.width, k * b.depth + j * b.across)
                for j in range(self.vectors)]

    def _run_exactly(self, ctx: Context, a: Block | InMemory, b: Block, left: Register, right: Register,
                     old: Sequence[Register] | None, zeros: Sequence[Register]) -> list[Register]:
        """Integers: sums as floats for as long as they are exact, added up as integers."""
        builder = ctx.b
        integer = register_type(self.element)
        if self.depth <= EXACT_PRODUCTS:
            sums = self._sum(ctx, a, b, left, right, self._depth, zeros)
            whole = [builder.convert("OpConvertFToS", x, integer) for x in sums]
            return whole if old is None else [builder.iadd(x, y) for x, y in zip(whole, old, strict=True)]
        nothing = builder.constant(with_width(integer, self.width), 0)
        with counted(ctx, self.depth, EXACT_PRODUCTS, carried=old or [nothing] * len(zeros)) as loop:
            from_left = a.along(ctx, left, loop.index)
            from_right = builder.iadd(right, builder.imul(loop.index, b.depth))
            sums = self._sum(ctx, a, b, from_left, from_right, EXACT_PRODUCTS, zeros)
            loop.yield_([builder.iadd(builder.convert("OpConvertFToS", x, integer), y)
                         for x, y in zip(sums, loop.carried, strict=True)])
        return list(loop.results)

    def _sum(self, ctx: Context, a: Block | InMemory, b: Block, left: Register, right: Register,
             depth: Register | int, start: Sequence[Register]) -> list[Register]:
        """The loop over k; its accumulators are phis."""
        builder = ctx.b
        with counted(ctx, depth, self.turn, carried=start) as loop:
            sums = list(loop.carried)
            row = a.along(ctx, left, loop.index)
            vector = builder.iadd(right, builder.imul(loop.index, b.depth))
            for k in range(self.turn):
                vectors = self._vectors(ctx, b, vector, k)
                for i in range(self.rows):
                    factor = builder.splat(a.element(ctx, row, i, k), self.width)
                    for j, y in enumerate(vectors):
                        n = i * self.vectors + j
                        sums[n] = self._multiply_add(ctx, factor, y, sums[n])
            loop.yield_(sums)
        return list(loop.results)


    def _multiply_add(self, ctx: Context, x: Register, y: Register, z: Register) -> Register:
        """x * y + z; floats are fused."""
        if self.split:
            for left, right in zip(halves(ctx, x), halves(ctx, y), strict=True):
                z = ctx.env.multiply_add(left, right, z)
            return z
        if self.form:
            return ctx.env.sum_products(self.form, x, y, z)
        return ctx.env.multiply_add(x, y, z)


def _convert(ctx: Context, value: Register, source: Type, target: Type) -> Register:
    return value if source == target else to_float(ctx, value, source, target)


def kernel_of(ctx: Context, plan: Product, left: Operand, right: Operand | None = None) -> Kernel:
    """The innermost loop of a product; right: the other operand, if terms of both may be left out."""
    shape, element = shape_of(plan.operation.results[0].type), element_of(plan.operation.results[0].type)
    rows, columns, _ = plan.tile
    width = min(shape[-1], ctx.target.vector_width)
    compute = element if plan.form else left.target
    found = None
    if right is not None:
        group = left.tensor.shape[-1] // left.shape[-1]
        found = terms(ctx, left.tensor, right.tensor, plan.turn * group)
        found = None if found is None else ctx.b.lshr(found, log2(group))
    return Kernel(left.target, compute, element, width, left.shape[-1], rows, columns // width, plan.turn,
                  plan.form, found)

"""The micro kernel: a tile of a product, in registers over the whole of K.

The loops around it are in panels.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ...dataclass import dataclass
from ...ir.model import IntegerType, Type
from ...layout import log2
from ...spirv.builder import I32, with_width
from ...spirv.module import Value as Register
from ..arithmetic.cast import to_float
from ..context import Context
from ..plan.records import Product
from ..values.types import element_of, register_type, shape_of
from .edges import terms
from .in_memory import InMemory
from .in_place import InPlace
from .loops import counted
from .operand import Block, Operand
from .pairs import halves
from .rounds import AHEAD, Rounds

#: So many products of two 8-bit integers have a sum that f32 holds exactly: 2 ** 24 / (128 * 128).
EXACT_PRODUCTS = 1024

#: So many sums over each column of a panel are made side by side: each addition takes some cycles.
CHAINS = 4


@dataclass(frozen=True)
class Kernel:
    """The innermost loop: a tile of `rows` x `vectors` of the result, in registers over the whole of K.

    operand: the type of operands in their arrays; compute: that of sums; element: that of the result; width:
    components of a vector; depth: the size of K, in groups; turn: steps along it in one turn of the loop;
    form: of the groups, "" for single elements;
    terms: how many groups along K make a difference, where only the launch knows (I32);
    apart: products are summed on their own, and added to what there was (f32) at the end; split: pairs of
    bf16 are multiplied one after the other; narrow: rows of tiles that are one vector wide, 0 for none;
    fewer: vectors of tiles of which a quarter is left out, 0 for none; parts: those of the loop over K
    between which lines are fetched, if any are.
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
    narrow: int = 0
    fewer: int = 0
    parts: int = 1

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

    def run(self, ctx: Context, a: Block | InMemory | Rounds, b: Block | InPlace, left: Register,
            right: Register, old: Sequence[Register] | None, offsets: Sequence[Register],
            between: Callable[[Register], None] | None = None) -> list[Register]:
        """The tile, in vectors of the result's type, on top of `old`, and of `offsets` in every row; left and
        right: where k = 0 is; between: called with the number of each part of the loop over K, before it."""
        zeros = [self._zero(ctx)] * (self.rows * self.vectors)
        if isinstance(self.element, IntegerType) and not isinstance(self.compute, IntegerType):
            assert not isinstance(a, Rounds)  # a left operand of f32 in memory has sums of f32
            return self._run_exactly(ctx, a, b, left, right, old, zeros)
        start = zeros
        if old is not None and not self.apart:
            start = [_convert(ctx, x, self.element, self.compute) for x in old]
        if offsets:
            start = [ctx.b.iadd(x, offsets[i % self.vectors]) for i, x in enumerate(start)]
        sums = self._sum(ctx, a, b, left, right, self._depth, start, between)
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

    def _down(self, ctx: Context, b: Block | InPlace, place: Register, k: Register) -> Register:
        """So many steps along K behind a place of the right operand."""
        if isinstance(b, InPlace):
            return b.down(ctx, place, k)
        return ctx.b.iadd(place, ctx.b.imul(k, b.depth))

    def _vectors(self, ctx: Context, b: Block | InPlace, first: Register, k: int) -> list[Register]:
        """The panel's vectors of one k: so many behind that whose first element is known."""
        if isinstance(b, InPlace):
            return b.vectors(ctx, first, k, self.vectors, self.width)
        element = register_type(self.operand)
        return [ctx.env.private_load(b.array, b.width, element, first, self.width, k * b.depth + j * b.across)
                for j in range(self.vectors)]

    def _run_exactly(self, ctx: Context, a: Block | InMemory, b: Block | InPlace, left: Register,
                     right: Register, old: Sequence[Register] | None, zeros: Sequence[Register]
                     ) -> list[Register]:
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
            from_right = self._down(ctx, b, right, loop.index)
            sums = self._sum(ctx, a, b, from_left, from_right, EXACT_PRODUCTS, zeros)
            loop.yield_([builder.iadd(builder.convert("OpConvertFToS", x, integer), y)
                         for x, y in zip(sums, loop.carried, strict=True)])
        return list(loop.results)

    def _sum(self, ctx: Context, a: Block | InMemory | Rounds, b: Block | InPlace, left: Register,
             right: Register, depth: Register | int, start: Sequence[Register],
             between: Callable[[Register], None] | None = None) -> list[Register]:
        """The loop over k, in parts if anything happens between them."""
        if isinstance(a, Rounds):
            return self._over_rounds(ctx, a, b, left, right, start)
        if between is None or self.parts == 1:
            return self._part(ctx, a, b, left, right, depth, start)
        builder, step = ctx.b, self.depth // self.parts
        with counted(ctx, depth, step, carried=start) as loop:
            ctx.scopes.open()
            between(builder.lshr(loop.index, log2(step)))
            ctx.scopes.close()
            size: Register | int = step
            if isinstance(depth, Register):
                rest = builder.isub(depth, loop.index)
                all_of_it = builder.compare("OpSGreaterThan", rest, step)
                size = builder.select(all_of_it, builder.constant(I32, step), rest)
            from_left = a.along(ctx, left, loop.index)
            from_right = self._down(ctx, b, right, loop.index)
            loop.yield_(self._part(ctx, a, b, from_left, from_right, size, loop.carried))
        return list(loop.results)

    def _over_rounds(self, ctx: Context, rounds: Rounds, b: Block | InPlace, row: Register, right: Register,
                     start: Sequence[Register]) -> list[Register]:
        """The same over all k of several rounds; row: of the tile."""
        builder, nothing = ctx.b, ctx.b.constant(I32, 0)
        ahead = AHEAD if ctx.target.optimises("prefetch") else 0
        with counted(ctx, rounds.count, carried=start) as loop:
            a = rounds.of(ctx, loop.index)
            from_right = builder.iadd(right, builder.imul(loop.index, rounds.elements))
            from_left = a.origin(ctx, nothing, row)
            loop.yield_(self._part(ctx, a, b, from_left, from_right, self.depth, loop.carried, ahead))
        return list(loop.results)

    def _part(self, ctx: Context, a: Block | InMemory, b: Block | InPlace, left: Register, right: Register,
              depth: Register | int, start: Sequence[Register], ahead: int = 0) -> list[Register]:
        """So many steps along k; the accumulators are phis. ahead: steps after which lines of the right
        operand are fetched, if any are."""
        builder = ctx.b
        with counted(ctx, depth, self.turn, carried=start) as loop:
            sums = list(loop.carried)
            row = a.along(ctx, left, loop.index)
            vector = self._down(ctx, b, right, loop.index)
            for k in range(self.turn):
                if ahead and isinstance(b, Block):
                    for j in range(self.vectors):
                        ctx.env.private_prefetch(b.array, b.width, vector, self.width,
                                                 (k + ahead) * b.depth + j * b.across)
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
                  plan.form, found, narrow=plan.narrow, fewer=plan.fewer // width, parts=plan.parts)

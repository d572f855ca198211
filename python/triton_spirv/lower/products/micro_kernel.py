"""The loops of a product on private arrays: tile by tile of the result, each in registers over the whole of
K."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ...ir.model import IntegerType, Type
from ...spirv.builder import I32, with_width
from ...spirv.module import Value as Register
from ..arithmetic.cast import to_float
from ..context import Context
from ..values.tensor import Stored
from ..values.types import register_type
from .loops import counted
from .operand import Block
from .pairs import halves

#: So many products of two 8-bit integers have a sum that f32 holds exactly: 2 ** 24 / (128 * 128).
EXACT_PRODUCTS = 1024


def multiply(ctx: Context, kernel: Kernel, a: Block, b: Block, result: Stored, accumulate: bool) -> None:
    """result [..., M, N] (+)= a x b, tile by tile: panels of b outside, so that one stays in the cache while
    the rows of a pass by."""
    builder, env = ctx.b, ctx.env
    rows, columns = result.shape[-2:]
    width, element = kernel.width, register_type(result.element)
    panel = kernel.vectors * width

    def at(index: Register, stride: int, base: Register | int = 0) -> Register:
        return builder.iadd(builder.imul(index, stride), base)

    with counted(ctx, prod(result.shape[:-2])) as batch, counted(ctx, columns // panel) as across:
        right = at(batch.index, b.batch, at(across.index, b.outer))
        offsets = kernel.offsets(ctx, b, right)
        with counted(ctx, rows // kernel.rows) as down:
            row = at(down.index, kernel.rows)
            first = at(batch.index, rows * columns, at(row, columns, at(across.index, panel)))
            places = [builder.iadd(first, i * columns + j * width)
                      for i in range(kernel.rows) for j in range(kernel.vectors)]
            old = [env.private_load(result.array, result.width, element, place, width) for place in places] \
                if accumulate else None
            left = at(batch.index, a.batch, at(row, a.outer))
            made = kernel.run(ctx, a, b, left, right, old, offsets)
            for place, value in zip(places, made, strict=True):
                env.private_store(result.array, result.width, place, value)


@dataclass(frozen=True)
class Kernel:
    """The innermost loop: a tile of `rows` x `vectors` of the result, in registers over the whole of K.

    held: the type of operands in their arrays; compute: that of sums; element: that of the result; width:
    components of a vector; depth: the size of K, in groups; turn: steps along it in one turn of the loop;
    form: of the groups, "" for single elements;
    apart: products are summed on their own, and added to what there was (f32) at the end; split: pairs of
    bf16 are multiplied one after the other.
    """

    held: Type
    compute: Type
    element: Type
    width: int
    depth: int
    rows: int
    vectors: int
    turn: int
    form: str = ""
    apart: bool = False
    split: bool = False

    def run(self, ctx: Context, a: Block, b: Block, left: Register, right: Register,
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
        sums = self._sum(ctx, a, b, left, right, self.depth, start)
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
        with counted(ctx, self.depth, carried=[self._zero(ctx)] * self.vectors) as loop:
            vectors = self._vectors(ctx, b, builder.iadd(right, builder.imul(loop.index, b.depth)))
            loop.yield_([ctx.env.sum_products(self.form, ones, y, x)
                         for x, y in zip(loop.carried, vectors, strict=True)])
        return [builder.imul(x, -128) for x in loop.results]

    def _zero(self, ctx: Context) -> Register:
        return ctx.b.constant(with_width(register_type(self.compute), self.width), 0)

    def _vectors(self, ctx: Context, b: Block, first: Register) -> list[Register]:
        """The panel's vectors of one k."""
        element = register_type(self.held)
        places = [ctx.b.iadd(first, j * self.width) for j in range(self.vectors)]
        return [ctx.env.private_load(b.array, b.width, element, place, self.width) for place in places]

    def _run_exactly(self, ctx: Context, a: Block, b: Block, left: Register, right: Register,
                     old: Sequence[Register] | None, zeros: Sequence[Register]) -> list[Register]:
        """Integers: sums as floats for as long as they are exact, added up as integers."""
        builder = ctx.b
        integer = register_type(self.element)
        if self.depth <= EXACT_PRODUCTS:
            sums = self._sum(ctx, a, b, left, right, self.depth, zeros)
            whole = [builder.convert("OpConvertFToS", x, integer) for x in sums]
            return whole if old is None else [builder.iadd(x, y) for x, y in zip(whole, old, strict=True)]
        nothing = builder.constant(with_width(integer, self.width), 0)
        with counted(ctx, self.depth, EXACT_PRODUCTS, carried=old or [nothing] * len(zeros)) as loop:
            from_left = builder.iadd(left, builder.imul(loop.index, a.depth))
            from_right = builder.iadd(right, builder.imul(loop.index, b.depth))
            sums = self._sum(ctx, a, b, from_left, from_right, EXACT_PRODUCTS, zeros)
            loop.yield_([builder.iadd(builder.convert("OpConvertFToS", x, integer), y)
                         for x, y in zip(sums, loop.carried, strict=True)])
        return list(loop.results)

    def _sum(self, ctx: Context, a: Block, b: Block, left: Register, right: Register, depth: int,
             start: Sequence[Register]) -> list[Register]:
        """The loop over k; its accumulators are phis."""
        builder, env = ctx.b, ctx.env
        element = register_type(self.held)
        with counted(ctx, depth, self.turn, carried=start) as loop:
            sums = list(loop.carried)
            row = builder.iadd(left, builder.imul(loop.index, a.depth))
            vector = builder.iadd(right, builder.imul(loop.index, b.depth))
            for k in range(self.turn):
                vectors = self._vectors(ctx, b, builder.iadd(vector, k * b.depth))
                for i in range(self.rows):
                    place = builder.iadd(row, i * a.outer + k * a.depth)
                    factor = builder.splat(env.private_load(a.array, a.width, element, place, 1), self.width)
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

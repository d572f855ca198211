"""A vector times a matrix whose columns are contiguous in memory, as inner products, where the matrix lies.

A block of tl.dot has 16 rows at least. If a vector is multiplied with a matrix, the mask of the store leaves
out all rows but the first. Where the weights of a network lie row by row, [N, K], the block [K, N] of them is
contiguous along K: to put it into panels takes 64 shuffles for 16 columns and 16 steps along K, and what
there is to do is to read it. So then vectors along K are multiplied where they lie, by those of the one row,
and summed in registers, one for each of as many columns as a vector has components:

    sums[j] += row[k : k + 16] * column j [k : k + 16]       j = 0 .. 15, over the block's K
    total[0, j : j + 16] += the sum of each of sums[0 .. 15]

Elements of 16 bits become f32 on the way, where the packed form may have instructions that sum pairs. Numbers
are added in another order than there. Lines of the next round are asked for meanwhile, into the second cache.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.model import Operation
from ...layout import Layout, log2, row_major
from ...spirv.builder import I64, with_width
from ...spirv.module import Value as Register
from ..context import Context
from ..memory.prefetch import LINE, next_round
from ..values.tensor import Affine, Pointers, Stored, Tensor
from ..values.types import register_type, storage_bytes
from .grouped import VECTOR
from .loops import counted
from .one_row import F32, OneRow, found_in_memory, wide
from .operand import Plain, converted


class InnerProducts(OneRow):
    name = "inner products"

    def vectors(self, ctx: Context, most: int) -> int:
        return 1

    def sums(self, ctx: Context, row: Stored, columns: Sequence[Register]) -> Sequence[Register]:
        b, env, across = ctx.b, ctx.env, wide(ctx, self.found.across)
        first = env.offset(self.found.first(ctx), b.imul(b.resize(columns[0], I64.width), across))
        places = [env.offset(first, b.imul(across, j)) for j in range(ctx.target.vector_width)]
        return [sum_of_each(ctx, self._along(ctx, row, places))]

    def _along(self, ctx: Context, row: Stored, columns: Sequence[Register]) -> Sequence[Register]:
        """The products of the row with as many columns, in a vector for each: over K."""
        b, env, width, element = ctx.b, ctx.env, ctx.target.vector_width, self.found.load.element
        turn = min(max(1, LINE // (width * storage_bytes(element))), row.shape[0] // width)
        zero = b.constant(with_width(register_type(F32), width), -0.0)  # to which x adds up to x, also if -0
        with counted(ctx, row.shape[0], turn * width, carried=[zero] * len(columns)) as along:
            sums, k = list(along.carried), b.resize(along.index, I64.width)
            places = [env.offset(column, k) for column in columns]
            steps = range(0, turn * width, width)
            factors = [env.private_load(row.array, row.width, register_type(F32), along.index, width, step)
                       for step in steps]
            for j, place in enumerate(places):  # all of a line: the next one may take its place in the cache
                for step, x in zip(steps, factors, strict=True):
                    loaded = env.load(env.offset(place, b.constant(I64, step)), width)
                    sums[j] = env.multiply_add(x, converted(ctx, loaded, element, F32), sums[j])
                if self.ahead is not None:
                    env.prefetch(env.offset(place, self.ahead), soon=False)
            along.yield_(sums)
        return along.results


def inner_products(ctx: Context, op: Operation, a: Tensor, b: Tensor) -> InnerProducts | None:
    """`op`, a [M, K] x b [K, N] in f32, in this form; None where b does not lie in memory so, or no test says
    that nothing but the first row is stored."""
    found = found_in_memory(ctx, op, a, b, 0) if ctx.target.optimises("inner-products") else None
    if found is None:
        return None
    ahead = None
    if ctx.target.fetches_at_edges:  # as in_place.py
        ahead = next_round(ctx, found.load.operation, found.pointers, _lines(found.pointers))
    return InnerProducts(found, Plain(a, F32), ahead)


def _lines(pointers: Pointers) -> Layout:
    """Of a matrix that is contiguous along one dimension: a line at a time, or less."""
    assert isinstance(pointers.affine, Affine)
    axis = pointers.affine.strides.index(1)
    bits, low = row_major(pointers.shape, 1).register, 0 if axis else log2(pointers.shape[1])
    component = bits[low:low + log2(min(VECTOR, pointers.shape[axis]))]
    return Layout(pointers.shape, component, (), tuple(basis for basis in bits if basis not in component))


def sum_of_each(ctx: Context, vectors: Sequence[Register]) -> Register:
    """A vector whose component i is the sum of the components of vector i, of as many vectors of f32 as each
    has components. Two vectors become one with half as many terms for each, by two shuffles: of each 128 bits
    first, as instructions shuffle these for themselves, then of these as a whole."""
    b, found, width = ctx.b, list(vectors), len(vectors)
    inside = min(width, 4)
    for size in (*[1] * log2(inside), *[inside] * log2(width // inside)):
        # groups of `size` components: the even ones of both vectors, and the odd ones
        halves = [[g * size + c for g in range(odd, 2 * width // size, 2) for c in range(size)]
                  for odd in (0, 1)]
        if size == 1:
            halves = [_by_quarters(half, width) for half in halves]
        found = [b.binary("OpFAdd", *(b.shuffle(x, y, half) for half in halves))
                 for x, y in zip(found[::2], found[1::2], strict=True)]
    (made,) = found
    return made


def _by_quarters(components: Sequence[int], width: int) -> list[int]:
    """Every other component of x and then of y, put in the order in which each 128 bits take two of both."""
    x, y = components[:width // 2], components[width // 2:]
    return [c for at in range(0, width // 2, 2) for c in (*x[at:at + 2], *y[at:at + 2])]

"""A vector times a matrix of 16-bit elements whose rows are contiguous in memory, where the matrix lies.

Each k multiplies a row of the matrix by one number. So vectors of that row become f32 as they are loaded, and
are summed in registers over the block's K, as many side by side as registers hold:

    sums[j] += row[k] * matrix[k, 16 j : 16 j + 16]       j = 0 .. 15

A matrix of f32 is multiplied so with several rows, too (in_place.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.model import Operation
from ...spirv.builder import I64, with_width
from ...spirv.module import Value as Register
from ..context import Context
from ..memory.prefetch import LINE, next_round
from ..values.tensor import Stored, Tensor
from ..values.types import register_type, storage_bytes
from .loops import counted
from .one_row import F32, OneRow, found_in_memory, wide
from .operand import Plain, converted


class RowInPlace(OneRow):
    name = "row times rows in place"

    def vectors(self, ctx: Context, most: int) -> int:
        height, across = ctx.target.accumulators
        return min(most, 1 << (height * across).bit_length() - 1)

    def sums(self, ctx: Context, row: Stored, columns: Sequence[Register]) -> Sequence[Register]:
        b, env, width, element = ctx.b, ctx.env, ctx.target.vector_width, self.found.load.element
        first = env.offset(self.found.first(ctx), b.resize(columns[0], I64.width))
        kind = register_type(F32)
        zero = b.constant(with_width(kind, width), -0.0)  # to which x adds up to x, also if -0
        with counted(ctx, row.shape[0], carried=[zero] * len(columns)) as along:
            factor = b.splat(env.private_load(row.array, row.width, kind, along.index, 1), width)
            there = env.offset(first, b.imul(b.resize(along.index, I64.width), wide(ctx, self.found.down)))
            if self.ahead is not None:
                for column in range(0, len(columns) * width, LINE // storage_bytes(element)):
                    env.prefetch(env.offset(there, b.iadd(self.ahead, column)), soon=False)
            sums = list(along.carried)
            for j in range(len(columns)):
                loaded = env.load(env.offset(there, b.constant(I64, j * width)), width)
                sums[j] = env.multiply_add(factor, converted(ctx, loaded, element, F32), sums[j])
            along.yield_(sums)
        return along.results


def row_in_place(ctx: Context, op: Operation, a: Tensor, b: Tensor) -> RowInPlace | None:
    """`op`, a [M, K] x b [K, N] in f32, in this form; None where b does not lie in memory so, or no test says
    that nothing but the first row is stored."""
    if not ctx.target.optimises("tiles") or str(b.element) not in ("f16", "bf16"):
        return None
    found = found_in_memory(ctx, op, a, b, 1)
    if found is None:
        return None
    ahead = None
    if ctx.target.fetches_at_edges:  # as in_place.py
        ahead = next_round(ctx, found.load.operation, found.pointers, ctx.layouts.default(found.load.shape))
    return RowInPlace(found, Plain(a, F32), ahead)

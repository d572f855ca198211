"""What of a product needs no computing at the edge of a matrix: tiles that are not stored, and terms that are
zero.

    y = load(b, mask=(k < K - done) & (n < N), other=0)
    total = dot(x, y, total)
    store(c, total, mask=(m < M) & (n < N))

A block at the edge has rows and columns that the mask of the store leaves out. If nothing else asks for the
sums, tiles of these are not multiplied in any round, and stay zero, or what they were
(facts/destinations.py says of which stores that is so). In the last round terms may lie beyond the end of
both operands: zero times zero. Innermost loops end behind the first of them; it stays, since it makes 0 of
-0, as all of them do. Whether a window of a mask is false everywhere is one comparison or two
(addresses/masks.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import copysign

from ...dataclass import dataclass
from ...facts.destinations import only_store
from ...ir.model import Operation
from ...layout import Layout, log2
from ...spirv.builder import I32
from ...spirv.control import IfElse
from ...spirv.module import Value as Register
from ..addresses.masks import all_false, is_provable, is_proven
from ..context import Context
from ..registry import parts_of_load
from ..values.tensor import Deferred, Tensor, Uniform
from ..values.types import shape_of
from .accumulators import is_zero
from .loops import counted

#: Windows along K that are asked for, at most.
WINDOWS = 16

#: Windows of rows that a tile is made of, at most.
PARTS = 8


@dataclass(frozen=True)
class Edges:
    """The mask [..., M, N] of the store of a product."""

    mask: Tensor

    def left_out(self, ctx: Context, place: tuple[Register, Register], size: tuple[int, int],
                 above: int = 0) -> Register | None:
        """A scalar Bool that implies that nothing of so many rows and columns, from a row and a column on, is
        stored; None where none is known. Columns are a multiple of their size, and rows one of theirs behind
        the first `above`."""
        b, (row, column), (height, width) = ctx.b, place, size
        step = height | above
        step &= -step
        if width & width - 1 or height // step > PARTS:
            return None
        shape = self.mask.shape
        layout = window(shape, step, width)
        columns = b.lshr(column, log2(width)), log2(shape[-1] // width)
        tests = []
        for start in range(0, height, step):
            rows = b.lshr(b.iadd(row, start), log2(step)), log2(shape[-2] // step)
            test = _all_false(ctx, self.mask, layout, [columns, rows])
            if test is None:
                return None
            tests.append(test)
        return reduce(b.logical_and, tests)


def edges_of(ctx: Context, op: Operation) -> Edges | None:
    """Those of a product; None where all of it may be asked for."""
    store = only_store(op)
    mask = None if store is None else ctx.bindings.frame.values.get(store.mask)
    if mask is None or isinstance(mask, Register) or not ctx.target.optimises("tiles"):
        return None
    shape = shape_of(op.results[0].type)
    layout = ctx.layouts.default(shape)
    if mask.shape != shape or is_proven(ctx, mask, layout) or not is_provable(mask, layout):
        return None
    return Edges(mask)


def window(shape: Sequence[int], rows: int, columns: int) -> Layout:
    """So many rows and columns at a time, of all batches; steps are columns and then rows."""
    width, height = log2(shape[-1]), log2(shape[-2])
    across, down = log2(columns), log2(rows)
    bits = [1 << bit for bit in range(sum(map(log2, shape)))]
    inside = bits[:across] + bits[width:width + down] + bits[width + height:]
    moving = bits[across:width] + bits[width + down:width + height]
    return Layout(tuple(shape), register=tuple(inside), step=tuple(moving))


def _all_false(ctx: Context, mask: Tensor, layout: Layout, numbers: list[tuple[Register, int]]
               ) -> Register | None:
    """Is a mask false in the window of these numbers of steps?"""
    pieces, ctx.indices.pieces = ctx.indices.pieces, numbers
    test = all_false(ctx, mask, layout)
    ctx.indices.pieces = pieces
    return test


def terms(ctx: Context, a: Tensor, b: Tensor, step: int) -> Register | None:
    """How many elements along K, a multiple of `step`, make a difference to a [..., M, K] x b [..., K, N];
    None where all of them do."""
    builder, depth = ctx.b, a.shape[-1]
    masks = [mask for mask in map(mask_of_zeros, (a, b)) if mask is not None]
    side = max(step, depth // WINDOWS)
    if len(masks) < 2 or depth <= side:
        return None
    layouts = window(a.shape, a.shape[-2], side), window(b.shape, side, b.shape[-1])
    bits, count = log2(depth // side), depth // side

    def zero(number: Register) -> Register | None:
        tests = [_all_false(ctx, mask, layout, [(number, bits)])
                 for mask, layout in zip(masks, layouts, strict=True)]
        return None if None in tests else builder.logical_and(*tests)  # type: ignore[arg-type]
    last = zero(builder.constant(I32, count - 1))
    if last is None:
        return None
    branch = IfElse(builder.module, last)
    with branch.then():
        with counted(ctx, count, carried=[builder.constant(I32, 0)]) as loop:
            is_zero_here = zero(loop.index)
            assert is_zero_here is not None
            behind = builder.imul(builder.iadd(loop.index, 1), side)
            loop.yield_([builder.select(is_zero_here, loop.carried[0], behind)])
        branch.yield_([builder.iadd(loop.results[0], step)])
    with branch.otherwise():
        branch.yield_([builder.constant(I32, depth)])
    return branch.results[0]


def mask_of_zeros(tensor: Tensor) -> Tensor | None:
    """The mask of a load which gives zero, and not -0, where it is false."""
    if not isinstance(tensor, Deferred) or not tensor.operation.has("loads"):
        return None
    _, mask, other = parts_of_load(tensor)
    if not isinstance(other, Uniform) or not is_zero(other) or other.scalar.constant is None:
        return None
    return mask if copysign(1, other.scalar.constant) == 1 else None

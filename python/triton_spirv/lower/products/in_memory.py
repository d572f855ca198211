"""A left operand that is read where it lies in global memory.

The innermost loop reads it one element at a time, whatever array that is in. To copy a block of it costs
a tenth of a product's time, most of it for the second cache. So a block of f32 or f64 that a load has, whose
rows are contiguous and whose address is linear in the indices, is multiplied where it is, by programs whose
masks are true everywhere, and where no remainder of an index begins again (addresses/remainders.py). Others
stage it (operand.py). So is one of pairs of bf16 that nobody has to watch.
Tile registers load rows of bytes and of bf16 so; what has to be watched (pairs.py) is looked through first.
"""

from __future__ import annotations

from functools import reduce

from ...dataclass import dataclass
from ...ir.model import FloatType, Operation
from ...spirv.builder import I32, I64
from ...spirv.module import Value as Register
from ...spirv.types import Bool
from ..addresses.masks import all_true, is_proven
from ..addresses.remainders import linear
from ..context import Context
from ..registry import parts_of_load
from ..values.tensor import Deferred
from .grouped import Grouped
from .operand import Operand, Plain

#: Bytes after which lines lie in the same set of the nearest cache again: of any with sets of pages.
SETS = 4096


@dataclass(frozen=True)
class InMemory:
    """Element (batch, row, k) is the one so many elements behind `pointer` as the indices times their strides
    add up to; with `count` above 1, so many from there on, as a word."""

    load: Operation
    pointer: Register
    batch: Register | int
    outer: Register | int
    depth: Register | int
    count: int = 1

    def origin(self, ctx: Context, batch: Register, row: Register) -> Register:
        """Where k = 0 of a row is."""
        moved = [_times(ctx, index, stride) for index, stride in ((batch, self.batch), (row, self.outer))]
        return ctx.env.offset(self.pointer, reduce(ctx.b.iadd, moved))

    def along(self, ctx: Context, origin: Register, k: Register) -> Register:
        """Where k is."""
        return ctx.env.offset(origin, _times(ctx, k, self.depth))

    def rows(self, ctx: Context, place: Register, row: int, k: int) -> tuple[Register, Register]:
        """A pointer to the element so many rows and steps along K behind a place, and the bytes from there to
        the next row."""
        outer = self.outer if isinstance(self.outer, Register) else ctx.b.constant(I64, self.outer)
        outer = ctx.b.resize(outer, I64.width)
        moved = ctx.b.iadd(ctx.b.imul(outer, row), k)
        return ctx.env.offset(place, moved), ctx.b.imul(outer, ctx.env.pointee_bytes(place))

    def is_spread(self, ctx: Context) -> Register:
        """A scalar Bool: do neighbouring rows lie in different sets of the nearest cache? Those of a tile are
        loaded together."""
        b, size = ctx.b, ctx.env.pointee_bytes(self.pointer)
        if isinstance(self.outer, int):
            return b.constant(Bool(), self.outer * size % SETS != 0)
        return b.compare("OpINotEqual", b.iand(b.imul(b.resize(self.outer, I64.width), size), SETS - 1), 0)

    def element(self, ctx: Context, place: Register, row: int, k: int) -> Register:
        """The one so many rows and steps along K behind a place."""
        moved = [_times(ctx, ctx.b.constant(I64, index), stride)
                 for index, stride in ((row, self.outer), (k, self.depth))]
        found = ctx.env.load(ctx.env.offset(place, reduce(ctx.b.iadd, moved)), self.count)
        return found if self.count == 1 else ctx.b.emit("OpBitcast", found, type=I32)


def _times(ctx: Context, index: Register, stride: Register | int) -> Register:
    return ctx.b.imul(ctx.b.resize(index, I64.width), stride)


def in_memory(ctx: Context, op: Operation, operand: Operand, integers: bool = False
              ) -> tuple[InMemory, Register | None] | None:
    """The left operand of `op` where it lies, and what must hold when the kernel runs, if anything; None for
    one that is staged."""
    count = 1
    if isinstance(operand, Grouped) and not operand.flipped:
        count, operand = operand.count, operand.operand
    if not isinstance(operand, Plain) or not (integers or isinstance(operand.target, FloatType)):
        return None
    load = operand.tensor
    if not isinstance(load, Deferred) or load.evaluated is not None or not load.operation.has("loads"):
        return None
    pointers, mask, _ = parts_of_load(load)
    if load.element != operand.target or load.operation.attributes.get("isVolatile") or \
            not ctx.target.optimises("tiles") or ctx.later_uses.needs(load, op):
        return None
    found = linear(ctx, load.operation, pointers)
    if found is None:
        return None
    base, affine, test = found
    strides = affine.strides
    if strides[-1] != 1 or load.shape[-1] == 1:
        return None
    layout = ctx.layouts.default(load.shape)
    if not is_proven(ctx, mask, layout):
        whole = all_true(ctx, mask, layout.without_steps())
        if whole is None:
            return None
        test = whole if test is None else ctx.b.logical_and(test, whole)
    first = ctx.env.offset(base, affine.base)
    batch = 0 if len(strides) == 2 else strides[0]
    return InMemory(load.operation, first, batch, strides[-2], count, count), test

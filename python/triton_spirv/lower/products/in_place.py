"""A right operand that is multiplied where it lies in global memory, where few rows of a block are stored.

A block of tl.dot has 16 rows at least. If a vector, or a few rows, is multiplied with a matrix, the mask of
the store leaves out all rows but one, or those of the first tile: each panel is multiplied once. To pack it
first takes longer than to multiply it, and what there is to do is to read the matrix. So then the innermost
loop reads vectors in memory, of a row as many as registers hold sums, and asks for those of the next round as
it goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ...dataclass import dataclass
from ...ir.model import Operation
from ...spirv.builder import I32, I64
from ...spirv.module import Value as Register
from ..context import Context
from ..memory.prefetch import LINE, next_round
from ..plan.accesses import Access, Vectors
from ..registry import parts_of_load
from ..values.tensor import Deferred, Pointers
from .edges import Edges
from .in_memory import InMemory, in_memory
from .operand import Block, Operand

#: Rows of a block that is multiplied so, at most: larger ones are for products that have more rows, and each
#: form takes the driver a tenth of a small kernel's time.
MOST = 32


@dataclass(frozen=True)
class InPlace:
    """Component (batch, k, column) of a right operand in memory. few: numbers of rows, ascending, and for
    each a scalar Bool, does all of the operand lie there, and is nothing stored but the first so many rows?
    ahead: how many elements on the next round reads (I64), if that is known."""

    there: InMemory
    few: Sequence[tuple[int, Register]]
    ahead: Register | None

    def first(self, ctx: Context, batch: Register, column: Register) -> Register:
        """Where k = 0 of a column is."""
        return self.there.along(ctx, self.there.origin(ctx, batch, ctx.b.constant(I32, 0)), column)

    def down(self, ctx: Context, place: Register, k: Register | int) -> Register:
        """So many steps along K behind a place."""
        b, outer = ctx.b, self.there.outer
        step = b.constant(I64, outer) if isinstance(outer, int) else b.resize(outer, I64.width)
        return ctx.env.offset(place, b.imul(step, k if isinstance(k, int) else b.resize(k, I64.width)))

    def vectors(self, ctx: Context, place: Register, k: int, count: int, width: int) -> list[Register]:
        """So many vectors side by side, k steps behind a place; those of the next round are fetched."""
        b, env, row = ctx.b, ctx.env, self.down(ctx, place, k)
        if self.ahead is not None:
            later = env.offset(row, self.ahead)
            for column in range(0, count * width, LINE // env.pointee_bytes(place)):
                env.prefetch(env.offset(later, b.constant(I64, column)), soon=False)
        return [env.load(env.offset(row, b.constant(I64, j * width)), width) for j in range(count)]

    def record(self, ctx: Context) -> None:
        """It is read here."""
        layout = ctx.layouts.of(self.there.load.results[0].type)
        ctx.recorder.add(Access(self.there.load, "plain", layout, Vectors(layout)))


def in_place(ctx: Context, op: Operation, right: Operand, packed: Block, edges: Edges | None,
             size: tuple[int, int], rows: int) -> InPlace | None:
    """The right operand of `op`, which else is packed panel by panel, for a result of so many rows and
    columns in tiles of so many `rows`; None where it does not lie in memory as it is multiplied, or where no
    test says that few rows are stored."""
    load, height = right.tensor, size[0]
    if packed.pack is None or edges is None or rows >= height or height > MOST:
        return None
    if ctx.env.watch_global is not None:
        return None
    found = in_memory(ctx, op, right)
    if found is None or found[0].count != 1 or not isinstance(load, Deferred):
        return None
    there, whole = found
    tests = [(few, nothing_behind(ctx, edges, few, size)) for few in sorted({1, rows})]
    few = [(rows, test if whole is None else ctx.b.logical_and(test, whole))
           for rows, test in tests if test is not None]
    if not few:
        return None
    ahead = None
    if ctx.target.fetches_at_edges:  # measured: a Xeon takes 9 to 50 % longer with it
        pointers, _, _ = parts_of_load(load)
        assert isinstance(pointers, Pointers)
        ahead = next_round(ctx, load.operation, pointers, ctx.layouts.default(load.shape))
    return InPlace(there, few, ahead)


def nothing_behind(ctx: Context, edges: Edges, rows: int, size: tuple[int, int]) -> Register | None:
    """A scalar Bool that implies that nothing is stored but the first rows; None where none is known."""
    height, columns = size
    tests = []
    while rows < height and rows & rows - 1 == 0:
        place = ctx.b.constant(I32, rows), ctx.b.constant(I32, 0)
        test = edges.left_out(ctx, place, (rows, columns))
        if test is None:
            return None
        tests.append(test)
        rows *= 2
    return reduce(ctx.b.logical_and, tests) if tests and rows == height else None

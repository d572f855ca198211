"""Memory that the result of a product will be stored to, fetched while the last round of its loop computes.

A store that waits for its line holds up those behind it, and the walk of a block's store does nothing but
store: where the last cache is slow, that is a third of the time of a product of few rounds. While tiles are
multiplied, memory has little to do. passes/early_addresses.py brings the addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...dataclass import dataclass
from ...facts.destinations import destination, has_early_address
from ...ir.model import Operation
from ...spirv.builder import I64
from ...spirv.control import if_
from ...spirv.module import Value as Register
from ..addresses.pointer_motion import known_scalar
from ..context import Context
from ..memory.prefetch import LINE
from ..plan.accesses import Fetch
from ..values.tensor import Affine, Pointers
from ..values.types import pointee_of, shape_of, storage_bytes
from .places import Place, element_at
from .tile_fetches import Meanwhile, lines_of_part


@dataclass(frozen=True)
class Destination:
    """Element (..., row, column) is stored so many elements behind `pointer` as the indices times their
    strides add up to; last: is this the loop's last round? line: elements of a line of a cache."""

    pointer: Register
    strides: Sequence[Register | int]
    last: Register
    line: int

    def unless(self, ctx: Context, streams: Register | None) -> Destination:
        """The same where a scalar Bool, if any, does not hold: what goes past the caches is not fetched."""
        if streams is None:
            return self
        return replace(self, last=ctx.b.logical_and(self.last, ctx.b.logical_not(streams)))

    def fetch(self, ctx: Context, place: Place, rows: int, columns: int) -> None:
        """The lines of so many rows and columns from one element on."""
        b, env = ctx.b, ctx.env
        with if_(b.module, self.last):
            first = element_at(ctx, self.pointer, self.strides, place)
            for row in range(rows):
                down = b.imul(b.constant(I64, row), self.strides[-2])
                for column in range(0, columns, self.line):
                    env.prefetch(env.offset(first, b.iadd(down, column)), writes=True)

    def in_parts(self, ctx: Context, place: Place, rows: int, columns: int, parts: int) -> Meanwhile:
        """The same in so many parts: called with the number of one, it fetches that."""
        b, first = ctx.b, element_at(ctx, self.pointer, self.strides, place)

        def fetch(part: Register) -> None:
            with if_(b.module, self.last):
                ctx.scopes.open()
                for row, line in lines_of_part(ctx, part, parts, rows, -(-columns // self.line)):
                    moved = b.iadd(b.imul(b.resize(row, I64.width), self.strides[-2]),
                                   b.resize(b.imul(line, self.line), I64.width))
                    ctx.env.prefetch(ctx.env.offset(first, moved), writes=True)
                ctx.scopes.close()
        return fetch


def destination_of(ctx: Context, op: Operation) -> Destination | None:
    """That of a product, where its addresses are known before the loop, and rows lie in lines."""
    store, loop, body = destination(op), op.parent_op, op.parent
    if store is None or loop is None or body is None or not ctx.target.optimises("prefetch") \
            or not has_early_address(store, loop):
        return None
    pointers = ctx.bindings.frame.values.get(store.ptr)
    if not isinstance(pointers, Pointers) or pointers.terms or not isinstance(pointers.affine, Affine):
        return None
    strides, shape = pointers.affine.strides, pointers.shape
    if shape != shape_of(op.results[0].type) or strides[-1] != 1:
        return None
    index, upper, step = (known_scalar(ctx, x) for x in (body.arguments[0], *loop.operands[1:3]))
    if index is None or upper is None or step is None:
        return None
    layout = ctx.layouts.default(shape)
    ctx.recorder.add(Fetch(store, "result", layout, ctx.transfers.vectors(pointers, layout, store.ptr)))
    last = ctx.b.compare("OpSGreaterThanEqual", ctx.b.iadd(index, step), upper)
    line = max(1, LINE // storage_bytes(pointee_of(store.ptr.type)))
    return Destination(ctx.env.offset(pointers.base, pointers.affine.base), strides, last, line)

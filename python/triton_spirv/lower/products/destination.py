"""Memory that the result of a product will be stored to, fetched while the last round of its loop computes.

A store that waits for its line holds up those behind it, and the walk of a block's store does nothing but
store: where the last cache is slow, that is a third of the time of a product of few rounds. While tiles are
multiplied, memory has little to do. passes/early_addresses.py brings the addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

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


@dataclass(frozen=True)
class Destination:
    """Element (..., row, column) is stored so many elements behind `pointer` as the indices times their
    strides add up to; last: is this the loop's last round? line: elements of a line of a cache."""

    pointer: Register
    strides: Sequence[Register | int]
    last: Register
    line: int

    def fetch(self, ctx: Context, place: tuple[Register, Register, Register], rows: int, columns: int
              ) -> None:
        """The lines of so many rows and columns from one element on."""
        b, env = ctx.b, ctx.env
        with if_(b.module, self.last):
            moved = [b.imul(b.resize(index, I64.width), stride)
                     for index, stride in zip(place[-len(self.strides):], self.strides, strict=True)]
            first = env.offset(self.pointer, reduce(b.iadd, moved))
            for row in range(rows):
                down = b.imul(b.constant(I64, row), self.strides[-2])
                for column in range(0, columns, self.line):
                    env.prefetch(env.offset(first, b.iadd(down, column)), writes=True)


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

"""Where elements of a product's result are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ...spirv.builder import I64
from ...spirv.module import Value as Register
from ..context import Context

#: The batch, row and column of an element, from which on a tile lies.
Place = tuple[Register, Register, Register]


def element_at(ctx: Context, pointer: Register, strides: Sequence[Register | int], place: Place) -> Register:
    """A pointer to the element at a place: so many elements behind `pointer` as indices times strides, of
    which there are two or three, add up to."""
    b = ctx.b
    return ctx.env.offset(pointer, reduce(b.iadd, [
        b.imul(b.resize(index, I64.width), stride)
        for index, stride in zip(place[-len(strides):], strides, strict=True)]))

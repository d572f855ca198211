"""tt.gather: elements of a tensor picked along one axis by a tensor of indices.

Which element is picked only run time knows: the source stands in memory (`elements.lookup`) and is read
element by element.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from ...ir.model import Operation
from ...layout import Layout, row_major
from ...spirv.builder import I32
from ...spirv.module import Value as Register
from ..context import Context, StepLoop
from ..lanes.elements import lookup
from ..registry import lowers
from ..values.tensor import Affine, Fragment, Tensor
from ..values.types import element_of, shape_of


@lowers("tt.gather")
def gather(ctx: Context, op: Operation, src: Tensor, indices: Tensor) -> Tensor:
    """src [..., N, ...], indices [..., M, ...] -> [..., M, ...]: at i the element indices[i] of src.

    An index beyond N has no meaning; it is taken modulo N, so that nothing outside the array is read.
    """
    type, element = op.results[0].type, element_of(op.src.type)
    layout = ctx.layouts.of(type)
    with lookup(ctx, src, op.src.type) as read:
        if layout.lane:
            places = _places(ctx, op, indices, layout)
            registers = [_read_each(ctx, read, place, layout.width) for place in places]
            return Fragment(layout, element, tuple(registers))
        walk = row_major(shape_of(type), ctx.target.vector_width, 1, 1)
        opened = ctx.walks.plan(op, [(indices, walk)])
        result = ctx.arrays.allocate(shape_of(type), element)
        with StepLoop(ctx.walks, len(walk.step)):
            place, = _places(ctx, op, indices, walk)
            ctx.arrays.write(result, Fragment(walk, element, (_read_each(ctx, read, place, walk.width),)))
        ctx.walks.finish(opened)
    return result if layout.step else ctx.evaluation.fragment(result, layout)


def _places(ctx: Context, op: Operation, indices: Tensor, layout: Layout) -> list[Register]:
    """Row-major places in the source of the elements that each register of the result takes."""
    b = ctx.b
    shape, axis = shape_of(op.src.type), op.attributes["axis"]
    strides = [prod(shape[d + 1:]) for d in range(len(shape))]
    picked = [b.iand(b.resize(x, 32), shape[axis] - 1)
              for x in ctx.evaluation.fragment(indices, layout).registers]
    strides_elsewhere = tuple(0 if d == axis else stride for d, stride in enumerate(strides))
    elsewhere = Affine(layout.shape, element_of(op.indices.type), b.constant(I32, 0), strides_elsewhere)
    others = ctx.evaluation.fragment(elsewhere, layout).registers
    return [b.iadd(b.imul(x, strides[axis]), other) for x, other in zip(picked, others, strict=True)]


def _read_each(ctx: Context, read: Callable[[Register], Register], places: Register, width: int) -> Register:
    return ctx.b.construct([read(ctx.b.extract(places, c)) for c in range(width)])

"""tt.gather: elements of a tensor picked along one axis by a tensor of indices.

Which element is picked only run time knows: the source stands in a private array and is read element by
element.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ..ir.model import Operation
from ..layout import Layout, row_major
from ..spirv.builder import I32
from ..spirv.module import Value as Register
from .context import Context, StepLoop
from .registry import lowers
from .tensor import Affine, Fragment, Stored
from .types import element_of, register_type, shape_of


@lowers("tt.gather")
def gather(ctx: Context, op: Operation, src: Any, indices: Any) -> Any:
    """src [..., N, ...], indices [..., M, ...] -> [..., M, ...]: at i the element indices[i] of src.

    An index beyond N has no meaning; it is taken modulo N, so that nothing outside the array is read.
    """
    type = op.results[0].type
    source = ctx.stored(src)
    walk = row_major(shape_of(type), ctx.target.vector_width, 1, 1)
    plan = ctx.plan(op, [(indices, walk)])
    result = ctx.allocate(shape_of(type), source.element)
    with StepLoop(ctx, len(walk.step)):
        places = _places(ctx, op, indices, walk)
        ctx.write(result, Fragment(walk, source.element, (_read_each(ctx, source, places, walk.width),)))
    ctx.finish(plan)
    layout = ctx.layout_of(type)
    return result if layout.step else ctx.fragment(result, layout)


def _places(ctx: Context, op: Operation, indices: Any, layout: Layout) -> Register:
    """Row-major places in the source of the elements that one register of the result takes."""
    b = ctx.b
    shape, axis = shape_of(op.src.type), op.attributes["axis"]
    strides = [prod(shape[d + 1:]) for d in range(len(shape))]
    picked = b.iand(b.resize(ctx.fragment(indices, layout).registers[0], 32), shape[axis] - 1)
    strides_elsewhere = tuple(0 if d == axis else stride for d, stride in enumerate(strides))
    elsewhere = Affine(layout.shape, element_of(op.indices.type), b.constant(I32, 0), strides_elsewhere)
    return b.iadd(b.imul(picked, strides[axis]), ctx.fragment(elsewhere, layout).registers[0])


def _read_each(ctx: Context, source: Stored, places: Register, width: int) -> Register:
    element = register_type(source.element)
    return ctx.b.construct([
        ctx.env.private_load(source.array, source.width, element, ctx.b.extract(places, c), 1)
        for c in range(width)])

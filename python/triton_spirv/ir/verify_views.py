"""Shapes of views: of tensors, and of what lies in shared memory."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .model import Operation
from .types import IndexType, IntegerType, MemDescType, TensorType, Type, element_type, shape_of
from .verify_rules import I32, axis_of, becomes, tensor, verifies, whole

# --- tensors ------------------------------------------------------------------------------------------------


@verifies("tt.unsplat")
def unsplat(op: Operation) -> str:
    type = op.operands[0].type
    return "" if isinstance(type, TensorType) and type.numel == 1 else f"{type} has not one element"


@verifies("tt.expand_dims")
def expand_dims(op: Operation) -> str:
    shape = shape_of(op.operands[0].type)
    axis = op.attributes.get("axis")
    return tensor(op) or axis_of(op, len(shape) + 1) or becomes(op, (*shape[:axis], 1, *shape[axis:]))


@verifies("tt.broadcast")
def broadcast(op: Operation) -> str:
    shape, to = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    if tensor(op) or len(shape) != len(to) or any(a not in (1, b) for a, b in zip(shape, to, strict=True)):
        return f"{op.operands[0].type} does not broadcast to {op.results[0].type}"
    return becomes(op, to)


@verifies("tt.reshape")
def reshape(op: Operation) -> str:
    type, result = op.operands[0].type, op.results[0].type
    if not isinstance(type, TensorType) or not isinstance(result, TensorType) or type.numel != result.numel:
        return f"{type} and {result} have not the same elements"
    return becomes(op, result.shape)


@verifies("tt.trans")
def trans(op: Operation) -> str:
    shape, order = shape_of(op.operands[0].type), op.attributes.get("order")
    if not isinstance(order, tuple) or not all(map(whole, order)) or sorted(order) != list(range(len(shape))):
        return f"order {order} is no order of {len(shape)} dimensions"
    return tensor(op) or becomes(op, [shape[d] for d in order])


@verifies("tt.join")
def join(op: Operation) -> str:
    return tensor(op) or becomes(op, (*shape_of(op.operands[0].type), 2))


@verifies("tt.split", results=2)
def split(op: Operation) -> str:
    shape = shape_of(op.operands[0].type)
    if shape[-1:] != (2,):
        return f"the last dimension of {op.operands[0].type} is not 2"
    if op.results[0].type != op.results[1].type:
        return "its results have two types"
    return becomes(op, shape[:-1])


@verifies("tt.cat")
def cat(op: Operation) -> str:
    shape = shape_of(op.operands[0].type)
    return tensor(op, rank=1) or becomes(op, (2 * shape[0], *shape[1:]))


@verifies("tt.gather")
def gather(op: Operation) -> str:
    """src [..., N, ...] by indices [..., M, ...] -> the indices' shape."""
    wrong = tensor(op) or tensor(op, 1) or axis_of(op, len(shape_of(op.src.type)))
    if wrong:
        return wrong
    axis, shape, places = op.attributes["axis"], shape_of(op.src.type), shape_of(op.indices.type)
    if not isinstance(element_type(op.indices.type), (IntegerType, IndexType)):
        return f"its indices are {op.indices.type}"
    if len(shape) != len(places) or any(
            a != b for d, (a, b) in enumerate(zip(shape, places, strict=True)) if d != axis):
        return f"{op.src.type} and {op.indices.type} differ beside axis {axis}"
    return becomes(op, places)


@verifies("ttg.convert_layout")
def convert_layout(op: Operation) -> str:
    return tensor(op) or becomes(op, shape_of(op.operands[0].type))


@verifies("ttg.fp4_to_fp")
def fp4_to_fp(op: Operation) -> str:
    """Two numbers a byte, along an axis."""
    shape = shape_of(op.operands[0].type)
    wrong = tensor(op) or axis_of(op, len(shape))
    if wrong:
        return wrong
    axis = op.attributes["axis"]
    return becomes(op, (*shape[:axis], 2 * shape[axis], *shape[axis + 1:]), element_type(op.results[0].type))


@verifies("tt.make_range")
def make_range(op: Operation) -> str:
    start, end, type = op.attributes.get("start"), op.attributes.get("end"), op.results[0].type
    if not whole(start) or not whole(end) or not -1 << 31 <= start < end < 1 << 31:
        return f"from {start} to {end} there is no range of i32"
    if not isinstance(type, TensorType) or type.shape != (end - start,) or type.element != I32:
        return f"its result is {type}, not {end - start} of i32"
    return ""


@verifies("tt.histogram")
def histogram(op: Operation) -> str:
    result = op.results[0].type
    return tensor(op, rank=1) or ("" if len(shape_of(result)) == 1 and len(shape_of(op.src.type)) == 1
                                  else f"{op.src.type} to {result}: both have one dimension")


# --- shared memory ------------------------------------------------------------------------------------------


def _holds(view: Type, type: Type) -> str:
    """A view of shared memory has a tensor's shape and elements."""
    if isinstance(view, MemDescType) and isinstance(type, TensorType) and view.shape == type.shape \
            and view.element == type.element:
        return ""
    return f"{view} does not hold {type}"


@verifies("ttg.local_alloc")
def local_alloc(op: Operation) -> str:
    view = op.results[0].type
    if not isinstance(view, MemDescType):
        return f"its result is {view}, no view of shared memory"
    return "" if op.src is None else _holds(view, op.src.type)


@verifies("ttg.local_load")
def local_load(op: Operation) -> str:
    return _holds(op.src.type, op.results[0].type)


@verifies("ttg.local_store", results=0)
def local_store(op: Operation) -> str:
    return _holds(op.dst.type, op.src.type)


def _seen(op: Operation, shape: Sequence[int]) -> str:
    """The view that results has this shape."""
    source, result = op.operands[0].type, op.results[0].type
    if shape_of(result) == tuple(shape) and element_type(result) == element_type(source):
        return ""
    return f"{result} is no such view of {source}"


@verifies("ttg.memdesc_index")
def memdesc_index(op: Operation) -> str:
    shape = shape_of(op.src.type)
    if op.index.type != I32:
        return f"its index is {op.index.type}"
    if shape_of(op.results[0].type) == shape and shape[:1] == (1,):  # of one buffer
        return _seen(op, shape)
    return _seen(op, shape[1:])


@verifies("ttg.memdesc_subslice")
def memdesc_subslice(op: Operation) -> str:
    shape, part, at = shape_of(op.src.type), shape_of(op.results[0].type), op.attributes.get("offsets")
    if not isinstance(at, tuple) or len(at) != len(shape) or len(part) != len(shape) or not all(
            whole(start) and 0 <= start <= size - n for start, n, size in zip(at, part, shape, strict=True)):
        return f"{op.results[0].type} at {at} is no part of {op.src.type}"
    return _seen(op, part)


@verifies("ttg.memdesc_trans")
def memdesc_trans(op: Operation) -> str:
    shape, order = shape_of(op.src.type), op.attributes.get("order")
    if not isinstance(order, tuple) or not all(map(whole, order)) or sorted(order) != list(range(len(shape))):
        return f"order {order} is no order of {len(shape)} dimensions"
    return _seen(op, [shape[d] for d in order])


@verifies("ttg.memdesc_reshape")
def memdesc_reshape(op: Operation) -> str:
    shape = shape_of(op.results[0].type)
    if math.prod(shape) != math.prod(shape_of(op.src.type)):
        return f"{op.src.type} and {op.results[0].type} have not the same elements"
    return _seen(op, shape)

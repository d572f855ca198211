"""What no line of dialects.py can say about an operation: shapes, regions, symbols, attributes.

Each function takes an operation and gives what is wrong with it, "" for nothing. Regions of control flow and
functions are in verify_regions.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from .model import Operation
from .types import (
    DenseAttr,
    FloatType,
    IndexType,
    IntegerType,
    MemDescType,
    PointerType,
    TensorType,
    Type,
    element_type,
    like,
    shape_of,
)

Verifier = Callable[[Operation], str]

SHAPES: dict[str, Verifier] = {}

I1, I8, I32, I64 = IntegerType(1), IntegerType(8), IntegerType(32), IntegerType(64)

#: k of an element of a block scale
SCALED_GROUPS = (16, 32)
#: element types of tt.dot_scaled that lie two in a byte
PACKED = frozenset({"e2m1"})


def verifies(*names: str, results: int | None = 1, regions: int = 0) -> Callable[[Verifier], Verifier]:
    """Register the verifier of these operations; before it, they have so many results (None: any number) and
    regions."""

    def register(function: Verifier) -> Verifier:
        def check(op: Operation) -> str:
            if results is not None and len(op.results) != results:
                return f"it has {results} results, not {len(op.results)}"
            if len(op.regions) != regions or op.successors:
                return f"it has {regions} regions and no successors"
            return function(op)

        for name in names:
            SHAPES[name] = check
        return function

    return register


def whole(value: Any) -> TypeGuard[int]:
    """Is an attribute a whole number?"""
    return isinstance(value, int) and not isinstance(value, bool)


def axis_of(op: Operation, rank: int) -> str:
    """`axis` counts dimensions."""
    axis = op.attributes.get("axis")
    return "" if whole(axis) and 0 <= axis < rank else f"axis is {axis}; there are {rank} dimensions"


def becomes(op: Operation, shape: Sequence[int], element: Type | None = None) -> str:
    """The result has this shape, and the element of the first operand, or the one given."""
    result = op.results[0].type
    wanted = element_type(op.operands[0].type) if element is None else element
    if shape_of(result) == tuple(shape) and element_type(result) == wanted:
        return ""
    return f"its result is {result}, not {'x'.join(map(str, shape)) or 'a scalar'} of {wanted}"


def tensor(op: Operation, position: int = 0, rank: int = 0) -> str:
    """An operand is a tensor, of at least `rank` dimensions."""
    type = op.operands[position].type
    if isinstance(type, TensorType) and len(type.shape) >= rank:
        return ""
    return f"{type} is no tensor" + (f" of {rank} dimensions" if rank else "")


# --- numbers ------------------------------------------------------------------------------------------------


@verifies("arith.constant")
def constant(op: Operation) -> str:
    """Values of the result's type; whole numbers that fit it, signed or not."""
    value, type = op.attributes.get("value"), op.results[0].type
    if isinstance(value, DenseAttr):
        if value.type != type:
            return f"its value is of type {value.type}, its result {type}"
        values = (value.values,) if value.splat else value.values
    else:
        if isinstance(type, TensorType):
            return f"{value} is no value of {type}"
        values = (value,)
    element = element_type(type)
    if isinstance(element, FloatType):
        return "" if all(isinstance(x, (int, float)) for x in values) else f"{values[0]} is no {element}"
    if not isinstance(element, (IntegerType, IndexType)):
        return f"there are no constants of type {element}"
    width = element.width if isinstance(element, IntegerType) else 64
    least, end = (-1, 2) if width == 1 else (-(1 << width - 1), 1 << width)
    for x in values:
        if not isinstance(x, int) or not least <= x < end:
            return f"{x} is not a number of {element}"
    return ""


@verifies("arith.select")
def select(op: Operation) -> str:
    """The condition is i1, or a tensor of it of the same shape."""
    condition, type = op.operands[0].type, op.operands[1].type
    if op.operands[2].type != type or op.results[0].type != type:
        return "both values and the result have one type"
    if condition == I1 or condition == like(type, I1):
        return ""
    return f"its condition is {condition}, not {like(type, I1)}"


@verifies("tt.bitcast", "arith.bitcast")
def bitcast(op: Operation) -> str:
    """Elements of the same width; pointers to pointers."""
    source, result = element_type(op.operands[0].type), element_type(op.results[0].type)
    if isinstance(source, PointerType) and isinstance(result, PointerType):
        return ""
    widths = [element.width if isinstance(element, (IntegerType, FloatType)) else 64
              for element in (source, result)]
    return "" if widths[0] == widths[1] else f"{source} has {widths[0]} bits, {result} has {widths[1]}"


def _widths(op: Operation) -> tuple[int, int]:
    elements = element_type(op.operands[0].type), element_type(op.results[0].type)
    source, result = (x.width if isinstance(x, (IntegerType, FloatType)) else 64 for x in elements)
    return source, result


@verifies("arith.extsi", "arith.extui", "arith.extf")
def extension(op: Operation) -> str:
    source, result = _widths(op)
    return "" if result > source else f"{op.results[0].type} is not wider than {op.operands[0].type}"


@verifies("arith.trunci", "arith.truncf")
def truncation(op: Operation) -> str:
    source, result = _widths(op)
    return "" if result < source else f"{op.results[0].type} is not narrower than {op.operands[0].type}"


@verifies("tt.atomic_rmw")
def atomic_rmw(op: Operation) -> str:
    """fadd is for floats, the others for integers; exch for all."""
    kind, element = op.attributes.get("atomic_rmw_op"), element_type(op.val.type)
    if kind == "exch" or isinstance(element, FloatType) == (kind == "fadd"):
        return ""
    return f"{kind} of {element}"


@verifies("tt.atomic_poll")
def atomic_poll(op: Operation) -> str:
    pointer, result = op.ptr.type, op.results[0].type
    if op.timeout is not None and op.timeout.type != I64:
        return f"its timeout is {op.timeout.type}, not i64"
    return "" if result in (I1, like(pointer, I1)) else f"its result is {result}, not {like(pointer, I1)}"


@verifies("tt.get_program_id", "tt.get_num_programs")
def program(op: Operation) -> str:
    return "" if op.results[0].type == I32 else f"its result is {op.results[0].type}, not i32"


# --- calls of functions elsewhere ---------------------------------------------------------------------------


@verifies("tt.extern_elementwise")
def extern_elementwise(op: Operation) -> str:
    """All operands have the result's shape; the function has a name."""
    if not isinstance(op.attributes.get("symbol"), str):
        return "it names no function (symbol)"
    if not op.operands:
        return "it has no operand"
    for value in (*op.operands, *op.results):
        if not isinstance(element_type(value.type), (IntegerType, FloatType, PointerType)):
            return f"{value.type} has no elements for a function"
    result = op.results[0].type
    for value in op.operands:
        if like(value.type, I1) != like(result, I1):
            return f"%{value.name} is {value.type}; its shape is not that of {result}"
    return ""


@verifies("tt.elementwise_inline_asm", results=None)
def inline_asm(op: Operation) -> str:
    return "" if isinstance(op.attributes.get("asm_string"), str) else "it has no text (asm_string)"


# --- views --------------------------------------------------------------------------------------------------


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


# --- products -----------------------------------------------------------------------------------------------


def _product(a: Sequence[int], b: Sequence[int], c: Sequence[int]) -> bool:
    """[..., M, K] x [..., K, N] -> [..., M, N], of two or three dimensions."""
    return len(a) == len(b) == len(c) in (2, 3) and a[-1] == b[-2] and tuple(c) == (*a[:-1], b[-1]) \
        and tuple(a[:-2]) == tuple(b[:-2])


@verifies("tt.dot")
def dot(op: Operation) -> str:
    a, b, c = (value.type for value in op.operands)
    if not _product(shape_of(a), shape_of(b), shape_of(c)):
        return f"{a} times {b} is not {c}"
    x, y, z = element_type(a), element_type(b), element_type(c)
    floats = {isinstance(element, FloatType) for element in (x, y, z)}
    if len(floats) > 1 or not isinstance(z, (FloatType, IntegerType)) or z.width < 16:
        return f"the sum of products of {x} and {y} is not {z}"
    return ""


@verifies("tt.dot_scaled")
def dot_scaled(op: Operation) -> str:
    """Operands of which some lie two in a byte, along K or, where it is said, along M or N; a scale for each
    group of 16 or 32 along K."""
    c = op.c.type
    shapes = [list(shape_of(op.a.type)), list(shape_of(op.b.type))]
    if not len(shapes[0]) == len(shapes[1]) == len(shape_of(c)) in (2, 3) or \
            not isinstance(element_type(c), FloatType):
        return f"{op.a.type} times {op.b.type} is not {c}"
    for shape, form, along_k, k, other in (
            (shapes[0], op.attributes.get("a_elem_type"), op.attributes.get("lhs_k_pack", True), -1, -2),
            (shapes[1], op.attributes.get("b_elem_type"), op.attributes.get("rhs_k_pack", True), -2, -1)):
        if form in PACKED:
            shape[k if along_k else other] *= 2
    if not _product(shapes[0], shapes[1], shape_of(c)):
        return f"{op.a.type} times {op.b.type} is not {c}"
    for value, form in ((op.a, op.attributes["a_elem_type"]), (op.b, op.attributes["b_elem_type"])):
        element = element_type(value.type)
        if (element.width if isinstance(element, (IntegerType, FloatType)) else 0) != _bits(form):
            return f"%{value.name} is {value.type}, which does not hold {form}"
    rows = (shapes[0][-2], shapes[1][-1])
    for scale, count in zip((op.a_scale, op.b_scale), rows, strict=True):
        if scale is not None and (element_type(scale.type) not in _SCALES or shape_of(scale.type) not in [
                (*shapes[0][:-2], count, shapes[0][-1] // group) for group in SCALED_GROUPS]):
            return f"%{scale.name} is {scale.type}: not one scale for 16 or 32 elements of each row"
    return ""


_SCALES = (I8, FloatType("f8E8M0FNU"), FloatType("f8E4M3FN"), FloatType("f8E5M2"))


def _bits(form: str) -> int:
    return 16 if form in ("bf16", "fp16") else 8


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


# --- printing, asserting ------------------------------------------------------------------------------------


@verifies("tt.print", results=0)
def print_(op: Operation) -> str:
    signs = op.attributes.get("isSigned")
    if not isinstance(op.attributes.get("prefix"), str):
        return "it has no text (prefix)"
    if signs and (not isinstance(signs, tuple) or len(signs) != len(op.operands)):
        return f"isSigned says something of {len(signs) if isinstance(signs, tuple) else signs} values, "\
               f"{len(op.operands)} are printed"
    for value in op.operands:
        if not isinstance(element_type(value.type), (IntegerType, FloatType, PointerType, IndexType)):
            return f"{value.type} cannot be printed"
    return ""


@verifies("tt.assert", "cf.assert", results=0)
def assert_(op: Operation) -> str:
    text = op.attributes.get("message" if op.name == "tt.assert" else "msg")
    return "" if isinstance(text, str) else "it has no text"

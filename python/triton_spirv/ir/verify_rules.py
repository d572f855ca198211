"""What no line of dialects.py can say about an operation: shapes, regions, symbols, attributes.

Each function takes an operation and gives what is wrong with it, "" for nothing. Views of tensors and of
shared memory are in verify_views.py, regions of control flow and functions in verify_regions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeGuard

from .model import Operation
from .types import (
    DenseAttr,
    FloatType,
    IndexType,
    IntegerType,
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
            assert name not in SHAPES, f"two verifiers for {name}"
            SHAPES[name] = check
        return function

    return register


def whole(value: object) -> TypeGuard[int]:
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

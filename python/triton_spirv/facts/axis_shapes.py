"""What the rules of axis information share: lengths and steps of types, the weakest rule."""

from __future__ import annotations

import math

from triton_spirv.facts.axis_info import AxisInfo, of_constant
from triton_spirv.ir.model import (
    FloatType,
    IntegerType,
    Operation,
    PointerType,
    TensorType,
    Type,
    element_type,
    shape_of,
)


def lengths(type: Type) -> tuple[int, ...]:
    """The shape, (1,) for a scalar."""
    return shape_of(type) or (1,)


def unit(type: Type) -> int:
    """The bytes of one step: of a pointee for pointers, 1 for integers."""
    element = element_type(type)
    if not isinstance(element, PointerType):
        return 1
    pointee = element.pointee
    if isinstance(pointee, PointerType):
        return 8
    return max(1, pointee.width // 8) if isinstance(pointee, (IntegerType, FloatType)) else 1


def wrapped(value: int, type: Type) -> int:
    """`value` as a signed number of the type; i1 is 0 or 1."""
    element = element_type(type)
    width = element.width if isinstance(element, IntegerType) else 64
    value &= (1 << width) - 1
    return value - (1 << width) if width > 1 and value >> (width - 1) else value


def constant_of(op: Operation, value: int) -> AxisInfo:
    type = op.results[0].type
    return of_constant(wrapped(value, type), lengths(type))


def gcds(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(math.gcd, a, b))


def elementwise(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    """Equal elements in, equal elements out; no more is known."""
    shape = lengths(op.results[0].type)
    constancy = shape
    for operand, info in zip(op.operands, infos, strict=True):
        if isinstance(operand.type, TensorType):
            constancy = gcds(constancy, info.constancy)
    ones = (1,) * len(shape)
    return AxisInfo(ones, ones, constancy)

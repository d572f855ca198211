"""What the text leaves out: result types, the share of each operand name, keywords of enumerations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .dialects import OperationSpec
from .enumerations import ENUMS
from .model import Value
from .types import (
    Encoding,
    IndexType,
    IntegerType,
    PointerType,
    TensorDescType,
    TensorType,
    TokenType,
    Type,
    element_type,
    like,
)

I1, I32, INDEX, TOKEN = IntegerType(1), IntegerType(32), IndexType(), TokenType()


def flat(values: Sequence[Value | list[Value] | None]) -> list[Value]:
    """Operands in order, the optional and variadic ones spread out."""
    result: list[Value] = []
    for value in values:
        if isinstance(value, list):
            result += value
        elif value is not None:
            result.append(value)
    return result


def _pointee(type: Type) -> Type:
    if isinstance(type, TensorType) and isinstance(type.element, PointerType):
        return like(type, type.element.pointee)
    if isinstance(type, PointerType):
        return type.pointee
    if isinstance(type, TensorDescType):
        return type.block
    raise ValueError(f"expected a pointer, not {type}")


def result_types(spec: OperationSpec) -> Callable[[list[Any], list[Type]], list[Type]] | None:
    """How the result types follow where the format does not print them; None: it prints them all."""
    rule, _, name = spec.result_rule.partition(" ")
    if not rule:
        return None
    constants: dict[str, Type] = {"i1": I1, "i32": I32, "token": TOKEN, "index": INDEX}
    position = spec.positions.get(name or rule)
    if position is None:
        if rule == "both":
            return lambda values, types: types * 2
        return lambda values, types: [constants[rule]]
    if rule == "pointee":
        return lambda values, types: [_pointee(values[position].type)]
    if rule == "i1":
        return lambda values, types: [like(values[position].type, I1)]
    if rule == "element":
        return lambda values, types: [element_type(values[position].type)]
    if rule == "both":
        return lambda values, types: [values[position].type] * 2
    if rule == "extended":
        return lambda values, types: [values[position].type, *types]
    return lambda values, types: [values[position].type]


def segments_of(values: Sequence[object]) -> tuple[int, ...]:
    """How many values each named operand has."""
    return tuple(len(v) if isinstance(v, list) else int(v is not None) for v in values)


def keywords(spec: OperationSpec, attributes: dict[str, Any]) -> None:
    """Numbers of enumerations, as the generic form has them, to their keywords; 3.9's cachePolicy to cache
    and evict.
    """
    policy = attributes.pop("cachePolicy", None)
    if isinstance(policy, Encoding):
        attributes["cache"], attributes["evict"] = policy.get("cache_modifier"), policy.get("eviction_policy")
    for name, enum in spec.enums:
        value = attributes.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            names = ENUMS[enum]
            attributes[name] = names.get(value) or "|".join(
                word for bit, word in names.items() if bit & value == bit and bit
            )

"""Attributes, numbers and locations as text, the way MLIR reads them."""

from __future__ import annotations

import math
from typing import Any

from . import numbers
from .location import Location
from .model import DenseAttr, Encoding, OpaqueAttr, SymbolRef
from .types import FloatType, IntegerType, Type

# Integers of attributes are i32 but these.
WIDE = {"tt.constancy", "tt.contiguity", "predicate", "case_values"}
UNITS = {
    "force_warp_shuffle",
    "ignore_cta",
    "allow_reorder",
    "efficient_layout",
    "omitUniformHint",
    "third_party_allocation",
    "shared_cluster_state",
    "loop_annotation",
    "unsignedCmp",
}


def quote(text: str) -> str:
    """A string token; what is not printable ASCII becomes \\XX."""
    parts = []
    for byte in text.encode("utf-8", "surrogateescape"):
        parts.append(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}")
    return '"' + "".join(parts) + '"'


def symbol(name: str) -> str:
    """@name, in quotes where MLIR wants them."""
    plain = name.replace(".", "_").replace("$", "_").isidentifier() and name.isascii()
    return "@" + (name if plain else quote(name))


def number(value: int | float | bool, type: Type) -> str:
    """A literal of the type, without the type."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(type, FloatType):
        return str(int(value))
    if isinstance(value, numbers.BitsFloat) or math.isnan(value) or math.isinf(value):
        return f"0x{numbers.to_bits(value, type):0{(type.width + 3) // 4}X}"
    text = repr(float(value))
    mantissa, e, exponent = text.partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + e + exponent


def attribute(value: object, name: str = "") -> str:
    """An attribute with its type, where the type can be guessed: i32, or i64 for a few names."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        wide = name in WIDE or not -(1 << 31) <= value < 1 << 31
        return f"{value} : {'i64' if wide else 'i32'}"
    if isinstance(value, float):
        return f"{number(value, FloatType('f32'))} : f32"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, DenseAttr):
        return dense(value)
    if isinstance(value, dict):
        return dictionary(value) or "{}"
    if isinstance(value, (tuple, list)):
        if all(isinstance(v, int) for v in value):
            words = ", ".join(number(v, IntegerType(32)) for v in value)
            type = "i1" if value and isinstance(value[0], bool) else "i32"
            return f"array<{type}: {words}>" if value else "array<i32>"
        return "[" + ", ".join(attribute(v, name) for v in value) + "]"
    if isinstance(value, SymbolRef):
        return symbol(value.name)
    assert isinstance(value, (Type, Encoding, OpaqueAttr)), value
    return str(value)


def dense(value: DenseAttr) -> str:
    """dense<...> : type"""
    element = value.type.element
    if value.splat:
        return f"dense<{number(value.values, element)}> : {value.type}"
    if not value.values:
        return f"dense<> : {value.type}"

    def nested(start: int, shape: tuple[int, ...]) -> str:
        if not shape:
            return number(value.values[start], element)
        stride = math.prod(shape[1:])
        return "[" + ", ".join(nested(start + k * stride, shape[1:]) for k in range(shape[0])) + "]"

    return f"dense<{nested(0, value.type.shape)}> : {value.type}"


def dictionary(values: dict[str, Any]) -> str:
    """{a = 1 : i32, b}, or nothing."""
    parts = []
    for name, value in values.items():
        key = name if name.replace(".", "_").replace("$", "_").isidentifier() else quote(name)
        parts.append(key if value is True and name in UNITS else f"{key} = {attribute(value, name)}")
    return "{" + ", ".join(parts) + "}" if parts else ""


def location(value: Location) -> str:
    """The inside of loc(...)."""
    text = f"{quote(value.file)}:{value.line}:{value.column}" if value.known else "unknown"
    if value.name is not None:
        text = f"{quote(value.name)}({text})"
    for caller in value.callers:
        text = f"callsite({text} at {location(caller)})"
    return text

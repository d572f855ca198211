"""Floating point numbers between text, bits and Python floats, for every FloatType of at most 64 bits."""

from __future__ import annotations

import math
import struct

from .tokens import is_number, shown
from .types import FloatType, IndexType, IntegerType, Type

BIT = IntegerType(1)

# name: exponent bits, mantissa bits, bias, kind. ieee: inf and NaN as in IEEE 754; fn: no inf, NaN is all
# ones; fnuz: no inf, no negative zero, NaN is the sign bit alone; finite: every pattern is a number.
_FORMATS = {
    "f16": (5, 10, 15, "ieee"),
    "bf16": (8, 7, 127, "ieee"),
    "f32": (8, 23, 127, "ieee"),
    "f64": (11, 52, 1023, "ieee"),
    "tf32": (8, 10, 127, "ieee"),
    "f8E5M2": (5, 2, 15, "ieee"),
    "f8E4M3": (4, 3, 7, "ieee"),
    "f8E3M4": (3, 4, 3, "ieee"),
    "f8E4M3FN": (4, 3, 7, "fn"),
    "f8E4M3FNUZ": (4, 3, 8, "fnuz"),
    "f8E5M2FNUZ": (5, 2, 16, "fnuz"),
    "f8E4M3B11FNUZ": (4, 3, 11, "fnuz"),
    "f4E2M1FN": (2, 1, 1, "finite"),
    "f6E2M3FN": (2, 3, 1, "finite"),
    "f6E3M2FN": (3, 2, 3, "finite"),
}
_STRUCT = {"f16": ("<e", "<H"), "f32": ("<f", "<I"), "f64": ("<d", "<Q")}


def is_known(type: FloatType) -> bool:
    """Can numbers of the type be read? (f80 and f128 cannot.)"""
    return type.name in _FORMATS or type.name == "f8E8M0FNU"


def checked_bits(bits: int, type: FloatType) -> int:
    """The pattern, which has no more bits than the type; ValueError otherwise."""
    if bits >> type.width:
        raise ValueError(f"{bits:#x} has more than the {type.width} bits of {type}")
    return bits


def literal(token: str, type: Type) -> int | float:
    """A literal of a type; hexadecimal stands for a float's bits. ValueError where it is none."""
    if not is_number(token):
        raise ValueError(f"{shown(token)} is no number")
    if isinstance(type, FloatType):
        if not is_known(type):
            raise ValueError(f"numbers of type {type} cannot be read")
        if token[:2] == "0x":
            return BitsFloat.of(checked_bits(int(token, 16), type), type)
        return rounded(float(token), type)
    if isinstance(type, (IntegerType, IndexType)) and "." not in token:
        value = int(token, 0)
        return bool(value) if type == BIT else value
    raise ValueError(f"{token!r} is not a number of type {type}")


class BitsFloat(float):
    """A float read from a bit pattern: `bits` keeps a NaN's sign and payload."""

    bits: int

    @classmethod
    def of(cls, bits: int, type: FloatType) -> BitsFloat:
        self = cls(from_bits(bits, type))
        self.bits = bits
        return self


def from_bits(bits: int, type: FloatType) -> float:
    """The value of a bit pattern."""
    if type.name in _STRUCT:
        as_float, as_int = _STRUCT[type.name]
        return struct.unpack(as_float, struct.pack(as_int, bits))[0]
    if type.name == "f8E8M0FNU":
        return math.nan if bits == 0xFF else math.ldexp(1.0, bits - 127)
    exponent_bits, mantissa_bits, bias, kind = _FORMATS[type.name]
    mantissa = bits & ((1 << mantissa_bits) - 1)
    exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1)
    negative = bits >> (mantissa_bits + exponent_bits) & 1
    top = (1 << exponent_bits) - 1
    if kind == "ieee" and exponent == top:
        value = math.nan if mantissa else math.inf
    elif kind == "fn" and exponent == top and mantissa == (1 << mantissa_bits) - 1:
        value = math.nan
    elif kind == "fnuz" and negative and exponent == 0 and mantissa == 0:
        return math.nan
    elif exponent == 0:
        value = math.ldexp(mantissa, 1 - bias - mantissa_bits)
    else:
        value = math.ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits)
    return -value if negative else value


def to_bits(value: float, type: FloatType) -> int:
    """The bit pattern of `value` rounded to nearest even. Too large: infinity, or NaN where there is none."""
    if isinstance(value, BitsFloat) and from_bits_equal(value, type):
        return value.bits
    if type.name == "f64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if type.name == "f8E8M0FNU":
        return 0xFF if value != value else max(0, min(254, math.frexp(value)[1] - 1 + 127))
    exponent_bits, mantissa_bits, bias, kind = _FORMATS[type.name]
    sign = int(math.copysign(1.0, value) < 0) << (exponent_bits + mantissa_bits)
    top = (1 << exponent_bits) - 1
    if kind == "ieee":
        infinity, nan = top << mantissa_bits, (top << mantissa_bits) | (1 << (mantissa_bits - 1))
    elif kind == "fn":
        infinity = nan = (1 << (exponent_bits + mantissa_bits)) - 1
    elif kind == "fnuz":
        infinity = nan = 1 << (exponent_bits + mantissa_bits)
    else:
        infinity = nan = (1 << (exponent_bits + mantissa_bits)) - 1  # saturates: there is neither
    if value != value:
        return nan if kind == "fnuz" else sign | nan
    if math.isinf(value):
        return infinity if kind == "fnuz" else sign | infinity
    magnitude = abs(value)
    exponent = max(math.frexp(magnitude)[1] - 1, 1 - bias) if magnitude else 1 - bias
    units = round(
        math.ldexp(magnitude, mantissa_bits - exponent)
    )  # Python rounds half to even; exact scaling
    bits = units + ((exponent + bias - 1) << mantissa_bits)
    largest = (
        infinity - 1
        if kind == "ieee"
        else ((1 << (exponent_bits + mantissa_bits)) - (2 if kind == "fn" else 1))
    )
    if bits > largest:
        return infinity if kind == "fnuz" else sign | infinity
    return bits if kind == "fnuz" and bits == 0 else sign | bits


def from_bits_equal(value: BitsFloat, type: FloatType) -> bool:
    """Whether the kept bits of `value` are a pattern of `type` for the same number."""
    if value.bits >> type.width:
        return False
    number = from_bits(value.bits, type)
    return number == value or (number != number and value != value)


def rounded(value: float, type: FloatType) -> float:
    """`value` rounded to `type`: a decimal in the text stands for the nearest number of its type."""
    if type.name == "f64" or value == 0.0:
        return value
    if type.name == "f32":
        try:
            return struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    return from_bits(to_bits(value, type), type)

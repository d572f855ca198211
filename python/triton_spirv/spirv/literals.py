"""Python values as the bits and words of SPIR-V literals, and back."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import isnan
from operator import index

from .types import Bool, Float, Int, Type

_FORMATS = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}
_MANTISSAS = {16: 10, 32: 23}    # bits of the mantissa
_BFLOAT16_MANTISSA = 7
_QUIET = 1 << 51                 # the bit that makes a double's NaN a quiet one
_FRACTION = (1 << 52) - 1        # the mantissa of a double


def scalar_bits(type: Type, value: object) -> int:
    """The bits of a Python bool, int or float in a scalar type.

    Ints wrap to the width, floats round to nearest even; TypeError for a value of another sort.
    """
    if isinstance(type, Bool):
        if value not in (0, 1):
            raise TypeError(f"a constant of type {type} is True or False, not {value!r}")
        return int(bool(value))
    if isinstance(type, Int):
        try:
            return index(value) & ((1 << type.width) - 1)  # type: ignore[arg-type]
        except TypeError:
            raise TypeError(f"a constant of type {type} is an integer, not {value!r}") from None
    if isinstance(type, Float):
        if not hasattr(value, "__float__"):    # which float() does not ask of a str
            raise TypeError(f"a constant of type {type} is a number, not {value!r}")
        return float_bits(type, float(value))
    raise TypeError(f"{type} is not a scalar type")


def scalar_value(type: Type, bits: int) -> bool | int | float | None:
    """The Python value of a scalar's bits: an int in its signed reading, None for an unknown encoding."""
    if isinstance(type, Bool):
        return bool(bits)
    if isinstance(type, Int):
        return bits - (1 << type.width) if bits >> (type.width - 1) else bits
    assert isinstance(type, Float)
    if type.encoding == "BFloat16KHR":
        return scalar_value(Float(32), bits << 16)
    if type.encoding is not None:
        return None
    as_float, as_int = _FORMATS[type.width]
    return float(struct.unpack(as_float, struct.pack(as_int, bits))[0])


def float_bits(type: Float, value: float) -> int:
    """The bits nearest to a double, ties to even; infinity beyond; a NaN keeps the top of its payload."""
    if type.encoding == "BFloat16KHR":
        return _bfloat16_bits(value)
    if type.encoding is not None:
        raise ValueError(f"no conversion to {type} is known here: give the bits to Module.constant_bits")
    if isnan(value) and type.width < 64:
        return _nan_bits(type.width, _MANTISSAS[type.width], value)
    as_float, as_int = _FORMATS[type.width]
    try:
        packed = struct.pack(as_float, value)
    except OverflowError:
        packed = struct.pack(as_float, float("inf") if value > 0 else float("-inf"))
    return int(struct.unpack(as_int, packed)[0])


def _double_bits(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


def _nan_bits(width: int, mantissa: int, value: float) -> int:
    """By hand, since struct gives every 16-bit NaN the same payload."""
    bits = _double_bits(value) | _QUIET
    exponent = ((1 << (width - 1 - mantissa)) - 1) << mantissa
    return (bits >> 63) << (width - 1) | exponent | (bits & _FRACTION) >> (52 - mantissa)


def _bfloat16_bits(value: float) -> int:
    """Rounded once, from the double: by way of f32 it would be rounded twice, and a tie could go wrong."""
    if isnan(value):
        return _nan_bits(16, _BFLOAT16_MANTISSA, value)
    bits = _double_bits(value)
    sign, exponent = (bits >> 63) << 15, (bits >> 52 & 0x7FF) - 1023
    least = max(exponent, -126)                          # below it numbers are subnormal, here as in f32
    drop = 52 - _BFLOAT16_MANTISSA + (least - exponent)  # bits of the significand to be rounded off
    significand = bits & _FRACTION | 1 << 52
    kept, rest, half = significand >> drop, significand & ((1 << drop) - 1), 1 << (drop - 1)
    kept += rest > half or (rest == half and kept & 1)
    # The leading bit of `kept` adds 1 to the exponent field below it; so does a carry out of the mantissa.
    magnitude = ((least + 126) << _BFLOAT16_MANTISSA) + kept
    return sign | min(magnitude, 0x7F80)


def literal_words(width: int, bits: int) -> list[int]:
    """The words of a number, low-order first; a narrow one is not sign-extended, since signedness is 0."""
    return [bits & 0xFFFFFFFF, bits >> 32] if width > 32 else [bits]


def string_words(text: str) -> list[int]:
    """UTF-8, ended by a zero byte and filled up with zeros to whole words."""
    data = text.encode() + b"\0"
    data += b"\0" * (-len(data) % 4)
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def string_of(words: Sequence[int]) -> tuple[str, int]:
    """The string at the head of `words`, and how many words it takes."""
    data = struct.pack(f"<{len(words)}I", *words)
    end = data.index(0)
    return data[:end].decode(), end // 4 + 1

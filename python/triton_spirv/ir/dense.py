"""The numbers of a tensor in an attribute: dense<...>. ValueError says what is wrong with them."""

from __future__ import annotations

from math import prod

from . import numbers
from .types import DenseAttr, FloatType, IndexType, IntegerType, TensorType, VectorType

Number = bool | int | float


def of_numbers(values: tuple[Number, ...], in_brackets: bool, type: TensorType | VectorType) -> DenseAttr:
    """Those in brackets are all that there are; one without them is that of each element."""
    if in_brackets:
        if len(values) != prod(type.shape):
            raise ValueError(f"dense<...> has {len(values)} values, {type} has {prod(type.shape)}")
        return DenseAttr(type, False, values)
    if len(values) != 1:
        raise ValueError(f"dense<...> has {len(values)} values and no brackets")
    return DenseAttr(type, True, values[0])


def of_bytes(data: bytes, type: TensorType | VectorType) -> DenseAttr:
    """Little-endian elements of whole bytes; booleans are one bit each."""
    element = type.element
    assert isinstance(element, (IntegerType, IndexType, FloatType))
    numel = prod(type.shape)
    if element == IntegerType(1):
        if len(data) == 1 and data[0] in (0, 255):
            return DenseAttr(type, True, bool(data[0]))
        bits = [byte >> k & 1 for byte in data for k in range(8)]
        if len(data) != (numel + 7) // 8:
            raise ValueError(f"dense<...> has {len(data)} bytes, {type} has {(numel + 7) // 8}")
        return DenseAttr(type, False, tuple(map(bool, bits[:numel])))
    width = 64 if isinstance(element, IndexType) else element.width
    size = (width + 7) // 8
    if len(data) not in (size, size * numel):
        raise ValueError(f"dense<...> has {len(data)} bytes, {type} has {size * numel}")
    raw = [int.from_bytes(data[k : k + size], "little") for k in range(0, len(data), size)]
    if isinstance(element, FloatType):
        if not numbers.is_known(element):
            raise ValueError(f"numbers of type {element} cannot be read")
        raw = [numbers.checked_bits(bits, element) for bits in raw]
        values: tuple[int | float, ...] = tuple(numbers.BitsFloat.of(bits, element) for bits in raw)
    else:
        values = tuple(bits - (1 << width) if bits >> (width - 1) else bits for bits in raw)
    return DenseAttr(type, True, values[0]) if len(values) == 1 else DenseAttr(type, False, values)

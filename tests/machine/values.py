"""Types as numpy sees them. A value is an array of [lanes, components]; the first axis is 1 where all lanes
hold the same. Integers are unsigned, pointers 64-bit addresses, bfloat16 its bits."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from triton_spirv.spirv.decode import Contents, Decoded
from triton_spirv.spirv.types import (
    Array,
    Bool,
    CooperativeMatrix,
    Float,
    Int,
    Pointer,
    RuntimeArray,
    Struct,
    Type,
    Vector,
)

Lanes = Any  # np.ndarray of [lanes or 1, components]

UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
SIGNED = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}


def scalar(type: Type) -> Type:
    """The type of a component."""
    return type.element if isinstance(type, (Vector, CooperativeMatrix)) else type


def width(type: Type) -> int:
    """Components of a scalar or vector."""
    return type.count if isinstance(type, Vector) else 1


@cache
def dtype(type: Type) -> Any:
    """The numpy type of a component."""
    element = scalar(type)
    if isinstance(element, Bool):
        return np.dtype(np.bool_)
    if isinstance(element, Int):
        return np.dtype(UNSIGNED[element.width])
    if isinstance(element, Float):
        return np.dtype(UNSIGNED[element.width] if element.encoding else FLOATS[element.width])
    if isinstance(element, Pointer):
        return np.dtype(np.uint64)
    raise TypeError(f"no values of type {type}")


def signed(x: Lanes) -> Lanes:
    """The same bits as signed integers."""
    return x.view(SIGNED[8 * x.itemsize])


def unsigned(x: Lanes) -> Lanes:
    """The same bits as unsigned integers."""
    return x.view(UNSIGNED[8 * x.itemsize])


@cache
def size(type: Type) -> int:
    """Bytes in memory."""
    if isinstance(type, Vector):
        return (4 if type.count == 3 else type.count) * size(type.element)
    if isinstance(type, Array):
        return type.count * (type.stride or size(type.element))
    if isinstance(type, RuntimeArray):
        return 0
    if isinstance(type, Struct):
        if not type.members:
            return 0
        end = offsets(type)[-1] + size(type.members[-1])
        return end + -end % alignment(type)
    return int(dtype(type).itemsize)


@cache
def alignment(type: Type) -> int:
    """Natural alignment in bytes, as OpenCL C has it."""
    if isinstance(type, (Array, RuntimeArray)):
        return alignment(type.element)
    if isinstance(type, Struct):
        return max((alignment(member) for member in type.members), default=1)
    return max(1, size(type))


@cache
def offsets(type: Struct) -> tuple[int, ...]:
    """Where members lie, in bytes."""
    if type.offsets is not None:
        return type.offsets
    found, at = [], 0
    for member in type.members:
        at += -at % alignment(member)
        found.append(at)
        at += size(member)
    return tuple(found)


def from_bytes(data: Any, type: Type) -> Lanes:
    """[lanes, bytes] -> [lanes, components]."""
    return np.ascontiguousarray(data).view(dtype(type))[:, :width(type)]


def to_bytes(x: Lanes, type: Type) -> Any:
    """[lanes, components] -> [lanes, bytes]."""
    return np.ascontiguousarray(x).view(np.uint8).reshape(x.shape[0], -1)


def constants(contents: Contents) -> tuple[dict[int, Any], set[int]]:
    """The values of constants by id, [1, components] (bytes for arrays), and the ids of undefined ones."""
    found: dict[int, Any] = {}
    undefined: set[int] = set()
    for id, it in contents.constants.items():
        type = contents.types[it.type]
        if it.name == "OpUndef":
            undefined.add(id)
        found[id] = _constant(it, type, found)
    return found, undefined


def _constant(it: Decoded, type: Type, known: dict[int, Any]) -> Any:
    if isinstance(type, (Array, Struct)):
        if it.name == "OpConstantComposite":
            return np.concatenate([to_bytes(known[word], type).ravel() for word in it.words])[None]
        return np.zeros((1, size(type)), np.uint8)
    if isinstance(type, CooperativeMatrix):
        shape = (type.rows, type.columns)
        return np.zeros(shape, dtype(type)) if not it.words else np.full(shape, known[it.words[0]][0, 0])
    kind = dtype(type)
    if it.name in ("OpConstantNull", "OpUndef"):
        return np.zeros((1, width(type)), kind)
    if it.name in ("OpConstantTrue", "OpConstantFalse"):
        return np.array([[it.name == "OpConstantTrue"]])
    if it.name == "OpConstantComposite":
        return np.concatenate([known[word] for word in it.words], axis=1)
    bits = sum(word << 32 * place for place, word in enumerate(it.words)) & ((1 << 8 * kind.itemsize) - 1)
    return np.array([[bits]], UNSIGNED[8 * kind.itemsize]).view(kind)

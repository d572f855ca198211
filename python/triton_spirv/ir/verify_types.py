"""What a type must fulfil beyond its spelling: sizes, bounds, and encodings that fit the shape.

`check_type` is called once for each spelling, by the reader of types. ValueError says what is wrong; the
reader adds the place. What a target lacks is said later, by the rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .types import (
    Encoding,
    FloatType,
    IndexType,
    IntegerType,
    MemDescType,
    OpaqueAttr,
    PointerType,
    TensorDescType,
    TensorType,
    Type,
    VectorType,
)

#: Elements of a tensor; Triton's own front end has the same limit (TRITON_MAX_TENSOR_NUMEL).
MAX_ELEMENTS = 1 << 20
#: Elements of a view of shared memory, several buffers together.
MAX_SHARED_ELEMENTS = 1 << 24
#: Bits of an integer type that MLIR reads.
MAX_INTEGER_BITS = (1 << 24) - 1
#: Lanes of a warp, warps of a program, elements of a thread: no device has more.
MAX_UNITS = 1 << 20

_ELEMENTS = (IntegerType, FloatType, PointerType, IndexType)


def check_type(type: Type) -> None:
    """ValueError says what no rule could work with."""
    if isinstance(type, TensorType):
        _shape(type.shape, MAX_ELEMENTS)
        if not isinstance(type.element, _ELEMENTS):
            raise ValueError(f"a tensor cannot hold elements of type {type.element}")
        if type.encoding is not None:
            check_encoding(type.encoding, type.shape)
    elif isinstance(type, IntegerType):
        if not 0 < type.width <= MAX_INTEGER_BITS:
            raise ValueError(f"an integer has 1 to {MAX_INTEGER_BITS} bits")
    elif isinstance(type, PointerType):
        if not isinstance(type.pointee, (*_ELEMENTS, TensorType)):
            raise ValueError(f"a pointer cannot point to {type.pointee}")
    elif isinstance(type, MemDescType):
        _shared(type)
    elif isinstance(type, TensorDescType):
        if not type.block.shape:
            raise ValueError("a descriptor's block has no dimension")
    elif isinstance(type, VectorType):
        if math.prod(type.shape) > MAX_ELEMENTS:
            raise ValueError(f"more than {MAX_ELEMENTS} elements")


def _shape(shape: Sequence[int], limit: int) -> None:
    for size in shape:
        if size < 1 or size & (size - 1):
            raise ValueError(f"{size} is not a power of two")
    if math.prod(shape) > limit:
        raise ValueError(f"it has {math.prod(shape)} elements; a tensor has at most {limit}")


def _shared(type: MemDescType) -> None:
    if not type.shape or min(type.shape) < 1 or math.prod(type.shape) > MAX_SHARED_ELEMENTS:
        raise ValueError(f"shared memory holds 1 to {MAX_SHARED_ELEMENTS} elements")
    if len(type.alloc_shape) < len(type.shape) or min(type.alloc_shape) < 1 or \
            math.prod(type.alloc_shape) > MAX_SHARED_ELEMENTS:
        raise ValueError(f"{type.shape} is not a view of an allocation of shape {type.alloc_shape}")
    if not isinstance(type.element, _ELEMENTS):
        raise ValueError(f"shared memory cannot hold elements of type {type.element}")
    rank = len(type.shape)
    if isinstance(type.encoding, Encoding) and type.encoding.name in SHARED:
        SHARED[type.encoding.name](type.encoding, type.shape[rank - _rank_of(type.encoding, rank):])


def _rank_of(encoding: Encoding, rank: int) -> int:
    """Buffers in a row have an encoding of one dimension less."""
    order = encoding.get("order")
    return rank - 1 if isinstance(order, tuple) and len(order) == rank - 1 else rank


def check_encoding(encoding: object, shape: Sequence[int]) -> None:
    """ValueError where the encoding of a tensor is not a layout of this shape. Encodings without a check are
    refused by the rules, by name."""
    if isinstance(encoding, Encoding):
        if encoding.dialect == "ttg" and encoding.name in DISTRIBUTED:
            DISTRIBUTED[encoding.name](encoding, shape)
    elif not isinstance(encoding, OpaqueAttr):
        raise ValueError(f"{encoding!r} is not an encoding of a tensor")


def _integers(encoding: Encoding, name: str, count: int, least: int = 1) -> tuple[int, ...]:
    """`name` of an encoding: so many whole numbers of at least `least`."""
    values = encoding.get(name)
    if not isinstance(values, tuple) or not all(
            n.__class__ is int and least <= n <= MAX_UNITS for n in values):
        raise ValueError(f"#ttg.{encoding.name} wants whole numbers from {least} to {MAX_UNITS} as {name}")
    if len(values) != count:
        raise ValueError(f"{name} of #ttg.{encoding.name} has {len(values)} dimensions, the tensor {count}")
    return values


def _integer(encoding: Encoding, name: str, least: int, most: int) -> int:
    value = encoding.get(name)
    if not _whole(value) or not least <= value <= most:
        raise ValueError(f"{name} of #ttg.{encoding.name} is a whole number from {least} to {most}")
    return int(value)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _order(encoding: Encoding, rank: int) -> None:
    order = encoding.get("order")
    if not isinstance(order, tuple) or not all(map(_whole, order)) or sorted(order) != list(range(rank)):
        raise ValueError(f"order of #ttg.{encoding.name} is not an order of {rank} dimensions")


def _blocked(encoding: Encoding, shape: Sequence[int]) -> None:
    product = 1
    for name in ("sizePerThread", "threadsPerWarp", "warpsPerCTA"):
        for size in _integers(encoding, name, len(shape)):
            if size & (size - 1):
                raise ValueError(f"{name} of #ttg.blocked: {size} is not a power of two")
            product *= size
    if product > MAX_UNITS:
        raise ValueError(f"#ttg.blocked spreads {product} elements; a tensor has at most {MAX_UNITS}")
    _order(encoding, len(shape))


def _slice(encoding: Encoding, shape: Sequence[int]) -> None:
    dim = _integer(encoding, "dim", 0, len(shape))
    parent = encoding.get("parent")
    if not isinstance(parent, Encoding):
        raise ValueError("parent of #ttg.slice is not a layout")
    check_encoding(parent, (*shape[:dim], 1, *shape[dim:]))


def _dot_operand(encoding: Encoding, shape: Sequence[int]) -> None:
    _integer(encoding, "opIdx", 0, 1)
    if len(shape) < 2:
        raise ValueError("an operand of a product has at least two dimensions")
    parent = encoding.get("parent")
    if not isinstance(parent, Encoding):
        raise ValueError("parent of #ttg.dot_op is not a layout")
    check_encoding(parent, shape)


def _bases(encoding: Encoding, name: str, rank: int) -> None:
    """Offsets of each bit: lists of coordinates."""
    bases = encoding.get(name) or ()
    if not isinstance(bases, tuple) or len(bases) > MAX_UNITS.bit_length():
        raise ValueError(f"{name} of #ttg.{encoding.name} is not a list of offsets")
    for basis in bases:
        if not isinstance(basis, tuple) or len(basis) != rank or \
                not all(_whole(n) and 0 <= n < MAX_UNITS for n in basis):
            raise ValueError(f"{name} of #ttg.{encoding.name}: {basis} is not an offset in {rank} dimensions")


def _linear(encoding: Encoding, shape: Sequence[int]) -> None:
    for name in ("register", "lane", "warp", "block"):
        _bases(encoding, name, len(shape))


def _swizzled(encoding: Encoding, shape: Sequence[int]) -> None:
    for name in ("vec", "perPhase", "maxPhase"):
        value = _integer(encoding, name, 1, MAX_UNITS)
        if value & (value - 1):
            raise ValueError(f"{name} of #ttg.{encoding.name}: {value} is not a power of two")
    _order(encoding, len(shape))


def _shared_linear(encoding: Encoding, shape: Sequence[int]) -> None:
    _bases(encoding, "offset", len(shape))


DISTRIBUTED: dict[str, Callable[[Encoding, Sequence[int]], None]] = {
    "blocked": _blocked, "slice": _slice, "dot_op": _dot_operand, "linear": _linear,
    "generic_linear": _linear,
}
SHARED: dict[str, Callable[[Encoding, Sequence[int]], None]] = {
    "swizzled_shared": _swizzled, "shared_linear": _shared_linear,
}

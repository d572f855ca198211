"""Elements of arguments by their places in memory: coordinates for users, values for comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ..check_layout import VIEW_DIMENSIONS
from ..tensors import Addressed, has_address
from .extents import extent

if TYPE_CHECKING:
    import numpy

#: where memory ends of which nothing is known: nothing is beyond it
EVERYWHERE = -(1 << 62), 1 << 62


def memory_of(argument: object) -> tuple[int, int]:
    """Where the memory behind an argument begins and ends; empty for null, everything for a bare address."""
    found = extent(argument)
    if found is not None:
        return found[0], found[0] + found[1]
    return (0, 0) if argument is None or (isinstance(argument, int) and not argument) else EVERYWHERE


def form(argument: object) -> tuple[Sequence[int] | None, Sequence[int] | None]:
    """Shape and strides (in elements), where the argument has them."""
    shape = getattr(argument, "shape", None)
    strides = getattr(argument, "stride", None)
    strides = strides() if callable(strides) else getattr(argument, "strides", None)
    return (None, None) if shape is None or strides is None else (tuple(shape), tuple(strides))


def item_bytes(argument: object) -> int:
    """Bytes of an element, as torch or numpy say it; 1 where nobody does."""
    return int(getattr(argument, "itemsize", 0) or getattr(argument, "element_size", lambda: 1)())


def coordinates(position: int, shape: Sequence[int] | None, strides: Sequence[int] | None) -> tuple[int, ...]:
    """The coordinates of an element by its distance from the first, in elements; of one beyond the array, the
    first coordinate runs on. Empty where they are not known, or some element has no place of its own."""
    if not shape or strides is None or any(stride <= 0 for stride in strides):
        return ()
    order = sorted(range(len(shape)), key=lambda axis: -strides[axis])
    index = [0] * len(shape)
    for axis in order:
        index[axis], position = divmod(position, strides[axis])
    return tuple(index)


def values(memory: numpy.ndarray, dtype: str) -> numpy.ndarray:
    """Bytes as the numbers that they are, by the name of a type; what numpy does not know stays bits."""
    import numpy

    size = {"bfloat16": 2}.get(dtype)
    if size:
        whole = memory[:memory.size // size * size].view(numpy.uint16)
        return (whole.astype(numpy.uint32) << 16).view(numpy.float32)
    try:
        kind = numpy.dtype(dtype)
    except TypeError:
        return memory
    return memory[:memory.size // kind.itemsize * kind.itemsize].view(kind)


def element_at(argument: Addressed, address: int) -> tuple[int, ...]:
    """The coordinates of the element at an address; its number alone where they are not known."""
    position = (address - argument.data_ptr()) // item_bytes(argument)
    return coordinates(position, *form(argument)) or (position,)


#: a dimension that nothing is beyond
ANY_DIMENSION = 1 << 62, 1 << 62


def view_of(argument: object) -> tuple[int, ...]:
    """The address of the first element, then stride in bytes and size of each dimension, the largest stride
    first, neighbours as one. Nothing is outside of what cannot be described so."""
    nothing = (0, *ANY_DIMENSION * VIEW_DIMENSIONS)
    if not has_address(argument):
        return nothing
    shape, strides = form(argument)
    found: list[tuple[int, int]] = []
    if shape is not None and strides is not None:
        rows = [pair for pair in zip(strides, shape, strict=True) if pair[0] and pair[1] != 1]
        for stride, size in sorted(rows, reverse=True):
            if found and found[-1][0] == stride * size:
                found[-1] = stride, found[-1][1] * size
            else:
                found.append((stride, size))
    apart = all(big >= stride * size for (big, _), (stride, size) in pairwise(found))
    if shape is None or not apart or len(found) > VIEW_DIMENSIONS or any(stride < 0 for stride, _ in found):
        return nothing
    item = item_bytes(argument)
    missing = VIEW_DIMENSIONS - len(found)
    if not found:  # one element
        found, missing = [(1, 1)], missing - 1
    known = [x for stride, size in found for x in (stride * item, size)]
    return (argument.data_ptr(), *ANY_DIMENSION * missing, *known)

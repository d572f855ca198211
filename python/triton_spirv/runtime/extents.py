"""Where the memory behind an argument begins and ends: what launches copy that do not work on it in place,
and what recordings keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..tensors import Tensor

#: the first address, the address behind the last byte, may the kernel write there?
Span = tuple[int, int, bool]


def extent(argument: object) -> tuple[int, int] | None:
    """Address and bytes of the allocation behind an argument; None for null and for bare addresses, for what
    is mapped only while a kernel runs, and for what has no memory, which the launch refuses by name."""
    if hasattr(argument, "mapped"):
        return None
    if hasattr(argument, "extent"):
        return argument.extent()
    if hasattr(argument, "untyped_storage"):
        storage = argument.untyped_storage()
        try:
            return storage.data_ptr(), storage.nbytes()
        except RuntimeError:
            return None
    return extent(argument.base) if hasattr(argument, "base") else None


def sharing(written: Sequence[bool], pointers: Sequence[bool]) -> Callable[[Sequence[object]], bool]:
    """A function of a launch's arguments: does one of them that the kernel may write share an allocation with
    another? Bare addresses have none that is known. By parameter: is it written, is it a pointer?

    Each launch of a kernel that asks pays for it: about 0.7 microseconds for three tensors.
    """
    places = [(i, writes) for i, writes in enumerate(written) if pointers[i]]
    spans = _Spans()

    def shares(arguments: Sequence[object]) -> bool:
        seen: list[Span] = []
        for i, writes in places:
            argument = arguments[i]
            begin, end = spans[type(argument)](argument)
            for first, last, also in seen:
                if begin < last and first < end and (writes or also):
                    return True
            seen.append((begin, end, writes))
        return False

    return shares


class _Spans(dict[type, Callable[[Any], tuple[int, int]]]):
    """Type of an argument -> the function that gives where its allocation begins and ends."""

    def __missing__(self, kind: type) -> Callable[[Any], tuple[int, int]]:
        self[kind] = self._of_tensor if hasattr(kind, "untyped_storage") else self._of_any
        return self[kind]

    @staticmethod
    def _of_tensor(tensor: Tensor) -> tuple[int, int]:
        storage = tensor.untyped_storage()
        try:
            begin = storage.data_ptr()
        except RuntimeError:  # it has no memory, which the launch refuses by name
            return 0, 0
        return begin, begin + storage.nbytes()

    @staticmethod
    def _of_any(argument: object) -> tuple[int, int]:
        found = extent(argument)
        return (0, 0) if found is None else (found[0], found[0] + found[1])


def merged(spans: Iterable[Span]) -> list[Span]:
    """The spans in order, those that overlap as one, chains of them too: written if any of them is. Spans
    that only touch stay apart."""
    found: list[Span] = []
    for begin, end, written in sorted(spans):
        if found and begin < found[-1][1]:
            first, last, before = found.pop()
            begin, end, written = first, max(last, end), before or written
        found.append((begin, end, written))
    return found

"""Where the memory behind an argument begins and ends: what launches copy that do not work on it in place,
and what recordings keep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

#: the first address, the address behind the last byte, may the kernel write there?
Span = tuple[int, int, bool]


def extent(argument: Any) -> tuple[int, int] | None:
    """Address and bytes of the allocation behind an argument; None for null and for bare addresses."""
    if hasattr(argument, "extent"):
        return argument.extent()
    if hasattr(argument, "untyped_storage"):
        storage = argument.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    return extent(argument.base) if hasattr(argument, "base") else None


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

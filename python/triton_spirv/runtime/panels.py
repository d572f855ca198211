"""Memory in which the programs of a launch keep what they have packed for those behind them
(panel_layout.py): one for each launch that is under way.

It stays for later launches of any kernel, with nothing in it that they could take for theirs: each has a
number of its own. Pages that no program touches cost nothing.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from math import prod

from .. import panel_layout as layout

#: Bytes of a shelf, and rounds that it has room for.
SHELF, ROUNDS = 4 << 20, 256

LARGE_PAGE = 2 << 20

#: Threads that run programs besides those of the device.
OTHERS = 2

#: clEnqueueNDRangeKernel's sizes
_SIZES = struct.Struct("<3Q")

#: No memory, as kernels see it.
_nothing = ctypes.c_uint32(0)
NOTHING = ctypes.addressof(_nothing)

#: Of all launches of the process, from 1.
_numbers = count(1)

_free: list[Panels] = []


class Panels:
    """A shelf for each thread that runs programs, and each product of a loop."""

    def __init__(self, threads: int) -> None:
        self.shelves = min((threads + OTHERS) * layout.PRODUCTS, layout.MOST_SHELVES)
        head = layout.shelves_at(self.shelves, ROUNDS)
        # a forked child has launches with the same numbers, so it must not see the parent's panels
        self._memory = mmap.mmap(-1, head + LARGE_PAGE + self.shelves * SHELF, access=mmap.ACCESS_COPY)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with suppress(OSError):  # of a system without large pages
                self._memory.madvise(mmap.MADV_HUGEPAGE)
        self.address = ctypes.addressof(ctypes.c_uint8.from_buffer(self._memory))
        self._head = bytearray(layout.OWNERS + 8 * self.shelves)  # no owners, nor programs along x
        self._locks = bytes(layout.LOCK_BYTES * self.shelves)
        self._first = -(-(self.address + head) // LARGE_PAGE) * LARGE_PAGE - self.address

    def begin(self) -> None:
        """A launch begins. Its processor's caches are full of another's data: the fewer calls, the better."""
        self._head[:layout.HEADER.size] = layout.HEADER.pack(self.shelves, ROUNDS, next(_numbers), SHELF,
                                                             self._first)
        self._memory[:len(self._head)] = self._head
        self._memory[layout.LOCKS:layout.LOCKS + len(self._locks)] = self._locks

    def place_along_x(self, sizes: ctypes.Array[ctypes.c_uint8], local: Sequence[int]) -> None:
        """Let the driver run neighbours along x one after the other, which have the same right operand: it
        walks a grid of two dimensions in squares. sizes: of a launch, three of 64 bits; then all programs are
        along x."""
        programs = [size // items for size, items in zip(_SIZES.unpack_from(sizes), local, strict=True)]
        if prod(programs) > programs[0]:
            layout.GRID.pack_into(self._memory, layout.GRID_AT, *programs)
            _SIZES.pack_into(sizes, 0, prod(programs) * local[0], *local[1:])


def taken(threads: int, shares: Callable[[Sequence[object]], bool], arguments: Sequence[object]
          ) -> Panels | None:
    """For a launch; None where memory that it writes is also that of another argument, as `shares` says, or
    there is too little. `given_back` is called when the launch has ended; a launch that nobody waits for
    keeps its memory for good."""
    if shares(arguments):
        return None
    try:
        panels = _free.pop()
    except IndexError:
        try:
            panels = Panels(threads)
        except OSError:
            return None
    panels.begin()
    return panels


def given_back(panels: Panels) -> None:
    """Nobody uses it any more."""
    _free.append(panels)

"""Memory in which the programs of a launch keep what they have packed for those behind them
(panel_layout.py): one for each launch that is under way.

It stays for later launches of any kernel, with nothing in it that they could take for theirs: each has a
number of its own. Pages that no program touches cost nothing.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from math import prod

from .. import panel_layout as layout
from .grid import GRID_LIMIT

#: Bytes of a shelf, and rounds that it has room for.
SHELF, ROUNDS = 4 << 20, 256

LARGE_PAGE = 2 << 20

#: Threads that run programs besides those of the device.
OTHERS = 2

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

    def begin(self, grid: Sequence[int]) -> None:
        """A launch of a grid begins, whose programs all lie along x (`along_x`). Its processor's caches are
        full of another's data: the fewer calls, the better."""
        self._head[:layout.HEADER.size] = layout.HEADER.pack(self.shelves, ROUNDS, next(_numbers), SHELF,
                                                             self._first)
        layout.GRID.pack_into(self._head, layout.GRID_AT, *(grid if prod(grid) > grid[0] else (0, 0, 0)))
        self._memory[:len(self._head)] = self._head
        self._memory[layout.LOCKS:layout.LOCKS + len(self._locks)] = self._locks


def along_x(grid: Sequence[int]) -> tuple[int, int, int]:
    """The grid that a launch with such memory has instead of its own: neighbours along x, which have the same
    right operand, run one after the other then. A grid of two dimensions is walked in squares by the driver,
    and by threads that share a launch along its longest axis."""
    return prod(grid), 1, 1


def taken(threads: int, shares: Callable[[Sequence[object]], bool], arguments: Sequence[object],
          grid: Sequence[int]) -> Panels | None:
    """For a launch of a grid, which is to have all programs along x then (`along_x`); None where memory that
    it writes is also that of another argument, as `shares` says, or there is too little, or there are too
    many programs. `given_back` is called when the launch has ended; a launch that nobody waits for keeps its
    memory for good."""
    if shares(arguments) or prod(grid) > GRID_LIMIT:
        return None
    try:
        panels = _free.pop()
    except IndexError:
        try:
            panels = Panels(threads)
        except OSError:
            return None
    panels.begin(grid)
    return panels


def given_back(panels: Panels) -> None:
    """Nobody uses it any more."""
    _free.append(panels)

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

from .. import panel_layout as layout

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
    """A shelf for each thread that runs programs."""

    def __init__(self, threads: int) -> None:
        self.shelves = min(threads + OTHERS, layout.MOST_SHELVES)
        head = layout.shelves_at(self.shelves, ROUNDS)
        # a forked child has launches with the same numbers, so it must not see the parent's panels
        self._memory = mmap.mmap(-1, head + LARGE_PAGE + self.shelves * SHELF, access=mmap.ACCESS_COPY)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with suppress(OSError):  # of a system without large pages
                self._memory.madvise(mmap.MADV_HUGEPAGE)
        self.address = ctypes.addressof(ctypes.c_uint8.from_buffer(self._memory))
        self._first = -(-(self.address + head) // LARGE_PAGE) * LARGE_PAGE - self.address

    def begin(self) -> None:
        """A launch begins."""
        ctypes.memset(self.address + layout.OWNERS, 0, 8 * self.shelves)
        ctypes.memset(self.address + layout.LOCKS, 0, layout.LOCK_BYTES * self.shelves)
        layout.HEADER.pack_into(self._memory, 0, self.shelves, ROUNDS, next(_numbers), SHELF, self._first)


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

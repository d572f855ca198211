"""Where a processor's threads are, thousands of times a second: perf_event_open(2) of Linux.

One event for each thread of the process, of its time in user mode. The kernel writes an instruction's address
for each sample into a ring buffer that is read after each launch (linux/perf_event.h).
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from pathlib import Path

PERF_EVENT_OPEN = 298  # of x86-64
TYPE_SOFTWARE, COUNT_TASK_CLOCK = 1, 1
SAMPLE_IP = 1
#: bits of perf_event_attr: disabled, exclude_kernel, exclude_hv
FLAGS = 1 << 0 | 1 << 5 | 1 << 6
ENABLE, DISABLE = 0x2400, 0x2401
RECORD_SAMPLE = 9
ATTRIBUTE_BYTES = 112
DATA_HEAD = 1024  # in the first page; data_tail follows
PAGES = 64  # of a ring buffer, a power of two
PERIOD = 200_000  # nanoseconds between samples of a thread


class NotAllowed(OSError):
    """The system does not let this process look at itself."""


class Sampler:
    """`start()` and `stop()` around what is to be watched; `stop` gives the addresses."""

    def __init__(self) -> None:
        self._threads: dict[int, _Thread] = {}

    def start(self) -> None:
        """Watch all threads that there are; NotAllowed where the system forbids it."""
        there = {int(name) for name in os.listdir("/proc/self/task")}
        for gone in self._threads.keys() - there:
            self._threads.pop(gone).close()
        for new in there - self._threads.keys():
            try:
                self._threads[new] = _Thread(new)
            except ProcessLookupError:
                continue
        for thread in self._threads.values():
            thread.switch(ENABLE)

    def stop(self) -> list[int]:
        """The addresses since `start`."""
        for thread in self._threads.values():
            thread.switch(DISABLE)
        return [address for thread in self._threads.values() for address in thread.read()]

    def close(self) -> None:
        """Watch nothing any more."""
        while self._threads:
            self._threads.popitem()[1].close()


class _Thread:
    def __init__(self, number: int) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._ioctl = libc.ioctl
        attribute = struct.pack("<IIQQQQQ", TYPE_SOFTWARE, ATTRIBUTE_BYTES, COUNT_TASK_CLOCK, PERIOD,
                                SAMPLE_IP, 0, FLAGS).ljust(ATTRIBUTE_BYTES, b"\0")
        self.file = libc.syscall(PERF_EVENT_OPEN, attribute, number, -1, -1, 0)
        if self.file < 0:
            code = ctypes.get_errno()
            if code == 3:  # ESRCH: the thread has ended
                raise ProcessLookupError
            raise NotAllowed(code, f"perf_event_open: {os.strerror(code)}{_why()}")
        try:
            self.ring = mmap.mmap(self.file, (1 + PAGES) * mmap.PAGESIZE)
        except OSError as error:
            os.close(self.file)
            raise NotAllowed(error.errno, f"the ring buffer of perf_event_open: {error.strerror}") from None

    def switch(self, request: int) -> None:
        self._ioctl(self.file, request, 0)

    def read(self) -> list[int]:
        head, tail = struct.unpack_from("<QQ", self.ring, DATA_HEAD)
        size = PAGES * mmap.PAGESIZE
        found: list[int] = []
        while tail < head:
            kind, _, length = struct.unpack("<IHH", self._bytes(tail % size, 8))
            if kind == RECORD_SAMPLE:
                found += struct.unpack("<Q", self._bytes((tail + 8) % size, 8))
            tail += length
        struct.pack_into("<Q", self.ring, DATA_HEAD + 8, tail)
        return found

    def _bytes(self, at: int, count: int) -> bytes:
        """Records are multiples of eight bytes, so no eight of them are parted by the ring's end."""
        return self.ring[mmap.PAGESIZE + at:mmap.PAGESIZE + at + count]

    def close(self) -> None:
        self.ring.close()
        os.close(self.file)


def _why() -> str:
    """What the system's setting says."""
    try:
        level = int(Path("/proc/sys/kernel/perf_event_paranoid").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return ""
    return f"; kernel.perf_event_paranoid is {level}" + ("" if level > 2 else ", so a container forbids it")

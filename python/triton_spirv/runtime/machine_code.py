"""Short pieces of machine code, for processors of the x86-64 family under Linux: their bytes, and a page that
may run them.

A listing has one instruction a line: its bytes, and what they say; `name:` is a label.

Pages stay until the process ends. Threads and signal handlers may run code while the interpreter ends, and
when it has ended.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import sys


def has_code() -> bool:
    """Is this a processor and a system that the listings are for?"""
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 1 << 32


def assembled(listing: str) -> tuple[bytes, dict[str, int]]:
    """The code, and where in it each label is."""
    code, labels = bytearray(), {}
    for line in listing.strip().splitlines():
        word = line.split()[0]
        if word.endswith(":"):
            labels[word[:-1]] = len(code)
        else:
            code += bytes.fromhex(word)
    return bytes(code), labels


def executable(code: bytes) -> int | None:
    """Where the code is, in a page of its own; None on a system that lets nobody make code."""
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        return None
    page.write(code)
    start = ctypes.addressof(ctypes.c_char.from_buffer(page))
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    if protect(start, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_EXEC):
        return None
    keep_for_good(page)
    return start


def keep_for_good(value: object) -> None:
    """The value is never freed, not even by the end of the interpreter."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))

"""device_print: kernels write records into a buffer, and the runtime formats them when it has waited.

The buffer is words of 32 bits: how many words records asked for, how many there are, then the records, each
the number of its format (counted from 1) and two words for each value. See docs/notes/vulkan.md.
"""

from __future__ import annotations

import ctypes
import re
import struct
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .memory import Allocation

#: bytes of the buffer of a kernel that prints
BYTES = 4 << 20
HEADER = 2

_DIRECTIVE = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[hlLqjzt]*([a-zA-Z%])")


class PrintBuffer:
    """The buffer of one kernel, in memory that host and device see, and what its records mean."""

    def __init__(self, memory: Allocation, formats: Sequence[tuple[str, Sequence[str]]]) -> None:
        self.memory, self.formats = memory, formats
        self.capacity = memory.size // 4 - HEADER
        self._words = (ctypes.c_uint32 * (memory.size // 4)).from_address(memory.host)
        self._words[0], self._words[1] = 0, self.capacity

    def flush(self) -> None:
        """Print the records in the order in which they were made, and empty the buffer."""
        asked = self._words[0]
        if not asked:
            return
        words, place = self._words[HEADER:HEADER + min(asked, self.capacity)], 0
        self._words[0] = 0
        for index in range(HEADER, HEADER + len(words)):
            self._words[index] = 0
        while place < len(words) and 0 < words[place] <= len(self.formats):
            text, kinds = self.formats[words[place] - 1]
            size = 1 + 2 * len(kinds)
            if place + size > len(words):
                break
            pairs = zip(words[place + 1:place + size:2], words[place + 2:place + size:2], strict=True)
            values = [value_of(low, high, kind) for (low, high), kind in zip(pairs, kinds, strict=True)]
            sys.stdout.write(formatted(text, values))
            place += size
        sys.stdout.flush()
        if asked > self.capacity:
            print(f"device_print: the buffer of {self.memory.size} bytes was full, lines are missing; print "
                  "less in a launch", file=sys.stderr)


def value_of(low: int, high: int, kind: str) -> tuple[int | float, int]:
    """A value of the given type from its two words, and the bits of the type."""
    bits = int(re.sub(r"\D", "", kind) or 32)
    if kind.startswith("f"):
        data = struct.pack("<II", low, high)
        return struct.unpack_from("<d" if bits == 64 else "<f", data)[0], bits
    return low | high << 32, bits


def formatted(text: str, values: Sequence[tuple[int | float, int]]) -> str:
    """`text % values` as C's printf has it: lengths ignored, %u and %x unsigned, %a hexadecimal."""
    remaining = iter(values)

    def replace(match: re.Match[str]) -> str:
        directive = match.group(1)
        if directive == "%":
            return "%"
        value, bits = next(remaining)
        plain = re.sub(r"[hlLqjzt](?=.*[a-zA-Z]$)", "", match.group(0))
        if directive == "a":
            return float(value).hex()
        if directive in "di":
            wrapped = int(value) & ((1 << max(bits, 32)) - 1)
            value = wrapped - (1 << max(bits, 32)) if wrapped >> (max(bits, 32) - 1) else wrapped
        elif directive in "uoxX":
            value = int(value) & ((1 << max(bits, 32)) - 1)
        return (plain[:-1] + "d" if directive in "ui" else plain) % value

    return _DIRECTIVE.sub(replace, text)

"""Time by line of a kernel's source, from samples of addresses and the line table of its code."""

from __future__ import annotations

import linecache
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from .line_table import LineTable, line_table
from .object_file import object_file

#: an executable mapping without a file: first address, end
_CODE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) r.xp \S+ \S+ 0 *$", re.M)


class HotLines:
    """Of one kernel. binary: the driver's; files: of the kernel's source, by their full names."""

    def __init__(self, kernel: str, binary: bytes, files: Iterable[str]) -> None:
        self.kernel, self.table = kernel, line_table(object_file(binary))
        self.files = tuple(files)
        self.lines: Counter[tuple[str, int]] = Counter()
        self.elsewhere = 0
        self.start = find(self.table)

    def add(self, addresses: Iterable[int]) -> None:
        """Count samples that were taken while the kernel ran."""
        start = sys.maxsize if self.start is None else self.start
        for address in addresses:
            file, line = self.table.at(address - start) if address >= start else ("", 0)
            if line:
                self.lines[self._full(file), line] += 1
            else:
                self.elsewhere += 1

    def pieces(self) -> Iterator[tuple[int, int, str]]:
        """Address, size and name of the code of each line; nothing where the code was not found."""
        rows = [*self.table.rows, (len(self.table.code), "", 0)]
        for (offset, file, line), (end, *_) in pairwise(rows):
            if self.start is not None and end > offset:
                yield self.start + offset, end - offset, f"{self.kernel} [{Path(file).name}:{line}]"

    @property
    def has_samples(self) -> bool:
        """Is there anything to tell?"""
        return bool(self.lines or self.elsewhere)

    def _full(self, file: str) -> str:
        return next((name for name in self.files if name == file or name.endswith(f"/{file}")), file)

    def text(self, most: int = 12) -> str:
        """The lines that took longest."""
        count = self.lines.total() + self.elsewhere
        rows = [f"{self.kernel}: {count} samples, by line"]
        for (file, line), samples in self.lines.most_common(most):
            source = linecache.getline(file, line).strip()
            rows.append(f"{100 * samples / count:6.1f} %  {Path(file).name}:{line}  {source}")
        if self.elsewhere:
            rows.append(f"{100 * self.elsewhere / count:6.1f} %  in the math library, the driver and Python")
        return "\n".join([*rows, ""])


def find(table: LineTable) -> int | None:
    """Where the code has been loaded in this process: its bytes, but for what loading fills in."""
    ends = [0, *(at + size for at, size in table.holes)]
    starts = [*(at for at, _ in table.holes), len(table.code)]
    pieces = [(begin, table.code[begin:end]) for begin, end in zip(ends, starts, strict=True) if end > begin]
    if not pieces:
        return None
    offset, longest = max(pieces, key=lambda piece: len(piece[1]))
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        for found in _CODE.finditer(maps):
            first, end = (int(word, 16) for word in found.groups())
            memory.seek(first)
            data = memory.read(end - first)
            at = data.find(longest)
            while at >= 0:
                start = at - offset
                if start >= 0 and all(data.startswith(piece, start + place) for place, piece in pieces):
                    return first + start
                at = data.find(longest, at + 1)
    return None

"""Memory: bytes with bounds, what was written, and who touched them.

Addresses of global memory are those of the host's arrays, so that addresses which a kernel finds in memory
mean what they say. A variable of the module has its number in the upper half of its addresses, behind all
addresses of the host: what leaves one never reaches another.
"""

from __future__ import annotations

import ctypes
from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .races import Shadow

DEFINED, UNWRITTEN = 0, 1  # numbers of origins of what is undefined
VARIABLE_SHIFT = 32
VARIABLES = 1 << 62  # an address of the host is below that
#: Narrow elements may be reached through the aligned word around them: words count as inside that hold a byte
#: of an argument.
WORD = 4


def view(start: int, bytes: int) -> Any:
    """Memory of this process as an array of bytes."""
    if not bytes:
        return np.zeros(0, np.uint8)
    return np.frombuffer((ctypes.c_uint8 * bytes).from_address(start), np.uint8)


@dataclass(order=True)
class Allocation:
    """Memory of an argument: its first address, bytes, place among the machine's bytes, and name."""

    start: int
    bytes: int
    flat: int
    name: str

    @property
    def end(self) -> int:
        return self.start + self.bytes


class Space:
    """What all memories have in common. `origin` says of each byte why it is undefined, None where everything
    is written from the beginning."""

    def __init__(self, bytes: int, is_written: bool) -> None:
        self.bytes = np.zeros(bytes, np.uint8)
        self.origin = None if is_written else np.full(bytes, UNWRITTEN, np.uint16)
        self.shadow: Shadow | None = None
        self.observes = False  # is what is stored here a result of the launch?
        self.is_of_program = False  # shared memory: rows of its clocks are lanes of one program

    def locate(self, warp: Any, lanes: Any, addresses: Any, size: int) -> tuple[Any, Any | None]:
        """Places among `bytes`; which of them are inside, None for all."""
        raise NotImplementedError

    def describe(self, address: int) -> str:
        raise NotImplementedError

    def aligned_to(self, address: int) -> int:
        """What is known of the alignment of the variable there."""
        return 1 << 30

    def read(self, warp: Any, lanes: Any, addresses: Any, size: int, number: int,
             flags: int) -> tuple[Any, Any]:
        """lanes, addresses [n] -> bytes [n, size], and why they are undefined (None: nothing is)."""
        at, inside = self.locate(warp, lanes, addresses, size)
        if inside is not None:
            self._outside(warp, addresses, inside, size, number, "loads")
            at = np.where(inside, at, 0)
        places = at[:, None] + np.arange(size)
        data = self.bytes[places]
        if inside is not None:
            data[~inside] = 0
            lanes, places = lanes[inside], places[inside]
        if self.shadow is not None and len(lanes):
            found = self.shadow.read(self._rows(warp, lanes), places, number, flags)
            self._race(warp, found, addresses if inside is None else addresses[inside], number, "loads")
        if self.origin is None:
            return data, None
        origin = self.origin[places]
        if not origin.any():
            return data, None
        if inside is not None:
            whole = np.zeros(data.shape, np.uint16)
            whole[inside] = origin
            origin = whole
        return data, origin

    def write(self, warp: Any, lanes: Any, addresses: Any, data: Any, number: int, flags: int,
              origin: Any = None) -> None:
        """lanes, addresses [n], data [n, size]."""
        size = data.shape[1]
        at, inside = self.locate(warp, lanes, addresses, size)
        if inside is not None:
            self._outside(warp, addresses, inside, size, number, "stores")
            at, data, lanes, addresses = at[inside], data[inside], lanes[inside], addresses[inside]
            origin = origin[inside] if origin is not None else None
        if not len(at):
            return
        places = at[:, None] + np.arange(size)
        if self.shadow is not None:
            changes = self.bytes[places] != data
            warp.run.goes_on |= bool(changes.any())
            found = self.shadow.write(self._rows(warp, lanes), places, changes, number, flags)
            self._race(warp, found, addresses, number, "stores")
        self.bytes[places] = data
        if len(at) > 1 and self.shadow is not None and not flags & Shadow.ATOMIC:
            lost = self.bytes[places] != data
            if lost.any():
                lane = int(np.nonzero(lost.any(axis=1))[0][0])
                warp.report("conflicting-store", number, "lanes store different values to "
                            f"{self.describe(int(addresses[lane]))}")
        if self.origin is not None:
            self.origin[places] = 0 if origin is None else origin

    def _outside(self, warp: Any, addresses: Any, inside: Any, size: int, number: int, verb: str) -> None:
        lane = int(np.nonzero(~inside)[0][0])
        warp.report("out-of-bounds", number, f"{verb} {size} bytes at {self.describe(int(addresses[lane]))}"
                    f" ({int((~inside).sum())} of {len(inside)} lanes)")

    def _race(self, warp: Any, found: Any, addresses: Any, number: int, verb: str) -> None:
        if found is None:
            return
        bad, facts, others = found
        assert self.shadow is not None
        lane, byte = (int(places[0]) for places in np.nonzero(bad))
        fact, other = int(facts[lane, byte]), int(others[lane, byte])
        kind = "private-access" if fact & Shadow.PRIVATE else "data-race"
        if not self.is_of_program and warp.run.is_foreign(other, warp.group):
            kind = "race-of-programs"
        warp.report(kind, number, f"{verb} {self.describe(int(addresses[lane]) + byte)}, which "
                    f"{warp.run.name_of(other)} accesses in no order", fact >> 8 & 0xFFFFFF)

    def _rows(self, warp: Any, lanes: Any) -> Any:
        """The rows of lanes among the clocks of this memory."""
        return lanes + warp.first_lane if self.is_of_program else warp.rows[lanes]


class GlobalSpace(Space):
    """The arguments' memory. `unknown(address)` may bring an allocation that no argument named; `found` are
    those that it has brought."""

    def __init__(self, arrays: list[tuple[int, Any, str]],
                 unknown: Callable[[int], tuple[int, Any, str] | None] | None = None) -> None:
        super().__init__(0, True)
        self.observes = True
        self.table: list[Allocation] = []
        self.unknown = unknown
        self.found: list[tuple[int, Any, str]] = []
        for start, data, name in arrays:
            self.add(start, data, name)

    def add(self, start: int, data: Any, name: str) -> Allocation:
        """Memory that kernels may access: its address, its bytes (copied), its name."""
        flat = len(self.bytes)
        edges = np.zeros(start % WORD, np.uint8), np.zeros(-(start + len(data)) % WORD, np.uint8)
        self.bytes = np.concatenate([self.bytes, edges[0], data, edges[1]])
        made = Allocation(start, len(data), flat + len(edges[0]), name)
        insort(self.table, made)
        self._tabulate()
        if self.shadow is not None:
            bigger = Shadow(len(self.bytes), self.shadow.clocks, self.shadow.lanes)
            for name_ in ("writer", "first", "second"):
                getattr(bigger, name_)[:flat] = getattr(self.shadow, name_)
            bigger.facts[:, :flat] = self.shadow.facts
            self.shadow = bigger
        return made

    def _tabulate(self) -> None:
        self.starts = np.array([one.start for one in self.table], np.uint64)
        self.ends = np.array([one.end for one in self.table], np.uint64)
        self.word_starts = self.starts & ~np.uint64(WORD - 1)
        self.word_ends = (self.ends + np.uint64(WORD - 1)) & ~np.uint64(WORD - 1)
        self.shifts = np.array([one.flat - one.start for one in self.table], np.int64)

    def locate(self, warp: Any, lanes: Any, addresses: Any, size: int) -> tuple[Any, Any | None]:
        while True:
            if not len(self.table):
                return np.zeros(len(addresses), np.int64), np.zeros(len(addresses), bool)
            starts, ends = (self.word_starts, self.word_ends) if size == WORD else (self.starts, self.ends)
            which = np.searchsorted(starts, addresses, side="right") - 1
            low = np.maximum(which, 0)
            inside = (which >= 0) & (addresses + np.uint64(size) <= ends[low])
            at = addresses.view(np.int64) + self.shifts[low]
            if inside.all():
                return at, None
            address = int(addresses[~inside][0])
            more = self.unknown(address) if self.unknown is not None else None
            if more is None or any(one.start == more[0] for one in self.table):
                return at, inside
            self.add(*more)
            self.found.append(more)

    def describe(self, address: int) -> str:
        before = [one for one in self.table if one.start <= address]
        near = [one for one in self.table if one.start - 4096 <= address < one.end + 4096]
        inside = [one for one in before if address < one.end]
        if inside:
            return f"{inside[-1].name}, byte {address - inside[-1].start} of {inside[-1].bytes}"
        if near:
            one = min(near, key=lambda it: min(abs(address - it.start), abs(address - it.end)))
            return f"{one.name}, byte {address - one.start} of {one.bytes}"
        return f"address {address:#x}"


@dataclass
class Variable:
    """A variable of the module: name, bytes, place among the bytes of its space, alignment in bytes."""

    name: str
    bytes: int
    start: int
    alignment: int


class VariableSpace(Space):
    """Variables of one storage class; `copies`: lanes that have each a copy of all, or 1."""

    def __init__(self, variables: list[Variable], copies: int, is_written: bool = False) -> None:
        self.variables = variables
        self.stride = max((one.start + one.bytes for one in variables), default=0)
        super().__init__(self.stride * copies, is_written)
        self.copies = copies
        self.starts = np.array([0, *(one.start for one in variables)], np.int64)
        self.sizes = np.array([-1, *(one.bytes for one in variables)], np.int64)

    @staticmethod
    def base(index: int) -> int:
        """The address of a variable by its number."""
        return VARIABLES + (index + 1 << VARIABLE_SHIFT)

    def locate(self, warp: Any, lanes: Any, addresses: Any, size: int) -> tuple[Any, Any | None]:
        which = (addresses - np.uint64(VARIABLES) >> np.uint64(VARIABLE_SHIFT)).astype(np.int64)
        offset = (addresses & np.uint64((1 << VARIABLE_SHIFT) - 1)).astype(np.int64)
        known = (which >= 1) & (which <= len(self.variables))
        which = np.where(known, which, 0)
        inside = offset + size <= self.sizes[which]
        at = self.starts[which] + offset
        if self.copies > 1:
            at = at + lanes * self.stride
        return at, None if inside.all() else inside

    def describe(self, address: int) -> str:
        which, offset = address - VARIABLES >> VARIABLE_SHIFT, address & (1 << VARIABLE_SHIFT) - 1
        for shift in (0, 1):  # below the beginning of a variable lies the end of the one before
            if 1 <= which + shift <= len(self.variables):
                one = self.variables[which + shift - 1]
                byte = offset - (shift << VARIABLE_SHIFT)
                if shift == 0 and byte > 1 << 31 and which < len(self.variables):
                    continue
                return f"%{one.name}, byte {byte} of {one.bytes}"
        return f"address {address:#x}"

    def aligned_to(self, address: int) -> int:
        which = address - VARIABLES >> VARIABLE_SHIFT
        return self.variables[which - 1].alignment if 1 <= which <= len(self.variables) else 1 << 30

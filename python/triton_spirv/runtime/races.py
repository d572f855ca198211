"""The launcher's side of check=race: shadow memory, the words that say where it is (race_layout.py), and what
reports mean."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import race_layout as words
from ..check_layout import Site
from ..checking import Finding, Place
from ..dataclass import dataclass
from ..errors import LaunchError
from ..race_layout import PLANES, region_word
from ..tensors import has_address
from .elements import coordinates, form, memory_of
from .processor import cores

if TYPE_CHECKING:
    from ..artifact import Artifact

#: bits of a stamp; of them for clocks, where programs order each other: at least, at most
STAMP, LEAST_CLOCK, MOST_CLOCK = 32, 6, 16
#: addresses that may be released in a launch, and bytes that their rows may have (touched as they are used)
MOST_ADDRESSES, MOST_BYTES = 1 << 16, 1 << 33
#: states of cells, and nodes of their lists (32 and 16 bytes each, touched as they are used); so many states
#: are kept from earlier launches, at most, and no more memory than all cells have
MOST_STATES, KEPT_STATES = 1 << 26, 1 << 18
#: bytes of rows of readers, touched as they are used; behind them there are lists
MOST_READ_BYTES = 1 << 28

FAILURES = {
    words.CLOCK_RAN_OVER: "one of its programs releases what it did too often to be followed",
    words.TABLE_FULL: "its programs order each other by too many addresses to be followed",
    words.STATES_FULL: "too many programs share too much memory to be followed",
}


@dataclass(frozen=True)
class Report:
    """A record of a site that counted so often."""

    site: Site
    count: int
    record: tuple[int, ...]


@dataclass(frozen=True)
class Region:
    """Memory that programs may race in: a cell for every 2 ** bits bytes, the first one's number."""

    begin: int
    end: int
    bits: int
    cell: int


class Zeros:
    """Memory of zeros, which costs nothing until it is used. A forked child has its own."""

    def __init__(self, size: int) -> None:
        self.size = max(size, 1)
        self._map = mmap.mmap(-1, self.size, access=mmap.ACCESS_COPY)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))

    def clear(self) -> None:
        """Zeros again."""
        ctypes.memset(self.address, 0, self.size)


class Races:
    """Shadow memory of one thread's launches of a kernel, kept from one to the next."""

    def __init__(self, artifact: Artifact) -> None:
        self.artifact = artifact
        self.sites = [site for site in artifact.sites if site.check == "race"]
        self._state = (ctypes.c_int64 * region_word(len(artifact.parameters)))()
        self._shares = any(site.kind.startswith("atomic") for site in self.sites)
        self._site_bits = max(1, (len(self.sites) - 1).bit_length())
        self._cells = Zeros(0)
        self._states, self._nodes, self._seen = Zeros(0), Zeros(0), Zeros(0)
        self._readers = Zeros(0)
        self._programs, self._rows, self._nothing = Zeros(0), Zeros(0), Zeros(0)
        self._known: tuple[Zeros, Zeros] | None = None
        self._form: tuple[int, int] = 0, 0  # bits below a stamp's program, cells
        self._next = 1  # the number of the next launch's first program
        self._regions: list[Region] = []
        self._grid = 1, 1, 1
        #: no program sees what another one did before: each does the same in any order
        self._apart = not any(site.answers for site in self.sites)

    @property
    def address(self) -> int:
        return ctypes.addressof(self._state)

    @property
    def one_by_one(self) -> bool:
        """May programs run one after the other? Where they see what others did, two at a time find more.
        But on one processor a second one only waits for the first, which is mostly in the shadow memory."""
        return not self.artifact.waits and (self._apart or cores() == 1)

    def prepare(self, arguments: Sequence[object], grid: tuple[int, int, int]) -> None:
        """Before a launch: no program was anywhere."""
        state, self._grid = self._state, grid
        programs = grid[0] * grid[1] * grid[2]
        self._regions = self._watched(arguments)
        for i in range(len(self.artifact.parameters)):
            place = region_word(i)
            region = self._around(arguments[i]) if self.artifact.parameters[i].type == "ptr" else None
            state[place:place + words.REGION_WORDS] = [0] * words.REGION_WORDS if region is None else [
                *memory_of(arguments[i]), (region.begin >> region.bits) - region.cell, region.bits]
        tracks = bool(self._regions) and any(site.orders for site in self.sites)
        self._number(programs, tracks)
        if self._shares and self._regions:
            self._keep_states(programs)
            self._keep_clocks(programs, tracks)
        state[words.MUTEX] = state[words.FAILURE] = state[words.COUNT] = 0
        state[words.TRACKS] = int(tracks)

    # --- what is watched ------------------------------------------------------------------------------------

    def _watched(self, arguments: Sequence[object]) -> list[Region]:
        """The memory that races are possible in: some program writes to it, and not all by atomic operations.
        Arguments that overlap are one."""
        spans: list[tuple[int, int, int, frozenset[str]]] = []
        for i, parameter in enumerate(self.artifact.parameters):
            sites = [site for site in self.sites if i in site.arguments and site.kind != "twice"]
            if parameter.type != "ptr" or not sites or not isinstance(memory_of(arguments[i])[0], int):
                continue
            begin, end = memory_of(arguments[i])
            if not 0 < begin < end:
                continue  # a bare address: nobody knows how much is there
            argument = arguments[i]
            start = argument.data_ptr() if has_address(argument) else begin
            bits = min(site.bytes for site in sites).bit_length() - 1
            bits = 0 if start & ((1 << bits) - 1) else bits
            spans.append((begin, end, bits, frozenset(site.kind for site in sites)))
        found, cell = list[Region](), 0
        for begin, end, bits, kinds in _merged(spans):
            if "write" in kinds or {"read", "atomic"} <= kinds:
                found.append(Region(begin, end, bits, cell))
                cell += ((end - 1) >> bits) - (begin >> bits) + 1
        self._count = cell
        return found

    def _around(self, argument: object) -> Region | None:
        begin, end = memory_of(argument)
        return next((region for region in self._regions if region.begin <= begin and end <= region.end), None)

    # --- stamps and clocks ----------------------------------------------------------------------------------

    def _number(self, programs: int, tracks: bool) -> None:
        """The bits of stamps, and the numbers of the programs; memory of zeros where the old stamps, by other
        bits, mean nothing."""
        needed = (programs + 1).bit_length()
        clock = min(MOST_CLOCK, STAMP - self._site_bits - needed) if tracks else 0
        shift = self._site_bits + clock
        if clock < (LEAST_CLOCK if tracks else 0) or needed + shift > STAMP:
            raise LaunchError(f"{self.artifact.entry}: check=race takes fewer programs than {programs}")
        state, form = self._state, (shift, self._count)
        if form != self._form or (self._next + programs) >> (STAMP - shift):
            if self._form[1] < self._count or self._next > 1:
                self._cells = Zeros(4 * (1 if self._shares else PLANES) * self._count)
                self._states, self._readers, state[words.LAST_STATE] = Zeros(0), Zeros(0), 0
            self._form, self._next = form, 1
        elif state[words.LAST_STATE] > min(KEPT_STATES, self._count // words.STATE_WORDS):
            self._cells.clear()  # that is less than what new states would touch
            state[words.LAST_STATE] = 0
        base = self._next
        self._next += programs
        state[words.CELLS], state[words.PLANE_BYTES] = self._cells.address, 4 * self._count
        state[words.SHIFT], state[words.SITE_BITS] = shift, self._site_bits
        state[words.BASE], state[words.FLOOR] = base, base << shift

    def _keep_clocks(self, programs: int, tracks: bool) -> None:
        """Nobody has acquired anything. (Where nobody does, nothing of all this changes.)"""
        state = self._state
        row = (-(-programs // words.CHUNK) | 1) * words.CHUNK  # odd: else rows share lines of caches
        self._programs = _at_least(self._programs, 4 * words.PROGRAM_WORDS * programs)
        self._nothing = _at_least(self._nothing, 4 * row)
        state[words.PROGRAMS], state[words.NOTHING] = self._programs.address, self._nothing.address
        if not tracks:
            return
        ctypes.memset(self._programs.address, 0, 4 * words.PROGRAM_WORDS * programs)
        self._rows = _at_least(self._rows, 4 * row * programs)
        addresses = MOST_ADDRESSES
        size = words.HEAD + 8 * row
        while addresses > words.CHUNK and size * addresses > MOST_BYTES:
            addresses //= 2
        keys, known = self._known = Zeros(8 * addresses), Zeros(size * addresses)
        state[words.ROWS], state[words.ROW] = self._rows.address, row
        state[words.KEYS], state[words.KEY_MASK] = keys.address, addresses - 1
        state[words.KNOWN] = known.address
        self._readers = _at_least(self._readers, MOST_READ_BYTES)
        state[words.READ_ROWS], state[words.LAST_READ_ROW] = self._readers.address, 0
        state[words.MOST_READ_ROWS] = MOST_READ_BYTES // (4 * row)

    def _keep_states(self, programs: int) -> None:
        """States of this launch behind those of earlier ones, lists of nothing."""
        state = self._state
        self._states = _at_least(self._states, MOST_STATES * 4 * words.STATE_WORDS)
        self._nodes = _at_least(self._nodes, MOST_STATES * 4 * words.NODE_WORDS)
        self._seen = _at_least(self._seen, 4 * programs)
        state[words.STATES], state[words.NODES] = self._states.address, self._nodes.address
        state[words.MOST_STATES] = state[words.MOST_NODES] = MOST_STATES
        state[words.OLD_STATES], state[words.LAST_NODE] = state[words.LAST_STATE], 0
        state[words.SEEN] = self._seen.address

    # --- reports --------------------------------------------------------------------------------------------

    def findings(self, reports: Sequence[Report], arguments: Sequence[object]) -> Iterator[Finding]:
        """One for each two places in the source that race, the earlier place first."""
        failure = FAILURES.get(self._state[words.FAILURE])
        if failure:
            raise LaunchError(f"{self.artifact.entry}: check=race cannot tell whether there is a race: "
                              f"{failure}")
        best: dict[tuple[Site, Site], tuple[Any, ...]] = {}
        counts: dict[tuple[Site, Site], int] = {}
        pairs = {(report.site, self._other(report)) for report in reports}
        for report in reports:
            x, y, z, stamp, address = report.record
            site, other, program, others = report.site, self._other(report), (x, y, z), (x, y, z)
            alone = sum(first is site for first, _ in pairs) == 1  # then all that the site counted is this
            if site.kind != "twice":
                others = self._program(stamp)
            if (_place(other), others) < (_place(site), program):
                site, other, program, others = other, site, others, program
            key, found = (site, other), (address, program, others)
            counts[key] = max(counts.get(key, 0), report.count) if alone else counts.get(key, 0) + 1
            best[key] = min(best.get(key, found), found)
        for (site, other), (address, program, others) in best.items():
            yield self._finding(site, other, address, program, others, counts[site, other], arguments)

    def _other(self, report: Report) -> Site:
        """The site of the other access."""
        return report.site if report.site.kind == "twice" else self.sites[
            report.record[3] & ((1 << self._site_bits) - 1)]

    def _program(self, stamp: int) -> tuple[int, int, int]:
        """The program of a stamp."""
        number = ((stamp & 0xFFFFFFFF) >> self._state[words.SHIFT]) - self._state[words.BASE]
        rows, x = divmod(number, self._grid[0])
        z, y = divmod(rows, self._grid[1])
        return x, y, z

    def _finding(self, site: Site, other: Site, address: int, program: tuple[int, int, int],
                 others: tuple[int, int, int], count: int, arguments: Sequence[object]) -> Finding:
        name, index, shown = "", tuple[int, ...](), f"address {address:#x}"
        for i in (*site.arguments, *other.arguments):
            begin, end = memory_of(arguments[i])
            if begin <= address < end:
                name = self.artifact.parameters[i].name
                argument = arguments[i]
                start = argument.data_ptr() if has_address(argument) else begin
                position = (address - start) // site.bytes
                index = coordinates(position, *form(arguments[i]))
                shown = f"{name}[{', '.join(map(str, index)) if index else position}]"
                break
        if site.kind == "twice":
            message, place = f"this store writes {shown} more than once, and not the same value", None
        else:
            message = (f"{site.what} at {shown} by program {program}, and {other.what} there by program "
                       f"{others}: nothing orders them")
            place = Place(other.file, other.line, other.column, others)
        return Finding("race", message, self.artifact.entry, *_place(site), program, count, name, index,
                       address, place)


def _at_least(held: Zeros, size: int) -> Zeros:
    """What there is, or new memory."""
    return held if held.size >= size else Zeros(size)


def _place(site: Site) -> tuple[str, int, int]:
    return site.file, site.line, site.column


def _merged(spans: Sequence[tuple[int, int, int, frozenset[str]]]
            ) -> list[tuple[int, int, int, frozenset[str]]]:
    """Those that overlap as one, with cells for the narrowest access."""
    found: list[tuple[int, int, int, frozenset[str]]] = []
    for begin, end, bits, kinds in sorted(spans, key=lambda span: span[:2]):
        if found and begin < found[-1][1]:
            first, last, before, others = found.pop()
            begin, end, bits, kinds = first, max(last, end), min(before, bits), others | kinds
        found.append((begin, end, bits, kinds))
    return found

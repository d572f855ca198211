"""The launcher's side of checked mode: the array that a kernel reports in, and what its reports mean."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from .. import unwritten
from ..check_layout import (
    ADDING_LANES,
    ENTRY_WORDS,
    LANES,
    MANY_LANES,
    MOST_ENTRIES,
    PLACE_BIT,
    RECORD,
    SITE_WORDS,
    SLOTS,
    SPARE_BYTES,
    VIEW_WORDS,
    Site,
    named_word,
    race_word,
    site_word,
    spare_word,
    stop_word,
    unwritten_word,
    view_word,
)
from ..checking import Finding, Place, registered, report, require_settings, timeout
from ..tensors import has_address
from .elements import coordinates, element_at, form, memory_of, view_of
from .mask_text import mask_of
from .races import Races, Report

if TYPE_CHECKING:
    from ..artifact import Artifact


#: seconds in which programs report where they are, before they leave their loops
REPORTING = 0.1


class Room(Protocol):
    """Memory that both sides see: where the host does, and where kernels do."""

    @property
    def host(self) -> int: ...
    @property
    def address(self) -> int: ...


class HostRoom:
    """Memory of the host, for kernels that share it."""

    def __init__(self, size: int) -> None:
        self._words = (ctypes.c_int64 * -(-size // 8))()
        self.host = self.address = ctypes.addressof(self._words)


class Watch:
    """The array of one thread's launches of a kernel, in memory that `allocate` gives for so many bytes."""

    def __init__(self, artifact: Artifact, allocate: Callable[[int], Room] = HostRoom) -> None:
        self.artifact, self._allocate = artifact, allocate
        count = len(artifact.parameters)
        self._first = site_word(count, 0)
        size = self._first + SITE_WORDS * len(artifact.sites)
        self._room = allocate(8 * size + SPARE_BYTES)  # which lie behind the array
        self._array = (ctypes.c_int64 * size).from_address(self._room.host)
        ctypes.memset(self._room.host, 0, 8 * size + SPARE_BYTES)
        self._array[spare_word(count)] = self.address + 8 * size
        #: by argument: how far from its own address the kernel sees its memory
        self._moved = [0] * count
        self.races = Races(artifact) if any(site.check == "race" for site in artifact.sites) else None
        if self.races is not None:
            self._array[race_word(count)] = self.races.address
        self._lanes = any(site.check == LANES for site in artifact.sites)
        self._unwritten = any(parameter.type == "ptr" for parameter in artifact.parameters) and any(
            site.check == "uninit" for site in artifact.sites)
        #: arguments whose memory the kernel uses, rather than only writes it
        self._used = {i for site in artifact.sites if site.check == "uninit" for i in site.arguments}
        self._views = any(site.check == "view" for site in artifact.sites)
        self._pointers = [i for i, parameter in enumerate(artifact.parameters) if parameter.type == "ptr"]

    @property
    def address(self) -> int:
        """Of the array, for the kernel."""
        return self._room.address

    def prepare(self, arguments: Sequence[object], grid: tuple[int, int, int],
                addresses: Sequence[int] | None = None,
                reaches: Callable[[object], bool] = lambda array: True) -> None:
        """Before a launch: where the memory behind its arguments lies, and no reports. `addresses`: of the
        arguments' first elements, where the kernel sees copies of them; `reaches`: may an array be found by
        an address in memory?"""
        require_settings()
        begin = self._room.host + 8 * self._first
        ctypes.memset(begin, 0, ctypes.sizeof(self._array) - 8 * self._first)
        for i in self._pointers:
            argument = arguments[i]
            if addresses is not None and has_address(argument):
                self._moved[i] = addresses[i] - argument.data_ptr()
            self._array[2 * i:2 * i + 2] = [place + self._moved[i] for place in memory_of(argument)]
        for i in self._pointers if self._views else ():
            argument = arguments[i]
            word, view = view_word(len(arguments), i), view_of(argument)
            self._array[word:word + VIEW_WORDS] = [view[0] + self._moved[i], *view[1:]]
        self._name([memory_of(array) for array in registered() if reaches(array)])
        if self._unwritten:
            self._mark(arguments)
        if self.races is not None:
            self.races.prepare(arguments, grid)
        if self._lanes:
            self._make_table()

    def _name(self, spans: Sequence[tuple[int, int]]) -> None:
        """Leave the kernel a table of the arrays that the user has named."""
        words = [len(spans), *(address for span in spans for address in span)]
        table = (ctypes.c_int64 * len(words))(*words)
        self._named = self._allocate(ctypes.sizeof(table))
        ctypes.memmove(self._named.host, table, ctypes.sizeof(table))
        self._array[named_word(len(self.artifact.parameters))] = self._named.address

    def _make_table(self) -> None:
        """Give the kernel an empty table for what its lanes do in the arguments' memory."""
        size = sum(max(0, self._array[2 * i + 1] - self._array[2 * i]) for i in self._pointers)
        entries = min(1 << max(12, size.bit_length()), MOST_ENTRIES)
        self._table = self._allocate(8 * (1 + ENTRY_WORDS * entries))
        ctypes.memset(self._table.host, 0, 8 * (1 + ENTRY_WORDS * entries))
        ctypes.c_int64.from_address(self._table.host).value = entries - 1
        self._array[race_word(len(self.artifact.parameters))] = self._table.address

    def _mark(self, arguments: Sequence[object]) -> None:
        """Say where there is memory that nobody has written."""
        first = unwritten_word(len(self.artifact.parameters))
        self._array[first] = 0
        parts = []
        for i in self._pointers:
            part = unwritten.find(*memory_of(arguments[i]))
            for k, word in enumerate((0, 0, 0) if part is None else (part.begin, part.end, part.distance)):
                self._array[first + 1 + 3 * i + k] = word
            self._array[first] |= part is not None and i in self._used
            parts.append(part)
        self._kept = arguments, parts  # as long as the marks may be used; others may forget the parts before

    def _names(self, site: Site) -> str:
        """The arguments that are not all written, of those of a site."""
        first = unwritten_word(len(self.artifact.parameters)) + 1
        there = [i for i in site.arguments if self._array[first + 3 * i]]
        return " or ".join(self.artifact.parameters[i].name for i in there)

    @property
    def one_by_one(self) -> bool:
        """May programs run one after the other, in an order that is always the same?"""
        return self._lanes or (self.races is not None and self.races.one_by_one)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Around a launch: when it has taken too long, its loops report where they are, and end."""
        if not any(site.check == "deadlock" for site in self.artifact.sites):
            yield
            return
        word = stop_word(len(self.artifact.parameters))
        self._array[word] = 0
        ended, waits = threading.Event(), (timeout(), REPORTING)

        def watch() -> None:
            for stage, seconds in enumerate(waits, 1):
                if ended.wait(seconds):
                    return
                self._array[word] = stage

        watcher = threading.Thread(target=watch, name="triton-spirv-deadline", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()

    def require_nothing(self, arguments: Sequence[object]) -> None:
        """Behind a launch: CheckError where something was reported, unless findings are collected. Of one
        that was ended, what it waited for: what it did afterwards says nothing."""
        findings = list(self._findings(arguments))
        waited = [finding for finding in findings if finding.check == "deadlock"]
        report(waited or findings)

    def _findings(self, arguments: Sequence[object]) -> Iterator[Finding]:
        races: list[Report] = []
        for number, site in enumerate(self.artifact.sites):
            word = self._first + number * SITE_WORDS
            count = self._array[word] & 0xFFFFFFFF
            if count:
                records = [tuple(self._array[word + 1 + slot * RECORD:word + 1 + (slot + 1) * RECORD])
                           for slot in range(min(count, SLOTS))]
                if site.check == "deadlock":
                    yield from self._waiting(site, records, arguments)
                elif site.check == "race":
                    races += [Report(site, count, record) for record in records]
                elif records:
                    yield self._finding(site, count, min(records), arguments)
        if self.races is not None:
            yield from self.races.findings(races, arguments)

    def _finding(self, site: Site, count: int, record: tuple[int, ...], arguments: Sequence[object]
                 ) -> Finding:
        x, y, z, element, value = record
        if site.check == LANES:
            return self._meeting(site, count, (x, y, z), element, value)
        if site.check not in ("bounds", "view"):
            place, message = self._meaning(site, value)
            return Finding(site.check, message, self.artifact.entry, place.file, place.line, place.column,
                           (x, y, z), count)
        name, index = "", tuple[int, ...]()
        if site.elsewhere:
            message = (f"{site.what} at address {value:#x}, found in memory, which no argument has; if it is "
                       "another array's, name that: triton_spirv.checked(arrays=[...])")
        else:
            found = self._nearest(site, value)
            argument, name = arguments[found], self.artifact.parameters[found].name
            value -= self._moved[found]
            index, message = _beyond(site, value, argument, name)
        return Finding(site.check, message, self.artifact.entry, site.file, site.line, site.column, (x, y, z),
                       count, name, index, value, mask=mask_of(site.file, site.line, site.column, site.what))

    def _meeting(self, site: Site, count: int, program: tuple[int, int, int], lane: int,
                 other: int) -> Finding:
        """Two lanes in shared memory: `other` is who was there before, see lower/lanes/shared_races.py."""
        before = [each for each in self.artifact.sites if each.check == LANES][other >> PLACE_BIT]
        lanes = {MANY_LANES: "several lanes", ADDING_LANES: "a lane"}
        who = other & (1 << PLACE_BIT) - 1
        if site == before and site.what == "store":
            whose = f"lane {who}" if lane != who else "it for another element"
            message = (f"store of {site.kind} memory by lane {lane}, and of another value there by {whose}: "
                       "which of them stays is not defined. If the kernel never stores two elements of one "
                       "tensor in one place, this is a defect of triton-spirv: please report it")
        else:
            message = (f"{site.what} of {site.kind} memory by lane {lane}, and {before.what} there by "
                       f"{lanes.get(who, f'lane {who}')}: no barrier is between them. This is a defect of "
                       "triton-spirv: please report it")
        return Finding(site.check, message, self.artifact.entry, site.file, site.line, site.column, program,
                       count, other=Place(before.file, before.line, before.column, program))

    def _waiting(self, site: Site, records: Sequence[tuple[int, ...]],
                 arguments: Sequence[object]) -> Iterator[Finding]:
        """Where programs stood: each, with the first address that it was seen to look at."""
        for program in sorted({record[:3] for record in records}):
            address = next(record[-1] for record in records if record[:3] == program)
            name, index = self._element(address, arguments)
            at = f" of {name}[{', '.join(map(str, index))}]" if name else f" of address {address:#x}"
            message = (f"the launch has not ended in {timeout():g} s; the program goes round here, on the "
                       f"{site.what}{at if site.what != 'loop' else ''}")
            x, y, z = program
            yield Finding(site.check, message, self.artifact.entry, site.file, site.line, site.column,
                          (x, y, z), 1, name, index, address)

    def _element(self, address: int, arguments: Sequence[object]) -> tuple[str, tuple[int, ...]]:
        """The argument, and the element of it, that an address is in; "" for none."""
        for i in self._pointers:
            begin, end = self._array[2 * i:2 * i + 2]
            argument = arguments[i]
            if begin <= address < end and has_address(argument):
                return self.artifact.parameters[i].name, element_at(argument, address - self._moved[i])
        return "", ()

    def _meaning(self, site: Site, value: int) -> tuple[Site, str]:
        """The place that a finding is about, and a sentence."""
        if site.what == "offset":
            return site, (f"the offset is {value}, computed in a type that does not hold it: it wraps; "
                          "compute it in 64 bits, with .to(tl.int64) on the index before it is multiplied")
        if site.what == "assumption":
            return site, "what tl.assume says does not hold"
        if site.what == "old value":
            return site, (f"this atomic operation changes {self._names(site)}, where nobody has written "
                          "anything")
        if site.what == "hint":
            return site, f"{site.kind}, which is not so: an element is {value}; the compiler believes it"
        origin = self.artifact.sites[value - 1]
        reached = f"reaches the {site.what} in line {site.line}"
        if site.check == "nan":
            return origin, (f"{origin.what} makes a NaN, though no operand is one, or an infinity of finite "
                            f"numbers, which {reached}")
        if site.check == "uninit" and origin.what == "load":
            return origin, f"what this load reads of {self._names(origin)}, and nobody has written, {reached}"
        if site.check == "uninit":
            return origin, f"what this masked load leaves out, and has no other= for, {reached}"
        return origin, f"{origin.what}, which {reached}"

    def _nearest(self, site: Site, address: int) -> int:
        """The argument whose memory is meant: of those that the pointer may come from the one that begins or
        ends nearest."""
        def distance(i: int) -> int:
            begin, end = self._array[2 * i], self._array[2 * i + 1]
            return max(begin - address, address + site.bytes - end)

        return min(site.arguments, key=distance)


def _beyond(site: Site, address: int, argument: object, name: str) -> tuple[tuple[int, ...], str]:
    """The element's coordinates, and a sentence: how far beyond which end, or outside of the view."""
    begin, end = memory_of(argument)
    size = site.bytes
    start = argument.data_ptr() if has_address(argument) else begin
    position = (address - start) // size
    shape, strides = form(argument)
    index = coordinates(position, shape, strides)
    shown = ", ".join(map(str, index)) if index else str(position)
    if begin == end:
        return index, f"{site.what} at {name}[{shown}], but {name} has no memory"
    if site.check == "view":
        where = "in its memory, but outside of the view"
    elif address < begin:
        far = -(-(begin - address) // size)
        where = f"{far} element{'s' * (far != 1)} before its memory begins"
    else:
        far = -(-(address + size - end) // size)
        where = f"{far} element{'s' * (far != 1)} beyond its end"
    whole = f" of shape {tuple(shape)}" if shape is not None else ""
    whole += f" and strides {tuple(strides)}" if strides is not None else ""
    return index, (f"{site.what} at {name}[{shown}], {where} ({name} is{whole or ' memory'}, {size} "
                   f"byte{'s' * (size != 1)} an element)")

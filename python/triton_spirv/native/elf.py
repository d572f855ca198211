"""Sections, symbols and relocations of little-endian ELF files of 32 or 64 bits (System V ABI, chapter 4)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager

from ..dataclass import dataclass
from ..errors import TritonSpirvError

MAGIC = b"\x7fELF"
LITTLE_ENDIAN = 1
#: types of sections: a table of symbols, of relocations with addends; one without bytes in the file. (That of
#: the object file in what Intel's CPU driver makes is 0, which elsewhere is that of an empty entry.)
SYMBOLS, RELOCATIONS, NO_BYTES = 2, 4, 8


class NotReadable(TritonSpirvError):
    """Says what a file is instead of an ELF file that can be read: "a damaged ELF file: ..."."""


@dataclass(frozen=True)
class _Class:
    """How files of one size of addresses are laid out: where the header says where the table of sections is,
    and how long; an entry of that table, of one of symbols, and of one of relocations; at which places of a
    symbol its section and its value are; by how much a relocation's second word is shifted for the symbol.
    """

    start: tuple[str, int]
    counts: int
    section: struct.Struct
    symbol: struct.Struct
    places: tuple[int, int, int]
    relocation: struct.Struct
    shift: int


#: by the byte of the header that tells them apart: addresses of 32 bits, of 64 bits
_CLASSES = {1: _Class(("<I", 32), 46, struct.Struct("<10I"), struct.Struct("<IIIBBH"), (5, 1, 2),
                      struct.Struct("<IIi"), 8),
            2: _Class(("<Q", 40), 58, struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ"), (3, 4, 5),
                      struct.Struct("<QQq"), 32)}


@dataclass(frozen=True)
class Section:
    """link, info: the sections that it is about, by its type."""

    name: str
    type: int
    data: bytes
    link: int
    info: int


@dataclass(frozen=True)
class Symbol:
    """section: where it is defined, 0 where nowhere; value: the offset there; size: in bytes, or 0."""

    name: str
    section: int
    value: int
    size: int


@dataclass(frozen=True)
class File:
    """bits: the byte of the header that says how large addresses are; machine: whose code it is."""

    bits: int
    machine: int
    sections: tuple[Section, ...]

    def section(self, name: str) -> Section | None:
        """The first of the name."""
        return next((section for section in self.sections if section.name == name), None)

    def symbols(self, table: Section | None = None) -> Iterator[Symbol]:
        """The symbols of a table, in order; without one, of all tables."""
        form = _CLASSES[self.bits]
        with _reading():
            for section in [table] if table else [each for each in self.sections if each.type == SYMBOLS]:
                strings = self.sections[section.link].data
                for entry in form.symbol.iter_unpack(_whole(section.data, form.symbol.size)):
                    yield Symbol(_text(strings, entry[0]), *(entry[place] for place in form.places))

    def relocations(self, target: Section) -> Iterator[tuple[int, int, int]]:
        """Of a section: (offset in it, section of the symbol, offset there) of each address that is put
        there."""
        form, number = _CLASSES[self.bits], self.sections.index(target)
        about = [each for each in self.sections if each.type == RELOCATIONS and each.info == number]
        with _reading():
            for section in about:
                symbols = list(self.symbols(self.sections[section.link]))
                for at, info, addend in form.relocation.iter_unpack(
                        _whole(section.data, form.relocation.size)):
                    symbol = symbols[info >> form.shift]
                    yield at, symbol.section, symbol.value + addend


def read(binary: bytes) -> File:
    """The parts of a file; NotReadable for anything but a whole little-endian ELF file."""
    if not binary.startswith(MAGIC):
        raise NotReadable(f"not an ELF file: it starts with {binary[:8].hex(' ') or 'nothing'}")
    with _reading():
        form = _CLASSES.get(binary[4])
        if form is None or binary[5] != LITTLE_ENDIAN:
            raise NotReadable("not a little-endian ELF file")
        machine = struct.unpack_from("<H", binary, 18)[0]
        start = struct.unpack_from(form.start[0], binary, form.start[1])[0]
        size, count, names = struct.unpack_from("<HHH", binary, form.counts)
        headers = [form.section.unpack_from(binary, start + index * size) for index in range(count)]
        text = _bytes(binary, headers[names])
        return File(binary[4], machine, tuple(
            Section(_text(text, header[0]), header[1], _bytes(binary, header), header[6], header[7])
            for header in headers))


@contextmanager
def _reading() -> Iterator[None]:
    """What cannot be read is damaged."""
    try:
        yield
    except (struct.error, IndexError, ValueError) as error:
        raise NotReadable(f"a damaged ELF file: {error}") from error


def _bytes(binary: bytes, header: tuple[int, ...]) -> bytes:
    start, size = header[4:6]
    if header[1] == NO_BYTES:
        return b""
    if start + size > len(binary):
        raise IndexError(f"a section ends at byte {start + size} of {len(binary)}")
    return binary[start:start + size]


def _whole(data: bytes, size: int) -> bytes:
    """As much of a table as are whole entries of so many bytes."""
    return data[:len(data) // size * size]


def _text(table: bytes, offset: int) -> str:
    return table[offset:table.index(b"\0", offset)].decode(errors="replace") if offset < len(table) else ""

"""Sections, symbols and relocations of 64-bit ELF files (System V ABI, chapter 4)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import TritonSpirvError

SYMBOLS, RELOCATIONS, NO_BITS = 2, 4, 8
SYMBOL_BYTES = 24


@dataclass(frozen=True)
class Section:
    """link, info: the sections that it is about, by its type."""

    name: str
    type: int
    data: bytes
    link: int
    info: int


def sections_of(data: bytes) -> list[Section]:
    """TritonSpirvError for anything but a 64-bit ELF file."""
    if data[:5] != b"\x7fELF\x02":
        raise TritonSpirvError("the driver's binary is not a 64-bit ELF file")
    start = struct.unpack_from("<Q", data, 40)[0]
    size, count, names = struct.unpack_from("<HHH", data, 58)
    rows = [struct.unpack_from("<IIQQQQII", data, start + index * size) for index in range(count)]
    text = rows[names][4]
    return [Section(_name(data, text + row[0]), row[1],
                    b"" if row[1] == NO_BITS else data[row[4]:row[4] + row[5]], row[6], row[7])
            for row in rows]


def object_file(binary: bytes) -> bytes:
    """The object file in the binary of Intel's CPU driver."""
    found = {section.name: section.data for section in sections_of(binary)}
    if ".ocl.obj" not in found:
        raise TritonSpirvError(f"the driver's binary has no object file in it, only "
                               f"{', '.join(filter(None, found))}")
    return found[".ocl.obj"]


def function(data: bytes, name: str) -> bytes:
    """The bytes of a function of an object file."""
    sections = sections_of(data)
    table = next((section for section in sections if section.type == SYMBOLS), None)
    if table is not None:
        strings = sections[table.link].data
        for at in range(0, len(table.data) - SYMBOL_BYTES + 1, SYMBOL_BYTES):
            place, _, _, section, value, size = struct.unpack_from("<IBBHQQ", table.data, at)
            if _name(strings, place) == name and 0 < section < len(sections):
                code = sections[section].data
                return code[value:value + size] if size else code[value:]
    raise TritonSpirvError(f"the driver's object file has no function {name}")


def relocations(sections: list[Section], target: int) -> Iterator[tuple[int, int, int]]:
    """Of a section: (offset in it, section of the symbol, offset there) of each address that is put there."""
    for section in sections:
        if section.type == RELOCATIONS and section.info == target:
            symbols = sections[section.link].data
            for at, info, addend in struct.iter_unpack("<QQq", section.data):
                _, _, _, place, value, _ = struct.unpack_from("<IBBHQQ", symbols, SYMBOL_BYTES * (info >> 32))
                yield at, place, value + addend


def _name(data: bytes, at: int) -> str:
    return data[at:data.index(b"\0", at)].decode()

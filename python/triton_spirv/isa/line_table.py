"""The line table of an object file: which line of the source each address of its code is of.

DWARF 4, section 6.2: a program of opcodes per compilation unit that makes rows of (address, file, line).
"""

from __future__ import annotations

import struct
from bisect import bisect_right

from ..dataclass import dataclass
from ..errors import TritonSpirvError
from .object_file import read

COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, NEGATE, BASIC_BLOCK, ADD_PC, FIXED_PC = range(1, 10)
END_SEQUENCE, SET_ADDRESS = 1, 2
#: what a relocation fills in, at most
ADDRESS_BYTES = 8

#: offset, file, line
Row = tuple[int, str, int]


@dataclass(frozen=True)
class LineTable:
    """Of the code in one section. rows: (offset in the section, file, line), in order; a line of 0 is of no
    place in the source. holes: (offset, bytes) that loading fills in."""

    code: bytes
    rows: tuple[tuple[int, str, int], ...]
    holes: tuple[tuple[int, int], ...]

    def at(self, offset: int) -> tuple[str, int]:
        """The file and line of an offset; ("", 0) for none."""
        found = bisect_right(self.rows, offset, key=lambda row: row[0]) - 1
        return self.rows[found][1:] if found >= 0 and offset < len(self.code) else ("", 0)


def line_table(data: bytes) -> LineTable:
    """The table of an object file whose code lies in one section; TritonSpirvError where it has none."""
    file = read(data)
    table = file.section(".debug_line")
    if table is None:
        raise TritonSpirvError("the driver's object file has no line table")
    starts = {at: (section, offset) for at, section, offset in file.relocations(table)}
    place = next((section for section, _ in starts.values()), 0)
    addresses = {at: offset for at, (section, offset) in starts.items() if section == place}
    rows: list[Row] = []
    at = 0
    try:
        while at < len(table.data):
            at = _unit(table.data, at, addresses, rows)
    except (IndexError, ValueError, struct.error) as error:
        raise TritonSpirvError(f"the driver's line table cannot be read: {error}") from error
    code = file.sections[place]
    holes = sorted((at, ADDRESS_BYTES) for at, _, _ in file.relocations(code))
    return LineTable(code.data, tuple(sorted(rows, key=lambda row: row[0])), tuple(holes))


def _unit(data: bytes, at: int, starts: dict[int, int], rows: list[Row]) -> int:
    """Add the rows of the unit that begins at `at`; where it ends."""
    length, version = struct.unpack_from("<IH", data, at)
    end = at + 4 + length
    if length >= 0xFFFFFFF0 or not 2 <= version <= 4:
        raise TritonSpirvError(f"the driver's object file has a line table of DWARF {version}")
    header, = struct.unpack_from("<I", data, at + 6)
    place = at + 10
    least = data[place]
    place += 1 + (version >= 4)  # and operations per instruction, of VLIW processors
    _, base, span, opcodes = struct.unpack_from("<BbBB", data, place)
    lengths = data[place + 4:place + 3 + opcodes]
    files = _files(data, place + 3 + opcodes)
    return _run(data, at + 10 + header, end, (least, base, span, opcodes, lengths), files, starts, rows)


def _files(data: bytes, at: int) -> list[str]:
    """The table of files, from 1; a folder of 0 is the unit's own."""
    folders, files = [""], [""]
    while data[at]:
        text, at = _string(data, at)
        folders.append(text)
    at += 1
    while data[at]:
        text, at = _string(data, at)
        folder, at = _number(data, at)
        _, at = _number(data, at)
        _, at = _number(data, at)
        files.append(f"{folders[folder]}/{text}" if folders[folder] else text)
    return files


def _run(data: bytes, at: int, end: int, facts: tuple[int, int, int, int, bytes], files: list[str],
         starts: dict[int, int], rows: list[Row]) -> int:
    """The machine of section 6.2.2, without what nobody asks here: columns, statements, views."""
    least, base, span, opcodes, lengths = facts
    address, file, line = 0, 1, 1
    while at < end:
        code = data[at]
        at += 1
        if code >= opcodes:
            address += (code - opcodes) // span * least
            line += base + (code - opcodes) % span
            rows.append((address, files[file], line))
        elif code == 0:
            size, at = _number(data, at)
            if data[at] == SET_ADDRESS:
                address = starts.get(at + 1, int.from_bytes(data[at + 1:at + size], "little"))
            elif data[at] == END_SEQUENCE:
                rows.append((address, "", 0))
                address, file, line = 0, 1, 1
            at += size
        elif code == COPY:
            rows.append((address, files[file], line))
        elif code == ADVANCE_PC:
            moved, at = _number(data, at)
            address += moved * least
        elif code == ADVANCE_LINE:
            moved, at = _number(data, at, signed=True)
            line += moved
        elif code == SET_FILE:
            file, at = _number(data, at)
        elif code == ADD_PC:
            address += (255 - opcodes) // span * least
        elif code == FIXED_PC:
            address += struct.unpack_from("<H", data, at)[0]
            at += 2
        else:
            for _ in range(lengths[code - 1]):
                _, at = _number(data, at)
    return end


def _string(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1


def _number(data: bytes, at: int, signed: bool = False) -> tuple[int, int]:
    """LEB128: the number, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            break
    if signed and byte & 0x40:
        value -= 1 << shift
    return value, at

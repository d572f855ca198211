"""Lines of the user's source for drivers that keep them: `with_line_info(words)`.

OpLine alone is dropped by Intel's CPU compiler. With a compilation unit and a function of the extended set
OpenCL.DebugInfo.100 around it, the same lines stand in the object file's line table (DWARF), where gdb, perf
and the profile find them. Nothing else of the module changes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from .operands import opcode

Words = list[int]

SET = "OpenCL.DebugInfo.100"
#: numbers of the set's instructions, and of its enumerants (OpenCL.DebugInfo.100, section 4)
COMPILATION_UNIT, TYPE_FUNCTION, FUNCTION, LEXICAL_BLOCK, SCOPE, SOURCE = 1, 8, 20, 21, 23, 35
VERSION, DWARF, OPENCL_C, IS_PUBLIC, IS_DEFINITION = 65536, 4, 3, 3, 8

HEADER = 5


def with_line_info(words: bytes) -> bytes:
    """The module with the lines of its OpLine as debugging information; the same where it has none."""
    module = array("I", words)
    instructions = list(_instructions(module))
    used = {line[1] for line in instructions if _is(line, "OpLine")}
    void = next((it[1] for it in instructions if _is(it, "OpTypeVoid")), None)
    if not used or void is None:
        return words
    made = _Maker(instructions, module[3], void)
    body = array("I", (word for it in made.rewritten() for word in it))
    header = module[:HEADER]
    header[3] = made.bound
    return (header + body).tobytes()


def files(words: bytes) -> tuple[str, ...]:
    """The files that OpLine names."""
    instructions = list(_instructions(array("I", words)))
    used = {it[1] for it in instructions if _is(it, "OpLine")}
    return tuple(_read(it[2:]) for it in instructions if _is(it, "OpString") and it[1] in used)


def _instructions(module: array[int]) -> Iterator[Words]:
    at = HEADER
    while at < len(module):
        count = module[at] >> 16
        yield list(module[at:at + count])
        at += count


def _is(instruction: Words, *names: str) -> bool:
    return instruction[0] & 0xFFFF in {opcode(name) for name in names}


class _Maker:
    """The instructions of a module with what is added. void: its OpTypeVoid."""

    def __init__(self, instructions: list[Words], bound: int, void: int) -> None:
        self.instructions, self.bound, self.void = instructions, bound, void
        self.set = self._new()
        self.names: dict[int, int] = {}             # function -> the string of its name
        self.sources: dict[int, int] = {}           # string of a file -> DebugSource
        self.scopes: dict[tuple[int, int], int] = {}  # function, file -> where its lines stand
        self.globals: list[Words] = []

    def _new(self) -> int:
        self.bound += 1
        return self.bound - 1

    def _extended(self, number: int, *operands: int) -> Words:
        result = self._new()
        return [5 + len(operands) << 16 | opcode("OpExtInst"), self.void, result, self.set, number, *operands]

    def _global(self, number: int, *operands: int) -> int:
        self.globals.append(self._extended(number, *operands))
        return self.globals[-1][2]

    def rewritten(self) -> Iterator[Words]:
        """All instructions, in the order of the specification, 2.4."""
        first = next(i for i, it in enumerate(self.instructions) if _is(it, "OpFunction"))
        lines = self._first_lines(first)
        strings = [self._name(function) for function in lines]
        type = self._global(TYPE_FUNCTION, IS_PUBLIC, self.void)
        for function, (file, line, column) in lines.items():
            self.scopes[function, file] = self._function(function, type, file, line, column)
        code = list(self._code(first, lines))
        imported = False
        last = max(i for i, it in enumerate(self.instructions) if _is(it, "OpString"))
        for i, it in enumerate(self.instructions[:first]):
            if not imported and _is(it, "OpExtInstImport", "OpMemoryModel"):
                yield _text("OpExtInstImport", self.set, SET)
                imported = True
            yield it
            if i == last:
                yield from strings
        yield from self.globals
        yield from code

    def _first_lines(self, first: int) -> dict[int, tuple[int, int, int]]:
        """Function -> the file of its first OpLine, and the first line and column there."""
        found: dict[int, tuple[int, int, int]] = {}
        function = 0
        for it in self.instructions[first:]:
            if _is(it, "OpFunction"):
                function = it[2]
            elif _is(it, "OpLine"):
                known = found.setdefault(function, (it[1], it[2], it[3]))
                if it[1] == known[0]:
                    found[function] = min(known, (it[1], it[2], it[3]))
        return found

    def _name(self, function: int) -> Words:
        given = next((it for it in self.instructions if _is(it, "OpName") and it[1] == function), None)
        self.names[function] = self._new()
        return _text("OpString", self.names[function], _read(given[2:]) if given else "function")

    def _source(self, file: int) -> int:
        if file not in self.sources:
            self.sources[file] = self._global(SOURCE, file)
        return self.sources[file]

    def _function(self, function: int, type: int, file: int, line: int, column: int) -> int:
        source = self._source(file)
        unit = self._global(COMPILATION_UNIT, VERSION, DWARF, source, OPENCL_C)
        name = self.names[function]
        return self._global(FUNCTION, name, type, source, line, column, unit, name, IS_DEFINITION, line,
                            function)

    def _scope(self, function: int, main: int, file: int, line: int) -> int:
        """Where lines of a file stand that are in a function of another file."""
        if (function, file) not in self.scopes:
            self.scopes[function, file] = self._global(LEXICAL_BLOCK, self._source(file), line, 1,
                                                       self.scopes[function, main])
        return self.scopes[function, file]

    def _code(self, first: int, lines: dict[int, tuple[int, int, int]]) -> Iterator[Words]:
        """The functions, with the scope at the head of each block and where the file changes."""
        function = main = at = 0
        opens = False
        for it in self.instructions[first:]:
            if _is(it, "OpFunction"):
                function, main = it[2], lines.get(it[2], (0,))[0]
            if opens and not _is(it, "OpPhi", "OpVariable", "OpLine", "OpNoLine"):
                yield self._extended(SCOPE, self.scopes[function, main])
                opens, at = False, main
            if _is(it, "OpLine") and main:
                opens = False
                if it[1] != at:
                    at = it[1]
                    yield self._extended(SCOPE, self._scope(function, main, at, it[2]))
            yield it
            if _is(it, "OpLabel") and main:
                opens, at = True, 0


def _read(words: Words) -> str:
    return array("I", words).tobytes().split(b"\0")[0].decode()


def _text(name: str, result: int, text: str) -> Words:
    data = text.encode() + b"\0"
    words = array("I", data + b"\0" * (-len(data) % 4))
    return [2 + len(words) << 16 | opcode(name), result, *words]

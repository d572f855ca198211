"""A kernel's source, its IR and its listing, line by line, each line with the lines of the source that it
stands for.

A key is (index of the file, line). A line of the IR has the key of its location and, where a function was
inlined, those of its callers; a line of the listing has that of the last `; file.py:12` above it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..dataclass import dataclass
from .cached import Cached

Key = tuple[int, int]

_DEFINITION = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
_PLACE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')
_ALIAS = re.compile(r"#loc\d*\b")
#: the location behind an operation; block arguments have theirs in the middle of a line
_TRAILING = re.compile(r" loc\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
#: file, line and column, as plans have them
_PLAN_PLACE = re.compile(r"(\S+):(\d+):\d+")
_COMMENT = re.compile(r"^\s*; (\S.*):(\d+)$")


@dataclass(frozen=True)
class Line:
    """One line of a column. number: in its own file; 0 for a head."""

    text: str
    keys: tuple[Key, ...] = ()
    number: int = 0


@dataclass(frozen=True)
class Linked:
    """The columns of a kernel. files: what the first half of a key counts."""

    files: tuple[Path, ...]
    source: tuple[Line, ...]
    ir: tuple[Line, ...]
    listing: tuple[Line, ...]
    changed: tuple[Path, ...] = ()


class Locations:
    """The `#loc` table of an IR text."""

    def __init__(self, text: str) -> None:
        self._bodies = {match[1]: match[2] for line in text.splitlines()
                        if (match := _DEFINITION.match(line))}
        self.files: list[Path] = []
        self._known: dict[str, tuple[Key, ...]] = {}

    def keys(self, body: str) -> tuple[Key, ...]:
        """The keys of a location as it is written, each once; the innermost call first."""
        if body not in self._known:
            self._known[body] = ()  # a location that names itself means nothing
            found: list[Key] = []
            for match in re.finditer(f"{_PLACE.pattern}|{_ALIAS.pattern}", body):
                if match[0].startswith("#"):
                    found += self.keys(self._bodies.get(match[0], ""))
                else:
                    found.append((self._file(match[1]), int(match[2])))
            self._known[body] = tuple(dict.fromkeys(found))
        return self._known[body]

    def _file(self, name: str) -> int:
        path = Path(name)
        if path not in self.files:
            self.files.append(path)
        return self.files.index(path)


def linked(kernel: Cached, stage: str = "ttir") -> Linked:
    """The three columns of a cached kernel; `stage` is ttir, ttgir or plan."""
    text = kernel.text("ttir" if stage == "plan" else stage)
    locations = Locations(text)
    ir = tuple(ir_lines(text, locations))
    if stage == "plan":
        ir = tuple(plan_lines(kernel.text("plan"), locations.files))
    if not any(line.keys for line in ir):
        locations = Locations(kernel.text("ttir"))
        tuple(ir_lines(kernel.text("ttir"), locations))  # the source is found all the same
    listing = tuple(listing_lines(kernel.text("spvasm"), locations.files))
    used = {key for line in (*ir, *listing) for key in line.keys}
    source = tuple(source_lines(locations.files, used))
    compiled = kernel.path("json").stat().st_mtime
    changed = tuple(path for path in locations.files if path.is_file() and path.stat().st_mtime > compiled)
    return Linked(tuple(locations.files), source, ir, listing, changed)


def ir_lines(text: str, locations: Locations) -> Iterator[Line]:
    """The IR without its locations."""
    lines: list[Line] = []
    open_regions: dict[int, int] = {}  # indentation -> the line that opened a region there
    for number, line in enumerate(text.splitlines(), 1):
        if _DEFINITION.match(line) or line.startswith("#loc"):
            continue
        marks = _TRAILING.findall(line)
        keys = locations.keys(marks[-1][5:-1]) if marks else ()
        plain = _TRAILING.sub("", line)
        indentation = len(plain) - len(plain.lstrip())
        if plain.lstrip().startswith("}") and indentation in open_regions:
            # an operation with regions has its location at its end
            opening = open_regions.pop(indentation)
            if keys and opening and not lines[opening].keys:
                lines[opening] = replace(lines[opening], keys=keys)
        if plain.endswith("{"):
            open_regions[indentation] = len(lines)
        lines.append(Line(plain, keys, number))
    yield from lines


def listing_lines(text: str, files: Sequence[Path]) -> Iterator[Line]:
    """The listing; its comments name files without their folders."""
    by_name = {path.name: index for index, path in reversed(list(enumerate(files)))}
    keys: tuple[Key, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        match = _COMMENT.match(line)
        if match and match[1] in by_name:
            keys = ((by_name[match[1]], int(match[2])),)
        elif not line.strip() or line.startswith("kernel "):
            keys = ()
        yield Line(line, keys, number)


def plan_lines(text: str, files: Sequence[Path]) -> Iterator[Line]:
    """The plan; a line that names no place belongs to the one above it."""
    by_name = {path.name: index for index, path in reversed(list(enumerate(files)))}
    keys: tuple[Key, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        places = [(by_name[file], int(row)) for file, row in _PLAN_PLACE.findall(line) if file in by_name]
        keys = tuple(places) or keys
        yield Line(line, keys, number)


def source_lines(files: Sequence[Path], used: set[Key]) -> Iterator[Line]:
    """The functions that lines of the IR come from, file by file; what cannot be read is said."""
    for index, path in enumerate(files):
        numbers = sorted(line for file, line in used if file == index)
        if not numbers:
            continue
        yield Line(str(path))
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            yield Line("(the file is not here any more)")
            continue
        lines = text.splitlines()
        for first, last in spans(text, numbers):
            for number in range(first, min(last, len(lines)) + 1):
                yield Line(lines[number - 1], ((index, number),), number)
            yield Line("")


def spans(text: str, numbers: Sequence[int]) -> list[tuple[int, int]]:
    """First and last lines of the functions that these lines are in; of lines in no function, the lines
    alone.
    """
    try:
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    except SyntaxError:
        return [(number, number) for number in numbers]
    found: dict[tuple[int, int], None] = {}
    for number in numbers:
        around = [(min([node.lineno, *(mark.lineno for mark in node.decorator_list)]), node.end_lineno
                   or number)
                  for node in functions]
        inside = [span for span in around if span[0] <= number <= span[1]]
        found[min(inside, key=lambda span: span[1] - span[0]) if inside else (number, number)] = None
    # an inner function is part of the outer one
    return sorted(span for span in found
                  if not any(other != span and other[0] <= span[0] and span[1] <= other[1]
                             for other in found))

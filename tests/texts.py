"""Cases in text: a file has a source above a line, and below the line what is made of the source.

A module `update.py` beside the files says what that is, and writes the lower halves anew:
`python -m tests.passes.update [PART ...]`. Read `git diff` then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Case:
    """A file, taken apart."""

    path: Path
    source: str
    expected: str
    make: Callable[[str], str]

    def made(self) -> str:
        """What is made of the source today."""
        return self.make(self.source)


@dataclass(frozen=True)
class Cases:
    """The files of a folder that match a pattern."""

    folder: Path
    pattern: str
    line: str
    make: Callable[[str], str]

    def __call__(self, *parts: str) -> list[Case]:
        """Those whose names contain one of the parts; without parts all."""
        found = []
        for path in sorted(self.folder.glob(self.pattern)):
            if not parts or any(part in path.name for part in parts):
                source, _, expected = path.read_text(encoding="utf-8").partition(self.line)
                found.append(Case(path, source, expected, self.make))
        return found

    def update(self, *parts: str) -> None:
        """Write the lower halves anew."""
        for case in self(*parts):
            case.path.write_text(case.source + self.line + case.made(), encoding="utf-8")

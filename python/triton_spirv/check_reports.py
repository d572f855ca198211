"""What becomes of findings besides the error: which are left out, and the file that has them all.

    TRITON_SPIRV_CHECK_SUPPRESS=norm.py:40,nan:attention.py    not these
    TRITON_SPIRV_CHECK_REPORT=findings-%p.json                 a list of all findings; %p is the process id
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from .errors import UsageError

SUPPRESS = "TRITON_SPIRV_CHECK_SUPPRESS"
REPORT = "TRITON_SPIRV_CHECK_REPORT"


class Placed(Protocol):
    """A finding, as far as it matters here."""

    @property
    def check(self) -> str: ...

    @property
    def file(self) -> str: ...

    @property
    def line(self) -> int: ...

    def to_json(self) -> dict[str, Any]: ...


def is_suppressed(finding: Placed) -> bool:
    """Does the variable name its check, its file and its line?"""
    return any(check in ("", finding.check) and line in (0, finding.line) and _is_in(finding.file, file)
               for check, file, line in rules(os.environ.get(SUPPRESS, "")))


@functools.cache
def rules(text: str) -> tuple[tuple[str, str, int], ...]:
    """[check:]file[:line], with commas between them -> (check or "", file, line or 0); UsageError for what
    names no file."""
    found = []
    for rule in filter(None, (word.strip() for word in text.split(","))):
        words = rule.split(":")
        has_line = words[-1].isdecimal()
        line = int(words.pop()) if has_line else 0
        check = words.pop(0) if len(words) > 1 else ""
        if len(words) != 1 or not words[0] or (has_line and not line):
            raise UsageError(f"{SUPPRESS}: {rule} is not [check:]file[:line]; lines are counted from 1")
        found.append((check, words[0], line))
    return tuple(found)


def _is_in(path: str, file: str) -> bool:
    """Does a path end with the file, folder by folder?"""
    parts, wanted = Path(path).parts, Path(file).parts
    return parts[-len(wanted):] == wanted


_written: list[dict[str, Any]] = []
#: the child of a fork has findings of its own
os.register_at_fork(after_in_child=_written.clear)


def write(findings: Iterable[Placed]) -> None:
    """Add findings to the file, if one is wanted; it is whole after each. They are raised even where it
    cannot be written: a line says that."""
    name = os.environ.get(REPORT, "").replace("%p", str(os.getpid()))
    if not name:
        return
    _written.extend(finding.to_json() for finding in findings)
    try:
        write_json(Path(name), _written)
    except OSError as error:
        _say_once(f"triton-spirv: {REPORT}: the findings are not written: {error}")


@functools.cache
def _say_once(text: str) -> None:
    print(text, file=sys.stderr)


def write_json(file: Path, findings: list[dict[str, Any]]) -> None:
    """All of the file at once: who reads it meanwhile finds the one before. OSError names the file."""
    beside = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        beside.write_text(json.dumps(findings, indent=1) + "\n", encoding="utf-8")
        os.replace(beside, file)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(file)) from None


def require_place(file: Path) -> Path:
    """The same file for a program that changes its folder; UsageError where it cannot be written."""
    folder = file.absolute().parent
    if not folder.is_dir():
        raise UsageError(f"{file}: there is no folder {folder}")
    if file.is_dir():
        raise UsageError(f"{file} is a folder; name a file for the findings")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{file}: the folder {folder} cannot be written to")
    return file.absolute()

"""The hash of Triton's own library as its wheel's installer has recorded it.

Triton's key of its own files hashes half a gigabyte of `_C/libtriton.so`, which takes longer than a first
compilation. Whoever installed the wheel has written the same hash beside it, in RECORD. It is taken where the
library has the recorded size and has not been written since; then Triton's function computes its key as
ever, but for the bytes of that one file. The time of its last change is not asked for: it is another one
wherever files are copied with their times, as in the layers of a container.
"""

from __future__ import annotations

import base64
import builtins
import csv
import hashlib
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any


def computed(compute: Callable[[], str], folder: Path) -> str:
    """What `compute`, the key of the Triton in `folder`, returns."""
    function = getattr(compute, "__wrapped__", compute)
    found = recorded(folder)
    if found is None or not isinstance(function, FunctionType):
        return compute()
    try:
        names = {**function.__globals__, "open": _opener(*found), "hashlib": SimpleNamespace(sha256=_Hash)}
        key = FunctionType(function.__code__, names, closure=function.__closure__)()
    except Exception:  # another version of Triton, which reads or hashes in another way
        return compute()
    return key if isinstance(key, str) and found[1] in key else compute()


def recorded(folder: Path) -> tuple[Path, str] | None:
    """The library of the Triton in `folder` and the hash that RECORD has of it; None where there is none, or
    where the library may have changed since."""
    libraries = [path for path in folder.glob("_C/libtriton.*") if path.is_file() and path.suffix != ".pyi"]
    if len(libraries) != 1:
        return None
    (library,) = libraries
    name, found, digests = library.relative_to(folder.parent).as_posix(), library.stat(), set()
    for record in folder.parent.glob("*triton*.dist-info/RECORD"):
        written = record.stat().st_mtime_ns
        with record.open(newline="", encoding="utf-8") as lines:
            for path, digest, size in csv.reader(line for line in lines if line.startswith(name)):
                if path == name:
                    whole = size == str(found.st_size) and found.st_mtime_ns <= written
                    digests.add(digest if whole else "")
    kind, _, digest = digests.pop().partition("=") if len(digests) == 1 else ("", "", "")
    if kind != "sha256":
        return None
    return library, base64.urlsafe_b64decode(f"{digest}{'=' * (-len(digest) % 4)}").hex()


class _Recorded(bytes):
    """Stands for all bytes of a file whose hash is known."""

    digest: str


class _File:
    """An open file of which one read gives everything."""

    def __init__(self, digest: str) -> None:
        everything = _Recorded(b"recorded")
        everything.digest = digest
        self._rest: list[bytes] = [everything]

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, _: int = -1) -> bytes:
        return self._rest.pop() if self._rest else b""


def _opener(library: Path, digest: str) -> Callable[..., Any]:
    def opened(path: Any, *how: Any, **named: Any) -> Any:
        return _File(digest) if Path(path) == library else builtins.open(path, *how, **named)

    return opened


class _Hash:
    """hashlib.sha256, of bytes or of a file whose hash is known, never of both."""

    def __init__(self, data: bytes = b"") -> None:
        self._hash, self._recorded = hashlib.sha256(), ""
        self.update(data)

    def update(self, data: bytes) -> None:
        if self._recorded:
            raise ValueError("there is more than the file")
        if isinstance(data, _Recorded):
            self._recorded = data.digest
        self._hash.update(data)

    def hexdigest(self) -> str:
        return self._recorded or self._hash.hexdigest()

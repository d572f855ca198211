"""Triton's hash of its own files, which is a part of every kernel's key: found once in a process, and read
from the cache folder by the processes after it.

Triton hashes hundreds of megabytes at each process's first launch, and threads that launch at once do so
each. The value stays Triton's own, so caches are shared with processes without this package. It is kept with
the sizes, times and inodes of the files that it is made of; where any of them differs it is made anew. In a
new cache folder the hash of the largest file is that which the installer has recorded (recorded_hash.py).
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import all_suffixes
from pathlib import Path

import triton
from triton.runtime import autotuner, cache
from triton_spirv.runtime import binary_cache, cache_key

from .concurrency import once
from .recorded_hash import computed

#: what Triton's function hashes, below its folder; a package is searched, another folder is not
_PARTS = ("compiler", "backends", "language", "_C")
_DIGITS = 2 * hashlib.sha256().digest_size
_SINGLE = ("__init__.py", os.path.join("runtime", "cache.py"))


def keep() -> None:
    """From now on Triton asks `kept_key`; once is enough."""
    original = cache.triton_key
    if hasattr(original, "is_kept"):
        return

    @functools.wraps(original)
    def triton_key() -> str:
        return kept_key(original, Path(str(triton.__file__)).parent)

    triton_key.is_kept = True  # type: ignore[attr-defined]
    cache.triton_key = triton_key
    for module in (autotuner, sys.modules.get("triton.compiler.compiler")):
        if getattr(module, "triton_key", None) is original:
            module.triton_key = triton_key  # type: ignore[union-attr]


@once
def kept_key(compute: Callable[[], str], folder: Path) -> str:
    """What `compute` returns for the Triton in `folder`, from the cache folder if it was kept there for these
    very files."""
    try:
        facts = state(folder)
    except OSError:
        return compute()
    path = place(folder)
    kept = _read(path, facts)
    if kept is not None:
        return kept
    key = compute() if path.exists() else computed(compute, folder)  # kernels lie there, of other files
    binary_cache.write_whole(path, cache_key.sealed(path.name, f"{_digest(facts, key)}{key}".encode()))
    return key


def _read(path: Path, facts: str) -> str | None:
    """The key in the file; None where there is none, where it is damaged, or of other files."""
    try:
        data = cache_key.opened(path.name, path.read_bytes())
    except OSError:
        return None
    text = data.decode(errors="replace") if data is not None else ""
    digest, key = text[:_DIGITS], text[_DIGITS:]
    return key if key and digest == _digest(facts, key) else None


def _digest(facts: str, key: str) -> str:
    return hashlib.sha256(repr((facts, key)).encode()).hexdigest()


def place(folder: Path) -> Path:
    """The file for an installation of Triton, in Triton's cache folder."""
    installation = hashlib.sha256(f"{folder} {sys.version}".encode()).hexdigest()[:16]
    return binary_cache.folder().parent / f"spirv-triton-{installation}"


def state(folder: Path) -> str:
    """Path, size, times and inode of each file that Triton's hash is made of."""
    files = [folder / name for name in _SINGLE]
    for part in _PARTS:
        files += _sources(folder / part)
    facts = []
    for path in files:
        found = path.stat()
        facts.append((str(path.relative_to(folder)), found.st_size, found.st_mtime_ns, found.st_ctime_ns,
                      found.st_ino))
    return repr(sorted(facts))


def _sources(folder: Path) -> Iterator[Path]:
    """Python's modules of any kind in a folder and in the packages below it."""
    suffixes = tuple(all_suffixes())
    for path in folder.iterdir():
        if path.name.endswith(suffixes):
            yield path
        elif path.joinpath("__init__.py").exists():
            yield from _sources(path)

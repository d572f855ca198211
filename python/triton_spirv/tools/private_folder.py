"""A folder for files that are kept for the user to look at: the user's own, and nobody else's."""

from __future__ import annotations

import functools
import os
import tempfile
from pathlib import Path


def private_folder(name: str) -> Path:
    """A folder among the temporary files, one for each process, that only its user can enter. It is new: its
    name cannot be foreseen, so nobody can have put a link or a folder of their own in its place.
    """
    folder = _made(name)
    if not folder.is_dir():  # cleaned up meanwhile
        _made.cache_clear()
        folder = _made(name)
    return folder


@functools.cache
def _made(name: str) -> Path:
    return Path(tempfile.mkdtemp(prefix=f"triton-spirv-{name}-{os.getpid()}-"))  # mode 0700

"""Kernels whose arrays overflow from shared into global memory: they run, slower as a rule, which is said
once. Tuning prefers those that fit: it measures these only if there are no others."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_thread = threading.local()


def noticed(launch: Callable[..., None], metadata: Any) -> Callable[..., None]:
    """Triton's launcher of a kernel; one of a kernel that overflows warns, but in a block of `unsaid`."""
    overflow = getattr(metadata, "overflow", 0)
    if not overflow:
        return launch
    told = False

    def overflowing(*arguments: Any) -> None:
        nonlocal told
        unsaid: list[str] | None = getattr(_thread, "unsaid", None)
        if unsaid is not None:
            unsaid.append(metadata.name)
        elif not told:
            told = True
            warnings.warn(f"{metadata.name}: shared memory has no room for {overflow} bytes of each program. "
                          "They lie in global memory instead, which is slower. Smaller blocks or fewer "
                          "stages may fit",
                          stacklevel=2)
        launch(*arguments)

    return overflowing


@contextmanager
def unsaid() -> Iterator[list[str]]:
    """Nothing is said of what this thread launches in the block -> the names of kernels that overflow, one
    for each launch."""
    _thread.unsaid = []
    try:
        yield _thread.unsaid
    finally:
        _thread.unsaid = None

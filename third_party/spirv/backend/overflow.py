"""Kernels whose arrays overflow from shared into global memory: they run, slower, which is said once; tuning
takes them only where no configuration fits."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_thread = threading.local()


def noticed(launch: Callable[..., None], metadata: Any) -> Callable[..., None]:
    """Triton's launcher of a kernel; one of a kernel that overflows tells who watches, else it warns."""
    overflow = getattr(metadata, "overflow", 0)
    if not overflow:
        return launch
    told = False

    def overflowing(*arguments: Any) -> None:
        nonlocal told
        watched = getattr(_thread, "watched", None)
        if watched is not None:
            watched.append(metadata.name)
        elif not told:
            told = True
            warnings.warn(f"{metadata.name}: shared memory has no room for {overflow} bytes of each program. "
                          "They lie in global memory instead, which is slower. Smaller blocks or fewer "
                          "stages may fit",
                          stacklevel=2)
        launch(*arguments)

    return overflowing


@contextmanager
def watched() -> Iterator[list[str]]:
    """The kernels that this thread launches in the block and that overflow; nothing is said of them."""
    found: list[str] = []
    _thread.watched = found
    try:
        yield found
    finally:
        _thread.watched = None

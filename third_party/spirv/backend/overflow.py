"""Kernels whose arrays overflow from shared into global memory: they run, slower as a rule, which is said
once. Tuning measures them like others: one whose blocks are right may win nevertheless."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_thread = threading.local()


def noticed(launch: Callable[..., None], metadata: Any) -> Callable[..., None]:
    """Triton's launcher of a kernel; one of a kernel that overflows warns, but for a block of `unsaid`."""
    overflow = getattr(metadata, "overflow", 0)
    if not overflow:
        return launch
    told = False

    def overflowing(*arguments: Any) -> None:
        nonlocal told
        if not told and not getattr(_thread, "unsaid", False):
            told = True
            warnings.warn(f"{metadata.name}: shared memory has no room for {overflow} bytes of each program. "
                          "They lie in global memory instead, which is slower. Smaller blocks or fewer "
                          "stages may fit",
                          stacklevel=2)
        launch(*arguments)

    return overflowing


@contextmanager
def unsaid() -> Iterator[None]:
    """Nothing is said of what this thread launches in the block."""
    _thread.unsaid = True
    try:
        yield
    finally:
        _thread.unsaid = False

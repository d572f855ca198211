"""A kernel that takes long to compile says where it is: a warning, once for each step.

TRITON_SPIRV_COMPILE_SECONDS says when; 60 where it is not set, 0 for never. Lowering looks at the time itself
(lower/budget.py); steps of others, Triton's passes, are watched by a thread. Calls of drivers are not: a
thread of Python may collect garbage at any time, and then releases what drivers hold.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from . import settings
from .settings import number

VARIABLE = "TRITON_SPIRV_COMPILE_SECONDS"

#: Seconds after which a warning comes where nothing else is said.
SECONDS = 60.0


class SlowCompilation(UserWarning):
    """A kernel takes longer to compile than TRITON_SPIRV_COMPILE_SECONDS."""


def seconds_allowed() -> float:
    """What the environment says; 0 for no limit."""
    return number(VARIABLE, settings.SECONDS, SECONDS)


@contextmanager
def watched(step: Callable[[], str], way_out: str) -> Iterator[None]:
    """Around a step that gives up Python's lock and cannot be asked how far it is. SlowCompilation from
    another thread when the time is up, which ends with the step; step: who works on what, asked then only."""
    seconds = seconds_allowed()
    if not seconds > 0:
        yield
        return

    def warn() -> None:
        warnings.warn(f"{step()} for more than {seconds:g} s; {way_out} ({VARIABLE} sets the time, 0 for no "
                      "warning)", SlowCompilation, stacklevel=1)

    timer = threading.Timer(seconds, warn)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()

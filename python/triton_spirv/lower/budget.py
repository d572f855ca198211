"""A kernel that takes long to compile says where it is: a warning names the operation, once.

TRITON_SPIRV_COMPILE_SECONDS says when; 60 where it is not set, 0 for never.
"""

from __future__ import annotations

import time
import warnings

from .. import settings
from ..ir.model import Operation
from ..settings import number

VARIABLE = "TRITON_SPIRV_COMPILE_SECONDS"

#: Seconds after which a warning comes where nothing else is said.
SECONDS = 60.0


class SlowCompilation(UserWarning):
    """A kernel takes longer to compile than TRITON_SPIRV_COMPILE_SECONDS."""


def seconds_allowed() -> float:
    """What the environment says; 0 for no limit."""
    return number(VARIABLE, settings.SECONDS, SECONDS)


class Budget:
    """The time since the kernel's compilation began, looked at as operations are lowered."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.seconds = seconds_allowed()
        self.end = self.started + self.seconds if self.seconds > 0 else float("inf")
        self.kernel = ""

    def check(self, op: Operation) -> None:
        """Warn if the time is up, and did not before."""
        if time.monotonic() < self.end:
            return
        self.end = float("inf")
        warnings.warn(
            f"{op.location}: {op.name}: compiling {self.kernel or 'the kernel'} has taken more than"
            f" {self.seconds:g} s and is here; smaller blocks, and loops that are not unrolled, compile"
            f" faster ({VARIABLE} sets the time, 0 for no warning)", SlowCompilation, stacklevel=2)

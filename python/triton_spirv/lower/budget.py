"""The time that lowering takes: slow.py's warning names the operation that is being lowered."""

from __future__ import annotations

import time
import warnings

from ..ir.model import Operation
from ..slow import VARIABLE, SlowCompilation, seconds_allowed


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

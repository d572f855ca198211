"""What an action costs, in calls of Python functions: the same on every machine, unlike seconds."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

#: Calls after which a compilation is taken for one that never ends.
MOST = 3_000_000


class TooMany(BaseException):
    """More calls than any kernel here needs; no error that the compiler would wrap."""


def calls(action: Callable[[], Any], most: int = MOST) -> int:
    """How many Python functions are called meanwhile, resumed generators included; without the verifiers that
    tests switch on."""
    count = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        if event == "call":
            count += 1
            if count > most:
                raise TooMany(f"more than {most} calls")

    words = os.environ.pop("TRITON_SPIRV_DEBUG", None)
    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
        if words is not None:
            os.environ["TRITON_SPIRV_DEBUG"] = words
    return count

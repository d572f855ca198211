"""The switch: does Triton compile and launch with this package?

The environment variable TRITON_SPIRV_BACKEND is the switch itself, so child processes follow it. `enable()`
and `disable()` turn it in a running process, `with backend():` for a while. It is one switch for the process,
not one for each thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

VARIABLE = "TRITON_SPIRV_BACKEND"

#: what the plugin wants to do when the switch has been turned; it registers when Triton imports it
_listeners: list[Callable[[], None]] = []


def is_on() -> bool:
    """Is the switch on?"""
    return os.environ.get(VARIABLE, "").strip().lower() not in ("", "0", "off", "false", "no")


def enable() -> None:
    """Triton kernels compile to SPIR-V and run through OpenCL from here on."""
    _turn("1")


def disable() -> None:
    """Triton chooses its backend as if this package were not installed."""
    _turn(None)


@contextmanager
def backend() -> Iterator[None]:
    """The switch is on in this block and as it was before after it."""
    before = os.environ.get(VARIABLE)
    enable()
    try:
        yield
    finally:
        _turn(before)


def on_change(listener: Callable[[], None]) -> None:
    """Call `listener` whenever the switch has been turned in this process."""
    _listeners.append(listener)


def _turn(value: str | None) -> None:
    before = is_on()
    if value is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = value
    if is_on() != before:
        for listener in _listeners:
            listener()

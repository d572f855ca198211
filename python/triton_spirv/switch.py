"""The switch: does Triton compile and launch with this package?

The environment variable TRITON_SPIRV_BACKEND is the switch itself, so child processes follow it: `1` is on,
`0` is off. Unset, or `auto`, means: on where no other backend is active. The plugin finds that out when
Triton asks for its driver, and says it here. `enable()` and `disable()` turn the switch in a running process,
`with backend():` for a while. It is one switch for the process, not one for each thread.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

VARIABLE = "TRITON_SPIRV_BACKEND"

ON, OFF, AUTOMATIC = ("1", "on", "true", "yes"), ("0", "off", "false", "no"), ("", "auto")

#: what the plugin wants to do when the switch has been turned; it registers when Triton imports it
_listeners: list[Callable[[], None]] = []

#: has Triton been told, with the variable unset, that no other backend is active?
_is_chosen = False


def _setting() -> str:
    return os.environ.get(VARIABLE, "").strip().lower()


def is_automatic() -> bool:
    """Does it depend on the other backends?"""
    return _setting() in AUTOMATIC


def is_on() -> bool:
    """Is the switch on? With the variable unset: only after Triton has chosen this package."""
    return _is_chosen if is_automatic() else _setting() in ON


def is_known() -> bool:
    """Is what the variable holds a word for on, off or automatic?"""
    return _setting() in (*ON, *OFF, *AUTOMATIC)


def require_known() -> None:
    """UsageError where it is not. Triton is imported all the same: who asks for a driver is told."""
    if not is_known():
        from .errors import UsageError

        raise UsageError(f"{VARIABLE}={os.environ[VARIABLE]!r}: use 1, 0 or auto")


def choose() -> None:
    """No other backend is active, so an automatic switch is on from here on."""
    global _is_chosen
    _is_chosen = True


def enable() -> None:
    """Triton kernels compile to SPIR-V and run through OpenCL from here on. ModuleNotFoundError where Triton
    is not installed."""
    if "triton" not in sys.modules and importlib.util.find_spec("triton") is None:
        raise ModuleNotFoundError("triton-spirv runs the kernels of Triton, which is not installed: "
                                  "pip install 'triton-spirv[cpu]'", name="triton")
    _turn("1")


def disable() -> None:
    """Triton chooses its backend as if this package were not installed: the variable is `0` from here on."""
    _turn("0")


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

"""What torch.cuda is to a GPU, for OpenCL devices: `driver.get_device_interface()`.

Launches return when they are done, but for those on arrays that live on a GPU: events and streams wait for
these.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from triton_spirv.runtime.devices import settle
from triton_spirv.runtime.processor import cores


class Event:
    """A point in time."""

    def __init__(self, enable_timing: bool = False, **_: bool) -> None:
        self.time: int | None = None

    def record(self, stream: Any = None) -> None:
        """When everything launched so far is done, which this waits for."""
        settle()
        self.time = time.perf_counter_ns()

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to `end`."""
        if self.time is None or end.time is None:
            raise RuntimeError("elapsed_time of an event that has not been recorded")
        return (end.time - self.time) / 1e6

    def query(self) -> bool:
        """Is it past?"""
        return True

    def wait(self, stream: Any = None) -> None:
        """Nothing runs behind the caller's back."""

    def synchronize(self) -> None:
        """Nothing runs behind the caller's back."""


class Stream:
    """Work is done in the order of the calls, on every stream."""

    cuda_stream = 0

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        self.device = device

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *failure: object) -> None:
        pass

    def synchronize(self) -> None:
        """Wait for everything."""
        settle()

    def query(self) -> bool:
        """Is everything done?"""
        settle()
        return True

    def wait_stream(self, stream: Any) -> None:
        """Nothing is pending."""

    def wait_event(self, event: Event) -> None:
        """Nothing is pending."""

    def record_event(self, event: Event | None = None) -> Event:
        """An event recorded now."""
        event = event or Event()
        event.record()
        return event


def ExternalStream(stream: int, device: Any = None) -> Stream:
    """The stream of that number."""
    return Stream(device)


def current_stream(device: Any = None) -> Stream:
    """The only stream."""
    return Stream(device)


default_stream = current_stream


@contextmanager
def stream(stream: Any) -> Iterator[None]:
    """Work in this block goes to `stream`."""
    yield


@contextmanager
def device(device: Any) -> Iterator[None]:
    """Work in this block goes to `device`."""
    yield


def synchronize(device: Any = None) -> None:
    """Wait for everything."""
    settle()


def is_available() -> bool:
    """There is a device."""
    return True


def device_count() -> int:
    """One."""
    return 1


def current_device() -> str:
    """The device's name, as torch.cpu has it."""
    return "cpu"


def set_device(device: Any) -> None:
    """There is only one."""


def empty_cache() -> None:
    """No memory is kept."""


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """No compute capability."""
    return 0, 0


def get_device_properties(device: Any = None) -> SimpleNamespace:
    """The few facts that benchmarks ask for."""
    return SimpleNamespace(name="cpu", multi_processor_count=cores(), major=0, minor=0)


#: at most so much is filled to empty the caches, and so little at least: what a large server's last level
#: holds for all of its processors takes longer to fill than the kernels that are measured
MOST_FILLED, LEAST_FILLED = 32 << 20, 2 << 20


def memory_beyond_caches() -> Any:
    """An array with `fill(0)`: filling it between two measurements empties the caches. It is in memory
    already, so that the first time takes no longer than the next."""
    return _filled(2 * _caches("0-9"))


def private_caches() -> Any:
    """The same for the caches that a processor has for itself; the last level keeps what is in it."""
    return _filled(2 * cores() * _caches("0-2"))


def _filled(size: int) -> Any:
    size = max(LEAST_FILLED, min(size, MOST_FILLED))
    array: Any
    if "torch" in sys.modules:
        import torch

        array = _Filled(torch.empty(size // 4, dtype=torch.int32))
    else:
        import numpy

        array = numpy.empty(size // 4, numpy.int32)
    array.fill(0)
    return array


class _Filled:
    """A torch tensor; `fill` as numpy spells it."""

    def __init__(self, tensor: Any) -> None:
        self.tensor, self.fill, self.nbytes = tensor, tensor.fill_, tensor.nbytes


def _caches(levels: str) -> int:
    """Bytes of the largest cache of these levels that processor 0 sees, at least 1 MiB."""
    sizes = [1 << 20]
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            level, text = (folder / "level").read_text().strip(), (folder / "size").read_text().strip()
        except OSError:
            continue
        if re.fullmatch(f"[{levels}]", level) and text.endswith("K") and text[:-1].isdecimal():
            sizes.append(int(text[:-1]) << 10)
    return max(sizes)

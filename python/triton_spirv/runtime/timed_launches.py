"""Launches whose times a profile keeps: by an event each, or between two marks."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

from . import opencl
from .profile import PROFILE, Profile, Timing

if TYPE_CHECKING:
    from .launch import Kernel, Launch
    from .opencl import Library

#: what is done around each launch
Watched = Callable[[], AbstractContextManager[None]]


class EventTimer:
    """Reads the times of one event: queue, then `read` what the enqueued command left in `event`."""

    def __init__(self, library: Library, queue: int) -> None:
        self._library, self.queue = library, queue
        self._event = ctypes.c_void_p()
        self.times = (0, 0, 0, 0)

    @property
    def event(self) -> int:
        """Where clEnqueue* puts the event."""
        return ctypes.addressof(self._event)

    def read(self) -> None:
        """queued, submitted, started, ended; zeros where the driver keeps no times."""
        if not self._event.value:
            return
        names = (opencl.PROFILING_COMMAND_QUEUED, opencl.PROFILING_COMMAND_SUBMIT,
                 opencl.PROFILING_COMMAND_START, opencl.PROFILING_COMMAND_END)
        try:
            queued, submitted, started, ended = (
                self._library.number("clGetEventProfilingInfo", self._event.value, name) for name in names)
            self.times = (queued, submitted, started, ended)
        except opencl.OpenCLError:
            pass
        self._library.clReleaseEvent(self._event.value)


def timed(kernel: Kernel, profile: Profile = PROFILE,
          watched: Watched = nullcontext) -> Launch:
    """The launch of an OpenCL kernel, each with an event whose times are kept."""
    context, name = kernel.context, kernel.artifact.entry

    def launch(x: int, y: int, z: int, arguments: Sequence[object]) -> None:
        if not x * y * z:
            return kernel.launch(x, y, z, arguments)
        timer = EventTimer(context.device.library, context.profiling_queue)
        begin = time.perf_counter_ns()
        with watched():
            kernel.launch_prepared(x, y, z, arguments, timer)
        host = begin, time.perf_counter_ns()
        profile.add(Timing(name, (x, y, z), host, *timer.times, context.device.name,
                           threading.get_native_id()))

    return launch


class Mark(Protocol):
    """A point in a device's time, as the device interfaces have it (torch.cuda.Event and its like)."""

    def record(self) -> None: ...
    def synchronize(self) -> None: ...
    def elapsed_time(self, end: Any) -> float: ...  # of its own kind


def between_marks(launch: Launch, name: str, device: str, mark: Callable[[], Mark],
                  profile: Profile = PROFILE) -> Launch:
    """Any launch, timed between two marks in the order of the device's work; each is waited for."""

    def marked_launch(x: int, y: int, z: int, arguments: Sequence[object]) -> None:
        if not x * y * z:
            return launch(x, y, z, arguments)
        begin, before, after = time.perf_counter_ns(), mark(), mark()
        before.record()
        launch(x, y, z, arguments)
        after.record()
        after.synchronize()
        host = begin, time.perf_counter_ns()
        taken = max(round(before.elapsed_time(after) * 1e6), 1)
        profile.add(Timing(name, (x, y, z), host, ended=taken, device=device,
                           thread=threading.get_native_id()))

    return marked_launch

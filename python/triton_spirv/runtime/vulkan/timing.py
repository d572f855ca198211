"""Points in a device's time: what a kernel takes is measured on the device, between the kernels around it."""

from __future__ import annotations

import ctypes
import sys
import time
from collections import deque
from typing import TYPE_CHECKING

from ...errors import DeviceError
from .commands import BOTTOM
from .structures import make

if TYPE_CHECKING:
    from .context import Context

#: timestamps of one query pool
QUERIES = 1024
TIMESTAMP = 2  # VK_QUERY_TYPE_TIMESTAMP
RESULT_64, RESULT_WAIT = 1, 2


class Timestamps:
    """Places for timestamps; there are as many as events alive.

    A place is made ready by the host where the device allows it: a command of the device for that would stand
    between the timestamps.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self.by_host = "hostQueryReset" in context.device.features
        #: (query pool, query, the submission that wrote it last), the longest unused first
        self.free: deque[tuple[int, int, int]] = deque()

    def take(self) -> tuple[int, int]:
        """A place that no other event has, and that the device has done with."""
        api, device = self._context.api, self._context.handle
        if not self.free or self.free[0][2] > self._context.stream.finished:
            info = make("QueryPoolCreateInfo", queryType=TIMESTAMP, queryCount=QUERIES)
            pool = api.create("vkCreateQueryPool", device, ctypes.byref(info))
            self.free.extendleft((pool, index, -1) for index in range(QUERIES))
        pool, query, _ = self.free.popleft()
        if self.by_host:
            api.vkResetQueryPool(device, pool, query, 1)
        return pool, query

    def give(self, place: tuple[int, int], submission: int) -> None:
        """Nobody asks for the place any more; `submission` wrote it, or will."""
        self.free.append((*place, submission))


class Event:
    """A point in the order of a device's work; the interface is that of torch.cuda.Event."""

    def __init__(self, context: Context, enable_timing: bool = False) -> None:
        self.context = context
        self._place: tuple[int, int] | None = None
        self._submission = -1
        if enable_timing and not context.device.timestamp_bits:
            raise DeviceError(f"{context.device} has no timestamps")
        if enable_timing:
            self._place = context.timestamps.take()

    def record(self, stream: object = None) -> None:
        """The point behind everything launched so far."""
        owner = self.context.stream
        with owner.lock:
            if self._place is not None and self._submission >= 0:  # a place is written once
                self.context.timestamps.give(self._place, self._submission)
                self._place = self.context.timestamps.take()
            handle = owner.begin()
            self._submission = owner.submitted + 1
            if self._place is None:
                owner.recorded += 1  # submitted together with what follows
                return
            owner.order()  # what orders earlier work is not measured with later
            pool, query = self._place
            if not self.context.timestamps.by_host:
                self.context.api.vkCmdResetQueryPool(handle, pool, query, 1)
            self.context.api.vkCmdWriteTimestamp(handle, BOTTOM, pool, query)
            owner.timed = 0 if owner.timed else time.perf_counter_ns()
            owner.added()

    def query(self) -> bool:
        """Is it past?"""
        owner = self.context.stream
        with owner.lock:
            if self._submission > owner.submitted:
                owner.flush()
            owner.idle()
            return owner.finished >= self._submission

    def synchronize(self) -> None:
        """Return when it is past."""
        self.context.stream.flush()
        self.context.stream.wait_for(max(self._submission, 0))

    def wait(self, stream: object = None) -> None:
        """All work of a device is in one order: nothing to wait for."""

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds of the device from this event to `end`."""
        ticks = end.ticks() - self.ticks()
        bits = self.context.device.timestamp_bits
        return (ticks & ((1 << bits) - 1)) * self.context.device.timestamp_period / 1e6

    def ticks(self) -> int:
        """The device's clock at that point."""
        if self._place is None or self._submission < 0:
            raise RuntimeError("elapsed_time of an event that has not been recorded, or made without "
                               "enable_timing=True")
        self.synchronize()
        pool, query = self._place
        value = ctypes.c_uint64(0)
        self.context.api.call("vkGetQueryPoolResults", self.context.handle, pool, query, 1, 8,
                              ctypes.addressof(value), 8, RESULT_64 | RESULT_WAIT)
        return value.value

    def __del__(self) -> None:
        place = getattr(self, "_place", None)
        if place is not None and not sys.is_finalizing():
            self.context.timestamps.give(place, self._submission)


"""Times of launches, as the device's own clock has them.

    TRITON_SPIRV_PROFILE=1            a table of all kernels when the process ends
    TRITON_SPIRV_PROFILE=trace.json   the same, and a Chrome trace (chrome://tracing, Perfetto) in that file;
    %p
                                      in the name is the process's number

Launches go to a queue that keeps OpenCL's profiling times, one event for each (on Vulkan: between two
timestamps). The plugin's part adds the kernel's name and what its launch_metadata function tells (flops,
bytes), through Triton's launch hooks.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from . import opencl

if TYPE_CHECKING:
    from .launch import Kernel, Launch
    from .opencl import Library

VARIABLE = "TRITON_SPIRV_PROFILE"


@dataclass(frozen=True)
class Timing:
    """One launch. Device times in nanoseconds of the device's clock; 0 where the driver keeps none. host:
    when the launch began and ended, in nanoseconds of time.perf_counter_ns."""

    name: str
    grid: tuple[int, int, int]
    host: tuple[int, int]
    queued: int = 0
    submitted: int = 0
    started: int = 0
    ended: int = 0
    device: str = ""
    thread: int = 0
    facts: dict[str, float] = field(default_factory=dict)

    @property
    def nanoseconds(self) -> int:
        """On the device; from the host's clock where the driver keeps no times."""
        return self.ended - self.started if self.ended else self.host[1] - self.host[0]


class Profile:
    """Timings of this process."""

    def __init__(self) -> None:
        self.timings: list[Timing] = []
        self._last = threading.local()

    def add(self, timing: Timing) -> None:
        """Keep a timing; it is this thread's last one."""
        self.timings.append(timing)
        self._last.index = len(self.timings) - 1, timing

    def last(self) -> Timing | None:
        """This thread's last launch."""
        return getattr(self._last, "index", (0, None))[1]

    def forget_last(self) -> None:
        """A launch begins: what this thread did before is not its business."""
        self._last.index = 0, None

    def describe_last(self, facts: Mapping[str, Any]) -> None:
        """Add what Triton's launch metadata say of this thread's last launch: its name, and numbers."""
        timing = self.last()
        if timing is None:
            return
        numbers = {name: float(value) for name, value in facts.items() if isinstance(value, int | float)}
        named = replace(timing, name=str(facts.get("name") or timing.name), facts=numbers)
        index = self._last.index[0]
        for place in range(index, -1, -1):  # other threads may have added since
            if self.timings[place] is timing:
                self.timings[place] = named
                break
        self._last.index = index, named

    # ---- what is shown

    def rows(self) -> list[dict[str, Any]]:
        """A row for each kernel, the one that took longest first. Times in microseconds."""
        kernels: dict[str, list[Timing]] = {}
        for timing in self.timings:
            kernels.setdefault(timing.name, []).append(timing)
        everything = sum(timing.nanoseconds for timing in self.timings) or 1
        rows = []
        for name, timings in kernels.items():
            times = sorted(timing.nanoseconds / 1e3 for timing in timings)
            host = [(timing.host[1] - timing.host[0] - timing.nanoseconds) / 1e3 for timing in timings]
            flops, size = (sum(_told(timing, what) for timing in timings) for what in ("flops", "bytes"))
            rows.append({"kernel": name, "launches": len(times), "total": sum(times),
                         "mean": sum(times) / len(times),
                         "median": times[len(times) // 2], "least": times[0], "most": times[-1],
                         "share": 1e5 * sum(times) / everything, "host": sum(host) / len(host),
                         "gflops": flops / sum(times) / 1e3 if flops else None,
                         "gbytes": size / sum(times) / 1e3 if size else None})
        return sorted(rows, key=lambda row: -row["total"])

    def table(self) -> str:
        """The rows as text."""
        if not self.timings:
            return "triton-spirv: no launch was profiled\n"
        heads = ["kernel", "launches", "total us", "share", "mean us", "median", "least", "most", "beside us"]
        rows, told = self.rows(), []
        for key, head in (("gflops", "Gflop/s"), ("gbytes", "GB/s")):
            if any(row[key] is not None for row in rows):
                told.append(key)
                heads.append(head)
        lines = [heads]
        for row in rows:
            figures = [f"{row[key]:.1f}" for key in ("mean", "median", "least", "most", "host")]
            rates = ["" if row[key] is None else f"{row[key]:.1f}" for key in told]
            lines.append([row["kernel"], str(row["launches"]), f"{row['total']:.1f}", f"{row['share']:.1f} %",
                          *figures, *rates])
        widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
        text = ["  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                          for column, (cell, width) in enumerate(zip(line, widths, strict=True))).rstrip()
                for line in lines]
        devices = ", ".join(dict.fromkeys(timing.device for timing in self.timings if timing.device))
        return "\n".join([f"triton-spirv: launches on {devices or 'the host clock'}", *text, ""])

    def trace(self) -> dict[str, Any]:
        """The trace event format of Chrome: launches as the host sees them, a row for each thread, and
        kernels as the device ran them."""
        process = os.getpid()
        names = [{"name": "process_name", "ph": "M", "pid": process, "args": {"name": "triton-spirv"}},
                 {"name": "thread_name", "ph": "M", "pid": process, "tid": 0, "args": {"name": "device"}}]
        events = []
        for timing in self.timings:
            begin, end = timing.host
            facts = {"grid": list(timing.grid), **timing.facts}
            events.append({"name": timing.name, "cat": "launch", "ph": "X", "pid": process,
                           "tid": timing.thread,
                           "ts": begin / 1e3, "dur": (end - begin) / 1e3, "args": facts})
            if timing.ended:
                # the device's clock on the host's: the kernel ended just before the launch did
                shift = end - timing.ended
                waited = {"queued_us": (timing.submitted - timing.queued) / 1e3,
                          "submitted_us": (timing.started - timing.submitted) / 1e3}
                events.append({"name": timing.name, "cat": "kernel", "ph": "X", "pid": process, "tid": 0,
                               "ts": (timing.started + shift) / 1e3, "dur": timing.nanoseconds / 1e3,
                               "args": {**facts, **waited}})
        return {"traceEvents": [*names, *events], "displayTimeUnit": "ns",
                "otherData": {"made by": "triton-spirv"}}

    def report(self, stream: TextIO | None = None) -> None:
        """What happens at the end of the process: the table, and the trace where one is wanted."""
        out = sys.stderr if stream is None else stream
        print(self.table(), end="", file=out)
        wanted = setting()
        if wanted not in ("", "1"):
            path = Path(wanted.replace("%p", str(os.getpid())))
            try:
                path.write_text(json.dumps(self.trace()), encoding="utf-8")
                print(f"triton-spirv: trace in {path}", file=out)
            except OSError as error:
                print(f"triton-spirv: {path} cannot be written: {error.strerror}", file=out)


def _told(timing: Timing, what: str) -> float:
    """flops or bytes of a launch, under the names that Proton reads: flops, flops16, flops8, ..., bytes."""
    return sum(value for name, value in timing.facts.items()
               if name == what or (what == "flops" and name.startswith("flops") and name[5:].isdecimal()))


def setting() -> str:
    """What the variable asks for; empty: nothing."""
    value = os.environ.get(VARIABLE, "").strip()
    return "" if value.lower() in ("0", "off", "false", "no") else value


def wanted() -> bool:
    """Are launches to be profiled?"""
    return bool(setting())


PROFILE = Profile()
_started = False


def start() -> None:
    """From here on there is a report at the end of the process."""
    global _started
    if not _started:
        _started = True
        atexit.register(PROFILE.report)
        os.register_at_fork(after_in_child=PROFILE.timings.clear)


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


def timed(kernel: Kernel, profile: Profile = PROFILE) -> Launch:
    """The launch of an OpenCL kernel, each with an event whose times are kept."""
    context, name = kernel.context, kernel.artifact.entry

    def launch(x: int, y: int, z: int, arguments: Sequence[Any]) -> None:
        if not x * y * z:
            return kernel.launch(x, y, z, arguments)
        timer = EventTimer(context.device.library, context.profiling_queue)
        begin = time.perf_counter_ns()
        kernel.launch_prepared(x, y, z, arguments, timer)
        host = begin, time.perf_counter_ns()
        profile.add(Timing(name, (x, y, z), host, *timer.times, context.device.name,
                           threading.get_native_id()))

    return launch


class Mark(Protocol):
    """A point in a device's time, as the device interfaces have it (torch.cuda.Event and its like)."""

    def record(self) -> None: ...
    def synchronize(self) -> None: ...
    def elapsed_time(self, end: Any) -> float: ...


def between_marks(launch: Launch, name: str, device: str, mark: Callable[[], Mark],
                  profile: Profile = PROFILE) -> Launch:
    """Any launch, timed between two marks in the order of the device's work; each is waited for."""

    def marked_launch(x: int, y: int, z: int, arguments: Sequence[Any]) -> None:
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

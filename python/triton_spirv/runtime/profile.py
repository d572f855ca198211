"""Times of launches, as the device's own clock has them.

    TRITON_SPIRV_PROFILE=1            a table of kernels, configurations and shapes when the process ends
    TRITON_SPIRV_PROFILE=trace.json   the same, and a Chrome trace (chrome://tracing, Perfetto) in that file;
                                      %p in the name is the process's number
    TRITON_SPIRV_PROFILE=my.hatchet   the same, for proton-viewer
    TRITON_SPIRV_PROFILE=lines        the table, and the time by line of each kernel's source, on the CPU

Launches go to a queue that keeps OpenCL's profiling times, one event for each (on Vulkan: between two
timestamps). The plugin's part adds the kernel's name and what its launch_metadata function tells (flops,
bytes), through Triton's launch hooks.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..dataclass import dataclass
from ..settings import WORDS

if TYPE_CHECKING:
    pass

VARIABLE = "TRITON_SPIRV_PROFILE"
LINES = "lines"
#: the ending of files for Triton's proton-viewer
TREE = ".hatchet"


@dataclass(frozen=True)
class Timing:
    """One launch. Device times in nanoseconds of the device's clock; 0 where the driver keeps none. host:
    when the launch began and ended, in nanoseconds of time.perf_counter_ns. configuration: constants and
    launch options; shapes: of the arguments; site: the caller's file and line; tuning: an autotuner's."""

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
    configuration: str = ""
    shapes: str = ""
    site: str = ""
    tuning: bool = False

    @property
    def nanoseconds(self) -> int:
        """On the device; from the host's clock where the driver keeps no times."""
        return self.ended - self.started if self.ended else self.host[1] - self.host[0]


@dataclass(frozen=True)
class Span:
    """What the host did beside launches: kind is "compile", "build" (by the device's driver) or "tune".
    host: as in `Timing`."""

    kind: str
    name: str
    host: tuple[int, int]
    thread: int = 0


#: a device that does nothing for so many nanoseconds is idle, in the trace
IDLE = 100_000


class Profile:
    """Timings of this process."""

    def __init__(self) -> None:
        #: what else the report says, each as text
        self.sections: list[Callable[[], str]] = []
        self.timings: list[Timing] = []
        self.spans: list[Span] = []
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

    def describe_last(self, facts: Mapping[str, object]) -> None:
        """Add what Triton's launch metadata say of this thread's last launch: its name, and numbers."""
        timing = self.last()
        if timing is None:
            return
        numbers = {name: float(value) for name, value in facts.items() if isinstance(value, int | float)}
        self._replace_last(name=str(facts.get("name") or timing.name), facts=numbers)

    def tell_last(self, configuration: str, shapes: str, site: str) -> None:
        """Add what this thread's last launch was of, and who launched it."""
        if self.last() is not None:
            self._replace_last(configuration=configuration, shapes=shapes, site=site, tuning=self.is_tuning)

    def add_span(self, kind: str, name: str, begin: int, end: int | None = None) -> None:
        """Keep what this thread did from `begin` until `end`, or until now."""
        end = time.perf_counter_ns() if end is None else end
        self.spans.append(Span(kind, name, (begin, end), threading.get_native_id()))

    @property
    def is_tuning(self) -> bool:
        """Are this thread's launches an autotuner's?"""
        return bool(getattr(self._last, "tunes", False))

    @contextmanager
    def tunes(self, name: str) -> Iterator[None]:
        """Launches of this thread in this block are an autotuner's."""
        begin, self._last.tunes = time.perf_counter_ns(), True
        try:
            yield
        finally:
            self._last.tunes = False
            self.add_span("tune", name, begin)

    def clear(self) -> None:
        """Forget everything."""
        self.timings.clear()
        self.spans.clear()

    def _replace_last(self, **changes: Any) -> None:
        timing = self.last()
        assert timing is not None
        named, index = replace(timing, **changes), self._last.index[0]
        for place in range(index, -1, -1):  # other threads may have added since
            if self.timings[place] is timing:
                self.timings[place] = named
                break
        self._last.index = index, named

    # ---- what is shown

    def rows(self) -> list[dict[str, Any]]:
        """A row for each kernel, configuration and shapes, the one that took longest first. Times in
        microseconds. An autotuner's launches are left out."""
        kernels: dict[tuple[str, str, str], list[Timing]] = {}
        counted = [timing for timing in self.timings if not timing.tuning]
        for timing in counted:
            kernels.setdefault((timing.name, timing.configuration, timing.shapes), []).append(timing)
        everything = sum(timing.nanoseconds for timing in counted) or 1
        rows = []
        for (name, configuration, shapes), timings in kernels.items():
            times = sorted(timing.nanoseconds / 1e3 for timing in timings)
            host = [(timing.host[1] - timing.host[0] - timing.nanoseconds) / 1e3 for timing in timings]
            flops, size = (sum(_told(timing, what) for timing in timings) for what in ("flops", "bytes"))
            rows.append({"kernel": name, "configuration": configuration, "shapes": shapes,
                         "site": timings[-1].site, "launches": len(times), "total": sum(times),
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
        words = [key for key in ("configuration", "shapes", "site") if any(row[key] for row in self.rows())]
        heads = ["kernel", *words, "launches", "total us", "share", "mean us", "median", "least", "most",
                 "beside us"]
        rows, told = self.rows(), []
        for key, head in (("gflops", "Gflop/s"), ("gbytes", "GB/s")):
            if any(row[key] is not None for row in rows):
                told.append(key)
                heads.append(head)
        lines = [heads]
        for row in rows:
            figures = [f"{row[key]:.1f}" for key in ("mean", "median", "least", "most", "host")]
            rates = ["" if row[key] is None else f"{row[key]:.1f}" for key in told]
            lines.append([row["kernel"], *(row[key] for key in words), str(row["launches"]),
                          f"{row['total']:.1f}", f"{row['share']:.1f} %", *figures, *rates])
        widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
        text = ["  ".join(cell.ljust(width) if column <= len(words) else cell.rjust(width)
                          for column, (cell, width) in enumerate(zip(line, widths, strict=True))).rstrip()
                for line in lines]
        devices = ", ".join(dict.fromkeys(timing.device for timing in self.timings if timing.device))
        head = f"triton-spirv: launches on {devices or 'the host clock'}"
        return "\n".join([head, *text, self.beside(), ""])

    def beside(self) -> str:
        """A line of what else the time went to, from the first thing that was seen to the last."""
        hosts = [timing.host for timing in self.timings] + [span.host for span in self.spans]
        whole = max(end for _, end in hosts) - min(begin for begin, _ in hosts)
        tuned = [timing for timing in self.timings if timing.tuning]
        kinds = {kind: _covered([span.host for span in self.spans if span.kind == kind])
                 for kind in ("compile", "build", "tune")}
        parts = [f"{kind} {_seconds(taken)}" for kind, taken in kinds.items() if taken]
        if kinds["tune"]:
            parts[-1] += f" ({len(tuned)} launches)"
        busy = _covered([timing.host for timing in self.timings if not timing.tuning])
        parts += [f"launches {_seconds(busy)}", f"neither {_seconds(whole - _covered(hosts))}"]
        return f"of {_seconds(whole)}: {', '.join(parts)}"

    def trace(self) -> dict[str, object]:
        """The trace event format of Chrome: launches as the host sees them, a row for each thread, and
        kernels as the device ran them."""
        process = os.getpid()
        names = [{"name": "process_name", "ph": "M", "pid": process, "args": {"name": "triton-spirv"}},
                 {"name": "thread_name", "ph": "M", "pid": process, "tid": 0, "args": {"name": "device"}}]
        events = []
        for timing in self.timings:
            begin, end = timing.host
            told = {"configuration": timing.configuration, "shapes": timing.shapes, "site": timing.site}
            facts = {"grid": list(timing.grid), **{key: text for key, text in told.items() if text},
                     **timing.facts}
            events.append({"name": timing.name, "cat": "tuning" if timing.tuning else "launch", "ph": "X",
                           "pid": process, "tid": timing.thread,
                           "ts": begin / 1e3, "dur": (end - begin) / 1e3, "args": facts})
            if timing.ended:
                # the device's clock on the host's: the kernel ended just before the launch did
                shift = end - timing.ended
                waited = {"queued_us": (timing.submitted - timing.queued) / 1e3,
                          "submitted_us": (timing.started - timing.submitted) / 1e3}
                events.append({"name": timing.name, "cat": "kernel", "ph": "X", "pid": process, "tid": 0,
                               "ts": (timing.started + shift) / 1e3, "dur": timing.nanoseconds / 1e3,
                               "args": {**facts, **waited}})
        for span in self.spans:
            begin, end = span.host
            events.append({"name": f"{span.kind} {span.name}", "cat": span.kind, "ph": "X", "pid": process,
                           "tid": span.thread, "ts": begin / 1e3, "dur": (end - begin) / 1e3})
        for begin, end in _gaps([timing.host for timing in self.timings]):
            events.append({"name": "idle", "cat": "idle", "ph": "X", "pid": process, "tid": 0,
                           "ts": begin / 1e3, "dur": (end - begin) / 1e3})
        return {"traceEvents": [*names, *events], "displayTimeUnit": "ns",
                "otherData": {"made by": "triton-spirv"}}

    def tree(self) -> list[dict[str, object]]:
        """What proton-viewer reads."""
        from .hatchet import tree

        return tree(self.timings)

    def report(self, stream: TextIO | None = None) -> None:
        """What happens at the end of the process: the table, and the trace where one is wanted."""
        out = sys.stderr if stream is None else stream
        print(self.table(), *(section() for section in self.sections), sep="", end="", file=out)
        wanted = setting()
        if wanted not in ("", "1", LINES):
            path = Path(wanted.replace("%p", str(os.getpid())))
            try:
                is_tree = path.suffix == TREE
                content = self.tree() if is_tree else self.trace()
                path.write_text(json.dumps(content), encoding="utf-8")
                print(f"triton-spirv: {'tree' if is_tree else 'trace'} in {path}", file=out)
            except OSError as error:
                print(f"triton-spirv: {path} cannot be written: {error.strerror}", file=out)


def _merged(hosts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Times without what they share, in order."""
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(hosts):
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((begin, end))
    return merged


def _covered(hosts: Sequence[tuple[int, int]]) -> int:
    """Nanoseconds in at least one of them."""
    return sum(end - begin for begin, end in _merged(hosts))


def _gaps(hosts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What lies between launches, where it is long enough."""
    merged = _merged(hosts)
    return [(before[1], after[0]) for before, after in pairwise(merged) if after[0] - before[1] > IDLE]


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e9:.2f} s" if nanoseconds >= 1e8 else f"{nanoseconds / 1e6:.1f} ms"


def _told(timing: Timing, what: str) -> float:
    """flops or bytes of a launch, under the names that Proton reads: flops, flops16, flops8, ..., bytes."""
    return sum(value for name, value in timing.facts.items()
               if name == what or (what == "flops" and name.startswith("flops") and name[5:].isdecimal()))


def setting() -> str:
    """What the variable asks for; empty: nothing."""
    value = os.environ.get(VARIABLE, "").strip()
    is_on = WORDS.get(value.lower())
    return value if is_on is None else "1" if is_on else ""


def wanted() -> bool:
    """Are launches to be profiled?"""
    return bool(setting())


def by_line() -> bool:
    """Is the time to be told by line?"""
    return setting() == LINES


PROFILE = Profile()
_started = False


def start() -> None:
    """From here on there is a report at the end of the process."""
    global _started
    if not _started:
        _started = True
        atexit.register(PROFILE.report)
        os.register_at_fork(after_in_child=PROFILE.clear)

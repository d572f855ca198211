"""Timing side by side: calls taken in turns, their median and spread, the machine they ran on."""

from __future__ import annotations

import gc
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """Times of one thing in milliseconds: the median, between which two the middle 80 % lie, the least."""

    median: float
    low: float
    high: float
    least: float
    count: int

    @staticmethod
    def of(times: list[float]) -> Sample:
        """From single times; the spread of fewer than ten is all of them."""
        ordered = sorted(times)
        cut = len(ordered) // 10
        return Sample(statistics.median(ordered), ordered[cut], ordered[-1 - cut], ordered[0], len(ordered))

    def scaled(self, factor: float) -> Sample:
        """In another unit."""
        times = (self.median, self.low, self.high, self.least)
        return Sample(*(time * factor for time in times), self.count)

    def __str__(self) -> str:
        digits = 3 if self.median < 1 else 2 if self.median < 100 else 0
        return f"{self.median:.{digits}f} ({self.low:.{digits}f} to {self.high:.{digits}f})"


#: seconds after which threads that spun for more work have fallen asleep, or others have all come to work
SETTLED = 0.03


def interleaved(actions: Mapping[str, Callable[[], object]], seconds: float = 2.0, least: int = 5,
                most: int = 10_000, processor: bool = False, turn: int = 1) -> dict[str, Sample]:
    """The actions in turns, so that whatever disturbs the machine disturbs all of them; each once before, not
    timed. `processor`: time that the process had a core for, instead of the clock's.

    With `turn` calls in a row each turn begins with a pause and with calls that are not timed: the threads of
    one library go on spinning for some milliseconds, and would hold the cores that the next one's wait for.
    """
    clock = time.process_time_ns if processor else time.perf_counter_ns
    for action in actions.values():
        action()
    times: dict[str, list[float]] = {name: [] for name in actions}
    gc.collect()
    gc.disable()
    begin = time.perf_counter()
    rounds = 0
    while rounds < most and (rounds * turn < least or time.perf_counter() - begin < seconds):
        for name, action in actions.items():
            if turn > 1:
                time.sleep(SETTLED)
                settled = time.perf_counter() + SETTLED
                while time.perf_counter() < settled:
                    action()
            for _ in range(turn):
                start = clock()
                action()
                times[name].append((clock() - start) / 1e6)
        rounds += 1
    gc.enable()
    return {name: Sample.of(values) for name, values in times.items()}


def processor_time() -> float:
    """Milliseconds that this process and its children, those that are done, have had a core for.

    On a machine that others use too, this says more of a compiler than the clock on the wall.
    """
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (time.process_time() + children.ru_utime + children.ru_stime)


def per_call(action: Callable[[], object], calls: int = 200) -> Callable[[], object]:
    """`calls` calls as one action; what it costs is divided by the caller."""
    def repeated() -> None:
        for _ in range(calls):
            action()
    return repeated


def machine() -> dict[str, str]:
    """What the figures were taken on."""
    import torch
    import triton
    from triton_spirv.runtime import chosen_device

    chosen = chosen_device.chosen()
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    return {
        "processor": _processor(), "cores": f"{len(os.sched_getaffinity(0))} usable",
        "load": f"{load} (1, 5, 15 minutes; before)", "device": str(chosen),
        "python": platform.python_version(),
        "triton": triton.__version__, "torch": f"{torch.__version__}, {torch.get_num_threads()} threads",
    }


def _processor() -> str:
    """Its model, and the widest vectors that this process may use."""
    from triton_spirv.runtime.processor import processor

    here = processor()
    vectors = {"avx512f": "AVX-512", "avx2": "AVX2", "": ""}
    return f"{here.model} {next(name for flag, name in vectors.items() if not flag or flag in here.flags)}"


def table(title: str, head: list[str], rows: list[list[object]]) -> str:
    """Text in columns: the first to the left, the others to the right."""
    cells = [head, *[[_text(value) for value in row] for row in rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = []
    for row in cells:
        first, *others = [f"{cell:<{w}}" if i == 0 else f"{cell:>{w}}"
                          for i, (cell, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join([first, *others]).rstrip())
    return "\n".join([title, "-" * len(title), *lines, ""])


def _text(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)

"""What the tutorials share: the switch, the command line, timing, a table with a verdict, a plot.

Importing this module turns the SPIR-V backend on (Triton reads the switch when it is imported, so this import
comes first), unless Triton's interpreter was asked for.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
QUICK = INTERPRETED or "--quick" in sys.argv
if not INTERPRETED:
    os.environ.setdefault("TRITON_SPIRV_BACKEND", "1")


def median_ms(function: Callable[[], object], seconds: float = 0.4, least: int = 3) -> float:
    """Median time of a call in milliseconds, over about `seconds`; the first call, which compiles, is not
    counted.

    There are `least` calls or more, unless they are so slow that fewer fill five times the time.
    """
    function()
    seconds = 0.01 if QUICK else seconds
    times: list[float] = []
    begin = time.perf_counter()
    while True:
        start = time.perf_counter()
        function()
        end = time.perf_counter()
        times.append((end - start) * 1e3)
        spent = end - begin
        if spent > 5 * seconds or (spent > seconds and len(times) >= least):
            return statistics.median(times)


@dataclass(frozen=True)
class Row:
    """One case: times in milliseconds, the error that the check found and what it allows."""

    case: str
    ours: float
    theirs: float | None
    error: float
    limit: float
    work: float | None

    @property
    def passed(self) -> bool:
        return self.error <= self.limit  # NaN is not


class Report:
    """Collects rows, prints them as they come, and ends the script: status 1 if a check failed.

    `rate` names what `work` per second is shown as, with its divisor: ("GB/s", 1e9).
    """

    def __init__(self, title: str, theirs: str = "torch", rate: tuple[str, float] | None = None) -> None:
        parser = argparse.ArgumentParser(description=title)
        parser.add_argument("--quick", action="store_true", help="small sizes: a check, no measurement")
        parser.add_argument("--plot", metavar="FILE", help="write the times as a picture (.png, .svg, .pdf)")
        arguments = parser.parse_args()
        self.quick: bool = arguments.quick
        self.plot: str | None = arguments.plot
        self.title, self.theirs, self.rate = title, theirs, rate
        self.rows: list[Row] = []
        self.width = 30
        print(f"{title}, on {device()}")
        rate_columns = f" {'ours':>9} {theirs:>9}  {rate[0]}" if rate else ""
        print(f"{'case':<{self.width}} {'ours ms':>10} {theirs + ' ms':>10} {'ratio':>6} {'max error':>10} "
              f"{'allowed':>9}{rate_columns}")

    def row(self, case: object, ours: float, theirs: float | None, error: float, limit: float,
            work: float | None = None) -> None:
        """`error` and `limit` are in whatever measure the check uses; `work` in bytes or operations."""
        row = Row(str(case), ours, theirs, float(error), limit, work)
        self.rows.append(row)
        their_time = f"{theirs:10.3f} {theirs / ours:6.2f}" if theirs else f"{'-':>10} {'-':>6}"
        rates = ""
        if self.rate and work:
            per_second = [work / (t * 1e-3) / self.rate[1] if t else float("nan") for t in (ours, theirs)]
            rates = f" {per_second[0]:9.2f} {per_second[1]:9.2f}"
        verdict = "" if row.passed else "  WRONG"
        checked = f"{row.error:10.2g} {limit:9.2g}"
        print(f"{row.case:<{self.width}} {ours:10.3f} {their_time} {checked}{rates}{verdict}", flush=True)

    def finish(self, note: str = "") -> NoReturn:
        """Write the plot if one was asked for, print a note and how the checks went, and end the process."""
        if self.plot:
            self._draw(self.plot)
        if note and not INTERPRETED:
            print(note)
        wrong = [row.case for row in self.rows if not row.passed]
        print(f"FAILED: {', '.join(wrong)}" if wrong else f"all {len(self.rows)} checks passed")
        sys.exit(1 if wrong else 0)

    def _draw(self, path: str) -> None:
        try:
            import matplotlib
        except ImportError:
            sys.exit("--plot needs matplotlib: pip install matplotlib")
        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(max(6.0, 0.7 * len(self.rows) + 2), 4))
        places = range(len(self.rows))
        axes.plot(places, [row.ours for row in self.rows], "o-", label="SPIR-V")
        if any(row.theirs for row in self.rows):
            axes.plot(places, [row.theirs or float("nan") for row in self.rows], "s--", label=self.theirs)
        axes.set_xticks(list(places), [row.case for row in self.rows], rotation=40, ha="right", fontsize=7)
        axes.set_yscale("log")
        axes.set_ylabel("milliseconds")
        axes.set_title(self.title)
        axes.grid(alpha=0.3)
        axes.legend()
        figure.tight_layout()
        figure.savefig(path)
        print(f"wrote {path}")


def device() -> str:
    """What the kernels run on, in words."""
    if INTERPRETED:
        return "Triton's interpreter"
    import triton
    from triton_spirv.runtime.chosen_device import chosen as chosen_device

    chosen = chosen_device()
    target = triton.runtime.driver.active.get_current_target()
    return f"{chosen.name} ({chosen.platform} {chosen.driver_version}), target {target.backend} {target.arch}"


def as_argument(array: np.ndarray) -> Any:
    """The memory of a numpy array in a form that a launch takes: a torch tensor, or without torch our own
    view."""
    try:
        import torch
    except ImportError:
        import triton_spirv

        return triton_spirv.asarray(array)
    return torch.from_numpy(array)


def max_error(actual: Any, expected: Any) -> float:
    """The largest absolute difference of two torch tensors, compared in float64; NaN if one has a NaN."""
    return (actual.double() - expected.double()).abs().max().item()

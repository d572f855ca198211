"""How far a compilation of many kernels has come: a bar where there is a terminal and rich is installed, a
line for each job otherwise."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from .pool import Report
from .work import Job, Result


@contextmanager
def progress(total: int, stream: TextIO | None = None) -> Iterator[Report]:
    """Shows what the function it gives is told."""
    out = sys.stderr if stream is None else stream
    terminal = out.isatty() and os.environ.get("TERM") != "dumb"
    try:
        rich = importlib.import_module("rich.progress") if terminal else None
        console = importlib.import_module("rich.console") if terminal else None
    except ImportError:
        rich = console = None
    if rich is None or console is None:
        yield lambda job, result, done: print(f"{done}/{total} {line(job, result)}", file=out, flush=True)
        return
    with rich.Progress(console=console.Console(file=out)) as bar:
        task = bar.add_task("compiling", total=total)

        def report(job: Job, result: Result, done: int) -> None:
            bar.update(task, completed=done, description=f"{job.name} {job.target.name}")
            if result.error or result.warning:
                bar.console.print(line(job, result), markup=False, highlight=False)

        yield report


def line(job: Job, result: Result) -> str:
    """One job that is done."""
    if result.error:
        return f"{job.name} for {job.target.name} FAILED: {result.error[1].splitlines()[0]}"
    kind = " and native code" if result.native else ""
    warning = f", {result.warning}" if result.warning else ""
    return f"{job.name} for {job.target.name}{kind}, {result.seconds:.2f} s{warning}"

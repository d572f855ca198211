"""How far a compilation of many kernels has come."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from .. import progress as bars
from .pool import Report
from .work import Job, Result


@contextmanager
def progress(total: int, stream: TextIO | None = None) -> Iterator[Report]:
    """Shows what the function it gives is told."""
    with bars.progress(total, stream) as step:

        def report(job: Job, result: Result, done: int) -> None:
            step(f"{job.name} {job.target.name}", line(job, result), bool(result.error or result.warning))

        yield report


def line(job: Job, result: Result) -> str:
    """One job that is done."""
    if result.error:
        return f"{job.name} for {job.target.name} FAILED: {result.error[1].splitlines()[0]}"
    kind = " and native code" if result.native else ""
    warning = f", {result.warning}" if result.warning else ""
    return f"{job.name} for {job.target.name}{kind}, {result.seconds:.2f} s{warning}"

"""Many jobs: in this process, in worker processes, or on a cluster that a dask.distributed client speaks for.

Each of the three takes jobs as they are made, so that workers compile while the caller is still in Triton's
front end, and gives results in the order of the jobs.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from concurrent.futures import as_completed
from functools import partial
from typing import Any, Protocol

from ..runtime.processor import cores
from ..workers import WorkerDied, Workers
from .work import Job, Result, run


class Future(Protocol):
    """A job that is being done."""

    def result(self) -> Result: ...


class Client(Protocol):
    """dask.distributed's."""

    def submit(self, run: Callable[[Job], Result], job: Job, *, pure: bool) -> Future: ...


#: called when a job is done: the job, its result, how many are done
Report = Callable[[Job, Result, int], None]


def run_all(jobs: Iterable[Job], processes: int | None = None, client: Client | None = None,
            report: Report | None = None) -> list[Result]:
    """The results of all jobs. processes: how many workers, by default one per core; 0: none, everything
    here.
    client: a dask.distributed.Client, which then does the work."""
    if client is not None:
        return _collect([(job, client.submit(run, job, pure=False)) for job in jobs], report,
                        _as_dask_completes)
    count = cores() if processes is None else processes
    if not count:
        return _here(jobs, report)
    with Workers(count) as workers:
        return _collect([(job, workers.submit(partial(run, job))) for job in jobs], report, as_completed)


def _here(jobs: Iterable[Job], report: Report | None) -> list[Result]:
    results = []
    for job in jobs:
        results.append(run(job))
        if report is not None:
            report(job, results[-1], len(results))
    return results


def _collect(pending: list[tuple[Job, Future]], report: Report | None,
             completing: Callable[[list[Any]], Iterable[Future]]) -> list[Result]:
    jobs = {id(future): job for job, future in pending}
    for count, future in enumerate(completing([future for _, future in pending]), 1):
        if report is not None:
            report(jobs[id(future)], _result(jobs[id(future)], future), count)
    return [_result(job, future) for job, future in pending]


def _result(job: Job, future: Future) -> Result:
    """The result; a failed one where the worker died."""
    try:
        return future.result()
    except WorkerDied as error:
        return Result(error=(type(error).__name__, f"{job.name} for {job.target.name}: {error}"))


def _as_dask_completes(futures: list[Any]) -> Iterable[Future]:
    mine = {future.key: future for future in futures}
    for future in importlib.import_module("dask.distributed").as_completed(futures):
        yield mine[future.key]

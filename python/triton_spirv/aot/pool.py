"""Many jobs: in this process, in worker processes, or on a cluster that a dask.distributed client speaks for.

Each of the three takes jobs as they are made, so that workers compile while the caller is still in Triton's
front end, and gives results in the order of the jobs.
"""

from __future__ import annotations

import importlib
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, as_completed
from typing import Any

from ..errors import TritonSpirvError
from ..runtime.processor import cores
from .work import Job, Result, run
from .worker import receive, send

_WORKER = "from triton_spirv.aot.worker import main; main()"

#: called when a job is done: the job, its result, how many are done
Report = Callable[[Job, Result, int], None]


def run_all(jobs: Iterable[Job], processes: int | None = None, client: Any = None,
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
    workers = Workers(count)
    try:
        return _collect([(job, workers.submit(job)) for job in jobs], report, as_completed)
    finally:
        workers.close()


def _here(jobs: Iterable[Job], report: Report | None) -> list[Result]:
    results = []
    for job in jobs:
        results.append(run(job))
        if report is not None:
            report(job, results[-1], len(results))
    return results


def _collect(pending: list[tuple[Job, Any]], report: Report | None,
             completing: Callable[[list[Any]], Iterable[Any]]) -> list[Result]:
    jobs = {id(future): job for job, future in pending}
    for count, future in enumerate(completing([future for _, future in pending]), 1):
        result = future.result()
        if report is not None:
            report(jobs[id(future)], result, count)
    return [future.result() for _, future in pending]


def _as_dask_completes(futures: list[Any]) -> Iterable[Any]:
    mine = {future.key: future for future in futures}
    for future in importlib.import_module("dask.distributed").as_completed(futures):
        yield mine[future.key]


class Workers:
    """Worker processes, started as there is work for them; each belongs to one thread that feeds it."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._jobs: queue.SimpleQueue[tuple[Job, Future[Result]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        self._closed = False

    def submit(self, job: Job) -> Future[Result]:
        """The result to come."""
        future: Future[Result] = Future()
        self._jobs.put((job, future))
        if len(self._threads) < self._count:
            self._threads.append(threading.Thread(target=self._feed, daemon=True))
            self._threads[-1].start()
        return future

    def close(self) -> None:
        """End the processes, at once if jobs are still waiting."""
        self._closed = True
        for _ in self._threads:
            self._jobs.put(None)
        for process in self._processes:
            if not self._jobs.empty() and process.poll() is None:
                process.kill()
        for thread in self._threads:
            thread.join()

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([sys.executable, "-c", _WORKER], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        self._processes.append(process)
        return process

    def _feed(self) -> None:
        process: subprocess.Popen[bytes] | None = None
        while (item := self._jobs.get()) is not None:
            job, future = item
            if self._closed:
                future.cancel()
                continue
            process = process or self._start()
            assert process.stdin and process.stdout
            try:
                send(process.stdin, job)
                future.set_result(receive(process.stdout))
            except (OSError, EOFError):
                error = TritonSpirvError(f"the process that compiled {job.name} for {job.target.name} ended "
                                         f"with "
                                         f"status {process.wait()}")
                future.set_result(Result(error=(type(error).__name__, str(error))))
                process = None  # the next job gets a new one
        if process is not None and process.stdin and process.stdout:
            process.stdin.close()
            process.stdout.close()
            process.wait()

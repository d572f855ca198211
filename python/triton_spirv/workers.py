"""Worker processes: a job is a picklable function without arguments, called in one of them.

Pickled jobs go in by a worker's input, pickled outcomes come back by its output, each behind its length in
eight bytes. multiprocessing would run the caller's script once more in each process, which scripts without an
`if __name__ == "__main__"` do not survive.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import IO, Any

from .errors import TritonSpirvError

_LENGTH = 8
_PROGRAM = "from triton_spirv.workers import main; main()"

Job = Callable[[], Any]


class WorkerDied(TritonSpirvError):
    """The process that worked on a job ended before it was done."""


class Workers:
    """At most `count` processes, started as there is work for them; each belongs to one thread that feeds
    it."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._jobs: queue.SimpleQueue[tuple[Job, Future[Any]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        self._closed = self._ends_at_once = False

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: object, *failure: object) -> None:
        self.close(at_once=kind is not None)

    def submit(self, job: Job) -> Future[Any]:
        """The result to come, or the exception that the job raised; WorkerDied where its process ended."""
        future: Future[Any] = Future()
        self._jobs.put((job, future))
        if len(self._threads) < self._count:
            self._threads.append(threading.Thread(target=self._feed, daemon=True))
            self._threads[-1].start()
        return future

    def close(self, at_once: bool = False) -> None:
        """End the processes, at once if that is wanted, or if jobs are still waiting."""
        self._closed = True
        at_once = self._ends_at_once = at_once or not self._jobs.empty()
        for _ in self._threads:
            self._jobs.put(None)
        for process in self._processes:
            if at_once and process.poll() is None:
                process.kill()
        for thread in self._threads:
            with suppress(RuntimeError):  # Ctrl-C came while it was started; its process ends with its input
                thread.join()

    def _start(self) -> subprocess.Popen[bytes]:
        # a session of its own: the terminal's Ctrl-C is for this process, which then ends its workers
        process = subprocess.Popen([sys.executable, "-c", _PROGRAM], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, start_new_session=True)
        self._processes.append(process)
        if self._ends_at_once:  # since this thread has taken its job
            process.kill()
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
                done, value = receive(process.stdout)
            except (OSError, EOFError):
                future.set_exception(WorkerDied(f"the worker process ended with status {process.wait()}"))
                process = None  # the next job gets a new one
                continue
            if done:
                future.set_result(value)
            else:
                future.set_exception(value)
        if process is not None and process.stdin and process.stdout:
            process.stdin.close()
            process.stdout.close()
            process.wait()


def send(stream: IO[bytes], value: object) -> None:
    """One value, all of it."""
    data = pickle.dumps(value)
    stream.write(len(data).to_bytes(_LENGTH, "little") + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next value; EOFError where there is none."""
    head = stream.read(_LENGTH)
    data = stream.read(int.from_bytes(head, "little")) if len(head) == _LENGTH else b""
    if not data:
        raise EOFError
    return pickle.loads(data)


def outcome(job: Job) -> tuple[bool, Any]:
    """(True, what the job returned) or (False, the exception that it raised)."""
    try:
        return True, job()
    except Exception as error:
        return False, error


def main() -> None:
    """A worker: work until there is no more input. What jobs print goes to the error stream: the output is
    the protocol's.
    """
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            job = receive(sys.stdin.buffer)
        except EOFError:
            return
        send(output, outcome(job))

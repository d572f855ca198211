"""The thread in which Intel's CPU driver builds programs.

The driver's compiler keeps a state for each thread that asks it for a program (measured on a Zen 4: 75 ms
and 33 MB at a thread's first one, besides the 35 ms of a small kernel). So one thread builds for all, on a
stack that is large enough whoever asks. It can begin before there is a program: the driver starts while
Python imports the emitter.
"""

from __future__ import annotations

import atexit
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from .. import thread_stack
from ..forks import SECONDS
from .stacks import ROOMY

T = TypeVar("T")

_Job = tuple["Future[Any]", Callable[[], Any]]


class _Builder:
    """A thread that begins with its first job, and sleeps between jobs until the process ends."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self.thread: threading.Thread | None = None
        self.working = threading.Lock()
        self.is_paused = False

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """RuntimeError where no thread can begin, as when the interpreter ends."""
        with self._lock:
            if self.thread is None:
                thread = threading.Thread(target=self._work, name="triton-spirv-build", daemon=True)
                thread_stack.start(thread, ROOMY)
                self.thread = thread
            future = Future[T]()
            self._jobs.put((future, job))
        return future

    def _work(self) -> None:
        while True:
            future, job = self._jobs.get()
            with self.working:
                try:
                    future.set_result(job())
                except BaseException as error:
                    future.set_exception(error)
            del future, job


_builder = _Builder()


def run(job: Callable[[], T]) -> T:
    """job(), in that thread, behind what it does already: the result, or what was raised. A signal's handler
    that raises ends the wait, not the job."""
    if threading.current_thread() is _builder.thread:
        return job()
    try:
        future = _builder.submit(job)
    except RuntimeError:
        return job()
    return future.result()


def begin(job: Callable[[], object]) -> None:
    """Call job() there if it is the first one; nobody waits for it, and what it raises is forgotten."""
    if _builder.thread is None:
        try:
            _builder.submit(job)
        except RuntimeError:
            pass


@atexit.register
def _end() -> None:
    """The driver's own end must not come while it builds."""
    if _builder.thread is not None:
        run(lambda: None)


def pause() -> None:
    """Before a fork, and before any lock is taken that a job may ask for: no job is under way from here on,
    if that can be had within some seconds. What it had locked, the driver's and the C library's loader
    included, would be locked in the child for ever."""
    if threading.current_thread() is not _builder.thread:
        _builder.is_paused = _builder.working.acquire(timeout=SECONDS)


def go_on() -> None:
    """After a fork, in the parent."""
    if _builder.is_paused:
        _builder.is_paused = False
        _builder.working.release()


def start_anew() -> None:
    """After a fork, in the child, which has no such thread."""
    global _builder
    _builder = _Builder()

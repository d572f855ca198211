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
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from .. import thread_stack
from ..forks import LOOK_SECONDS, SECONDS
from .stacks import ROOMY

T = TypeVar("T")


class _Job(Generic[T]):
    """A function to be called, and what came of it. A lock is waited for, not a condition: a signal's handler
    that runs meanwhile may ask for a job of its own."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._functions, self._results = [function], list[T]()
        self._error: BaseException | None = None
        self._ended = threading.Lock()
        self._ended.acquire()

    def run(self) -> None:
        try:
            self._results.append(self._functions.pop()())
        except BaseException as error:
            self._error = error
        finally:
            self._ended.release()

    def result(self) -> T:
        """Once, when it has ended."""
        with self._ended:
            error, self._error = self._error, None
        try:
            if error is not None:
                raise error
            return self._results[0]
        finally:
            del error  # which refers to this frame


class _Thread(threading.local):
    builds = False


_this = _Thread()


class _Builder:
    """A thread that begins with its first job, and sleeps between jobs until the process ends. A signal's
    handler may come in between at any place, and be the first."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.RLock()
        self._unfinished: set[Callable[[], None]] = set()
        self._working = threading.Lock()
        self._is_paused = False
        self.has_begun = False

    def submit(self, function: Callable[[], T]) -> _Job[T]:
        """RuntimeError where no thread can begin, as when the interpreter ends."""
        job = _Job(function)
        with self._lock:
            if not self.has_begun:
                thread = threading.Thread(target=self._work, name="triton-spirv-build", daemon=True)
                thread_stack.start(thread, ROOMY)
                self.has_begun = True
            self._unfinished.add(job.run)
            self._jobs.put(job.run)
        return job

    def _work(self) -> None:
        _this.builds = True
        while True:
            job = self._jobs.get()
            with self._working:
                job()
                self._unfinished.discard(job)
            del job

    def pause(self) -> None:
        """No job is under way from here on, nor waited for, if that can be had within some seconds."""
        end = time.monotonic() + SECONDS
        while self._working.acquire(timeout=max(end - time.monotonic(), 0)):
            if not self._unfinished or time.monotonic() > end:
                self._is_paused = True
                return
            self._working.release()
            time.sleep(LOOK_SECONDS)

    def go_on(self) -> None:
        if self._is_paused:
            self._is_paused = False
            self._working.release()


_builder = _Builder()


def run(function: Callable[[], T]) -> T:
    """function(), in that thread, behind what it does already: the result, or what was raised. A signal's
    handler that raises ends the wait, not the job."""
    if _this.builds:
        return function()
    try:
        job = _builder.submit(function)
    except RuntimeError:
        return function()
    return job.result()


def begin(function: Callable[[], object]) -> None:
    """Call it there if it is the first one; nobody waits for it, and what it raises is forgotten."""
    if not _builder.has_begun:
        try:
            _builder.submit(function)
        except RuntimeError:
            pass


@atexit.register
def _end() -> None:
    """The driver's own end must not come while it builds."""
    if _builder.has_begun:
        run(lambda: None)


def pause() -> None:
    """Before a fork, and before any lock is taken that a job may ask for. What a job had locked, the driver's
    and the C library's loader included, would be locked in the child for ever."""
    if not _this.builds:
        _builder.pause()


def go_on() -> None:
    """After a fork, in the parent."""
    _builder.go_on()


def start_anew() -> None:
    """After a fork, in the child, which has no such thread."""
    global _builder
    _builder = _Builder()
    _this.builds = False

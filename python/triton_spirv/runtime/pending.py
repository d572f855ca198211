"""Work of an OpenCL device that nobody has waited for yet: launches on arrays that live there.

A thread's launches follow each other in its queue. Whoever reads memory, takes a time or launches from
another thread waits for all of it first, so that programs see the order of their calls.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from ..errors import LaunchError
from . import waiting
from .opencl import OpenCLError

if TYPE_CHECKING:
    from .opencl import Library

#: names of kernels that an error says
MOST_NAMES = 5


class _Work:
    """What is in one queue: the names of kernels, the last one last, and how many there were in all."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self.count = 0


class Queue(Protocol):
    """Of OpenCL's."""

    handle: int


class Pending:
    """The queues of a device with such work."""

    def __init__(self, library: Library, device: str) -> None:
        self._library, self._device = library, device
        self._work: dict[Queue, _Work] = {}
        self._lock = threading.Lock()

    def add(self, queue: Queue, kernel: str) -> None:
        """A kernel was put into a queue and submitted."""
        with self._lock:
            work = self._work.setdefault(queue, _Work())
            work.names.pop(kernel, None)
            work.names[kernel] = None
            work.count += 1

    def wait(self, but: object = None) -> None:
        """Until all that was added so far is done, but what is in one queue. LaunchError where a kernel
        failed, by the names of those that it may have been."""
        if self._work:  # asked by every launch of every device
            with self._lock:
                queues = [queue for queue in self._work if queue is not but]
            for queue in queues:
                self._wait_for(queue)

    def _wait_for(self, queue: Queue) -> None:
        library = self._library
        with self._lock:
            count = self._work[queue].count if queue in self._work else 0

        def finish() -> int:
            return library.clFinish(queue.handle)

        is_main = threading.current_thread() is threading.main_thread()
        code = waiting.wait(finish) if is_main else finish()
        with self._lock:
            work = self._work.get(queue)
            if work is not None and work.count == count:  # its thread has not gone on meanwhile
                del self._work[queue]
        if code:
            names = ", ".join(list(work.names if work is not None else ())[-MOST_NAMES:])
            raise LaunchError(f"{names} on {self._device}: {OpenCLError('clFinish', code)}")

    def forget(self) -> None:
        """In a forked child: none of it is this process's."""
        self._work.clear()
        self._lock = threading.Lock()

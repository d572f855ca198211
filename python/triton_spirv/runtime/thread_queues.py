"""Queues of a device's context, one set for each thread."""

from __future__ import annotations

import sys
import threading

from .opencl import Library


class ThreadQueues:
    """Those of the thread that asks, by names; each is made when first asked for."""

    def __init__(self, library: Library, context: int, device: int) -> None:
        self._library, self._context, self._device = library, context, device
        self._threads = threading.local()

    def handle(self, name: str, properties: int) -> int:
        """The queue of this name, which has these properties."""
        queue: Queue | None = getattr(self._threads, name, None)
        if queue is None:
            queue = Queue(self._library,
                          self._library.create_queue(self._context, self._device, properties))
            setattr(self._threads, name, queue)
        return queue.handle

    def known(self, name: str) -> Queue | None:
        """The queue of this name, if there is one."""
        queue: Queue | None = getattr(self._threads, name, None)
        return queue

    def forget(self) -> object:
        """The thread gets new queues; what is given keeps the old ones. Those stay that run kernels in the
        calling thread, "local", and those of a team, "team_0" and so on."""
        queues = dict(self._threads.__dict__)
        self._threads.__dict__.clear()
        for name in [name for name in queues if name == "local" or name.startswith("team_")]:
            setattr(self._threads, name, queues.pop(name))
        return queues


class Queue:
    """Releases the queue when its thread ends."""

    def __init__(self, library: Library, handle: int) -> None:
        self.handle, self._library = handle, library

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self._library.release("clReleaseCommandQueue", self.handle)

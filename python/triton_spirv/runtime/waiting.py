"""Waiting for a kernel so that Ctrl-C (a notebook's "interrupt") ends the wait.

Python looks at signals between its own instructions, in the main thread: a clFinish there that never returns
cannot be interrupted. So the main thread leaves the clFinish of launches that are not known to be short to a
helping thread, and waits for a lock, which signals interrupt. The kernel cannot be stopped: it runs on, what
it works on is kept until it ends, and the main thread goes on with queues of its own. A process that ends
does not wait for it.

Who waits for a queue is given programs to run. So the helping threads have large stacks, and threads with
small ones (stacks.py) leave the whole launch to one.
"""

from __future__ import annotations

import ctypes
import functools
import os
import queue
import threading
from collections.abc import Callable

from .. import thread_stack
from .stacks import ROOMY

Job = Callable[[], object]

#: a launch that took less, in nanoseconds, is waited for in the ordinary way the next time
SHORT = 20_000_000

_idle: list[queue.SimpleQueue[Job]] = []  # helpers that wait for work
os.register_at_fork(after_in_child=_idle.clear)


def wait(finish: Callable[[], int]) -> int:
    """finish(), in a helping thread: its result. A KeyboardInterrupt, or what else a signal's handler raises,
    ends the wait and nothing more."""
    return begun(finish)()


def begun(job: Callable[[], int]) -> Callable[[], int]:
    """Have a helping thread call job(), on a stack that is large enough for any kernel: a function that waits
    for the result. What ends such a wait does not end the job, whose end can be waited for again."""
    codes: list[int] = []
    ended = threading.Lock()
    ended.acquire()

    def run() -> None:
        codes.append(job())
        ended.release()

    def result() -> int:
        while not codes:
            with ended:
                pass
        return codes[0]

    _give(run)
    return result


def keep(finish: Callable[[], int], afterwards: Job) -> None:
    """Call finish(), then afterwards(), in a helping thread; what they refer to lives so long."""
    _end_without_waiting()
    _give(lambda: (finish(), afterwards()))


@functools.cache
def _end_without_waiting() -> None:
    """The process shall end although a kernel runs: the driver's own end would wait for that. What is to be
    done last by the C library is done first, so with the exit status that there is."""
    library = ctypes.CDLL(None)
    if hasattr(library, "on_exit"):
        library.on_exit(ctypes.cast(library._exit, ctypes.c_void_p), None)


def _give(job: Job) -> None:
    if _idle:
        jobs = _idle.pop()
    else:
        jobs = queue.SimpleQueue()
        thread_stack.start(threading.Thread(target=_helper, args=(jobs,), name="triton-spirv-wait",
                                            daemon=True), ROOMY)
    jobs.put(job)


def _helper(jobs: queue.SimpleQueue[Job]) -> None:
    while True:
        jobs.get()()
        _idle.append(jobs)

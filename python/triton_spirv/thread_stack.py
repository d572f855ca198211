"""Threads that begin with a stack of a size of their own."""

from __future__ import annotations

import os
import threading

_lock = threading.RLock()  # a signal's handler may come in between, and start one, too
os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.RLock()))


def start(thread: threading.Thread, stack_bytes: int) -> None:
    """The thread begins, with a stack of so many bytes: reserved, and used as far as it is needed."""
    with _lock:  # what Python asks for belongs to the process
        size = threading.stack_size(stack_bytes)
        try:
            thread.start()
        finally:
            threading.stack_size(size)

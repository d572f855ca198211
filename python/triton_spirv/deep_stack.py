"""Recursion that is deeper than Python's limit, on a stack made for it.

Kernels nest: two hundred `elif` are two hundred regions, each a dozen calls in the reader, the analyses and
the rules. What ends with RecursionError runs once more in a thread with a stack of its own and a higher
limit.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from . import thread_stack

T = TypeVar("T")

STACK_BYTES = 256 << 20  # reserved, and used as far as it is needed
LIMIT = 30_000  # calls; 256 MiB hold more of Python's own

_lock = threading.Lock()
os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.Lock()))
_inside = threading.local()


def deepened(function: Callable[..., T], *arguments: Any) -> T:
    """What the function gives; RecursionError where the deep stack does not suffice either."""
    try:
        return function(*arguments)
    except RecursionError:
        if getattr(_inside, "deep", False):
            raise
    outcome: list[Any] = [None, None]

    def run() -> None:
        _inside.deep = True
        try:
            outcome[0] = function(*arguments)
        except BaseException as error:  # raised again in the calling thread
            outcome[1] = error

    with _lock:  # the limit belongs to the process
        limit = sys.getrecursionlimit()
        try:
            thread = threading.Thread(target=run, name="triton-spirv deep stack")
            sys.setrecursionlimit(max(limit, LIMIT))
            thread_stack.start(thread, STACK_BYTES)
            thread.join()
        finally:
            sys.setrecursionlimit(limit)
    if outcome[1] is not None:
        raise outcome[1]
    result: T = outcome[0]
    return result

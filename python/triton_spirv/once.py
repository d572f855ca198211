"""Functions whose result is made once in a process, where threads may ask for it the first time at once.

`functools.cache` runs the function in each of these threads and keeps one result. What another thread has got
then is not what everybody else uses, and may be freed while it is in use.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Once(Generic[P, T]):
    """A decorator, as functools.cache: one thread runs the function, for each of its arguments, and others
    wait for the result. An exception is no result."""

    def __init__(self, function: Callable[P, T]) -> None:
        self._function, self._results = function, dict[object, T]()
        self._lock = threading.RLock()
        functools.update_wrapper(self, function)
        _in_a_child.append(self._forget_threads)

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> T:
        key = arguments, *keywords.items()
        if key not in self._results:
            with self._lock:
                if key not in self._results:
                    self._results[key] = self._function(*arguments, **keywords)
        return self._results[key]

    def cache_clear(self) -> None:
        """Forget all results."""
        self._results.clear()

    def _forget_threads(self) -> None:
        self._lock = threading.RLock()


_in_a_child: list[Callable[[], None]] = []


def _forget_threads() -> None:
    for forget in _in_a_child:
        forget()


os.register_at_fork(after_in_child=_forget_threads)

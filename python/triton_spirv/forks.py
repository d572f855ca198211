"""What is done around a fork of the process.

A child has the thread that forked, and no other. What another thread was importing just then is locked in the
child for ever: Python's own lock of the module, which nobody there releases. A first launch imports hundreds
of modules. So a fork waits until no other thread imports anything, for some seconds at most. Steps wait, too,
and let other threads run: where one has begun to import meanwhile, they are undone, and all of that is done
again.

Modules of this package tell here, not os.register_at_fork, what is done before a fork: those imported while
it waits take part, and afterwards nothing is undone that has not been done before.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from importlib import _bootstrap

#: how long a fork waits for other threads' imports, and between two looks
SECONDS, LOOK_SECONDS = 5.0, 0.001

Step = Callable[[], object]


def _nothing() -> None:
    pass


_steps: list[tuple[Step, Step, Step]] = []


class _Fork(threading.local):
    """This thread's, which is under way; done: what has been done before it, in its order."""

    def __init__(self) -> None:
        self.done: list[tuple[Step, Step, Step]] = []


_fork = _Fork()


def register(before: Step, after_in_parent: Step = _nothing, after_in_child: Step = _nothing) -> None:
    """As os.register_at_fork."""
    _steps.append((before, after_in_parent, after_in_child))


def imports_elsewhere() -> bool:
    """Does another thread import a module?"""
    locks, mine = getattr(_bootstrap, "_module_locks", {}), threading.get_ident()
    found = [reference() for reference in list(locks.values())]
    return any(getattr(lock, "owner", None) not in (None, mine) for lock in found)


def _before() -> None:
    end = time.monotonic() + SECONDS
    while True:
        _fork.done = []
        while imports_elsewhere() and time.monotonic() < end:
            time.sleep(LOOK_SECONDS)
        for step in reversed(list(_steps)):
            step[0]()
            _fork.done.append(step)
        if not imports_elsewhere() or time.monotonic() >= end:
            return
        _in_parent()


def _in_parent() -> None:
    for _, after, _ in reversed(_fork.done):
        after()


def _in_child() -> None:
    for _, _, after in list(_steps):
        after()


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)

"""Kernels of tests that are over are released, and with them what drivers hold for each: two megabytes.

Triton keeps what it has compiled for a function as long as the function. A worker that runs half of the tests
would hold ten gigabytes in the end.

What was imported and collected before the first test stays to the end: Python's garbage collector is told to
leave it alone, which it would look through again and again, and to look less often.
"""

from __future__ import annotations

import gc
import itertools
import sys
from collections.abc import Iterator
from typing import Any

import pytest

EVERY = 100  # tests: to look for functions takes as long as a test

_over = itertools.count(1)
_kept: list[Any] = []  # functions of modules, made before the first test


def _functions() -> Iterator[Any]:
    from triton.runtime.jit import JITFunction

    # not isinstance: proxies answer for others
    return (each for each in gc.get_objects() if issubclass(type(each), JITFunction))


def pytest_collection_finish(session: pytest.Session) -> None:
    if session.config.option.collectonly:
        return
    gc.collect()
    if "triton" in sys.modules:
        _kept.extend(_functions())
    gc.freeze()
    gc.set_threshold(5000, 20, 20)


def pytest_sessionfinish() -> None:
    gc.unfreeze()  # else modules of C++ say at the end that they leak


def pytest_runtest_teardown() -> None:
    if next(_over) % EVERY or "triton" not in sys.modules:
        return
    for each in itertools.chain(_kept, _functions()):
        each.device_caches.clear()

"""Kernels of tests that are over are released, and with them what drivers hold for each: two megabytes.

Triton keeps what it has compiled for a function as long as the function. A worker that runs half of the tests
would hold ten gigabytes in the end.
"""

from __future__ import annotations

import gc
import itertools
import sys

EVERY = 100  # tests: to look for functions takes as long as a test

_over = itertools.count(1)


def pytest_runtest_teardown() -> None:
    if next(_over) % EVERY or "triton" not in sys.modules:
        return
    from triton.runtime.jit import JITFunction

    for each in gc.get_objects():
        if issubclass(type(each), JITFunction):  # not isinstance: proxies answer for others
            each.device_caches.clear()

"""once.py: what threads that ask at the same time get."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest
from triton_spirv.once import Once


def test_threads_get_one_result() -> None:
    ran: list[int] = []
    results: list[object] = []

    @Once
    def made(number: int) -> object:
        """What it is."""
        ran.append(number)
        time.sleep(0.02)
        return object()

    barrier = threading.Barrier(6)

    def ask(number: int) -> None:
        barrier.wait()
        results.append((number, made(number)))

    threads = [threading.Thread(target=ask, args=(n % 2,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ran) == [0, 1] and len(set(results)) == 2
    assert made.__doc__ == "What it is."
    made.cache_clear()
    assert (0, made(0)) not in results


def test_an_exception_is_no_result() -> None:
    answers = iter([0, 1])

    @Once
    def inverse() -> float:
        return 1 / next(answers)

    with pytest.raises(ZeroDivisionError):
        inverse()
    assert inverse() == 1 and inverse() == 1


def test_a_child_does_not_wait_for_a_thread_that_it_lacks() -> None:
    script = """
import os, threading
from triton_spirv.once import Once
begun, forked = threading.Event(), threading.Event()
@Once
def made():
    begun.set()
    forked.wait()
    return os.getpid()
thread = threading.Thread(target=made)
thread.start()
begun.wait()
child = os.fork()
forked.set()
if not child:
    os._exit(made() != os.getpid())
thread.join()
_, status = os.waitpid(child, 0)
assert not status and made() == os.getpid()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr

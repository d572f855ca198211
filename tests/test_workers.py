"""Worker processes: results, exceptions, a process that dies, output that is not the protocol's."""

from __future__ import annotations

import operator
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import pytest
from triton_spirv.workers import WorkerDied, Workers, receive, send


@pytest.fixture
def workers():
    pool = Workers(2)
    yield pool
    pool.close()
    assert all(process.poll() is not None for process in pool._processes)


def test_results_and_exceptions(workers) -> None:
    futures = [workers.submit(partial(operator.floordiv, 12, n)) for n in (3, 0, 5)]
    assert futures[0].result(timeout=60) == 4 and futures[2].result(timeout=60) == 2
    with pytest.raises(ZeroDivisionError):
        futures[1].result(timeout=60)


def test_a_worker_that_dies_is_one_failed_job() -> None:
    workers = Workers(1)
    try:
        assert workers.submit(os.getpid).result(timeout=60) == workers._processes[0].pid
        failed = workers.submit(partial(os.kill, workers._processes[0].pid, signal.SIGKILL))
        with pytest.raises(WorkerDied, match="ended with status -9"):
            failed.result(timeout=60)
        assert workers.submit(os.getpid).result(timeout=60) == workers._processes[1].pid  # a new one
    finally:
        workers.close()


def test_an_interruption_ends_workers_at_once() -> None:
    """They have a session of their own, so that a terminal's Ctrl-C is not theirs to complain about."""
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Workers(1) as workers:
        assert workers.submit(os.getsid).exception(timeout=60) is not None  # has started
        assert os.getsid(workers._processes[0].pid) == workers._processes[0].pid
        workers.submit(partial(time.sleep, 300))
        raise KeyboardInterrupt
    assert workers._processes[0].poll() is not None and time.monotonic() - started < 100


@pytest.mark.parametrize("starts", [False, True])
def test_an_interruption_while_a_thread_is_started(monkeypatch: pytest.MonkeyPatch, starts: bool) -> None:
    """Ctrl-C inside Thread.start() is Ctrl-C, not an error of the thread that cannot be joined."""
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        if starts:
            start(thread)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Workers(1) as workers:
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", interrupted)
            workers.submit(os.getpid)
    deadline = time.monotonic() + 60
    while any(process.poll() is None for process in workers._processes):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_what_jobs_print_does_not_disturb_the_protocol(capfd: pytest.CaptureFixture[str]) -> None:
    script = "from triton_spirv.workers import main; main()"
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin and process.stdout
    send(process.stdin, partial(print, "chatter", flush=True))
    assert receive(process.stdout) == (True, None)
    process.communicate(timeout=60)
    assert "chatter" in capfd.readouterr().err

"""A pytest plugin for tools/library_tests.py: a sample of the tests, and a line of JSON for each verdict.

It stands beside `triton_spirv.pytest` and computes nothing. LIBRARY_VERDICTS names the file of verdicts;
tests that have one there do not run again, so that a process that dies is followed by another. LIBRARY_MOST
tests of each file run, drawn with LIBRARY_SEED. The process ends in a test that takes more than
LIBRARY_SECONDS of processor time.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import verdicts

VERDICTS = Path(os.environ.get("LIBRARY_VERDICTS", os.devnull))
MOST = int(os.environ.get("LIBRARY_MOST") or 0)
SEED = os.environ.get("LIBRARY_SEED", "")
SECONDS = int(os.environ.get("LIBRARY_SECONDS") or 0)

_launches = 0
_began: dict[str, float] = {}


def note(**line: Any) -> None:
    """One line, written at once."""
    with VERDICTS.open("a") as out:
        out.write(json.dumps(line) + "\n")


def count(*_: Any) -> None:
    """Triton launches a kernel."""
    global _launches
    _launches += 1


def drawn(file: str, size: int) -> list[int]:
    """Which tests of a file run, by their places."""
    if not MOST or size <= MOST:
        return list(range(size))
    return sorted(random.Random(f"{SEED} {file}").sample(range(size), MOST))


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Keep the sample, without what has a verdict."""
    from triton import knobs

    knobs.runtime.launch_enter_hook.add(count)
    lines = map(json.loads, VERDICTS.read_text().splitlines()) if VERDICTS.is_file() else ()
    done = {line["test"] for line in lines if line["outcome"] != "began"}
    files: dict[str, list[Any]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    kept = []
    for file, tests in files.items():
        kept += [tests[place] for place in drawn(file, len(tests))]
        note(test=file, outcome="collected", reason=str(len(tests)))
    items[:] = [item for item in kept if item.nodeid not in done]


def pytest_collectreport(report: Any) -> None:
    """A file that cannot be loaded, or that skips itself as a whole."""
    if report.failed or report.skipped:
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        note(test=report.nodeid, outcome=report.outcome, reason=last_line(text), launches=0, seconds=0)


def pytest_runtest_logstart(nodeid: str, location: Any) -> None:
    _began.update(at=time.process_time(), launches=_launches)
    note(test=nodeid, outcome="began")
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # SIGPROF ends the process, also amid a kernel


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: Any) -> None:
    if not verdicts.settles(report):
        return
    note(test=report.nodeid, outcome=report.outcome, reason=verdicts.reason(report)[:1000],
         launches=_launches - int(_began["launches"]), seconds=round(time.process_time() - _began["at"], 3))


def last_line(text: str) -> str:
    """The error in the text of a traceback."""
    errors = [line[1:].strip() for line in text.splitlines() if line.startswith("E  ")]
    return (errors or text.strip().splitlines() or [""])[-1]

"""Child processes that report in lines of JSON, for runs whose children may crash or hang (tests/property,
tests/fuzz)."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

KEPT = 600  # characters of what a child said last on stderr


@dataclass(frozen=True)
class End:
    """How a child ended: its exit status (negative: the signal), whether it was ended for saying nothing, and
    what it said last on stderr."""

    code: int
    hung: bool
    complaints: str


def reports(command: Sequence[str], timeout: float,
            variables: Mapping[str, str] | None = None) -> Iterator[dict[str, Any] | End]:
    """The lines of a child's output that are JSON objects, as they come; at last its end. A child that says
    nothing for `timeout` seconds is killed, and so is one that nobody listens to any more."""
    child = subprocess.Popen(command, env=variables, text=True, errors="replace", stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    assert child.stdout and child.stderr
    lines, complaints = _queued(child.stdout), _queued(child.stderr)
    hung = False
    try:
        while True:
            try:
                line = lines.get(timeout=timeout)
            except queue.Empty:
                hung = child.poll() is None
                break
            if line is None:
                break
            if line.startswith("{"):
                yield json.loads(line)
        if hung:
            child.kill()
        code = child.wait()
        yield End(code, hung, "".join(_rest(complaints))[-KEPT:])
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


def _queued(file: IO[str]) -> queue.Queue[str | None]:
    """Lines as they come, then None. (A file's own buffer can hold lines that `select` on its descriptor does
    not know of, so that a child would seem to hang.)"""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in file:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def _rest(lines: queue.Queue[str | None]) -> Iterator[str]:
    """What is there, and what comes within a second: a grandchild may keep the file open for ever."""
    try:
        while (line := lines.get(timeout=1)) is not None:
            yield line
    except queue.Empty:
        pass

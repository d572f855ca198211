"""A process that works off jobs: pickled jobs come in on its input, pickled results go out on its output,
each behind its length in eight bytes. pool.py starts it.

multiprocessing would run the caller's script once more in each process, which scripts without an
`if __name__ == "__main__"` do not survive.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import IO, Any

from .work import run

_LENGTH = 8


def send(stream: IO[bytes], value: Any) -> None:
    """One value, all of it."""
    data = pickle.dumps(value)
    stream.write(len(data).to_bytes(_LENGTH, "little") + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next value; EOFError where there is none."""
    head = stream.read(_LENGTH)
    data = stream.read(int.from_bytes(head, "little")) if len(head) == _LENGTH else b""
    if not data:
        raise EOFError
    return pickle.loads(data)


def main() -> None:
    """Work until there is no more input. What jobs print goes to the error stream: the output is the
    protocol's.
    """
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            job = receive(sys.stdin.buffer)
        except EOFError:
            return
        send(output, run(job))

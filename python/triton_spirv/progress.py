"""How far many jobs have come: a bar where there is a terminal and rich is installed, a line for each job
otherwise."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

#: called when a job is done: its name, a line about it, whether that must be read
Step = Callable[[str, str, bool], None]


@contextmanager
def progress(total: int, stream: TextIO | None = None, title: str = "compiling") -> Iterator[Step]:
    """Shows what the function it gives is told."""
    out = sys.stderr if stream is None else stream
    terminal = out.isatty() and os.environ.get("TERM") != "dumb"
    done = 0
    try:
        rich = importlib.import_module("rich.progress") if terminal else None
        console = importlib.import_module("rich.console") if terminal else None
    except ImportError:
        rich = console = None
    if rich is None or console is None:

        def tell(name: str, line: str, matters: bool) -> None:
            nonlocal done
            done += 1
            print(f"{done}/{total} {line}", file=out, flush=True)

        yield tell
        return
    with rich.Progress(console=console.Console(file=out)) as bar:
        task = bar.add_task(title, total=total)

        def draw(name: str, line: str, matters: bool) -> None:
            bar.update(task, advance=1, description=name)
            if matters:
                bar.console.print(line, markup=False, highlight=False)

        yield draw

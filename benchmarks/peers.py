"""What one would run instead of a kernel of ours: torch, torch.compile, numpy, Triton's interpreter.

The first three run in this process, in turns with ours. The interpreter must be chosen before Triton is
imported, so it runs in a process of its own (interpreted.py), which is asked for one call at a time.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PEERS = ("torch", "compile", "numpy", "interpreter")
HERE = Path(__file__).parent


def compiled(workload: Any) -> tuple[Callable[[], object], float] | str:
    """torch.compile's function of a workload, with Inductor's C++ backend, and the seconds that its first
    call took; where it cannot, why."""
    import torch

    torch.compiler.reset()  # what an earlier shape left makes the next one dynamic
    function = torch.compile(workload.theirs, dynamic=False)
    start = time.perf_counter()
    try:
        function(*workload.arguments)
    except RuntimeError as error:  # all of torch.compile's are: the other peers are still worth having
        return f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"
    return lambda: function(*workload.arguments), time.perf_counter() - start


class Interpreter:
    """Triton's interpreter in a process of its own, with the workloads of one family."""

    def __init__(self, family: str, quick: bool, limit: float) -> None:
        """limit: seconds for a call and its data; what takes longer counts as that much."""
        self.command = [sys.executable, str(HERE / "interpreted.py"), family, str(int(quick))]
        self.limit = limit
        self.process: subprocess.Popen[str] | None = None

    def milliseconds(self, name: str) -> float | str:
        """One call of the workload of that name; a text where it takes too long or cannot be interpreted."""
        if self.process is None:
            environment = {**os.environ, "TRITON_INTERPRET": "1"}
            environment.pop("TRITON_SPIRV_BACKEND", None)
            self.process = subprocess.Popen(self.command, env=environment, text=True, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            if not self._answer(60):
                return "did not start"
        assert self.process.stdin is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        answer = self._answer(self.limit)
        if answer is None:
            return f"> {self.limit:.0f} s"
        return float(answer["milliseconds"]) if "milliseconds" in answer else str(answer["error"])

    def _answer(self, seconds: float) -> dict[str, Any] | None:
        """The process's next line; None, and no process any more, where there is none in time."""
        assert self.process is not None and self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            line = self.process.stdout.readline() if selector.select(seconds) else ""
        if not line:
            self.close()
            return None
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.process = None

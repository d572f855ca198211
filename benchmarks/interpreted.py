"""Workloads in Triton's interpreter: what peers.Interpreter starts and asks for one call at a time.

Names of workloads come in, a line each; a line of JSON goes out for each, with the milliseconds of one call
or an error.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
sys.path.insert(0, str(Path(__file__).parent))

import triton
from triton.runtime.errors import InterpreterError


class First:
    """An autotuned kernel of which the first configuration is taken: each is only interpreted here."""

    def __init__(self, kernel: Any, constants: dict[str, Any]) -> None:
        self.kernel, self.constants = kernel, constants

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        def launch(*arguments: Any, fast_math: bool = False, **keywords: Any) -> Any:
            given = {**self.constants, **keywords}
            cells = grid(given) if callable(grid) else grid
            return self.kernel[cells](*arguments, **given)
        return launch


def autotune(configs: Sequence[Any], key: Sequence[str], **_: Any) -> Callable[[Any], First]:
    """In place of triton.autotune."""
    return lambda kernel: First(kernel, configs[0].kwargs)


def main() -> None:
    family, quick = sys.argv[1], sys.argv[2] == "1"
    output = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints is no answer
    triton.autotune = autotune
    from workloads import FAMILIES

    workloads = {each.name: each for each in FAMILIES[family](quick)}
    print(json.dumps({"ready": True}), file=output)
    for line in sys.stdin:
        try:
            workload = workloads[line.strip()]
            start = time.perf_counter()
            workload.ours()
            spent = 1e3 * (time.perf_counter() - start)
            answer: dict[str, Any] = {"milliseconds": spent}
        except InterpreterError as error:  # it lacks some operations
            answer = {"error": f"{type(error).__name__}: {str(error)[:60]}"}
        print(json.dumps(answer), file=output)


if __name__ == "__main__":
    main()

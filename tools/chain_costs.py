"""Processor time of the parts of the chain, from a kernel's source to its launches, in a process of tests."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

#: seconds of processor time until now
COSTS = {"front end": 0.0, "passes": 0.0, "emitter": 0.0, "driver's build": 0.0, "launches": 0.0}


def count() -> None:
    """Measure from here on; what a part calls of another one is the other's."""
    from triton.compiler import compiler
    from triton_spirv.runtime import launch, program
    from triton_spirv_backend import stages

    inner = [0.0]

    def measured(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*arguments: Any, **named: Any) -> Any:
            start = time.process_time()
            inner.append(0.0)
            try:
                return function(*arguments, **named)
            finally:
                spent = time.process_time() - start
                COSTS[part] += spent - inner.pop()
                inner[-1] += spent
        return run

    def wrap(owner: Any, name: str, part: str) -> None:
        setattr(owner, name, measured(part, getattr(owner, name)))

    for source in (compiler.ASTSource, compiler.IRSource):
        wrap(source, "make_ir", "front end")
    for name, part in (("ttir", "passes"), ("ttgir", "passes"), ("spvasm", "emitter"), ("spv", "emitter")):
        wrap(stages.Pipeline, name, part)
    wrap(program, "build", "driver's build")
    make = launch.Kernel.__init__

    def initialise(self: Any, *arguments: Any, **named: Any) -> None:
        make(self, *arguments, **named)
        wrap(self, "launch", "launches")

    launch.Kernel.__init__ = initialise  # type: ignore[method-assign]


def now() -> dict[str, float]:
    """Of each part, and of all that the process did."""
    return {**COSTS, "all": time.process_time()}

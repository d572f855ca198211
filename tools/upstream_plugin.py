"""A pytest plugin for tools/upstream_tests.py: Triton's own test files, unmodified, on a backend whose
tensors are torch's CPU tensors.

It computes nothing. `triton_spirv.torch_cpu_as_cuda` makes device "cuda" the CPU, in worker processes, too.
Tests that cannot pass on such a backend, whatever it does, are skipped with the reason of SKIPPED. Each
verdict is a line of JSON in the file that UPSTREAM_RESULTS names, with the seconds of processor time that
each part of the chain took.

UPSTREAM_EVERY=n keeps every n-th test. UPSTREAM_NOTHING=1 replaces launches by nothing at all: what passes
then proves nothing when it passes otherwise.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from triton_spirv import torch_cpu_as_cuda

#: the start of what follows "file::" in a test's name -> why no backend on CPU tensors can pass it as written
SKIPPED = {
    "test_core.py::test_pointer_arguments[cpu]": "asserts that CPU tensors are refused",
    "test_core.py::test_assume": "reads LLVM's IR, which is not made here",
    "test_core.py::test_poison_return": "reads LLVM's IR, which is not made here",
    "test_core.py::test_disable_licm": "reads LLVM's IR, which is not made here",
    "test_debuginfo.py::": "reads LLVM's IR, which is not made here",
    "test_debug_dump.py::test_version_info": "reads LLVM's IR, which is not made here",
    **{f"test_core.py::test_reduce[1-{name}-float32-shape{number}-None-True]":
       "Triton 3.9.0 has no x[:, None] of a scalar: the test is of another version"
       for numbers in ((151, 152, 153), (169, 170, 171))
       for name, number in zip(("min", "max", "sum"), numbers, strict=True)},
    "test_frontend.py::test_named_expr_without_prior_annotation_decays": "text of another version than 3.9.0",
    "test_frontend.py::test_atomic_poll_rejects_tensor_pointer": "Triton 3.9.0 takes tensors of pointers",
    "test_line_info.py::test_use_name_loc_as_prefix": "text of another version than 3.9.0",
    "test_line_info.py::test_line_and_column_numbers": "text of another version than 3.9.0",
    "test_compile_errors.py::test_fp8_support": "expects that only NVIDIA and AMD have 8-bit floats",
}

#: seconds of processor time, and how often
COSTS = {"front end": 0.0, "passes": 0.0, "emitter": 0.0, "driver's build": 0.0, "launches": 0.0}


def pytest_configure(config: pytest.Config) -> None:
    import triton._internal_testing as helpers

    helpers.default_alloc_fn = lambda size, align, stream: cpu_bytes(size)
    helpers._run_in_process_worker = in_process
    helpers._run_in_replenishing_process_worker = in_pool
    stack = contextlib.ExitStack()
    stack.enter_context(torch_cpu_as_cuda())
    config.add_cleanup(stack.close)
    os.environ.setdefault("TRITON_SPIRV_PRINT_EACH_THREAD", "1")  # tests count a GPU's lines
    if os.environ.get("TRITON_SPIRV_BACKEND") == "1":
        count_costs()
        if os.environ.get("UPSTREAM_NOTHING") == "1":
            launch_nothing()


# ---- the device


def cpu_bytes(size: int) -> Any:
    """Fresh memory for descriptors."""
    import torch

    return torch.empty(size, dtype=torch.int8)


def in_process(*arguments: Any) -> None:
    """Stands for the function that a worker process runs; there, the original is in place."""
    import triton._internal_testing as helpers

    with torch_cpu_as_cuda():
        helpers._run_in_process_worker(*arguments)


def in_pool(*arguments: Any) -> None:
    """The same for processes that serve many tests."""
    import triton._internal_testing as helpers

    with torch_cpu_as_cuda():
        helpers._run_in_replenishing_process_worker(*arguments)


# ---- costs


def count_costs() -> None:
    """Measure the parts of the chain from here on; what a part calls of another one is the other's."""
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


def launch_nothing() -> None:
    """Kernels are compiled, and that is all."""
    from triton_spirv_backend import launcher

    launcher.Function.bind = lambda self, metadata: lambda *_: None  # type: ignore[method-assign]


# ---- verdicts


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    every = int(os.environ.get("UPSTREAM_EVERY") or 1)
    items[:] = items[::every]
    for item in items:
        name = item.nodeid.rpartition("/")[2]
        for start, reason in SKIPPED.items():
            if name == start or (not start.endswith("]") and name.startswith(start)):
                item.add_marker(pytest.mark.skip(reason=f"not for this backend: {reason}"))


_before: dict[str, float] = {}


def pytest_runtest_logstart(nodeid: str, location: Any) -> None:
    _before.update(COSTS, all=time.process_time())


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    file = os.environ.get("UPSTREAM_RESULTS")
    if not file or not (report.when == "call" or report.outcome != "passed"):
        return
    reason = ""
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        reason = str(report.longrepr[2])
    elif report.outcome == "failed":
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = str(getattr(crash, "message", report.longrepr))
    now = {**COSTS, "all": time.process_time()}
    spent = {part: round(now[part] - _before[part], 4) for part in now if now[part] > _before[part]}
    line = {"test": report.nodeid, "outcome": report.outcome, "reason": reason[:500], "seconds": spent}
    with Path(file).open("a") as out:
        out.write(json.dumps(line) + "\n")

"""A pytest plugin for tools/upstream_tests.py: what is special about Triton's own tests.

It stands beside `triton_spirv.pytest`, which makes device "cuda" the CPU and switches this backend on, and
hands that on to the worker processes of Triton's tests. Tests that cannot pass on CPU tensors, whatever a
backend does, are skipped with the reason of SKIPPED. Each verdict is a line of JSON in the file that
UPSTREAM_RESULTS names, with the seconds of processor time that each part of the chain took.

UPSTREAM_EVERY=n keeps every n-th test, UPSTREAM_SAMPLE=n the first case of each test and one in n of the
others. UPSTREAM_NOTHING=1 replaces launches by nothing at all: what passes then proves nothing when it passes
otherwise. UPSTREAM_CHECK=all makes these checks (docs/checking.md): what is found stands beside the verdict,
and fails no test.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import zlib
from pathlib import Path
from typing import Any

import chain_costs
import pytest
import verdicts
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

#: the functions of Triton's test helpers that a worker process runs
WORKERS = ("_run_in_process_worker", "_run_in_replenishing_process_worker")


def pytest_configure() -> None:
    import triton._internal_testing as helpers

    for name in WORKERS:
        setattr(helpers, name, functools.partial(in_worker, name))
    if os.environ.get("TRITON_INTERPRET") != "1":
        chain_costs.count()
        if os.environ.get("UPSTREAM_NOTHING") == "1":
            launch_nothing()


def in_worker(name: str, *arguments: Any) -> None:
    """Stands for a function of Triton's test helpers; in the worker, the original is in place."""
    import triton._internal_testing as helpers

    with torch_cpu_as_cuda():
        getattr(helpers, name)(*arguments)


def launch_nothing() -> None:
    """Kernels are compiled, and that is all."""
    from triton_spirv_backend import launcher

    launcher.Function.bind = lambda self, metadata: lambda *_: None  # type: ignore[method-assign]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    every = int(os.environ.get("UPSTREAM_EVERY") or 1)
    items[:] = items[::every]
    one_in, seen = int(os.environ.get("UPSTREAM_SAMPLE") or 1), set()
    for item in items[:]:
        function = item.nodeid.partition("[")[0]
        if function in seen and zlib.crc32(item.nodeid.encode()) % one_in:
            items.remove(item)
        seen.add(function)
    for item in items:
        name = item.nodeid.rpartition("/")[2]
        for start, reason in SKIPPED.items():
            if name == start or (not start.endswith("]") and name.startswith(start)):
                item.add_marker(pytest.mark.skip(reason=f"not for this backend: {reason}"))


_before: dict[str, float] = {}
_findings: list[dict[str, Any]] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Findings of the test's launches are collected."""
    _findings.clear()
    with contextlib.ExitStack() as stack:
        if checks := os.environ.get("UPSTREAM_CHECK"):
            from triton_spirv import checking

            stack.enter_context(checking.checked(checks))
            found = stack.enter_context(checking.collected())
            stack.callback(lambda: _findings.extend(
                {**finding.to_json(), "text": str(finding)} for finding in found))
        return (yield)



def pytest_runtest_logstart(nodeid: str, location: Any) -> None:
    _before.update(chain_costs.now())


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    file = os.environ.get("UPSTREAM_RESULTS")
    if not file or not verdicts.settles(report):
        return
    now = chain_costs.now()
    spent = {part: round(now[part] - _before[part], 4) for part in now if now[part] > _before[part]}
    line = {"test": report.nodeid, "outcome": report.outcome, "reason": verdicts.reason(report)[:500],
            "seconds": spent, "findings": list(_findings)}
    with Path(file).open("a") as out:
        out.write(json.dumps(line) + "\n")

"""A pytest plugin: a project's tests of Triton kernels, written for a GPU, on a machine without one.

    pytest -p triton_spirv.pytest --triton-spirv
    pytest -p triton_spirv.pytest --triton-spirv=simt      GPU-style code, of lanes and warps, on the CPU
    pytest -p triton_spirv.pytest --triton-spirv=vulkan    on a Vulkan device
    pytest -p triton_spirv.pytest --triton-spirv-check     kernels test themselves: docs/checking.md

What the tests ask for on "cuda" is made on torch's CPU. A test is skipped, with the reason, where this
package refuses its kernel by name; the summary says what was compiled. Without the option the plugin does
nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import ExitStack
from dataclasses import field
from typing import Any

from . import plugin
from .checking import COMPILER, LANES, NAMES, VARIABLE, VIEW, CheckError, at_least_0
from .dataclass import dataclass
from .errors import InternalError, LoweringError, MissingCapability, UnsupportedOperation
from .torch_as_cuda import capability, where_torch_is

#: what the option may say -> the variables that mean it
MODES: dict[str, dict[str, str]] = {
    "vector": {}, "simt": {"TRITON_SPIRV_TARGET": "cpu-simt"}, "vulkan": {"TRITON_SPIRV_DEVICE": "vulkan"},
}

#: what a kernel can be refused with; an internal error is a failure
REFUSALS = (UnsupportedOperation, LoweringError, MissingCapability)

SKIPPED = "triton-spirv refuses the kernel: "


@dataclass
class Tally:
    """What happened in this process."""

    compiled: Counter[str] = field(default_factory=Counter)
    cached: int = 0
    seconds: float = 0.0
    findings: int = 0

    def note(self, name: str, was_cached: bool, seconds: float) -> None:
        """One kernel that Triton asked for."""
        if was_cached:
            self.cached += 1
        else:
            self.compiled[name] += 1
            self.seconds += seconds

    def plain(self) -> dict[str, object]:
        """For another process: types that pytest-xdist carries."""
        return {"compiled": dict(self.compiled), "cached": self.cached, "seconds": self.seconds}

    def add(self, other: dict[str, Any]) -> None:
        """What another process counted."""
        self.compiled.update(other["compiled"])
        self.cached += other["cached"]
        self.seconds += other["seconds"]


_tally = Tally()


def pytest_addoption(parser: Any) -> None:
    """A mode is a part of the option's name, so that `--triton-spirv tests` takes no folder for a mode."""
    group = parser.getgroup("triton-spirv", "Triton kernels without a GPU")
    group.addoption("--triton-spirv", dest="triton_spirv", action="store_const", const="vector", default="",
                    help="run Triton kernels on the CPU; =simt: as code of lanes and warps, =vulkan: on a "
                         "Vulkan device")
    for mode in MODES:
        group.addoption(f"--triton-spirv={mode}", dest="triton_spirv", action="store_const", const=mode,
                        default="", help="")
    group.addoption("--triton-spirv-check", dest="triton_spirv_check", action="append_const", const="all",
                    help="kernels test themselves, and a finding fails the test; =bounds and so on: these "
                         "checks only (docs/checking.md)")
    for name in ("all", *NAMES, VIEW, LANES, COMPILER):
        group.addoption(f"--triton-spirv-check={name}", dest="triton_spirv_check", action="append_const",
                        const=name, help="")
    group.addoption("--triton-spirv-check-limit", type=int, default=0, metavar="N",
                    help="end the tests at so many findings; of several workers, each counts its own")
    group.addoption("--triton-spirv-cuda", action="store_true",
                    help="torch.cuda.is_available() and Tensor.is_cuda say True, for tests that skip "
                         "themselves otherwise")
    group.addoption("--triton-spirv-capability", type=capability, default=(0, 0), metavar="8.0",
                    help="what torch.cuda.get_device_capability() says (default: 0.0)")
    group.addoption("--triton-spirv-strict", action="store_true",
                    help="a kernel that is refused fails its test")


def pytest_load_initial_conftests(early_config: Any) -> None:
    """Before any of the project's code can import Triton, which reads the variables at its import."""
    options = early_config.known_args_namespace
    at_least_0(options.triton_spirv_check_limit, "--triton-spirv-check-limit")
    if options.triton_spirv_check:
        options.triton_spirv = options.triton_spirv or "vector"
        os.environ[VARIABLE] = ",".join(options.triton_spirv_check)
    if not options.triton_spirv:
        return
    os.environ["TRITON_SPIRV_BACKEND"] = "1"
    os.environ.update(MODES[options.triton_spirv])
    plugin.front_end("compilations").listen(_tally.note)
    asked, stack = options.triton_spirv_cuda, ExitStack()
    early_config.add_cleanup(stack.close)
    stack.enter_context(where_torch_is(available=asked, is_cuda=asked,
                                       capability=options.triton_spirv_capability))


def refusal(error: BaseException | None) -> BaseException | None:
    """The error, or what caused it, if a kernel was refused."""
    while error is not None and not isinstance(error, (*REFUSALS, InternalError)):
        error = error.__cause__
    return None if isinstance(error, InternalError) else error


def pytest_runtest_makereport(item: Any, call: Any) -> None:
    """A test whose kernel is refused is skipped. As many findings as the option says end the tests."""
    options = item.config.option
    most = options.triton_spirv_check_limit
    if most and call.excinfo is not None and isinstance(call.excinfo.value, CheckError):
        _tally.findings += len(call.excinfo.value.findings)
        if _tally.findings >= most:
            item.session.shouldstop = f"{_tally.findings} findings of triton-spirv; the limit is {most}"
    if not options.triton_spirv or options.triton_spirv_strict or call.excinfo is None:
        return
    refused = refusal(call.excinfo.value)
    if refused is not None:
        import pytest

        text = " ".join(str(refused).split())
        skip = pytest.skip.Exception(SKIPPED + text[:500])
        call.excinfo = type(call.excinfo).from_exception(skip.with_traceback(call.excinfo.tb))


def pytest_sessionfinish(session: Any) -> None:
    """A worker of pytest-xdist hands over what it counted."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["triton_spirv"] = _tally.plain()


class FromWorkers:
    """The other end; a hook of pytest-xdist, so it is registered only where that is installed."""

    def pytest_testnodedown(self, node: Any) -> None:
        """A worker is done."""
        _tally.add(getattr(node, "workeroutput", {}).get("triton_spirv", Tally().plain()))


def pytest_configure(config: Any) -> None:
    """The hook of pytest-xdist."""
    if config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.register(FromWorkers(), "triton-spirv-workers")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What was compiled, and what was refused why."""
    mode = terminalreporter.config.option.triton_spirv
    if not mode:
        return
    terminalreporter.section(f"triton-spirv, {mode}")
    variants = sum(_tally.compiled.values())
    terminalreporter.line(
        f"{len(_tally.compiled)} kernels compiled in {variants} variants, {_tally.seconds:.1f} s; "
        f"{_tally.cached} found in Triton's cache")
    if not variants and not _tally.cached:
        terminalreporter.line("No kernel was compiled: tests that ask torch.cuda.is_available() run with "
                              "--triton-spirv-cuda")
    reasons = Counter(report.longrepr[2].partition(SKIPPED)[2]
                      for report in terminalreporter.stats.get("skipped", [])
                      if isinstance(report.longrepr, tuple) and SKIPPED in report.longrepr[2])
    for reason, count in reasons.most_common():
        terminalreporter.line(f"refused in {count} tests: {reason}")

"""Checked mode: kernels that test themselves while they run (docs/checking.md).

    TRITON_SPIRV_CHECK=bounds python program.py       every kernel of a program
    with triton_spirv.checked("bounds"): ...           those that are launched inside
    kernel[grid](..., check="bounds", check_limit=5)   one launch, and no more than 5 findings

A launch that found something raises CheckError when it is done; its `findings` are objects.
"""

from __future__ import annotations

import functools
import linecache
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import asdict
from typing import Any

from . import check_reports, unwritten
from .check_layout import LANES
from .dataclass import dataclass
from .errors import TritonSpirvError, UsageError

VARIABLE = "TRITON_SPIRV_CHECK"
#: how many findings a launch raises at most, see `limit`
LIMIT = "TRITON_SPIRV_CHECK_LIMIT"
#: seconds after which a launch is ended, where it is checked for that
TIMEOUT, DEFAULT_TIMEOUT = "TRITON_SPIRV_CHECK_TIMEOUT", 10.0

#: the checks that there are, in the order in which they are made
NAMES = ("bounds", "uninit", "race", "overflow", "nan", "deadlock")

#: bounds, and what is outside of an argument's own shape, too: how it is asked for, the second one's name
VIEW, VIEW_NAME = "bounds=view", "view"

#: the check that is no part of a kernel: its results are compared with those of it without optimisations
COMPILER = "compiler"

#: where findings go instead of being raised
_collected: list[Finding] | None = None
#: so many of them end the program; 0: as many as a launch raises
_most_collected = 0

_arrays: ContextVar[tuple[Any, ...]] = ContextVar("triton-spirv-checked-arrays", default=())
#: what `checked` asks for; None: the environment variable says it
chosen: ContextVar[str | None] = ContextVar("triton-spirv-checks", default=None)
_limit: ContextVar[int] = ContextVar("triton-spirv-check-limit", default=0)


@dataclass(frozen=True)
class Place:
    """The other one of two accesses: where it is, from 1, and the program that made it."""

    file: str
    line: int
    column: int
    program: tuple[int, int, int]

    def __str__(self) -> str:
        source = linecache.getline(self.file, self.line).strip()
        text = f"{self.file}:{self.line}:{self.column}, program {self.program}"
        return f"{text}\n    {source}" if source else text


@dataclass(frozen=True)
class Finding:
    """One place that is wrong, in one launch.

    check     one of NAMES
    message   what is wrong, in a sentence
    kernel    the kernel's name; file, line, column: the place, from 1
    program   the number of the first program that was seen to do it: x, y, z
    count     how often it was seen
    argument  the argument that is meant, or ""; `index`: the element of it, in its own coordinates, where
              they are known; `address`: of that element
    other     of a race: the other access
    mask      of an access out of bounds: its mask, as the source has it, or ""
    """

    check: str
    message: str
    kernel: str
    file: str
    line: int
    column: int
    program: tuple[int, int, int]
    count: int
    argument: str = ""
    index: tuple[int, ...] = ()
    address: int = 0
    other: Place | None = None
    mask: str = ""

    @property
    def source(self) -> str:
        """The line of the user's file, without its indentation; empty where there is none."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        times = f"; {self.count} elements in all" if self.count > 1 else ""
        text = f"{self.file}:{self.line}:{self.column}: {self.check}: {self.message}"
        text += f"\n    {self.source}" if self.source else ""
        at = f", address {self.address:#x}" if self.check in ("bounds", VIEW_NAME) else ""
        text = f"{text}\n    in {self.kernel}, program {self.program}{at}{times}"
        text += f"\n    mask: {self.mask}" if self.mask else ""
        return text if self.other is None else f"{text}\nand {self.other}"

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {**asdict(self), "source": self.source}


class CheckError(TritonSpirvError, RuntimeError):
    """What a launch in checked mode found. The kernel ran to its end; what it was not allowed to do is left
    out of its results."""

    def __init__(self, findings: Iterable[Finding], more: int = 0) -> None:
        """`more`: so many that are left out."""
        self.findings = tuple(findings)
        rest = [f"and {more} more, beyond the limit of {len(self.findings)}"] * (more > 0)
        super().__init__("\n".join([*map(str, self.findings), *rest]))


class TooMany(CheckError):
    """As many findings as were asked for."""


def limit() -> int:
    """How many findings a launch raises, or a program whose findings are collected has before it ends; 0: as
    many as there are."""
    return _limit.get() or at_least_0(os.environ.get(LIMIT, "") or 0, LIMIT)


def at_least_0(number: str | int, name: str) -> int:
    """The number that somebody passed by this name; UsageError for what is none."""
    try:
        found = int(number)
    except (TypeError, ValueError):
        found = -1
    if found < 0:
        raise UsageError(f"{name} is {number!r}; it is a number of findings, from 0 (all of them) on")
    return found


def require_settings() -> None:
    """UsageError where a variable of checked mode holds what it cannot mean: before a launch, which may find
    nothing that would ask for it."""
    at_least_0(os.environ.get(LIMIT, "") or 0, LIMIT)
    require_suppressions(os.environ.get(check_reports.SUPPRESS, ""))
    timeout()


def require_suppressions(text: str) -> None:
    """UsageError for what leaves out no finding that there can be."""
    known = (*NAMES, VIEW_NAME, LANES, COMPILER)
    for check, file, _ in check_reports.rules(text):
        if check and check not in known:
            raise UsageError(f"{check_reports.SUPPRESS}: {check}:{file} names no check; it is "
                             f"[check:]file[:line], and checks are {', '.join(known)}")


def timeout() -> float:
    """Seconds after which a launch is ended, where it is checked for that."""
    text = os.environ.get(TIMEOUT, "")
    try:
        seconds = float(text) if text else DEFAULT_TIMEOUT
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise UsageError(f"{TIMEOUT} is {text!r}; it is a number of seconds, more than 0")
    return seconds


@contextmanager
def limited(most: int) -> Iterator[None]:
    """Launches inside raise at most so many findings; 0: as those outside."""
    token = _limit.set(most or _limit.get())
    try:
        yield
    finally:
        _limit.reset(token)


def report(findings: Iterable[Finding]) -> None:
    """Raise CheckError where there are findings, no more than the limit, or leave them to who collects them:
    each place once."""
    findings = [finding for finding in findings if not check_reports.is_suppressed(finding)]
    if not findings:
        return
    if _collected is None:
        kept = findings[:limit() or None]
        check_reports.write(kept)
        raise CheckError(kept, len(findings) - len(kept))
    known = {_place(finding) for finding in _collected}
    new = [finding for finding in findings if _place(finding) not in known]
    check_reports.write(new)
    _collected.extend(new)
    most = _most_collected or limit()
    if most and len(_collected) >= most:
        raise TooMany(_collected)


def _place(finding: Finding) -> tuple[object, ...]:
    other = finding.other and (finding.other.file, finding.other.line, finding.other.column)
    return finding.check, finding.file, finding.line, finding.column, finding.argument, other


@contextmanager
def collected(most: int = 0) -> Iterator[list[Finding]]:
    """Findings of all launches inside, of all threads, go to the list; no launch raises, but the one that
    brings it to so many findings: TooMany. 0: to the limit of that launch, if it has one."""
    global _collected, _most_collected
    before, _collected, _most_collected = (_collected, _most_collected), [], most
    try:
        yield _collected
    finally:
        _collected, _most_collected = before


def current() -> str:
    """The checks that new launches make, as `check=` takes them: names with commas between."""
    checks = chosen.get()
    return normalised(os.environ.get(VARIABLE, "")) if checks is None else checks


def follows_memory() -> bool:
    """Is memory that is made now followed until somebody has written it?"""
    return bool({"uninit", "all"} & set(current().split(",")))


@functools.cache  # each launch asks
def normalised(text: str) -> str:
    """The names in their order, each once, or "all", which is all that a kernel does itself; behind them
    "view", "lanes" and "compiler". UsageError for one that there is not."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    views = VIEW in words
    words = ["bounds" if word == VIEW else word for word in words]
    unknown = [word for word in words if word not in (*NAMES, "all", COMPILER, LANES, VIEW_NAME)]
    if unknown:
        raise UsageError(f"there is no check {', '.join(unknown)}; there are {', '.join(NAMES)}, all, "
                         f"{VIEW}, {LANES}, and {COMPILER}")
    names = ["all"] if "all" in words else [name for name in NAMES if name in words]
    names += [VIEW_NAME] * (views or VIEW_NAME in words)
    names += [name for name in (LANES, COMPILER) if name in words]
    return ",".join(names)


@contextmanager
def checked(checks: str = "all", arrays: Sequence[object] = (), limit: int = 0) -> Iterator[None]:
    """Launches inside make these checks: names with commas between, "all", or "" for none. `arrays`: arrays
    and tensors that kernels reach by addresses which they find in memory, as in a table of pointers. What
    torch.empty and triton_spirv.empty make inside counts as not written for check=uninit. `limit`: a launch
    raises at most so many findings."""
    token, more = chosen.set(normalised(checks)), _arrays.set((*_arrays.get(), *arrays))
    try:
        with limited(at_least_0(limit, "limit")), \
                unwritten.watching_torch() if follows_memory() else nullcontext():
            yield
    finally:
        chosen.reset(token)
        _arrays.reset(more)


def registered() -> Sequence[Any]:
    """The arrays that launches may reach besides their arguments."""
    return _arrays.get()

"""How a mistake is planted in the emitter, for as long as one process looks for it."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from property.header import HEADER
from property.program import Program
from property.steps import Step, each

Set = Callable[[Any, str, Any], None]  # of an object's attribute, or of a table's entry


@dataclass(frozen=True)
class Bug:
    """`plant(set)` makes the mistake; it is looked for in kernels of `mode`.

    Kernels that lack one of the `needs`, a pattern of the source or a question to the program, cannot show
    it: they count, and are not run."""

    name: str
    plant: Callable[[Set], None]
    needs: tuple[str | Callable[[Program], bool], ...] = ()
    mode: str = "vector"

    def may_show(self, program: Program) -> bool:
        source = program.source()[len(HEADER):]
        return all(re.search(need, source) if isinstance(need, str) else need(program) for need in self.needs)


def on(pattern: str, *dtypes: str) -> Callable[[Program], bool]:
    """Has a step of this text an operand of one of these dtypes (how their names begin)?"""
    def asks(program: Program) -> bool:
        return any(re.search(pattern, step.text) and program.kinds[name].dtype.startswith(dtypes)
                   for step in each(program.steps) if isinstance(step, Step)
                   for name in step.args if name in program.kinds)
    return asks


def entry(table: str, key: str, value: Any) -> Callable[[Set], None]:
    """A wrong entry in a table of lower/arithmetic/elementwise.py."""

    def plant(put: Set) -> None:
        from triton_spirv.lower.arithmetic import elementwise

        put(getattr(elementwise, table), key, value)

    return plant


def rule(name: str, wrong: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[[Set], None]:
    """A rule that is made of the right one."""

    def plant(put: Set) -> None:
        import triton_spirv.lower  # noqa: F401
        from triton_spirv.lower.registry import RULES

        put(RULES, name, replace(RULES[name], function=wrong(RULES[name].function)))

    return plant


def within(module: str, path: str, wrong: Callable[[Any], Any]) -> Callable[[Set], None]:
    """A function (or method) of a module of lower/, made of the right one."""

    def plant(put: Set) -> None:
        import importlib

        owner = importlib.import_module(f"triton_spirv.lower.{module}")
        *holders, name = path.split(".")
        for holder in holders:
            owner = getattr(owner, holder)
        put(owner, name, wrong(getattr(owner, name)))

    return plant


def everywhere(*places: Callable[[Set], None]) -> Callable[[Set], None]:
    """The same mistake in several places."""

    def plant(put: Set) -> None:
        for place in places:
            place(put)

    return plant


def like(name: str, other: str) -> Callable[[Set], None]:
    def plant(put: Set) -> None:
        import triton_spirv.lower  # noqa: F401
        from triton_spirv.lower.registry import RULES

        put(RULES, name, replace(RULES[name], function=RULES[other].function))

    return plant


def swapped(right: Callable[..., Any]) -> Callable[..., Any]:
    return lambda ctx, op, lhs, rhs: right(ctx, op, rhs, lhs)


def nothing(right: Any) -> Any:
    return lambda *arguments, **named: None


@contextmanager
def planted(bug: Bug) -> Iterator[None]:
    """The bug is in place, and a cache of its own."""
    undo: list[tuple[Any, str, Any]] = []

    def put(owner: Any, name: str, value: Any) -> None:
        if isinstance(owner, dict):
            undo.append((owner, name, owner[name]))
            owner[name] = value
        else:
            undo.append((owner, name, getattr(owner, name)))
            setattr(owner, name, value)

    before = os.environ.get("TRITON_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="planted-") as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        try:
            bug.plant(put)
            yield
        finally:
            for owner, name, value in undo:
                if isinstance(owner, dict):
                    owner[name] = value
                else:
                    setattr(owner, name, value)
            if before is None:
                del os.environ["TRITON_CACHE_DIR"]
            else:
                os.environ["TRITON_CACHE_DIR"] = before

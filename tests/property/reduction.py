"""A failing program made smaller, step by step: stores that the failure does not need, what nothing uses
then, arms and loops, operations that an operand can stand for.

What a change leaves without a meaning is found by evaluating it, and not kept.
"""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from property.program import Program
from property.steps import Access, Call, If, Loop, Step

REGIONS = ("body", "then", "otherwise")
NAMES = re.compile(r"\b[a-z]+\d+\b")
Change = Callable[[Program], Any]


def reduced(program: Program, fails: Callable[[Program], bool], seconds: float) -> Program:
    """The smallest program found in the time that still `fails`."""
    deadline = time.monotonic() + seconds
    better = True
    while better:
        better = False
        for change in changes(program):
            if time.monotonic() > deadline:
                return program
            changed = attempt(program, change)
            if changed is not None and fails(changed):
                program, better = changed, True
    return program


def attempt(program: Program, change: Change) -> Program | None:
    """The program after a change, without what nothing uses; None where that has no meaning."""
    changed = copy.deepcopy(program)
    try:
        if change(changed) is False:
            return None
        tidy(changed)
        changed.evaluate()
        changed.source()
    except Exception:  # something is used that is not there any more
        return None
    return changed if size(changed) < size(program) else None


def size(program: Program) -> tuple[int, ...]:
    text = program.source()
    return sum(1 for _ in walk(program.steps)), len(text), program.count, program.warps


def changes(program: Program) -> Iterator[Change]:
    """Ways to make it smaller: many steps at once first."""
    count = sum(1 for _ in walk(program.steps))
    width = max(1, count // 2)
    while width:
        for first in range(max(0, count - width), -1, -width):
            yield lambda p, first=first, width=width: _drop(p, first, width)
        width //= 2
    for at in range(count - 1, -1, -1):
        for which in range(4):
            yield lambda p, at=at, which=which: _replace(p, at, which)
    yield lambda p: setattr(p, "grid", (1,))
    yield lambda p: setattr(p, "grid", (2,))
    yield lambda p: setattr(p, "warps", 1)


def walk(steps: list[Any]) -> Iterator[tuple[list[Any], Any]]:
    """Every step below, with the list that it stands in."""
    for step in steps:
        yield steps, step
        for region in REGIONS:
            yield from walk(getattr(step, region, []))


def _drop(program: Program, first: int, width: int) -> None:
    for holder, step in list(walk(program.steps))[first : first + width]:
        _remove(holder, step)


def _remove(holder: list[Any], step: Any) -> None:
    holder[:] = [other for other in holder if other is not step]


def _replace(program: Program, at: int, which: int) -> Any:
    """One step by something plainer: an operand for a result, an arm for a branch, a loop's beginning."""
    holder, step = list(walk(program.steps))[at]
    if isinstance(step, Step) and len(step.targets) == 1 and which < len(step.args):
        target, other = step.targets[0], step.args[which]
        kinds = program.kinds
        if (kinds.get(target) and kinds.get(other)
                and (kinds[target].dtype, kinds[target].shape) == (kinds[other].dtype, kinds[other].shape)):
            _remove(holder, step)
            rename(program, {target: other})
            return True
    elif isinstance(step, If) and which < 2:
        arm = (step.then, step.otherwise)[which]
        place = next(i for i, other in enumerate(holder) if other is step)
        holder[place : place + 1] = arm
        rename(program, {r[0]: r[1 + which] for r in step.results})
        return True
    elif isinstance(step, Loop) and which == 0:
        _remove(holder, step)
        starts = {variable: initial for variable, initial, _ in step.carried}
        rename(program, {**starts, **{copy: starts[variable] for copy, variable in step.copies}})
        return True
    elif isinstance(step, Loop) and which == 1 and step.carried:
        for variable, initial, following in step.carried[-1:]:
            step.carried.remove((variable, initial, following))
            step.copies = [copy for copy in step.copies if copy[1] != variable]
            rename(program, {variable: initial})
        return True
    elif isinstance(step, Access) and which == 0 and step.mask:
        step.mask = step.other = None
        return True
    elif isinstance(step, Access) and which == 1 and step.pointer:
        step.pointer = None
        return True
    return False


def rename(program: Program, names: dict[str, str]) -> None:
    def renamed(thing: Any) -> Any:
        if isinstance(thing, str):
            return NAMES.sub(lambda found: names.get(found[0], found[0]), thing)
        if isinstance(thing, (list, tuple)):
            return type(thing)(renamed(part) for part in thing)
        if is_dataclass(thing) and not isinstance(thing, type):
            for field in fields(thing):
                if not callable(getattr(thing, field.name)):
                    setattr(thing, field.name, renamed(getattr(thing, field.name)))
        return thing

    if names:
        program.steps = [renamed(step) for step in program.steps]


def tidy(program: Program) -> None:
    """Without steps, arguments and functions that nothing uses."""
    before = -1
    while before != (before := sum(1 for _ in walk(program.steps))):
        used = _used(program.steps)
        for holder, step in list(walk(program.steps)):
            if _idle(step, used):
                _remove(holder, step)
    used = _used(program.steps)
    views = {b.of.name for b in program.buffers if b.of is not None and b.name in used}
    used |= {f"p{name[1:]}" for name in used if name[0] == "a"}
    program.buffers = [b for b in program.buffers if b.name in used | views]
    program.scalars = {name: value for name, value in program.scalars.items() if name in used}
    program.functions = [f for f in program.functions if re.search(r"def (\w+)", f)[1] in used]  # type: ignore[index]


def _idle(step: Any, used: set[str]) -> bool:
    """Does it only give values that nothing uses?"""
    if isinstance(step, Step):
        if step.targets:
            return not used & set(step.targets)
        held = re.match(r"([a-z]\d+) = ", step.text)  # a line that names a pointer
        return bool(held) and held[1] not in used  # type: ignore[index]
    if isinstance(step, Access):
        return step.target is not None and step.target not in used
    if isinstance(step, Loop):
        return not step.body and not used & {c[0] for c in step.carried}
    if isinstance(step, If):
        step.results = [r for r in step.results if r[0] in used]
        return not step.then and not step.otherwise and not step.results
    if isinstance(step, Call):
        return not used & set(step.targets) and not any(isinstance(s, Access) and s.value
                                                        for _, s in walk(step.body))
    return False


def _used(steps: list[Any]) -> set[str]:
    """The names that some step reads."""
    found: set[str] = set()

    def read(thing: Any) -> None:
        if isinstance(thing, str):
            found.update(NAMES.findall(thing))
        elif isinstance(thing, (list, tuple)):
            for part in thing:
                read(part)

    for _, step in walk(steps):
        for field in fields(step):
            if field.name == "carried":
                read([c[1:] for c in step.carried])
            elif field.name == "results" and isinstance(step, If):
                read([r[1:] for r in step.results])
            elif field.name == "text" and isinstance(step, Step) and not step.targets:
                read(re.sub(r"^[a-z]\d+ = ", "", step.text))
            elif field.name not in ("targets", "target", "name", *REGIONS):
                read(getattr(step, field.name))
    return found

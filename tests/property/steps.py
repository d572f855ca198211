"""The steps of a generated kernel: each a line of Triton, or a region of lines, beside what numpy computes.

Values carry a bound of their error where an operation leaves its rounding open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numeric
import numpy as np

TL = {
    "i1": "tl.int1",
    **{f"{s}{b}": f"tl.{k}int{b}" for s, k in (("i", ""), ("u", "u")) for b in (8, 16, 32, 64)},
    "f16": "tl.float16",
    "bf16": "tl.bfloat16",
    "f32": "tl.float32",
    "f64": "tl.float64",
    **{name: f"tl.{name.replace('fp', 'float')}" for name in numeric.FP8},
}

# What is known of a float beyond its value: each level leaves more open, and fewer operations may use it.
BITS, PAYLOAD, ZERO, ROUNDED = range(4)  # nothing; a NaN's payload; also the sign of zero; also its rounding

LONGEST_WHILE = 100  # iterations; a program that needs more is the generator's mistake


@dataclass(frozen=True)
class Kind:
    """The type of a variable: dtype, shape (() for a scalar), how exact it is."""

    dtype: str
    shape: tuple[int, ...]
    level: int = BITS

    @property
    def numel(self) -> int:
        return int(np.prod(self.shape))


@dataclass
class Value:
    """What a variable holds: an array, and the greatest error of each element (None: exact)."""

    data: np.ndarray
    error: np.ndarray | None = None


@dataclass
class Step:
    """`targets = text`, computed by `compute(*values of args)`: a Value, or one for each target."""

    targets: tuple[str, ...]
    text: str  # "" for what only the evaluation needs; without targets a whole line
    args: tuple[str, ...]
    compute: Callable[..., Any]

    def lines(self) -> Iterable[str]:
        if self.text:
            text = f"{', '.join(self.targets)} = {self.text}" if self.targets else self.text
            yield from text.splitlines()

    def run(self, state: State) -> None:
        result = self.compute(*(state.values[a] for a in self.args))
        results = (result,) if isinstance(result, Value) else result or ()
        state.values.update(zip(self.targets, results, strict=True))


def line(text: str) -> Step:
    """A line of source that evaluation does not need."""
    return Step((), text, (), lambda: None)


@dataclass
class Access:
    """A load (target given) or a store (value given) at the elements `index` of a buffer, where `mask`
    holds."""

    buffer: str
    index: str
    mask: str | None
    other: str | None = None
    target: str | None = None
    value: str | None = None
    pointer: str | None = None  # the text of the pointer, if it is not buffer + index
    text: str | None = None  # of the load or store, if it is not by a pointer

    def lines(self) -> Iterable[str]:
        where = self.pointer or f"{self.buffer} + {self.index}"
        mask = f", mask={self.mask}" if self.mask else ""
        if self.value:
            yield self.text or f"tl.store({where}, {self.value}{mask})"
        else:
            other = f", other={self.other}" if self.mask else ""
            yield f"{self.target} = {self.text or f'tl.load({where}{mask}{other})'}"

    def run(self, state: State) -> None:
        buffer = state.buffers[self.buffer]
        place, mask, safe = places(self, state)
        if self.value:
            value = state.values[self.value]
            buffer.data[safe[mask]] = value.data[mask]
            error = np.zeros(place.shape) if value.error is None else value.error
            assert buffer.error is not None
            buffer.error[safe[mask]] = error[mask]
            return
        data = buffer.data[safe]
        if self.mask:
            assert self.other
            data = np.where(mask, data, state.values[self.other].data)
        assert self.target
        state.values[self.target] = Value(data)


def places(step: Any, state: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(elements, which of them count, elements that can be read anyway) of an access to `step.buffer`."""
    place = state.values[step.index].data.astype(np.int64)
    mask = state.values[step.mask].data if step.mask else np.ones(place.shape, bool)
    mask = np.broadcast_to(mask, place.shape)
    size = len(state.buffers[step.buffer].data)
    assert not mask.any() or (place[mask].min() >= 0 and place[mask].max() < size), "bounds"
    return place, mask, np.where(mask, place, 0)


@dataclass
class Atomic:
    """`tl.atomic_*`: `combine(old, value)` for each element; several may meet in one place, in any order.

    Who asks for the old values (`target`) then uses them so that the order does not show. Without a text the
    source has it already."""

    buffer: str
    index: str
    mask: str | None
    values: tuple[str, ...]
    text: str
    combine: Callable[..., Any]
    target: str | None = None

    def lines(self) -> Iterable[str]:
        if self.text:
            yield f"{self.target} = {self.text}" if self.target else self.text

    def run(self, state: State) -> None:
        place, mask, _ = places(self, state)
        buffer = state.buffers[self.buffer].data
        old = np.zeros(place.shape, buffer.dtype)
        values = [np.broadcast_to(state.values[v].data, place.shape) for v in self.values]
        for at in np.argwhere(mask):
            i = tuple(at)
            old[i] = buffer[place[i]]
            buffer[place[i]] = self.combine(old[i], *(v[i] for v in values))
        if self.target:
            state.values[self.target] = Value(old)


@dataclass
class Loop:
    """`for name in range(...)`: `carried` are (variable, initial, next), `copies` (variable, carried one);
    these are made before the loop, and the body begins with making them again."""

    name: str
    range: str
    turns: range
    carried: list[tuple[str, str, str]]
    body: list[Any]
    copies: list[tuple[str, str]] = field(default_factory=list)

    def lines(self) -> Iterable[str]:
        yield from _before(self.carried, self.copies)
        yield f"for {self.name} in {self.range}:"
        yield from _indented(self.body)
        yield "    " + _together([c[0] for c in self.carried], [c[2] for c in self.carried])

    def run(self, state: State) -> None:
        _start(self.carried, self.copies, state)
        for turn in self.turns:
            state.values[self.name] = Value(np.array(turn, np.int32))
            for step in self.body:
                step.run(state)
            _next(self.carried, state)


@dataclass
class While:
    """`while condition`, which is computed by `before` from the carried (variable, initial, next)."""

    condition: str  # the text
    holds: Callable[[State], bool]
    carried: list[tuple[str, str, str]]
    body: list[Any]
    copies: list[tuple[str, str]] = field(default_factory=list)

    def lines(self) -> Iterable[str]:
        yield from _before(self.carried, self.copies)
        yield f"while {self.condition}:"
        yield from _indented(self.body)
        yield "    " + _together([c[0] for c in self.carried], [c[2] for c in self.carried])

    def run(self, state: State) -> None:
        _start(self.carried, self.copies, state)
        for _ in range(LONGEST_WHILE):
            if not self.holds(state):
                return
            for step in self.body:
                step.run(state)
            _next(self.carried, state)
        raise AssertionError("a loop without end")


def _before(carried: list[tuple[str, str, str]], copies: list[tuple[str, str]]) -> Iterable[str]:
    for variable, initial in [*(c[:2] for c in carried), *copies]:
        yield f"{variable} = {initial}"


def _start(carried: list[tuple[str, str, str]], copies: list[tuple[str, str]], state: State) -> None:
    for variable, initial in [*(c[:2] for c in carried), *copies]:
        state.values[variable] = state.values[initial]


def _next(carried: list[tuple[str, str, str]], state: State) -> None:
    nexts = [state.values[c[2]] for c in carried]
    for (variable, _, _), value in zip(carried, nexts, strict=True):
        state.values[variable] = value


@dataclass
class If:
    """Both arms give the `results` (variable, then, otherwise)."""

    condition: str
    results: list[tuple[str, str, str]]
    then: list[Any]
    otherwise: list[Any]

    def lines(self) -> Iterable[str]:
        names = [r[0] for r in self.results]
        yield f"if {self.condition}:"
        yield from _indented(self.then)
        yield "    " + _together(names, [r[1] for r in self.results])
        yield "else:"
        yield from _indented(self.otherwise)
        yield "    " + _together(names, [r[2] for r in self.results])

    def run(self, state: State) -> None:
        holds = bool(state.values[self.condition].data)
        for step in self.then if holds else self.otherwise:
            step.run(state)
        chosen = [state.values[r[1] if holds else r[2]] for r in self.results]
        for (variable, _, _), value in zip(self.results, chosen, strict=True):
            state.values[variable] = value


class Returned(Exception):
    """A return on the way: the names of what is returned."""


@dataclass
class Return:
    """A return on the way through a function. Without results, which are known when the function is whole,
    it goes on."""

    results: list[str]

    def lines(self) -> Iterable[str]:
        yield f"return {', '.join(self.results)}" if self.results else "pass"

    def run(self, state: State) -> None:
        if self.results:
            raise Returned(self.results)


@dataclass
class Call:
    """`targets = function(everything that the body reads)`; the body becomes a function of its own, which
    may return the first results early."""

    function: str
    decorator: str
    body: list[Any]
    targets: list[str]
    results: list[str]
    early: tuple[str, list[str]] | None = None  # (condition, what is returned where it holds), at the head

    def lines(self) -> Iterable[str]:
        yield f"{', '.join(self.targets)} = {self.function}({', '.join(self.parameters())})"

    def inside(self) -> list[str]:
        early = []
        if self.early:
            early = [f"if {self.early[0]}:", "    return " + ", ".join(self.early[1])]
        lines = [text for step in self.body for text in step.lines()]
        return [*early, *lines, "return " + ", ".join(self.results)]

    def parameters(self) -> list[str]:
        """Variables and buffers that the body reads and does not define, in the order of their use."""
        defined, free = set(), []
        for text in self.inside():
            assigned = re.match(r"\s*(?:for )?([a-z]\d+(?:, [a-z]\d+)*) (?:=|in|\+=) (.*)", text)
            read = assigned[2] if assigned else text
            if assigned and "+=" in text:
                read = text
            free += [n for n in dict.fromkeys(NAME.findall(read)) if n not in defined and n not in free]
            if assigned:
                defined |= set(assigned[1].split(", "))
        return free

    def source(self) -> str:
        body = "".join(f"    {text}\n" for text in self.inside())
        return f"@{self.decorator}\ndef {self.function}({', '.join(self.parameters())}):\n{body}\n\n"

    def run(self, state: State) -> None:
        chosen = self.results
        if self.early and bool(state.values[self.early[0]].data):
            chosen = self.early[1]
        else:
            try:
                for step in self.body:
                    step.run(state)
            except Returned as ended:
                (chosen,) = ended.args
        found = [state.values[r] for r in chosen]
        state.values.update(zip(self.targets, found, strict=True))


#: variables, buffers and scalars; functions have names of two letters
NAME = re.compile(r"(?<![\w.])[a-z]\d+\b(?!\()|\b(?:pid|rows|BLOCK)\b")


def _together(names: list[str], values: list[str]) -> str:
    return f"{', '.join(names)} = {', '.join(values)}" if names else "pass"


def _indented(body: Iterable[Any]) -> Iterable[str]:
    for step in body:
        for text in step.lines():
            yield "    " + text


@dataclass
class State:
    values: dict[str, Value]
    buffers: dict[str, Value]


def each(steps: Iterable[Any]) -> Iterable[Any]:
    """Every step, those inside of others before these."""
    for step in steps:
        for part in ("body", "then", "otherwise"):
            yield from each(getattr(step, part, ()))
        yield step


def calls(steps: Iterable[Any]) -> Iterable[Call]:
    """Every call below, those that others make first."""
    return (step for step in each(steps) if isinstance(step, Call))

"""A random kernel as data: its steps, each a line of Triton beside what numpy computes for it.

`Program.source()` is the module text; `Program.evaluate()` executes the same steps, in the same order, on
numpy copies of the buffers. Values carry a bound of their error where an operation leaves its rounding open.
"""

from __future__ import annotations

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
}

# What is known of a float beyond its value: each level leaves more open, and fewer operations may use it.
BITS, PAYLOAD, ZERO, ROUNDED = range(4)  # nothing; a NaN's payload; also the sign of zero; also its rounding


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
    """`target = text`, computed by `compute(*values of args)`."""

    target: str
    text: str
    args: tuple[str, ...]
    compute: Callable[..., Value]

    def lines(self) -> Iterable[str]:
        yield f"{self.target} = {self.text}" if self.target else self.text

    def run(self, state: State) -> None:
        result = self.compute(*(state.values[a] for a in self.args))
        if self.target:
            state.values[self.target] = result


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

    def lines(self) -> Iterable[str]:
        where = self.pointer or f"{self.buffer} + {self.index}"
        mask = f", mask={self.mask}" if self.mask else ""
        if self.value:
            yield f"tl.store({where}, {self.value}{mask})"
        else:
            yield f"{self.target} = tl.load({where}{mask}{f', other={self.other}' if self.mask else ''})"

    def run(self, state: State) -> None:
        buffer = state.buffers[self.buffer]
        index = state.values[self.index].data.astype(np.int64)
        mask = state.values[self.mask].data if self.mask else np.ones(index.shape, bool)
        assert not mask.any() or (index[mask].min() >= 0 and index[mask].max() < len(buffer.data)), "bounds"
        safe = np.where(mask, index, 0)
        if self.value:
            value = state.values[self.value]
            buffer.data[safe[mask]] = value.data[mask]
            error = np.zeros(index.shape) if value.error is None else value.error
            assert buffer.error is not None
            buffer.error[safe[mask]] = error[mask]
            return
        data = buffer.data[safe]
        if self.mask:
            assert self.other
            data = np.where(mask, data, state.values[self.other].data)
        assert self.target
        state.values[self.target] = Value(data)


@dataclass
class Loop:
    """`for name in range(count)`: `carried` are (variable, initial, next)."""

    name: str
    count: str
    trips: int
    carried: list[tuple[str, str, str]]
    body: list[Any]

    def lines(self) -> Iterable[str]:
        for variable, initial, _ in self.carried:
            yield f"{variable} = {initial}"
        yield f"for {self.name} in range({self.count}):"
        yield from _indented(self.body)
        yield "    " + _together([c[0] for c in self.carried], [c[2] for c in self.carried])

    def run(self, state: State) -> None:
        for variable, initial, _ in self.carried:
            state.values[variable] = state.values[initial]
        for turn in range(self.trips):
            state.values[self.name] = Value(np.array(turn, np.int32))
            for step in self.body:
                step.run(state)
            nexts = [state.values[c[2]] for c in self.carried]
            for (variable, _, _), value in zip(self.carried, nexts, strict=True):
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


def _together(names: list[str], values: list[str]) -> str:
    return f"{', '.join(names)} = {', '.join(values)}" if names else "pass"


def _indented(body: Iterable[Any]) -> Iterable[str]:
    for step in body:
        for line in step.lines():
            yield "    " + line


@dataclass
class Buffer:
    """A pointer argument: `size` elements, from `shift` elements behind an aligned address."""

    name: str
    dtype: str
    size: int
    shift: int
    seed: int
    level: int = BITS  # of what has been stored to it


@dataclass
class State:
    values: dict[str, Value]
    buffers: dict[str, Value]


@dataclass
class Program:
    """A kernel, its arguments, and the variables that its steps define."""

    steps: list[Any] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    scalars: dict[str, int] = field(default_factory=dict)
    warps: int = 4

    def source(self) -> str:
        parameters = ", ".join([b.name for b in self.buffers] + list(self.scalars))
        body = [line for step in self.steps for line in step.lines()] or ["pass"]
        return HEADER + f"@triton.jit\ndef kernel({parameters}):\n" + "".join(f"    {x}\n" for x in body)

    def inputs(self) -> dict[str, np.ndarray]:
        return {b.name: contents(b.dtype, b.size, b.seed) for b in self.buffers}

    def evaluate(self) -> dict[str, Value]:
        """What the buffers hold afterwards."""
        state = State(
            {name: Value(np.array(value, np.int32)) for name, value in self.scalars.items()},
            {name: Value(data.copy(), np.zeros(len(data))) for name, data in self.inputs().items()},
        )
        with np.errstate(all="ignore"):
            for step in self.steps:
                step.run(state)
        return state.buffers


def contents(dtype: str, size: int, seed: int) -> np.ndarray:
    """Special values among random ones; seed 0: all ones (what a failure shrinks to)."""
    kind = numeric.DTYPES[dtype]
    if seed == 0:
        return np.ones(size, kind.values)
    generator = np.random.default_rng(seed)
    values = numeric.random(size, dtype, seed)
    known = numeric.specials(dtype)
    return np.where(generator.random(size) < 0.3, known[generator.integers(0, len(known), size)], values)


HEADER = """import triton
import triton.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def mul(a, b):
    return a * b


@triton.jit
def bit_xor(a, b):
    return a ^ b


@triton.jit
def bit_and(a, b):
    return a & b


@triton.jit
def bit_or(a, b):
    return a | b


@triton.jit
def largest(a, b):
    return tl.maximum(a, b).to(a.dtype)


@triton.jit
def smallest(a, b):
    return tl.minimum(a, b).to(a.dtype)


@triton.jit
def last_nonzero(a, b):
    return tl.where(b != 0, b, a)


@triton.jit
def recur(a, b, c, d):
    return a * c, b * c + d


"""

"""A random kernel as data: its steps, each a line of Triton beside what numpy computes for it.

`Program.source()` is the module text; `Program.evaluate()` executes the same steps, in the same order, on
numpy copies of the buffers. Values carry a bound of their error where an operation leaves its rounding open.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numeric
import numpy as np

from property.header import HEADER
from property.steps import BITS, Kind, State, Value, calls

#: what an argument holds before: special values among random ones; small whole numbers, whose sums are exact;
#: nothing but zeros
RANDOM, SMALL, ZEROS = "random", "small", "zeros"
NEGATIVE = 8  # one in so many buffers of random numbers has negative ones only


@dataclass
class Buffer:
    """A pointer argument: `size` elements for each program, from `shift` elements behind an aligned
    address; or, with `of`, the view of another one from its element `offset` on."""

    name: str
    dtype: str
    size: int
    shift: int
    seed: int
    held: int = BITS  # the level of what has been stored to it
    whole: bool = False  # one for all programs
    tiled: bool = False  # one for all programs, each has its own part
    fill: str = RANDOM
    of: Buffer | None = None
    offset: int = 0

    @property
    def root(self) -> Buffer:
        return self.of or self

    @property
    def level(self) -> int:
        return self.root.held

    @level.setter
    def level(self, level: int) -> None:
        self.root.held = level

    def grow(self, size: int) -> None:
        """At least `size` elements."""
        self.root.size = max(self.root.size, self.offset + size)

    @property
    def spread(self) -> bool:
        """Has each program elements of its own, behind those of the program before?"""
        return not self.root.whole and not self.root.tiled


@dataclass
class Program:
    """A kernel, its arguments, and the variables that its steps define."""

    steps: list[Any] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    scalars: dict[str, int] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)
    kinds: dict[str, Kind] = field(default_factory=dict)  # of every variable
    warps: int = 4
    grid: tuple[int, ...] = (1,)
    tile: int = 0  # of a tiled program: the elements of its first dimension, over all programs

    @property
    def count(self) -> int:
        return int(np.prod(self.grid))

    def source(self, unspecialised: bool = False) -> str:
        """The module. `unspecialised`: no scalar is a constant for being 1, or known to be divisible.

        Where there are several programs, the argument a1 is p1 before the offset o1 of a program is added."""
        spread = [b for b in self.buffers if b.spread and self.count > 1]
        parameters = [parameter(b.name) if b in spread else b.name for b in self.buffers]
        parameters += list(self.scalars)
        opening = []
        if self.tile:
            parameters.append("BLOCK: tl.constexpr")
            opening = ["rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)"]
        elif self.count > 1:
            opening = ["pid = tl.program_id(0)"]
            if len(self.grid) > 1:
                opening = ["pid = tl.program_id(0) + tl.program_id(1) * tl.num_programs(0)"]
            opening += [f"{offset(b.name)} = pid * {b.root.size}" for b in spread]
            opening += [f"{b.name} = {parameter(b.name)} + {offset(b.name)}" for b in spread]
        body = [*opening, *(text for step in self.steps for text in step.lines())] or ["pass"]
        called = "".join(call.source() for call in calls(self.steps))
        names = ", ".join(repr(name) for name in self.scalars)
        decorator = f"@triton.jit(do_not_specialize=[{names}])" if unspecialised else "@triton.jit"
        return (
            HEADER + "".join(self.functions) + called
            + f"{decorator}\ndef kernel({', '.join(parameters)}):\n" + "".join(f"    {x}\n" for x in body)
        )

    def own(self) -> list[Buffer]:
        """The arguments that are no views."""
        return [b for b in self.buffers if b.of is None]

    def named(self, name: str) -> Buffer:
        return next(b for b in self.buffers if b.name == name)

    def length(self, buffer: Buffer) -> int:
        """Elements of an argument that is no view, over all programs."""
        return buffer.size * (self.count if buffer.spread else 1)

    def inputs(self) -> dict[str, np.ndarray]:
        """What the arguments that are no views hold before."""
        return {b.name: contents(b, self.length(b)) for b in self.own()}

    def evaluate(self) -> dict[str, Value]:
        """What they hold afterwards."""
        given = {name: Value(data.copy(), np.zeros(len(data))) for name, data in self.inputs().items()}
        scalars = {name: Value(np.array(value, np.int32)) for name, value in self.scalars.items()}
        with np.errstate(all="ignore"):
            for program in range(1 if self.tile else self.count):
                state = State({**scalars, "pid": Value(np.array(program, np.int32))}, {})
                for b in self.buffers:
                    first = program * b.root.size if b.spread else 0
                    mine = slice(first + b.offset, first + b.root.size)
                    data, error = given[b.root.name].data, given[b.root.name].error
                    assert error is not None
                    state.buffers[b.name] = Value(data[mine], error[mine])
                for step in self.steps:
                    step.run(state)
        return given


def parameter(name: str) -> str:
    return f"a{name[1:]}"


def offset(name: str) -> str:
    return f"o{name[1:]}"


def contents(buffer: Buffer, size: int) -> np.ndarray:
    """Special values among random ones, or none but negative ones (a largest element is not 0 there); seed 0:
    all ones (what a failure shrinks to)."""
    kind = numeric.DTYPES[buffer.dtype]
    if buffer.fill == ZEROS:
        return np.zeros(size, kind.values)
    if buffer.seed == 0:
        return np.ones(size, kind.values)
    generator = np.random.default_rng(buffer.seed)
    if buffer.fill == SMALL:
        return generator.integers(0, 4, size).astype(kind.values)
    values = numeric.random(size, buffer.dtype, buffer.seed)
    if buffer.seed % NEGATIVE == 1 and buffer.dtype[0] in "ifb" and kind.kind != "bool":
        chosen = -np.abs(values) if kind.kind == "float" else values | np.iinfo(kind.values).min
    else:
        known = numeric.specials(buffer.dtype)
        special = known[generator.integers(0, len(known), size)]
        chosen = np.where(generator.random(size) < 0.3, special, values)
    if kind.bits == 8 and kind.kind == "float":  # some have no infinity, or no -0
        return numeric.array(numeric.tensor(chosen, buffer.dtype))
    return chosen

"""Random well-typed programs: `programs()` is a hypothesis strategy, so what fails shrinks.

Each draw is a small integer, and the plainest choice comes first: fewer steps, f32, one dimension, no mask,
all ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from property.builder import DTYPES
from property.elementwise import Elementwise
from property.meaning import arithmetic, is_float
from property.program import (
    BITS,
    ROUNDED,
    ZERO,
    Access,
    If,
    Kind,
    Loop,
    Program,
    Step,
    Value,
)
from property.views import Views

LARGEST = 4096
MOST_STORES = 5  # of values that nothing has used, at the end


@st.composite
def programs(draw: Any, largest: int = LARGEST, steps: int = 9) -> Program:
    """Programs of up to `steps` steps (with those of loops and branches: a few times more)."""
    return Programs(lambda low, high: draw(st.integers(low, high)), largest).build(steps)


class Programs(Elementwise, Views):
    """Programs of all kinds of steps, loops and branches among them."""

    def build(self, steps: int) -> Program:
        self.load(self.choice(DTYPES), self.shape())
        self.body(self.integer(1, steps))
        text = self.program.source()
        unused = [name for name in self.kinds if len(re.findall(rf"\b{name}\b", text)) == 1]
        for name in unused[-MOST_STORES:] or [next(reversed(self.kinds))]:
            self.store(name)
        self.program.warps = self.choice((4, 1, 8))
        return self.program

    def body(self, count: int) -> None:
        for _ in range(count):
            self.choice(ACTIONS)(self)

    def move_pointers(self) -> None:
        """A loop that carries a pointer tensor and accumulates what it points to."""
        shape = self.kinds[self.tensor()].shape
        dtype = self.choice(DTYPES[:-1])
        index, size = self.index(shape, True)
        trips, step = self.integer(0, 4), self.integer(0, 5)
        buffer = self.buffer(dtype, size + trips * step)
        total = self.want(dtype, shape)
        pointers, variable, turn, moved, loaded, joined = (self.name(c) for c in "qciivv")
        combine = np.add if not is_float(dtype) else np.subtract
        sign = "+" if not is_float(dtype) else "-"
        self.steps.append(Step("", f"{pointers} = {buffer.name} + {index}", (), lambda: Value(np.array(0))))
        body: list[Any] = [
            Step(moved, "0", (turn, index), lambda i, x: Value(x.data + i.data * step)),
            Access(buffer.name, moved, None, target=loaded, pointer=pointers),
            Step(joined, f"{variable} {sign} {loaded}", (variable, loaded), arithmetic(combine, dtype)),
            Step(
                "",
                f"{pointers} += {self.scalar(step) if self.chance(2) else step}",
                (),
                lambda: Value(np.array(0)),
            ),
        ]
        self.steps.append(Loop(turn, self.scalar(trips), trips, [(variable, total, joined)], body))
        self.kinds[variable] = Kind(dtype, shape, ZERO if is_float(dtype) else BITS)

    def inside(self, count: int) -> tuple[list[Any], Callable[[], None]]:
        """The steps of a region, and what ends it."""
        outer, kinds = self.steps, dict(self.kinds)
        self.steps = []
        self.depth += 1

        def end() -> None:
            self.steps, self.kinds = outer, kinds
            self.depth -= 1

        return self.steps, end

    def carry(self) -> list[str]:
        names = list(
            dict.fromkeys(
                self.any(lambda k: k.level < ROUNDED) or self.tensor() for _ in range(self.integer(1, 3))
            )
        )
        return names

    def loop(self) -> None:
        if self.depth > 1:
            return
        initials, trips, turn = self.carry(), self.integer(0, 3), self.name("i")
        variables = [self.name("c") for _ in initials]
        kinds = [self.kinds[i] for i in initials]
        kinds = [Kind(k.dtype, k.shape, ZERO if is_float(k.dtype) else BITS) for k in kinds]
        body, end = self.inside(0)
        self.kinds.update(zip(variables, kinds, strict=True))
        self.kinds[turn] = Kind("i32", ())
        self.body(self.integer(1, 4))
        nexts = [self.want(k.dtype, k.shape) for k in kinds]
        end()
        count = str(trips) if self.chance(4) else self.scalar(trips)
        self.steps.append(Loop(turn, count, trips, list(zip(variables, initials, nexts, strict=True)), body))
        self.kinds.update(zip(variables, kinds, strict=True))

    def branch(self) -> None:
        if self.depth > 1:
            return
        kinds = [self.kinds[name] for name in self.carry()]
        kinds = [Kind(k.dtype, k.shape, ZERO if is_float(k.dtype) else BITS) for k in kinds]
        flag = self.scalar(self.integer(0, 1))
        condition = self.emit(Kind("i1", ()), f"{flag} != 0", [flag], lambda f: Value(f.data != 0))
        arms, chosen = [], []
        for _ in range(2):
            body, end = self.inside(0)
            self.body(self.integer(0, 3))
            chosen.append([self.want(k.dtype, k.shape) for k in kinds])
            end()
            arms.append(body)
        variables = [self.name("c") for _ in kinds]
        self.steps.append(If(condition, list(zip(variables, *chosen, strict=True)), *arms))
        self.kinds.update(zip(variables, kinds, strict=True))


_B = Programs
ACTIONS: tuple[Callable[[Programs], None], ...] = (
    _B.binary,
    _B.binary,
    _B.unary,
    _B.compare,
    _B.where,
    _B.cast,
    _B.cast,
    _B.divide,
    _B.extreme,
    _B.bits,
    _B.rounding,
    _B.reshape,
    _B.permute,
    _B.permute,
    _B.expand,
    _B.expand,
    _B.join,
    _B.split,
    _B.flip,
    _B.gather,
    _B.reduce,
    _B.reduce,
    _B.arg_reduce,
    _B.scan,
    _B.recurrence,
    _B.store_any,
    _B.store_any,
    _B.store_any,
    _B.loop,
    _B.branch,
    _B.move_pointers,
)

"""Steps that hold other steps: loops, branches, functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from property.builder import NUMBERS, Builder, Kinds, level_of
from property.meaning import arithmetic, is_float
from property.memory import Memory
from property.steps import ROUNDED, ZERO, Access, Call, If, Kind, Loop, State, Step, Value, While, line

DEEPEST = 2


class Control(Memory, Builder):
    def body(self, count: int) -> None:
        raise NotImplementedError

    def inside(self) -> tuple[list[Any], Callable[[], None]]:
        """The steps of a region, and what ends it."""
        outer, kinds = self.steps, Kinds(self.program, self.kinds)
        self.steps = []
        self.depth += 1

        def end() -> None:
            self.steps, self.kinds = outer, kinds
            self.depth -= 1

        return self.steps, end

    @contextmanager
    def region(self, turn: str, turns: range) -> Iterator[list[Any]]:
        """The body of a loop; what is made in it is not known behind it."""
        body, end = self.inside()
        self.kinds[turn] = Kind("i32", ())
        self.turning.append((turn, turns))
        yield body
        self.turning.pop()
        end()

    def carry(self) -> list[str]:
        return list(
            dict.fromkeys(
                self.any(lambda k: k.level < ROUNDED) or self.tensor() for _ in range(self.integer(1, 3))
            )
        )

    def carried(self) -> tuple[list[str], list[str], list[Kind]]:
        """(what variables begin with, their names, their types inside)."""
        initials = self.carry()
        kinds = [self.kinds[i] for i in initials]
        kinds = [Kind(k.dtype, k.shape, level_of(k.dtype, ZERO)) for k in kinds]
        return initials, [self.name("c") for _ in initials], kinds

    def loop(self) -> None:
        if self.depth >= DEEPEST:
            return
        initials, variables, kinds = self.carried()
        turn, turns = self.name("i"), self.turns()
        with self.region(turn, turns) as body:
            self.kinds.update(zip(variables, kinds, strict=True))
            self.body(self.integer(1, 4))
            nexts = [self.want(k.dtype, k.shape) for k in kinds]
        text = self.bounds(turns)
        self.steps.append(Loop(turn, text, turns, list(zip(variables, initials, nexts, strict=True)), body))
        self.kinds.update(zip(variables, kinds, strict=True))

    def turns(self) -> range:
        trips = self.integer(0, 3)
        if not self.chance(4):
            return range(trips)
        start, step = self.integer(-3, 3), self.choice((1, 2, 3))
        return range(start, start + trips * step - self.integer(0, step - 1 if trips else 0), step)

    def bounds(self, turns: range) -> str:
        if turns.start == 0 and turns.step == 1:
            bounds = str(turns.stop) if self.chance(4) else self.scalar(turns.stop)
        else:
            step = self.scalar(turns.step) if turns.step > 1 and self.chance(2) else turns.step
            bounds = f"{self.number(turns.start)}, {self.scalar(turns.stop)}, {step}"
        how = self.integer(0, 7)
        if how == 7:
            return f"tl.range({bounds}, num_stages={self.integer(1, 3)})"
        return f"range({bounds})"

    def repeat(self) -> None:
        """A while loop; how often it turns may depend on data."""
        if self.depth >= DEEPEST:
            return
        initials, variables, kinds = self.carried()
        found = self.any(lambda k: k.shape == () and k.dtype in ("i32", "i64"))
        source = self.remainder(found or self.load("i32", ()), 4)
        count, dtype = self.name("c"), self.kinds[source].dtype
        body, end = self.inside()
        self.kinds.update(zip(variables, kinds, strict=True))
        self.kinds[count] = Kind(dtype, ())
        self.body(self.integer(1, 3))
        nexts = [self.want(k.dtype, k.shape) for k in kinds]
        less = self.emit(Kind(dtype, ()), "{0} - 1", [count], arithmetic(lambda a: a - 1, dtype))
        end()
        carried = [*zip(variables, initials, nexts, strict=True), (count, source, less)]

        def holds(state: State) -> bool:
            return bool(state.values[count].data > 0)

        self.steps.append(While(f"{count} > 0", holds, carried, body))
        self.kinds.update(zip(variables, kinds, strict=True))

    def condition(self) -> str:
        """A flag of the arguments, or one that depends on data."""
        if not self.chance(2):
            flag = self.scalar(self.integer(0, 1))
            return self.emit(Kind("i1", ()), f"{flag} != 0", [flag], lambda f: Value(f.data != 0))
        found = self.any(lambda k: k.shape == () and k.dtype in ("i32", "i64", "u32", "i8"))
        x, number = found or self.load("i32", ()), self.integer(0, 3)
        test = arithmetic(lambda a: (a & 3) != number, "i1")
        return self.emit(Kind("i1", ()), f"({{0}} & 3) != {number}", [x], test)

    def branch(self) -> None:
        if self.depth >= DEEPEST:
            return
        kinds = [self.kinds[name] for name in self.carry()]
        kinds = [Kind(k.dtype, k.shape, level_of(k.dtype, ZERO)) for k in kinds]
        condition = self.condition()
        arms, chosen = [], []
        for _ in range(2):
            body, end = self.inside()
            self.body(self.integer(0, 3))
            chosen.append([self.want(k.dtype, k.shape) for k in kinds])
            end()
            arms.append(body)
        variables = [self.name("c") for _ in kinds]
        self.steps.append(If(condition, list(zip(variables, *chosen, strict=True)), *arms))
        self.kinds.update(zip(variables, kinds, strict=True))

    def call(self) -> None:
        """A function, inlined by Triton or not (it then takes no tensors), that may return early."""
        if self.depth >= DEEPEST or self.tile:
            return
        outer, inlined = dict(self.kinds), not self.chance(2)
        early = self.condition() if inlined and self.chance(4) else None
        body, end = self.inside()
        if not inlined:
            self.kinds = Kinds(self.program, {n: kind for n, kind in self.kinds.items() if not kind.shape})
        self.body(self.integer(1, 4))
        results = self.carry()
        kinds = [self.kinds[r] for r in results]
        end()
        usable = [
            [n for n, k in outer.items() if (k.dtype, k.shape) == (r.dtype, r.shape) and k.level < ROUNDED]
            for r in kinds
        ]
        returned = None
        if early and all(usable):
            returned = early, [self.choice(names[::-1]) for names in usable]
        kinds = [Kind(k.dtype, k.shape, level_of(k.dtype, max(k.level, ZERO))) for k in kinds]
        targets = [self.name() for _ in kinds]
        decorator = "triton.jit" if inlined else "triton.jit(noinline=True)"
        self.steps.append(Call(self.name("fn"), decorator, body, targets, results, returned))
        self.kinds.update(zip(targets, kinds, strict=True))

    def move_pointers(self) -> None:
        """A loop that carries a pointer tensor and accumulates what it points to, or stores there."""
        if self.depth >= DEEPEST:
            return
        shape = self.kinds[self.tensor()].shape
        dtype = self.choice(NUMBERS)
        index, size = self.index(shape, True)
        trips, step = self.integer(0, 4), self.integer(0, 5)
        buffer = self.buffer(dtype, size + trips * step)
        total = self.want(dtype, shape)
        pointers, variable, turn, loaded, joined = (self.name(c) for c in "qcivv")
        combine = np.add if not is_float(dtype) else np.subtract
        sign = "+" if not is_float(dtype) else "-"
        self.steps.append(line(f"{pointers} = {buffer.name} + {index}"))
        body, end = self.inside()
        moved = self.silent(lambda i, x: Value(x.data.astype(np.int64) + i.data * step), turn, index)
        body += [
            Access(buffer.name, moved, None, target=loaded, pointer=pointers),
            Step((joined,), f"{variable} {sign} {loaded}", (variable, loaded), arithmetic(combine, dtype)),
        ]
        if not self.tile and self.chance(3):
            body.append(Access(buffer.name, moved, None, value=joined, pointer=pointers))
            buffer.level = level_of(dtype, ZERO)
        body.append(line(f"{pointers} += {self.scalar(step) if self.chance(2) else step}"))
        end()
        self.steps.append(
            Loop(turn, f"range({self.scalar(trips)})", range(trips), [(variable, total, joined)], body)
        )
        self.kinds[variable] = Kind(dtype, shape, level_of(dtype, ZERO))



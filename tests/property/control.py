"""Steps that hold other steps: loops, branches, functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from property.builder import NUMBERS, Builder, Kinds, level_of
from property.meaning import arithmetic, is_float
from property.memory import Memory
from property.steps import (
    ROUNDED,
    ZERO,
    Access,
    Call,
    If,
    Kind,
    Loop,
    Return,
    State,
    Step,
    Value,
    While,
    line,
)

DEEPEST = 2


class Control(Memory, Builder):
    #: of the function that is being made: returns on the way, each with the variables that are known there
    returns: list[tuple[Return, dict[str, Kind]]] | None = None

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
        """The body of a loop; what is made in it is not known behind it. Triton has no return in loops."""
        body, end = self.inside()
        self.kinds[turn] = Kind("i32", ())
        self.turning.append((turn, turns))
        returns, self.returns = self.returns, None
        yield body
        self.returns = returns
        self.turning.pop()
        end()

    def copied(self, variables: list[str], kinds: list[Kind]) -> tuple[list[tuple[str, str]], list[Step]]:
        """Copies of what a loop carries, made before it and at the head of each round -> (variable, carried
        variable), and the body's steps. Of one loop in three."""
        copies, steps = [], []
        for variable, kind in zip(variables, kinds, strict=True):
            if self.chance(3):
                copies.append((self.name("c"), variable))
                steps.append(Step((copies[-1][0],), variable, (variable,), lambda v: v))
                self.kinds[copies[-1][0]] = kind
        return copies, steps

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
            copies, steps = self.copied(variables, kinds)
            body += steps
            self.body(self.integer(1, 4))
            nexts = [self.want(k.dtype, k.shape) for k in kinds]
            known = {name: self.kinds[name] for pair in copies for name in pair}
        text = self.bounds(turns)
        self.steps.append(
            Loop(turn, text, turns, list(zip(variables, initials, nexts, strict=True)), body, copies)
        )
        self.kinds.update({**dict(zip(variables, kinds, strict=True)), **known})

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
        copies, steps = self.copied(variables, kinds)
        body += steps
        returns, self.returns = self.returns, None
        self.body(self.integer(1, 3))
        self.returns = returns
        nexts = [self.want(k.dtype, k.shape) for k in kinds]
        less = self.emit(Kind(dtype, ()), "{0} - 1", [count], arithmetic(lambda a: a - 1, dtype))
        known = {name: self.kinds[name] for pair in copies for name in pair}
        end()
        carried = [*zip(variables, initials, nexts, strict=True), (count, source, less)]

        def holds(state: State) -> bool:
            return bool(state.values[count].data > 0)

        self.steps.append(While(f"{count} > 0", holds, carried, body, copies))
        self.kinds.update({**dict(zip(variables, kinds, strict=True)), **known})

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
            if self.chance(4):
                self.leave()
            chosen.append([self.want(k.dtype, k.shape) for k in kinds])
            end()
            arms.append(body)
        variables = [self.name("c") for _ in kinds]
        self.steps.append(If(condition, list(zip(variables, *chosen, strict=True)), *arms))
        self.kinds.update(zip(variables, kinds, strict=True))

    def leave(self) -> None:
        """In a function that Triton inlines: an arm that ends with a return, where there is a value for each
        result."""
        if self.returns is None or self.depth >= DEEPEST + 2:
            return
        condition = self.condition()
        body, end = self.inside()
        self.depth += DEEPEST  # no loops and arms in it
        self.body(self.integer(0, 2))
        self.depth -= DEEPEST
        body.append(Return([]))
        self.returns.append((body[-1], dict(self.kinds)))
        end()
        self.steps.append(If(condition, [], body, []))

    def returned(self, kinds: list[Kind], known: dict[str, Kind]) -> tuple[list[str], list[Kind]]:
        """Variables for results of these kinds, none where one lacks; and the kinds, as these are."""
        exact = {name: kind for name, kind in known.items() if kind.level < ROUNDED}
        usable = [[n for n, k in exact.items() if (k.dtype, k.shape) == (r.dtype, r.shape)] for r in kinds]
        if not all(usable):
            return [], kinds
        names = [self.choice(found[::-1]) for found in usable]
        return names, [Kind(k.dtype, k.shape, max(k.level, known[name].level))
                       for k, name in zip(kinds, names, strict=True)]

    def call(self) -> None:
        """A function, inlined by Triton or not (it then takes no tensors), that may return early."""
        if self.depth >= DEEPEST or self.tile:
            return
        outer, inlined = dict(self.kinds), not self.chance(2)
        early = self.condition() if inlined and self.chance(4) else None
        body, end = self.inside()
        if not inlined:
            self.kinds = Kinds(self.program, {n: kind for n, kind in self.kinds.items() if not kind.shape})
        outside, self.returns = self.returns, [] if inlined else None
        self.body(self.integer(1, 4))
        if self.chance(2):
            self.leave()
            self.body(self.integer(1, 2))
        results, returns = self.carry(), self.returns or []
        kinds = [self.kinds[r] for r in results]
        self.returns = outside
        end()
        for step, known in returns:
            step.results, kinds = self.returned(kinds, known)
        head, kinds = self.returned(kinds, outer if early else {})
        returned = (early, head) if early and head else None
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



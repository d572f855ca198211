"""Steps that use one value several times: graphs thirty links deep, values that arms, loops and accesses
share, loops that hand one carried value to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from property.builder import computes, whole
from property.control import DEEPEST
from property.meaning import arithmetic, is_float, rounded, select, view, wide
from property.overwriting import Overwriting
from property.steps import PAYLOAD, ROUNDED, ZERO, Access, If, Kind, Loop

#: A product that is rounded to its dtype: that of a denormal and a half is not exact.
Times = Callable[[Any, float], Any]

#: steps x = f(x, x): text, meaning in the dtype itself; that of floats has one operation after its products
INTEGER_LINKS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("{0} ^ ({0} >> 3)", lambda a: a ^ (a >> 3)),
    ("({0} << 1) ^ ({0} & 5)", lambda a: (a << 1) ^ (a & 5)),
    ("{0} * 3 - ({0} >> 2)", lambda a: a * 3 - (a >> 2)),
    ("tl.where({0} > 7, {0} + 5, 9 - {0}).to({0}.dtype)", lambda a: np.where(a > 7, a + 5, 9 - a)),
    ("{0} // 3 + {0} % 7", lambda a: _quotient(a, 3) + (a - _quotient(a, 7) * 7)),
    ("({0} & 15) * 16 + ({0} >> 4)", lambda a: (a & 15) * 16 + (a >> 4)),
)
FLOAT_LINKS: tuple[tuple[str, Callable[[Any, Times], Any]], ...] = (
    ("{0} + {0} * 0.5", lambda a, times: a + times(a, 0.5)),
    ("tl.where({0} > 1, {0} * 0.25, {0} + 2).to({0}.dtype)",
     lambda a, times: np.where(a > 1, times(a, 0.25), a + a.dtype.type(2))),
    ("{0} - tl.abs({0}) * 0.5", lambda a, times: a - times(np.abs(a), 0.5)),
)


def float_link(function: Callable[[Any, Times], Any], dtype: str) -> Callable[[Any], Any]:
    """The meaning of a link of floats, of wide numbers."""

    def times(a: Any, factor: float) -> Any:
        return wide(rounded(a * a.dtype.type(factor), dtype), dtype)

    return lambda a: function(a, times)


def _quotient(a: Any, b: int) -> Any:
    """Toward zero, in Python's integers."""
    a = a.astype(object)
    return abs(a) // b * np.where(a < 0, -1, 1)


class Sharing(Overwriting):
    def link(self, x: str) -> str:
        """A value that uses another two or three times."""
        kind = self.kinds[x]
        if is_float(kind.dtype):
            text, product = self.choice(FLOAT_LINKS)
            level, function = max(kind.level, PAYLOAD), float_link(product, kind.dtype)
        else:
            (text, function), level = self.choice(INTEGER_LINKS), kind.level
        return self.emit(Kind(kind.dtype, kind.shape, level), text, [x], arithmetic(function, kind.dtype))

    def linked(self, x: str, most: int) -> str:
        """A chain of links; some of them have values of the chain's middle as well."""
        made = [x]
        for _ in range(self.integer(1, most)):
            how = self.integer(0, 5)
            kind, other = self.kinds[made[-1]], made[self.integer(0, len(made) - 1)]
            level = max(kind.level, self.kinds[other].level)
            if how < 4:
                made.append(self.link(made[-1]))
            elif how == 4:
                number = self.integer(0, 9)
                condition = self.emit(Kind("i1", kind.shape), f"{{0}} > {number}", [other],
                                      arithmetic(above(number), "i1"))
                made.append(self.emit(Kind(kind.dtype, kind.shape, level), "tl.where({0}, {1}, {2})",
                                      [condition, made[-1], other], select))
            else:
                symbol, function = ("-", np.subtract) if is_float(kind.dtype) else ("^", np.bitwise_xor)
                kind = Kind(kind.dtype, kind.shape, max(level, PAYLOAD) if is_float(kind.dtype) else level)
                made.append(self.emit(kind, f"{{0}} {symbol} {{1}}", [made[-1], other],
                                      arithmetic(function, kind.dtype)))
        return made[-1]

    def deep(self) -> None:
        """A graph of up to thirty links, and a few uses of its end."""
        x = self.any(_links) or self.load(self.choice(("i32", "f32", "i64", "i16", "u32")), self.shape())
        self.used(self.linked(x, self.choice((12, 6, 20, 30))), self.integer(1, 3))

    def shared(self) -> None:
        """A value of a few links, and up to five uses: in arms, in loops, as masks, indices, `other`, ...
        One of an index and a constant is cheap: it is not computed before it is used."""
        if not self.tile and self.chance(3):
            shape, number = self.shape(), self.integer(1, 7)
            text, function = self.choice((("^", np.bitwise_xor), ("|", np.bitwise_or), ("&", np.bitwise_and)))
            x = self.emit(Kind("i32", shape), f"{{0}} {text} {number}", [self.element(shape)],
                          arithmetic(lambda a: function(a, number), "i32"))
            return self.used(x, self.integer(2, 5))
        x = self.any(_links) or self.load(self.choice(("i32", "f32", "i64", "i8", "f16")), self.shape())
        self.used(self.linked(x, 3), self.integer(2, 5))

    def used(self, x: str, times: int) -> None:
        outer, self.focus = self.focus, x
        for _ in range(times):
            how = self.integer(0, 7) if self.depth < DEEPEST else 0
            if how in (5, 6) and not self.tile:
                self.arm()
            elif how == 7 and not self.tile:
                self.turns_around()
            else:
                self.use()
                continue
            if self.chance(2):  # what an arm has made of it is not there behind the arm
                self.store(x)
        self.focus = outer

    def use(self) -> None:
        how = self.integer(0, 9)
        x = self.focus
        assert x
        kind = self.kinds.get(x)
        if kind is None:
            return
        if how < 3:
            self.store(x)
        elif how == 3 and kind.dtype in ("i32", "i64", "u32", "i16") and kind.shape and not self.tile:
            self.indexed(x)
        elif how == 4 and kind.shape and kind.level < ROUNDED:
            self.masked(x)
        elif how in (5, 6) and kind.shape:
            self.used_whole()
        else:
            self.body(1)

    def used_whole(self) -> None:
        """A step that needs the tensor whole, or in another order."""
        raise NotImplementedError

    def indexed(self, x: str) -> None:
        """Data as an index."""
        size = self.choice((16, 64, 256, 2, 1024))
        index = self.remainder(x, size)
        dtype, target = self.choice(("f32", "i32", "i8", "f16", "i64")), self.name()
        buffer = self.buffer(dtype, size)
        self.steps.append(Access(buffer.name, index, None, target=target))
        self.kinds[target] = Kind(dtype, self.kinds[index].shape)

    def masked(self, x: str) -> None:
        """Data as a mask, of a store and of what comes later."""
        number = self.integer(0, 9)
        held = self.emit(Kind("i1", self.kinds[x].shape), f"{{0}} > {number}", [x],
                         arithmetic(above(number), "i1"))
        self.masks.append(held)
        self.store(self.any(lambda k: k.shape == self.kinds[held].shape) or x)

    def arm(self) -> None:
        """A branch that gives nothing: what it does, it does to memory."""
        condition = self.condition()
        arms = []
        for most in (2, 1):
            body, end = self.inside()
            for _ in range(self.integer(0, most)):
                self.use_within()
            end()
            arms.append(body)
        self.steps.append(If(condition, [], *arms))

    def turns_around(self) -> None:
        """A loop that carries nothing."""
        turn, turns = self.name("i"), self.turns()
        with self.region(turn, turns) as body:
            for _ in range(self.integer(1, 2)):
                self.use_within()
        self.steps.append(Loop(turn, self.bounds(turns), turns, [], body))

    def use_within(self) -> None:
        """A use in a region that gives nothing: what it makes is stored, or it would be no part of the
        kernel."""
        kind, before = self.kinds.get(self.focus or ""), next(reversed(self.kinds))
        if self.chance(3) and kind is not None and kind.shape:
            self.used_whole()
        else:
            self.use()
        last = next(reversed(self.kinds))
        if last != before:
            self.store(last)

    def together_again(self) -> None:
        """Two to five accesses at one position; some under one mask."""
        shape = self.shape()
        if self.tile or not shape:
            return self.store_any()
        x = self.formulas(shape, True)
        mask, size = self.conjunction(shape, x) if self.chance(2) else None, int(self.places[x].max()) + 1
        for _ in range(self.integer(2, 5)):
            dtype = self.choice(("f32", "i32", "f16", "i64", "i8"))
            buffer = self.buffer(dtype, size)
            if self.chance(3):
                target, other = self.name(), self.other(dtype, shape) if mask else None
                self.steps.append(Access(buffer.name, x, mask, other, target=target))
                level = self.kinds[other].level if other else 0
                self.kinds[target] = Kind(dtype, shape, level)
            else:
                value = self.want(dtype, shape)
                buffer.level = max(buffer.level, self.kinds[value].level)
                self.steps.append(Access(buffer.name, x, mask, value=value))

    def swap(self) -> None:
        """A loop in which carried values take each other's places: a, b = b, a; a, b = a - b, a; ..."""
        if self.depth >= DEEPEST:
            return
        first = self.any(_carries) or self.tensor(_carries)
        dtype, shape = self.kinds[first].dtype, self.kinds[first].shape
        # two that begin as one value, Triton's frontend takes for one that does not change
        initials = list(dict.fromkeys([first, *(self.want(dtype, shape) for _ in range(self.integer(1, 3)))]))
        level = ZERO if is_float(dtype) else 0
        variables = [self.name("c") for _ in initials]
        turn, turns = self.name("i"), self.turns()
        outer = self.focus
        with self.region(turn, turns) as body:
            self.kinds.update(dict.fromkeys(variables, Kind(dtype, shape, level)))
            self.focus = self.choice(variables)
            self.body(self.integer(0, 2))
            self.focus = outer
            order = self.permutation(list(range(len(variables)))[::-1])
            nexts = []
            for i in order:
                y = self.choice(variables)
                combine: Any = self.choice((None, ("-", np.subtract), ("+", np.add)))
                if combine is None:
                    nexts.append(variables[i])
                    continue
                if self.chance(2):
                    y = self.turned(y)
                text, meaning = f"{{0}} {combine[0]} {{1}}", arithmetic(combine[1], dtype)
                nexts.append(self.emit(Kind(dtype, shape, level), text, [variables[i], y], meaning))
        self.steps.append(Loop(turn, self.bounds(turns), turns,
                               list(zip(variables, initials, nexts, strict=True)), body))
        self.kinds.update(dict.fromkeys(variables, Kind(dtype, shape, level)))

    def turned(self, x: str) -> str:
        """A tensor in an order of its own: every second element first."""
        kind = self.kinds[x]
        if self.tile or kind.numel < 2:
            return x
        text = f"tl.reshape(tl.trans(tl.reshape({{0}}, [{kind.numel // 2}, 2])), {list(kind.shape)})"
        return self.emit(kind, text, [x], view(lambda a: a.reshape(-1, 2).T.reshape(kind.shape)))


def above(number: int) -> Callable[[Any], Any]:
    return lambda a: a > number


def _links(kind: Kind) -> bool:
    return computes(kind) and (whole(kind) or kind.dtype in ("f32", "f64")) and bool(kind.shape)


def _carries(kind: Kind) -> bool:
    return computes(kind) and kind.level <= ZERO

"""Which elements an access touches, and under which mask: affine indices, data, and formulas of % // & >>
<< ^.

A formula's values are known when it is made, so it can be kept in bounds, hints on it are true, and several
accesses can share it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numeric
import numpy as np

from property.builder import Builder
from property.meaning import arithmetic, truncated
from property.steps import Kind, Value

LARGEST_BUFFER = 1 << 16  # elements, for each program
DIVISORS = (16, 64, 32, 128, 2, 4, 8, 256, 512, 3, 5, 7, 10, 12, 24, 48, 96, 100, 1000)
WRAPPING = (1103515245, 2654435, 715827883, 65537, 33554432, 1 << 30, -1103515245, 40503)

Formula = tuple[str, Callable[[np.ndarray], np.ndarray]]  # of one variable {0}: text, meaning in i64


class Positions(Builder):
    def place(self, shape: tuple[int, ...], injective: bool) -> tuple[str, int]:
        """(variable, size of the buffer): the elements of an access, often those of another access too."""
        if self.tile or not shape:
            return self.index(shape, injective)
        how = self.integer(0, 5)
        if how == 0:
            return self.index(shape, injective)
        old = [n for n in self.places if n in self.kinds and self.kinds[n].shape == shape]
        old = [n for n in old if self.distinct(n) or not injective]
        found = self.choice(old[::-1]) if old and how < 5 else self.formulas(shape, injective)
        return self.rolled(found)

    def distinct(self, name: str) -> bool:
        values = self.places[name]
        return len(np.unique(values)) == values.size

    def rolled(self, name: str) -> tuple[str, int]:
        """The position, perhaps further on in each turn of a loop around."""
        size = int(self.places[name].max()) + 1
        if not self.turning or not self.chance(3):
            return name, size
        turn, turns = self.choice(self.turning)
        step = self.choice((1, 3, 16, min(size, 512)))
        reached = [t * step for t in (turns or (0,))]
        low, high = min(reached), max(reached)
        text = f"{{0}} + ({{1}} * {self.number(step)}{f' - {self.number(low)}' if low else ''})"
        moved = self.emit(Kind("i32", self.kinds[name].shape), text, [name, turn],
                          lambda x, t: Value((x.data + (t.data * step - low)).astype(np.int32)))
        return moved, size + high - low

    # ---- formulas

    def formulas(self, shape: tuple[int, ...], injective: bool) -> str:
        """A new position: some formulas of another, or of the index of the element."""
        old = [n for n in self.places if n in self.kinds and self.kinds[n].shape == shape]
        old = [n for n in old if self.distinct(n) or not injective]
        x = self.choice(old[::-1]) if old and self.chance(3) else self.element(shape)
        for _ in range(self.integer(0 if old else 1, 3)):
            text, meaning = self.formula(x)
            values = meaning(self.places[x])
            values32 = values.astype(np.int64).astype(np.int32)
            if (values32 != values).any() or values.min() < 0 or values.max() >= LARGEST_BUFFER:
                continue
            if injective and len(np.unique(values)) < values.size:
                continue
            x = self.placed(text, [x], values)
        return self.hinted(x)

    def placed(self, text: str, args: list[str], values: np.ndarray) -> str:
        made = values.astype(np.int32)
        name = self.emit(Kind("i32", made.shape), text, args, lambda *_: Value(made))
        self.places[name] = values.astype(np.int64)
        return name

    def element(self, shape: tuple[int, ...]) -> str:
        """The number of the element, dimensions in any order."""
        order = self.permutation(list(range(len(shape)))[::-1]) if self.chance(3) else range(len(shape))[::-1]
        strides, stride = [0] * len(shape), 1
        for d in order:
            strides[d] = stride
            stride *= shape[d]
        text, _, value = self.affine(shape, 0, strides)
        return self.placed(text, [], value().data)

    def formula(self, x: str) -> Formula:
        """A formula of a position; most keep what is distinct distinct."""
        top = int(self.places[x].max())
        bits = max(1, top.bit_length())
        k = self.integer(0, bits)
        d = self.choice([n for n in DIVISORS if n <= max(2, top)])
        s, c = d + self.choice((0, d, 1, 3, 16)), self.integer(0, 17)
        e = self.choice((2, 3, 4, 8))
        odd, rows = self.choice((3, 5, 7, 181)), -(-(top + 1) // d)
        known: tuple[Formula, ...] = (
            (f"{{0}} % <{d}> + {{0}} // <{d}> * <{s}>", lambda v: v % d + v // d * s),
            (f"{{0}} // {d} + {{0}} % {d} * <{rows}>", lambda v: v // d + v % d * rows),
            (f"{{0}} // {d} * {s} + {{0}} % {d} + <{c}>", lambda v: v // d * s + v % d + c),
            (f"({{0}} & {(1 << k) - 1}) | (({{0}} >> {k}) << {k + 1})",
             lambda v: (v & ((1 << k) - 1)) | ((v >> k) << (k + 1))),
            (f"{{0}} ^ <{c}>", lambda v: v ^ c),
            (f"{{0}} ^ ({{0}} >> {max(1, k)})", lambda v: v ^ (v >> max(1, k))),
            (f"{{0}} * {odd} & {(1 << bits) - 1}", lambda v: v * odd & ((1 << bits) - 1)),
            (f"{{0}} * <{e}> + <{c}>", lambda v: v * e + c),
            (f"<{top}> - {{0}}", lambda v: top - v),
            (f"(({{0}} << {k}) | ({{0}} >> {bits - k})) & {(1 << bits) - 1}",
             lambda v: ((v << k) | (v >> (bits - k))) & ((1 << bits) - 1)),
            (f"{{0}} + ({{0}} >> {k}) * {c}", lambda v: v + (v >> k) * c),
            (f"{{0}} // {d * e} * {d * e} + {{0}} % {d} * {e} + {{0}} // {d} % {e}",
             lambda v: v // (d * e) * (d * e) + v % d * e + v // d % e),
            (f"{{0}} % <{d}>", lambda v: v % d),
            (f"{{0}} // <{d}>", lambda v: v // d),
            (f"{{0}} >> {k}", lambda v: v >> k),
            (f"{{0}} & {s}", lambda v: v & s),
            (f"tl.minimum({{0}}, <{c}>)", lambda v: np.minimum(v, c)),
            (f"tl.abs({{0}} - <{d}>)", lambda v: np.abs(v - d)),
            (f"({{0}}.to(tl.int16) * {odd}).to(tl.int32) & 1023",
             lambda v: (v * odd).astype(np.int16).astype(np.int64) & 1023),
            (f"({{0}} * 1103515245 >> {k}) & 255",
             lambda v: ((v * 1103515245).astype(np.int32) >> min(k, 31)).astype(np.int64) & 255),
            (f"{{0}}.to(tl.uint8).to(tl.int32) // {d}", lambda v: (v & 255) // d),
        )
        text, meaning = self.choice((*known[:3], *known[:3], *known))
        return self.numbered(text), meaning

    def hinted(self, x: str) -> str:
        """The position, sometimes with what is true of it said."""
        values = self.places[x]
        rank = values.ndim
        if not self.chance(6) or values.shape[-1] == 1:
            return x
        contiguous = _longest(values, lambda run: (np.diff(run, axis=-1) == 1).all())
        constant = _longest(values, lambda run: (np.diff(run, axis=-1) == 0).all())

        def shown(n: int) -> str:
            return str([1] * (rank - 1) + [n]) if rank > 1 else str(n)
        if contiguous > 1:
            text = f"tl.max_contiguous({{0}}, {shown(contiguous)})"
            starts = values.reshape(-1, contiguous)[:, 0]
            divisor = int(np.gcd.reduce(np.append(starts, contiguous)))
            if divisor > 1 and divisor & (divisor - 1) == 0 and self.chance(2):
                text = f"tl.max_contiguous(tl.multiple_of({{0}}, {shown(divisor)}), {shown(contiguous)})"
        elif constant > 1:
            text = f"tl.max_constancy({{0}}, {shown(constant)})"
        else:
            return x
        return self.placed(text, [x], values)

    # ---- masks

    def mask(self, shape: tuple[int, ...], index: str) -> str | None:
        """None, a simple mask, or up to six comparisons; often one that another access has."""
        old = [n for n in self.masks if n in self.kinds and self.kinds[n].shape == shape]
        if old and self.chance(2):
            return self.choice(old[::-1])
        how = self.integer(0, 3)
        if self.wraps and shape and not self.tile and self.chance(2):
            found = self.conjunct(shape, index)
        elif how < 2 or not shape or self.tile:
            found = self.simple_mask(shape, index)
        else:
            found = self.conjunction(shape, index)
        if found:
            self.masks.append(found)
        return found

    def conjunction(self, shape: tuple[int, ...], index: str) -> str:
        """Several comparisons; in half of them each holds almost everywhere, so that whole windows pass."""
        count, part = self.choice((1, 4, 2, 3, 5, 6)), self.choice((self.near, self.conjunct))
        parts = [part(shape, index) for _ in range(count)]
        if len(parts) == 1:
            return parts[0]
        text = " & ".join(f"{{{i}}}" for i in range(len(parts)))
        return self.emit(Kind("i1", shape), text, parts,
                         lambda *held: Value(np.logical_and.reduce([v.data for v in held])))

    def near(self, shape: tuple[int, ...], index: str) -> str:
        """A comparison of a position with a number near the ends of its values."""
        old = [n for n in self.places if n in self.kinds and self.kinds[n].shape == shape]
        x = self.choice(old[::-1]) if old else self.element(shape)
        low, high = int(self.places[x].min()), int(self.places[x].max())
        away = self.choice((0, 1, 0, 100, -1, -3))
        symbol, bound, holds = self.choice((
            ("<", high + 1 + away, np.less), (">=", low - away, np.greater_equal),
            ("<=", high + away, np.less_equal),
            (">", low - 1 - away, np.greater), ("!=", low - 1 - away, np.not_equal),
        ))
        return self.emit(Kind("i1", shape), self.numbered(f"{{0}} {symbol} <{bound}>"), [x],
                         lambda v: Value(holds(v.data, bound)))

    def conjunct(self, shape: tuple[int, ...], index: str) -> str:
        """A comparison; in some programs often of numbers that wrap."""
        old = [n for n in self.places if n in self.kinds and self.kinds[n].shape == shape]
        x = self.choice([*old[::-1], index]) if old else index
        how = self.choice((4, 4, 0, 4, 5, 6, 1, 2, 3)) if self.wraps else self.integer(0, 3)
        if how == 4 and self.chance(2):
            x = self.element(shape)
        if how == 0 and not self.chance(4):
            return self.bound(shape)
        symbol, holds = self.choice((("<", np.less), (">=", np.greater_equal), (">", np.greater),
                                     ("!=", np.not_equal), ("<=", np.less_equal)))
        d, c = self.choice(DIVISORS[:8]), self.choice((0, 1, 5, 100, 16, -1, -100))
        factor, dtype = self.choice(WRAPPING), self.kinds[x].dtype
        if how == 6:
            dtype = self.choice(("i8", "i16", "u32", "u8", "u16"))
        small = self.integer(1, 100) if how == 6 else 0
        text, function = {
            0: ("{0}", lambda v: v),
            1: (f"{{0}} % {d}", lambda v: truncated(v, d)[1]),
            2: (f"{{0}} // {d}", lambda v: truncated(v, d)[0]),
            3: (f"({{0}} & {d})", lambda v: v & d),
            4: (f"{{0}} * <{factor}>", lambda v: v * factor),
            5: (f"{{0}} + <{2147483647 - abs(c) - d}>", lambda v: v + (2147483647 - abs(c) - d)),
            6: (f"({{0}}.to(tl.{'u' * (dtype[0] == 'u')}int{dtype[1:]}) * {small})", lambda v: v * small),
        }[how]
        if how == 6:
            c = abs(c)
        kept = numeric.DTYPES[dtype].values
        if how in (1, 2, 3):
            c = self.integer(0, d)
        return self.emit(
            Kind("i1", shape), self.numbered(f"{text} {symbol} {f'<{c}>' if how < 6 else c}"), [x],
            lambda v: Value(holds(function(v.data.astype(np.int64)).astype(kept), kept(c))),
        )

    def bound(self, shape: tuple[int, ...]) -> str:
        axis = self.integer(0, len(shape) - 1)
        most = self.choice((shape[axis], shape[axis] - 1, self.integer(0, shape[axis]), shape[axis] + 5))
        text = f"tl.broadcast_to({self.range(axis, shape)} < {self.number(most)}, {self.dims(shape)})"
        held = np.broadcast_to(np.indices(shape)[axis] < most, shape)
        return self.emit(Kind("i1", shape), text, [], lambda: Value(held))

    # ---- affine indices, and data

    def index(self, shape: tuple[int, ...], injective: bool) -> tuple[str, int]:
        """(variable, size of the buffer): which elements an access touches."""
        count = int(np.prod(shape))
        how = self.integer(0, 7)
        if how == 7 and count > 1 and not injective:
            return self.gathered(shape)
        order = list(range(len(shape)))[::-1]
        if how >= 4 and len(order) > 1:
            order = self.permutation(order)
        stride, strides = self.choice((1, 1, 1, 2, 3)), [0] * len(shape)
        for d in order:
            strides[d] = stride
            stride *= shape[d]
            if how >= 5:
                stride += self.integer(0, 3)
        if how == 6 and not injective:
            strides[self.integer(0, len(shape) - 1)] = 0
        elif how == 6:
            axis = self.integer(0, len(shape) - 1)
            strides[axis] = -strides[axis]
        start = self.choice((0, 0, 0, 1, 4, 5, 16)) - sum(
            s * (n - 1) for s, n in zip(strides, shape, strict=True) if s < 0
        )
        reach = sum(s * (n - 1) for s, n in zip(strides, shape, strict=True) if s > 0)
        size = start + reach + 1
        made = self.emit(Kind("i32", shape), *self.affine(shape, start, strides))
        if injective and how == 7 and count > 1:  # a permutation: odd factors modulo a power of two
            factor, power = self.choice((3, 5, 7, 1)), 1 << (size - 1).bit_length()
            return self.emit(
                Kind("i32", shape),
                f"({{0}} * {factor} + 1) % {power}",
                [made],
                lambda x: Value((x.data * factor + 1) % power),
            ), power
        return made, size

    def affine(self, shape: tuple[int, ...], start: int, strides: list[int]) -> tuple[Any, ...]:
        """(text, operands, meaning) of start + the sum of indices times strides."""
        terms = []
        for d, s in enumerate(strides):
            if s:
                part = self.range(d, shape)
                runtime = s > 1 and self.chance(3)
                terms.append(f"{part} * {self.scalar(s) if runtime else s}" if s != 1 else part)
        if start:
            terms.append(str(self.scalar(start) if self.chance(3) else start))
        text = " + ".join(terms) or "0"
        full = sum(1 for s in strides if s)
        if full < len(shape):
            dims = self.dims(shape)
            text = f"tl.broadcast_to({text}, {dims})" if full else f"tl.full({dims}, {start}, tl.int32)"
        grid = np.indices(shape)
        value = start + sum((g * s for g, s in zip(grid, strides, strict=True)), np.zeros(shape, np.int64))
        value = value.astype(np.int32)
        return text, (), lambda: Value(value)

    def gathered(self, shape: tuple[int, ...]) -> tuple[str, int]:
        size = self.choice((16, 64, 256, 2))
        found = self.any(lambda k: k.shape == shape and k.dtype in numeric.INTEGERS)
        return self.remainder(found or self.load("i32", shape), size), size

    def simple_mask(self, shape: tuple[int, ...], index: str) -> str | None:
        how = self.integer(0, 6)
        if how < 3 or not shape:
            return None
        if how == 3:
            return self.want("i1", shape)
        if how == 4:
            bound = self.integer(0, int(np.prod(shape)) + 4)
            text = f"{{0}} < {self.scalar(bound)}"
            return self.emit(Kind("i1", shape), text, [index], arithmetic(lambda x: x < bound, "i1"))
        chosen = list(range(len(shape))) if how == 6 else [self.integer(0, len(shape) - 1)]
        bounds = [self.integer(0, shape[axis]) for axis in chosen]
        parts = [
            f"({self.range(axis, shape)} < {self.scalar(n)})" for axis, n in zip(chosen, bounds, strict=True)
        ]
        grid = np.indices(shape)
        value = np.logical_and.reduce([grid[axis] < n for axis, n in zip(chosen, bounds, strict=True)])
        text = f"tl.broadcast_to({' & '.join(parts)}, {self.dims(shape)})"
        return self.emit(Kind("i1", shape), text, (), lambda: Value(value))


def _longest(values: np.ndarray, holds: Callable[[np.ndarray], Any]) -> int:
    """The largest power of two so that the aligned runs of so many elements have the property."""
    found, size = 1, 2
    while values.shape[-1] % size == 0 and holds(values.reshape(-1, size)):
        found, size = size, size * 2
    return found

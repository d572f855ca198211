"""Random well-typed programs: `programs()` is a hypothesis strategy, so what fails shrinks.

Each draw is a small integer, and the plainest choice comes first: fewer steps, f32, one dimension, no mask,
all ones, one program.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from property.axes import Axes, Products
from property.builder import DTYPES
from property.control import Control
from property.elementwise import Elementwise
from property.meaning import arithmetic, is_float
from property.program import Kind, Program
from property.views import Views

LARGEST = 4096
MOST_STORES = 8  # of values that nothing has used, at the end


@st.composite
def programs(draw: Any, largest: int = LARGEST, steps: int = 9) -> Program:
    """Programs of up to `steps` steps (with those of loops and branches: a few times more)."""
    return Programs(lambda low, high: draw(st.integers(low, high)), largest).build(steps)


class Programs(Control, Elementwise, Views, Axes, Products):
    """Programs of all kinds of steps, loops and branches among them."""

    def build(self, steps: int) -> Program:
        how = self.integer(0, 7)
        if how in (5, 6):
            self.program.grid = self.choice(((2,), (3,), (2, 2)))
            self.kinds["pid"] = Kind("i32", ())
        if how == 7:
            self.program.tile = min(1 << self.integer(3, 6), self.largest)
        self.load(self.choice(DTYPES), self.shape())
        if self.chance(2):
            self.chain()
        self.body(self.integer(1, steps))
        text = self.program.source()
        unused = [name for name in self.kinds if len(re.findall(rf"\b{name}\b", text)) == 1]
        kept = self.together(unused)[-MOST_STORES:] or [next(reversed(self.kinds))]
        for name in kept:
            if self.tile and not self.kinds[name].shape:
                name = self.broadcast(name, (self.tile,))
            self.store(name)
        self.program.warps = self.choice((4, 1, 8, 2))
        return self.program

    def together(self, names: list[str]) -> list[str]:
        """Fewer values that show as much: integers of one type are joined by ^."""
        groups: dict[object, list[str]] = {}
        for name in names:
            kind = self.kinds[name]
            groups.setdefault(name if is_float(kind.dtype) else kind, []).append(name)
        kept = []
        for first, *rest in groups.values():
            for name in rest:
                kind = self.kinds[name]
                function = np.logical_xor if kind.dtype == "i1" else np.bitwise_xor
                first = self.emit(kind, "{0} ^ {1}", [first, name], arithmetic(function, kind.dtype))
            kept.append(first)
        return kept

    def body(self, count: int) -> None:
        for _ in range(count):
            self.choice(TILED if self.tile else ACTIONS)(self)

    def chain(self) -> None:
        """Several elementwise steps in a row: they cost little to compile."""
        for _ in range(self.integer(4, 16)):
            self.choice(ELEMENTWISE)(self)

    def store_any(self) -> None:
        """Programs of a tiled grid store no scalars: all would write to one place."""
        super().store(self.any(lambda k: bool(k.shape) or not self.tile) or self.tensor())


_B = Programs
ELEMENTWISE: tuple[Callable[[Programs], None], ...] = (
    _B.binary,
    _B.binary,
    _B.binary,
    _B.unary,
    _B.compare,
    _B.compare,
    _B.where,
    _B.cast,
    _B.cast,
    _B.divide,
    _B.divide,
    _B.extreme,
    _B.bits,
    _B.downcast,
    _B.correct,
    _B.modulo,
    _B.clamp,
    _B.rounding,
)
TILED = (
    *ELEMENTWISE,
    _B.chain,
    _B.chain,
    _B.chain,
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
    _B.several_at_once,
    _B.recurrence,
    _B.sort,
    _B.permute,
    _B.store_any,
    _B.store_any,
    _B.loop,
    _B.branch,
    _B.move_pointers,
)
ACTIONS = (
    *TILED,
    _B.reshape,
    _B.reshape,
    _B.permute,
    _B.permute,
    _B.histogram,
    _B.reduce_all,
    _B.reduce_all,
    _B.several_at_once,
    _B.dot,
    _B.dot,
    _B.atomic,
    _B.atomic,
    _B.atomic_old,
    _B.store_any,
    _B.repeat,
    _B.repeat,
    _B.branch,
    _B.call,
    _B.call,
    _B.chain,
    _B.chain,
)

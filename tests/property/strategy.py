"""Random well-typed programs: `Programs(draw, lanes).build(steps)`.

Each draw is a small integer, and the plainest choice comes first: fewer steps, f32, one dimension, no mask,
all ones, one program. A program has a few families of steps (FAMILIES), so that steps of one kind meet
often in some programs and never in others: features that hide each other are seen apart (Groce and others,
"Swarm testing", 2012).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from property.axes import Axes, Products
from property.builder import DTYPES
from property.elementwise import Elementwise
from property.meaning import arithmetic, is_float
from property.program import Program
from property.steps import Kind
from property.views import Views
from property.waiting import Waiting

MOST_STORES = 8  # of values that nothing has used, at the end

#: elements of most tensors of one dimension: from 512 on, vector mode walks them in steps
BLOCKS = (64, 1024, 512, 2048, 1024, 4096, 1024, 512, 8192, 256, 32, 128, 16, 1, 4, 2)
#: a lane holds so many elements of a tensor at most; with more, compiling one kernel takes a minute
EACH_LANE = 16
#: elements of a tensor where an interpreter executes each instruction
SLOW_MOST = 1024


class Programs(Waiting, Elementwise, Views, Axes, Products):
    """Programs of all kinds of steps, loops and branches among them."""

    def __init__(self, draw: Callable[[int, int], int], lanes: int = 0, slow: bool = False) -> None:
        """`lanes` of a warp; 0: a program runs in one work-item. `slow`: nothing executes quickly here."""
        super().__init__(draw, 1)
        self.lanes, self.slow = lanes, slow

    def build(self, steps: int) -> Program:
        self.program.warps = self.choice((4, 1, 8, 2))
        most = self.lanes * self.program.warps * (2 if self.slow else EACH_LANE) or max(BLOCKS)
        most = min(most, SLOW_MOST) if self.slow else most
        self.width = min(self.choice(BLOCKS), most)
        self.largest = min(max(self.width, 256), most)
        self.reuse = self.choice((3, 5, 1))
        self.wraps = self.chance(4)
        how = self.integer(0, 7)
        if how in (4, 5, 6):
            many = self.integer(3, 5 if self.slow else 17)
            self.program.grid = self.choice(((2,), (many,), (2, 2), (3, 2 if self.slow else 4)))
            self.kinds["pid"] = Kind("i32", ())
        if how == 7:
            self.program.tile = min(1 << self.integer(3, 6), self.largest)
        self.actions = self.profile()
        self.load(self.choice(DTYPES), self.shape())
        self.body(self.integer(1, steps))
        text = self.program.source()
        unused = [name for name in self.kinds if len(re.findall(rf"\b{name}\b", text)) == 1]
        kept = self.together(unused)[-MOST_STORES:] or [next(reversed(self.kinds))]
        for name in kept:
            if self.tile and not self.kinds[name].shape:
                name = self.broadcast(name, (self.tile,))
            self.store(name)
        return self.program

    def profile(self) -> Sequence[Callable[[Programs], None]]:
        """What steps the program has: all kinds, or those of two to four families."""
        if self.tile:
            return TILED
        if not self.chance(4):
            chosen = [self.choice(tuple(FAMILIES)) for _ in range(self.integer(2, 4))]
            return (*(action for name in chosen for action in FAMILIES[name]), *ALWAYS)
        return (*(action for family in FAMILIES.values() for action in family), *ALWAYS)

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
            self.choice(self.actions)(self)

    def chain(self) -> None:
        """Several elementwise steps in a row: they cost little to compile."""
        for _ in range(self.integer(4, 16)):
            self.choice(ELEMENTWISE)(self)

    def used_whole(self) -> None:
        self.choice((_B.gather, _B.reduce, _B.scan, _B.permute, _B.gather))(self)

    def store_any(self) -> None:
        """Programs of a tiled grid store no scalars: all would write to one place."""
        super().store(self.any(lambda k: bool(k.shape) or not self.tile) or self.tensor())


_B = Programs
ELEMENTWISE: tuple[Callable[[Programs], None], ...] = (
    _B.binary, _B.binary, _B.binary, _B.unary, _B.compare, _B.compare, _B.where, _B.cast, _B.cast,
    _B.divide, _B.divide, _B.extreme, _B.bits, _B.downcast, _B.correct, _B.modulo, _B.clamp, _B.rounding,
    _B.to_whole,
)
FAMILIES: dict[str, tuple[Callable[[Programs], None], ...]] = {
    "sharing": (_B.shared, _B.shared, _B.deep, _B.store_any),
    "memory": (_B.store_any, _B.store_any, _B.load_any, _B.load_any, _B.together_again,
               _B.handed, _B.handed),
    "overwriting": (_B.overwrite, _B.overwrite, _B.overwrite_rounds, _B.look_up, _B.load_any),
    "loops": (_B.loop, _B.swap, _B.swap, _B.repeat, _B.move_pointers),
    "arms": (_B.branch, _B.branch, _B.call, _B.call, _B.repeat, _B.branch, _B.handed),
    "axes": (_B.reduce, _B.reduce, _B.reduce_all, _B.arg_reduce, _B.scan, _B.several_at_once, _B.recurrence,
             _B.sort),
    "views": (_B.reshape, _B.permute, _B.expand, _B.join, _B.split, _B.flip, _B.gather, _B.histogram),
    "products": (_B.dot, _B.dot, _B.dot_scaled),
    "meetings": (_B.atomic, _B.atomic_old, _B.met, _B.met, _B.relay, _B.lock, _B.last, _B.handed),
    "elementwise": (_B.chain, _B.chain),
}
ALWAYS = (*ELEMENTWISE[::3], _B.store_any, _B.store_any, _B.load_any)
TILED = (
    *ELEMENTWISE, _B.chain, _B.chain, _B.chain, _B.expand, _B.expand, _B.join, _B.split, _B.flip, _B.gather,
    _B.reduce, _B.reduce, _B.arg_reduce, _B.scan, _B.several_at_once, _B.recurrence, _B.sort, _B.permute,
    _B.store_any, _B.store_any, _B.loop, _B.branch, _B.move_pointers, _B.swap, _B.deep,
)

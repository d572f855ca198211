"""Rounds of a product that wait (waiting_rounds.py), as its loops see them."""

from __future__ import annotations

from dataclasses import replace

from ... import panel_layout as layout
from ...dataclass import dataclass
from ...spirv.builder import I32, I64
from ...spirv.control import IfElse
from ...spirv.module import Value as Register
from ..context import Context
from .in_memory import InMemory

#: Steps along K after which lines of the right operand are fetched into the nearest cache: of many rounds it
#: lies in the second one.
AHEAD = 8


@dataclass(frozen=True)
class Waiting:
    """most: rounds that are multiplied together. count: a variable, i32, how many wait; shelf: one, i64, the
    number of the shelf where they lie."""

    most: int
    count: Register
    shelf: Register

    @staticmethod
    def of(ctx: Context, most: int) -> Waiting:
        m = ctx.b.module
        count, shelf = m.variable(I32), m.variable(I64)
        with m.at_entry():
            m.emit("OpStore", count, m.constant(I32, 0))
        return Waiting(most, count, shelf)

    def before(self, ctx: Context) -> Register:
        """i32: how many wait."""
        return ctx.b.emit("OpLoad", self.count, type=I32)

    def number(self, ctx: Context) -> Register:
        """i64: that of their shelf."""
        return ctx.b.emit("OpLoad", self.shelf, type=I64)

    def wait(self, ctx: Context, count: Register, number: Register) -> None:
        """So many do, on that shelf."""
        ctx.b.emit("OpStore", self.count, count)
        ctx.b.emit("OpStore", self.shelf, number)


@dataclass(frozen=True)
class Rounds:
    """The left operands of so many rounds; labels: the address of the first one's label. here: that of the
    current round, and alone: a scalar Bool, is it the only one? elements: of the right operand of a round."""

    here: InMemory
    labels: Register
    alone: Register
    count: Register
    elements: int

    def origin(self, ctx: Context, batch: Register, row: Register) -> Register:
        """Each round has its own: the row."""
        return row

    def of(self, ctx: Context, round: Register) -> InMemory:
        """That of a round, by its number among these."""
        b, env, outer = ctx.b, ctx.env, self.here.outer
        label = b.iadd(self.labels, b.imul(b.resize(round, I64.width), layout.LABEL_BYTES))
        branch = IfElse(b.module, self.alone)
        with branch.then():
            address = env.address(self.here.pointer)
            branch.yield_([address] if isinstance(outer, int) else [address, b.resize(outer, I64.width)])
        with branch.otherwise():
            words = [layout.LEFT] if isinstance(outer, int) else [layout.LEFT, layout.LEFT_DOWN]
            branch.yield_([env.load(env.pointer(b.iadd(label, 8 * word), I64), 1) for word in words])
        pointer = b.emit("OpConvertUToPtr", branch.results[0], type=self.here.pointer.type)
        down = outer if isinstance(outer, int) else branch.results[1]
        return replace(self.here, pointer=pointer, outer=down)

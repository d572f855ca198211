"""Tiles of sums that go to memory while the next one is multiplied.

Sums that are converted before they are stored (last_round.py) leave tile registers for an array, and go from
there to memory row by row. To do so at once, nothing is multiplied meanwhile. So a tile waits in the array
until the next one is multiplied, and with each step along K a few of its rows are stored:

    step    0                 1                 ...
    tile 0  multiply          multiply               then into the array
    tile 1  multiply, rows 0  multiply, rows 1       then into the array
    at the end: all rows of the last one

What is multiplied then is all of it in the round that `Straight.now` holds in, and lies apart from what is
stored. Of the array one half is written while the other one waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dataclass import dataclass
from ...spirv.builder import I32
from ...spirv.control import IfElse, if_
from ...spirv.module import Value as Register
from ..context import Context
from ..values.tensor import Stored
from ..values.types import register_type
from .grouped import VECTOR
from .last_round import Straight
from .loops import counted
from .places import Place
from .tile_fetches import Meanwhile

#: Rows that are stored with one step. Where there were more, steps are few and the code long.
MOST_ROWS = 4


def may_wait(block: tuple[int, int], steps: int) -> bool:
    """Do the rows of tiles [rows, columns] go with so many steps along K? Both are powers of two."""
    return steps <= block[0] <= MOST_ROWS * steps


@dataclass(frozen=True)
class LateTiles:
    """Tiles of the shape `block` [rows, columns] of a product of so many steps along K.

    array      [2 * rows, columns]
    streams    a scalar Bool: do rows go past the caches? None for never
    normal     no sum is a denormal number
    half       a variable: which half of the array the next tile is put into
    waits      a variable: 1 if a tile is in the other half
    place      variables: where that one begins
    """

    straight: Straight
    block: tuple[int, int]
    steps: int
    array: Stored
    streams: Register | None
    normal: bool
    half: Register
    waits: Register
    place: tuple[Register, ...]

    @staticmethod
    def of(ctx: Context, straight: Straight, result: Stored, block: tuple[int, int], steps: int,
           streams: Register | None, normal: bool) -> LateTiles:
        """Of the sums that `result` holds in earlier rounds; none waits yet."""
        b, (high, wide) = ctx.b, block
        array = ctx.arrays.allocate((2 * high, wide), result.element)
        half, waits, *place = (b.module.variable(I32) for _ in range(5))
        for variable in (half, waits):
            b.emit("OpStore", variable, b.constant(I32, 0))
        return LateTiles(straight, block, steps, array, streams, normal, half, waits, tuple(place))

    def multiply(self, ctx: Context, along: Callable[[Meanwhile | None], None]) -> None:
        """along: multiplies a tile, and calls what it gets with each step."""
        module = ctx.b.module

        def rows(stream: bool) -> Meanwhile:
            each = self.block[0] // self.steps

            def store(step: Register) -> None:
                for number in range(each):
                    self._store(ctx, ctx.b.iadd(ctx.b.imul(step, each), number), stream)
            return store

        branch = IfElse(module, self._waits(ctx))
        with branch.then():
            if self.streams is None:
                along(rows(False))
            else:
                way = IfElse(module, self.streams)
                with way.then():
                    ctx.env.fence_stream()
                    along(rows(True))
                    ctx.env.fence_stream()
                with way.otherwise():
                    along(rows(False))
        with branch.otherwise():
            along(None)

    def put(self, ctx: Context, place: Place, leave: Callable[[Stored, Register], None]) -> None:
        """A tile that has been multiplied; leave: takes it from its registers to the array, from an element
        on."""
        b, (high, wide) = ctx.b, self.block
        half = self._value(ctx, self.half)
        leave(self.array, b.imul(half, high * wide))
        b.emit("OpStore", self.half, b.isub(b.constant(I32, 1), half))
        b.emit("OpStore", self.waits, b.constant(I32, 1))
        for variable, index in zip(self.place, place, strict=True):
            b.emit("OpStore", variable, b.resize(index, I32.width))

    def end(self, ctx: Context) -> None:
        """All tiles have been multiplied."""
        with if_(ctx.b.module, self._waits(ctx)), counted(ctx, self.block[0]) as row:
            self._store(ctx, row.index, False)

    def _waits(self, ctx: Context) -> Register:
        return ctx.b.compare("OpIEqual", self._value(ctx, self.waits), 1)

    def _store(self, ctx: Context, number: Register, stream: bool) -> None:
        """A row of the tile that waits."""
        b = ctx.b
        other = b.imul(b.isub(b.constant(I32, 1), self._value(ctx, self.half)), self.block[0])
        values = row_of(ctx, self.array, b.iadd(other, number))
        batch, row, column = (self._value(ctx, variable) for variable in self.place)
        self.straight.store_row(ctx, (batch, b.iadd(row, number), column), values, stream, self.normal)

    def _value(self, ctx: Context, variable: Register) -> Register:
        return ctx.b.emit("OpLoad", variable, type=I32)


def row_of(ctx: Context, stored: Stored, row: Register) -> Sequence[Register]:
    """The vectors of one row of [rows, columns]."""
    columns, element = stored.shape[-1], register_type(stored.element)
    start = ctx.b.imul(row, columns)
    return [ctx.env.private_load(stored.array, stored.width, element, ctx.b.iadd(start, column), VECTOR)
            for column in range(0, columns, VECTOR)]

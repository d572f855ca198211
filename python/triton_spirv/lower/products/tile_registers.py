"""Products on a processor's tile registers.

A register holds 16 rows of 16 words of 32 bits, or fewer; a word of an operand is a group of neighbours along
K (grouped.py). Of the eight registers four hold sums, two rows of tiles by two columns where the result is
large enough, over the whole of K; the others are loaded with operands. Operands lie in private arrays: the
left one tile by tile, the right one in panels, whose rows are those of its tiles. A left operand whose rows
are contiguous is loaded from where it lies in memory (in_memory.py). In the last round of a loop registers
may be stored where the result belongs, or go there by way of vectors (last_round.py), while the next ones
are multiplied (late_tiles.py).

                       right: K words x 32 columns
                           b0      b1
    left: 32 rows    a0   sums 0  sums 1     a0, b0, then a0 x b0 -> 0; b1, a0 x b1 -> 1;
    x K words        a1   sums 2  sums 3     a1, a1 x b0 -> 2, a1 x b1 -> 3; the next 16 words of K

Products of bf16 take denormal numbers as zero, and so they do the sums that they are added to (pairs.py says
where that makes no difference to products). Sums that a loop begins with zero and only adds such products to
are never denormal; other sums are added to by an addition of their own, behind the products. Where that loop
is in its first round, registers begin with zeros, and nothing is loaded (zeroed_sums.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod

from ...dataclass import dataclass
from ...spirv.builder import I32, I64
from ...spirv.control import IfElse, if_
from ...spirv.module import Value as Register
from ..context import Context
from ..values.tensor import Stored
from ..values.types import register_type
from .destination import Destination
from .grouped import GROUPS, VECTOR, Grouped
from .in_memory import InMemory
from .last_round import Straight
from .late_tiles import LateTiles, row_of
from .loops import counted
from .operand import Block
from .places import Place
from .tile_fetches import Meanwhile, divided, lines_of_part, panel_behind

#: Bytes of a word.
WORD = 4

#: Rows of a tile register, and 32-bit words of a row; how many registers hold sums.
SIDE, SUMS = 16, 4

#: Tiles of sums side by side, of a panel.
COLUMNS = 2

#: Tiles along K in one turn of the innermost loop.
UNROLLED = 2


@dataclass(frozen=True)
class Places:
    """Where tiles of sums lie in an array whose rows have so many columns: tiles side by side are `scale`
    times their columns apart, rows of a tile `pitch`."""

    columns: int
    scale: int | Register
    pitch: int | Register


@dataclass(frozen=True)
class Fetches:
    """What is fetched while tiles are multiplied, besides sums. far: a scalar Bool, may the next panel of the
    right operand lie outside of the second cache? result: what the last round stores to, if that is known."""

    far: Register | None
    result: Destination | None


@dataclass(frozen=True)
class Tiling:
    """How a product is divided among tile registers. rows, columns, words (along K) of one tile; depth: words
    along K of the operands; down, across: the tiles of sums that are computed at a time; form: of the words;
    apart: products are summed on their own, and added to what there was at the end.
    """

    rows: int
    columns: int
    words: int
    depth: int
    down: int
    across: int
    form: str
    apart: bool = False

    @staticmethod
    def of(left: Grouped, form: str, panel: int, apart: bool) -> Tiling:
        """For a left operand [..., M, words] and a right one in panels of so many columns."""
        m, depth = left.shape[-2:]
        tiles_down, tiles_across = max(1, m // SIDE), panel // SIDE
        across = min(tiles_across & -tiles_across, 2 if tiles_down > 1 else SUMS)
        down = min(tiles_down, SUMS // across)
        return Tiling(min(m, SIDE), SIDE, min(depth, SIDE), depth, down, across, form, apart)

    @property
    def block(self) -> tuple[int, int]:
        """Rows and columns of the result that are computed at a time."""
        return self.down * self.rows, self.across * self.columns

    @property
    def steps(self) -> int:
        """Along K."""
        return self.depth // self.words

    def multiply(self, ctx: Context, a: Block | InMemory, b: Block, result: Stored, accumulate: bool,
                 begins: Register | None, straight: Straight | None, tiled: Register | None,
                 fetches: Fetches) -> None:
        """result [..., M, N] (+)= a x b: panels of b outside, so that one stays in the nearest cache while
        the rows of a pass by. begins: a scalar Bool, if what is added to counts as zero where it holds.
        straight: where the result goes instead, if it may. tiled: a scalar Bool, do tiles of the result lie
        one by one (in_tiles)?"""
        builder, env = ctx.b, ctx.env
        rows, columns = result.shape[-2:]
        high, wide = self.block
        panel = b.depth
        places = Places(columns, 1, columns) if tiled is None else Places(
            columns, builder.select(tiled, builder.constant(I32, SIDE), 1),
            builder.select(tiled, builder.constant(I64, SIDE), columns))
        streams = None if straight is None else straight.streams(
            ctx, prod(result.shape), straight.row_width(ctx, wide, VECTOR))
        adds = accumulate and self.apart
        late = None if straight is None or not straight.late else LateTiles.of(
            ctx, straight, result, self.block, self.steps, streams, self._leaves_normal)
        block = ctx.arrays.allocate(self.block, result.element) \
            if adds or (straight is not None and late is None) else None
        apart = block if adds else None
        behind = None if fetches.result is None else fetches.result.unless(ctx, streams)
        env.configure_tiles(self._sizes())
        with counted(ctx, prod(result.shape[:-2])) as batch, counted(ctx, columns // panel) as over:
            right = builder.iadd(builder.imul(batch.index, b.batch), builder.imul(over.index, b.outer))
            with counted(ctx, rows // high) as passing:
                row = builder.imul(passing.index, high)
                left = a.origin(ctx, batch.index, row)
                first = builder.iadd(builder.imul(batch.index, rows * columns), builder.imul(row, columns))
                for column in range(0, panel, wide):
                    across = builder.iadd(builder.imul(over.index, panel), column)
                    at = builder.iadd(first, builder.imul(across, places.scale))
                    self._begin(ctx, result, at, places, accumulate and apart is None, begins)
                    place, meanwhile = (batch.index, row, across), list[Meanwhile]()
                    if accumulate and self.fetches:
                        below = builder.iadd(at, high * columns)
                        meanwhile.append(self._fetch_sums(ctx, result, below, places, begins))
                    if fetches.far is not None:
                        share = builder.iadd(builder.imul(passing.index, panel // wide), column // wide)
                        meanwhile += panel_behind(ctx, b, right, self.depth, fetches.far, share,
                                                  rows // high * (panel // wide), self.steps)
                    if behind is not None:
                        meanwhile.append(behind.in_parts(ctx, place, high, wide, self.steps))
                    along = partial(self._sum, ctx, a, b, left, builder.iadd(right, column), meanwhile)
                    if late is None:
                        along()
                    else:
                        late.multiply(ctx, along)
                    if straight is None:
                        self._end(ctx, result, at, places, apart)
                        continue
                    branch = IfElse(builder.module, straight.now)
                    with branch.then():
                        if late is not None:
                            late.put(ctx, place, partial(self._into, ctx))
                        else:
                            assert block is not None
                            self._leave(ctx, straight, place, block, streams,
                                        None if apart is None else (result, at))
                    with branch.otherwise():
                        self._end(ctx, result, at, places, apart)
        if late is not None:
            late.end(ctx)
        env.release_tiles()

    @property
    def _leaves_normal(self) -> bool:
        """Do products leave no denormal number in registers? Those of bf16 give zero instead."""
        return self.form == "bf16"

    def _sizes(self) -> list[tuple[int, int]]:
        """Rows and words of each register."""
        sums, left = (self.rows, self.columns), (self.rows, self.words)
        operands = [left if number in self._left() else (self.words, self.columns)
                    for number in range(self.down * self.across, 2 * SUMS)]
        return [sums] * (self.down * self.across) + operands

    def _left(self) -> range:
        """Those of the left operand; those behind them are the right one's."""
        first = self.down * self.across
        return range(first, first + min(self.down, 2 * SUMS - first - 1))

    def _right(self) -> range:
        return range(self._left().stop, 2 * SUMS)

    def _places(self, origin: Register, places: Places, ctx: Context) -> Iterator[tuple[int, Register]]:
        """Registers of sums, and where they lie."""
        for i in range(self.down):
            for j in range(self.across):
                across = ctx.b.imul(ctx.b.constant(I32, j * self.columns), places.scale)
                at = ctx.b.iadd(ctx.b.iadd(origin, i * self.rows * places.columns), across)
                yield i * self.across + j, at

    def _begin(self, ctx: Context, result: Stored, origin: Register, places: Places, loads: bool,
               begins: Register | None) -> None:
        if begins is not None:
            branch = IfElse(ctx.b.module, begins)
            for arm, then_loads in ((branch.then, False), (branch.otherwise, loads)):
                with arm():
                    self._begin(ctx, result, origin, places, then_loads, None)
            return
        for number, at in self._places(origin, places, ctx):
            if loads:
                ctx.env.load_tile(number, result.array, at, places.pitch)
            else:
                ctx.env.clear_tile(number)

    @property
    def fetches(self) -> bool:
        """Are the sums of the tile below fetched while one is multiplied? Those of bf16 gain 2 to 4 % at 1024
        by it on a Xeon, and bytes lose 2, whose tiles take half as long."""
        return self.form == "bf16" and not self.apart

    def _fetch_sums(self, ctx: Context, result: Stored, origin: Register, places: Places,
                    begins: Register | None) -> Meanwhile:
        """From an element on, some lines with each step, unless sums begin with zero."""
        b = ctx.b
        pitch = places.pitch if isinstance(places.pitch, int) else b.resize(places.pitch, I32.width)

        def fetch(step: Register) -> None:
            for tile, row in lines_of_part(ctx, step, self.steps, self.down * self.across, self.rows):
                down, across = divided(ctx, tile, self.across)
                place = b.iadd(origin, b.imul(down, self.rows * places.columns))
                place = b.iadd(place, b.imul(b.imul(across, self.columns), places.scale))
                place = b.iadd(place, b.imul(row, pitch))
                ctx.env.private_prefetch(result.array, result.width, place, VECTOR)

        def unless(step: Register) -> None:
            if begins is None:
                return fetch(step)
            with if_(b.module, b.logical_not(begins)):
                ctx.scopes.open()
                fetch(step)
                ctx.scopes.close()
            return None
        return unless

    def _sum(self, ctx: Context, a: Block | InMemory, b: Block, left: Register, right: Register,
             meanwhile: Sequence[Meanwhile], late: Meanwhile | None = None) -> None:
        """Along K; meanwhile, and late before them: called with the number of each step."""
        called = meanwhile if late is None else (late, *meanwhile)
        turn = min(self.steps, UNROLLED)
        if turn == self.steps:
            self._turn(ctx, a, b, left, right, turn, ctx.b.constant(I32, 0), called)
            return
        with counted(ctx, self.depth, turn * self.words) as loop:
            k = loop.index if isinstance(a, Block) else ctx.b.imul(loop.index, GROUPS[self.form])
            self._turn(ctx, a, b, a.along(ctx, left, k),
                       ctx.b.iadd(right, ctx.b.imul(loop.index, b.depth)), turn, loop.index, called)

    def _turn(self, ctx: Context, a: Block | InMemory, b: Block, left: Register, right: Register, count: int,
              start: Register, meanwhile: Sequence[Meanwhile]) -> None:
        """So many tiles along K, from the places of their first elements, `start` words along: every tile is
        loaded once. meanwhile: called behind the first product of each step."""
        builder, env = ctx.b, ctx.env
        lefts, rights = self._left(), self._right()
        for k in range(0, count * self.words, self.words):
            for i in range(self.down):
                # read once in a pass over a panel of the right operand, which is to stay in the cache
                here = lefts[i % len(lefts)]
                if isinstance(a, InMemory):
                    env.load_tile_at(here, *a.rows(ctx, left, i * self.rows, k * GROUPS[self.form]),
                                     passing=True)
                else:
                    first = builder.iadd(left, i * self.rows * a.outer + k * a.depth)
                    env.load_tile(here, a.array, first, a.pitch or a.outer, passing=True)
                for j in range(self.across):
                    there = rights[j % len(rights)]
                    if i == 0:
                        place = builder.iadd(right, k * b.depth + j * self.columns)
                        env.load_tile(there, b.array, place, b.depth)
                    env.multiply_tiles(self.form, i * self.across + j, here, there)
                    if i == j == 0 and meanwhile:
                        step = builder.lshr(builder.iadd(start, k), self.words.bit_length() - 1)
                        for each in meanwhile:
                            each(step)

    def _end(self, ctx: Context, result: Stored, origin: Register, places: Places, apart: Stored | None
             ) -> None:
        """Sums into the result, or added to it by way of `apart`."""
        builder, env, columns = ctx.b, ctx.env, result.shape[-1]
        if apart is None:
            for number, at in self._places(origin, places, ctx):
                env.store_tile(number, result.array, at, places.pitch)
            return

        def keep(row: Register, made: Sequence[Register]) -> None:
            for number, value in enumerate(made):
                at = builder.iadd(origin, builder.iadd(builder.imul(row, columns), number * VECTOR))
                env.private_store(result.array, result.width, at, value)
        self._by_rows(ctx, apart, (result, origin), keep)

    def _leave(self, ctx: Context, straight: Straight, place: Place,
               block: Stored, streams: Register | None, old: tuple[Stored, Register] | None) -> None:
        """Sums to memory, as they are or by way of `block`, row by row. old: what they are added to first."""
        batch, row, column = place

        def by_rows(stream: bool) -> None:
            def store(number: Register, made: Sequence[Register]) -> None:
                straight.store_row(ctx, (batch, ctx.b.iadd(row, number), column), made, stream,
                                   self._leaves_normal and old is None)
            if stream:
                ctx.env.fence_stream()
            self._by_rows(ctx, block, old, store)
            if stream:
                ctx.env.fence_stream()

        def directly() -> None:
            b, env, pitch = ctx.b, ctx.env, straight.strides[-2]
            first = straight.first(ctx, place)
            bytes = b.imul(pitch if isinstance(pitch, Register) else b.constant(I64, pitch), WORD)
            for i in range(self.down):
                below = env.offset(first, b.imul(b.constant(I64, i * self.rows), pitch))
                for j in range(self.across):
                    there = env.offset(below, b.constant(I64, j * self.columns))
                    env.store_tile_at(i * self.across + j, there, bytes)
        is_direct = straight.is_as_summed and old is None and ctx.env.watch_global is None
        if streams is None:
            return directly() if is_direct else by_rows(False)
        branch = IfElse(ctx.b.module, streams)
        with branch.then():
            by_rows(True)
        with branch.otherwise():
            if is_direct:
                directly()
            else:
                by_rows(False)
        return None

    def _by_rows(self, ctx: Context, block: Stored, old: tuple[Stored, Register] | None,
                 take: Callable[[Register, Sequence[Register]], None]) -> None:
        """Sums, by way of `block`, in vectors: `take` gets the number of each row and what it holds. old: an
        array, and where what they are added to begins in it."""
        builder, env = ctx.b, ctx.env
        self._into(ctx, block, builder.constant(I32, 0))
        element = register_type(block.element)
        with counted(ctx, block.shape[0]) as loop:
            made = list(row_of(ctx, block, loop.index))
            if old is not None:
                array, origin = old
                row = builder.iadd(origin, builder.imul(loop.index, array.shape[-1]))
                for number, value in enumerate(made):
                    at = builder.iadd(row, number * VECTOR)
                    before = env.private_load(array.array, array.width, element, at, VECTOR)
                    made[number] = builder.binary("OpFAdd", value, before)
            take(loop.index, made)

    def _into(self, ctx: Context, block: Stored, origin: Register) -> None:
        """Sums into an array as wide as they are, from an element on."""
        wide = block.shape[-1]
        for number, at in self._places(origin, Places(wide, 1, wide), ctx):
            ctx.env.store_tile(number, block.array, at, wide)


def by_rows(ctx: Context, left: Block) -> Block:
    """A left operand that lies in tiles, put in order."""
    if not left.pitch:
        return left
    in_rows(ctx, left.stored, left.outer)
    return Block(left.stored, left.batch, left.outer, 1)


def in_rows(ctx: Context, stored: Stored, columns: int) -> None:
    """An array that lies tile by tile, put in order: row by row."""
    _reorder(ctx, stored, columns, into_tiles=False)


def in_tiles(ctx: Context, stored: Stored, columns: int) -> None:
    """The other way: the tiles of each 16 rows one behind the other."""
    _reorder(ctx, stored, columns, into_tiles=True)


def _reorder(ctx: Context, stored: Stored, columns: int, into_tiles: bool) -> None:
    """One band of tiles after the other, by way of another array."""
    builder, env = ctx.b, ctx.env
    element = register_type(stored.element)
    band = ctx.arrays.allocate((SIDE, columns), stored.element)
    with counted(ctx, prod(stored.shape), SIDE * columns) as start:
        with counted(ctx, columns, SIDE) as over, counted(ctx, SIDE) as row:
            tiled = builder.imul(builder.iadd(over.index, row.index), SIDE)
            flat = builder.iadd(builder.imul(row.index, columns), over.index)
            source, to = (flat, tiled) if into_tiles else (tiled, flat)
            at = builder.iadd(start.index, source)
            env.private_store(band.array, band.width, to,
                              env.private_load(stored.array, stored.width, element, at, SIDE))
        with counted(ctx, SIDE * columns, SIDE) as part:
            value = env.private_load(band.array, band.width, element, part.index, SIDE)
            env.private_store(stored.array, stored.width, builder.iadd(start.index, part.index), value)

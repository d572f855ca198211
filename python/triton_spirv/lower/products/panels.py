"""Panels and tiles of a product: the loops around the micro kernel.

Rows of a pass and vectors of a panel that tiles do not divide are left to smaller ones. At the edge of a
matrix tiles are left out, and a panel of which little is left is multiplied vector by vector (edges.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

from ...dataclass import dataclass
from ...spirv.builder import I32, with_width
from ...spirv.control import IfElse, if_
from ...spirv.module import Value as Register
from ..addresses.masks import one_of
from ..context import Context
from ..memory.prefetch import SpreadFetches
from ..values.tensor import Stored
from ..values.types import register_type
from .destination import Destination
from .edges import Edges
from .in_memory import InMemory
from .in_place import InPlace
from .last_round import Straight
from .loops import counted
from .micro_kernel import Kernel
from .operand import Block
from .places import Place
from .rounds import Rounds
from .tile_fetches import TileFetches


def multiply(ctx: Context, kernel: Kernel, a: Block | InMemory | Rounds, b: Block, result: Stored,
             accumulate: bool, fetches: SpreadFetches | None = None, behind: Destination | None = None,
             begins: Register | None = None, straight: Straight | None = None,
             edges: Edges | None = None) -> None:
    """result [..., M, N] (+)= a x b, tile by tile: panels of b outside, so that one stays in the cache while
    the rows of a pass by. What whole tiles leave over is computed in smaller ones. A share of the fetches is
    made for each tile, where all are alike, else for each panel. begins: a scalar
    Bool, do tiles begin with zero all the same? straight: where they go instead, if they may. edges: what is
    left out."""
    rows, columns = result.shape[-2:]
    shared = fetches if fetches is not None and fetches.shares > 1 else None
    by_panels = rows % kernel.rows != 0
    ahead = TileFetches.of(kernel, None if by_panels else shared, result if accumulate else None)
    tiles = _Tiles(ctx, a, b, result, accumulate, ahead, behind, begins, straight, edges)
    with counted(ctx, prod(result.shape[:-2])) as batch:
        for vectors, start, count in parts(columns // kernel.width, kernel.vectors):
            with counted(ctx, count) as loop:
                panel = ctx.b.iadd(ctx.b.imul(batch.index, count), loop.index)
                if by_panels and shared is not None:
                    shared.fetch(ctx, panel)
                width = vectors * kernel.width
                column = ctx.b.iadd(ctx.b.imul(loop.index, width), start * kernel.width)
                tiles.panel(replace(kernel, vectors=vectors), kernel.rows, panel, batch.index, column)


def multiply_few(ctx: Context, kernel: Kernel, a: Block | InMemory, b: InPlace, result: Stored,
                 accumulate: bool, begins: Register | None, edges: Edges) -> None:
    """The same where nothing but the first tile of each panel is stored, and b is in memory: panels are as
    wide as sums fit into registers."""
    rows, columns = result.shape[-2:]
    builder = ctx.b
    nothing = TileFetches.of(kernel, None, None)
    tiles = _Tiles(ctx, a, b, result, accumulate, nothing, None, begins, None, edges)
    with counted(ctx, prod(result.shape[:-2])) as batch, counted(ctx, columns // kernel.columns) as panel:
        column = builder.imul(panel.index, kernel.columns)
        place = batch.index, builder.constant(I32, 0), column

        def clear() -> None:
            """All rows: definite assignment follows loops that begin with zero."""
            with counted(ctx, rows // kernel.rows) as down:
                tiles._clear(kernel, (batch.index, builder.imul(down.index, kernel.rows), column))

        def multiplied() -> None:
            tiles._begin(clear)
            tiles._tile(kernel, place, b.first(ctx, batch.index, column), [])
        tiles._or_clear(place, (rows, kernel.columns), 0, multiplied, clear)


def parts(size: int, step: int) -> list[tuple[int, int, int]]:
    """A size in steps, and what they leave over: (step, start, how many)."""
    whole, left = divmod(size, step)
    found = [(step, 0, whole)] if whole else []
    return [*found, (left, whole * step, 1)] if left else found


#: Makes a tile: of a kernel, a row, the number of a share of fetches, and how many rows are in other loops.
_Tile = Callable[[Kernel, Register, Register, int], None]


@dataclass(frozen=True)
class _Tiles:
    """What `multiply` says, of one panel at a time. A place is (batch, row, column)."""

    ctx: Context
    a: Block | InMemory | Rounds
    b: Block | InPlace
    result: Stored
    accumulate: bool
    ahead: TileFetches
    behind: Destination | None
    begins: Register | None
    straight: Straight | None
    edges: Edges | None

    @property
    def packed(self) -> Block:
        """The right operand in an array."""
        assert isinstance(self.b, Block)
        return self.b

    def panel(self, kernel: Kernel, height: int, number: Register, batch: Register, column: Register) -> None:
        """All tiles of so many rows in the columns from one on."""
        ctx, (rows, _) = self.ctx, self.result.shape[-2:]

        def each(tile: _Tile) -> None:
            for size, above, passes in parts(rows, height):
                with counted(ctx, passes) as down:
                    row = ctx.b.iadd(ctx.b.imul(down.index, size), above)
                    share = ctx.b.iadd(ctx.b.imul(number, passes), down.index)
                    tile(replace(kernel, rows=size), row, share, above)

        def multiplied() -> None:
            packed = self.packed
            if packed.pack is not None:
                packed.pack(number)
            right = ctx.b.iadd(ctx.b.imul(batch, packed.batch), packed.column(ctx, column))

            def in_tiles(vectors: int = 0) -> list[Register]:
                return self._in_tiles(kernel, each, first, right, vectors)

            def wide() -> list[Register]:
                rest = self._left_out_behind(kernel, first, kernel.fewer)
                if rest is None:
                    return in_tiles()
                return one_of(ctx, rest, "is a quarter of the panel left out?",
                              ("tiles without it", lambda: in_tiles(kernel.fewer)), ("tiles", in_tiles))
            half = kernel.vectors // 2 if kernel.narrow and kernel.vectors % 2 == 0 else 0
            empty = self._left_out_behind(kernel, first, half)
            if empty is None:
                wide()
                return

            def narrow() -> list[Register]:
                if self.ahead.shares is not None:
                    each(lambda _kernel, _row, share, _above: self.ahead.at_once(ctx, share))
                self._by_vectors(kernel, batch, column, right)
                return []
            one_of(ctx, empty, "is half of the panel left out?",
                   ("vector by vector", narrow), ("tiles", wide))
        first = batch, ctx.b.constant(I32, 0), column
        self._or_clear(first, (rows, kernel.columns), 0, multiplied,
                       lambda: each(lambda kernel, row, *_: self._clear(kernel, (batch, row, column))))

    def _left_out_behind(self, kernel: Kernel, place: Place, vectors: int) -> Register | None:
        """A scalar Bool that implies that a panel's columns behind so many vectors are not stored; None where
        none is known, or where they are 0 or all."""
        if self.edges is None or not 0 < vectors < kernel.vectors:
            return None
        _, row, column = place
        size = self.result.shape[-2], (kernel.vectors - vectors) * kernel.width
        return self.edges.left_out(self.ctx, (row, self.ctx.b.iadd(column, vectors * kernel.width)), size)

    def _in_tiles(self, kernel: Kernel, each: Callable[[_Tile], None], first: Place, right: Register,
                  vectors: int = 0) -> list[Register]:
        """The panel at a place, tile by tile; vectors: the first ones of each tile, where the others are not
        stored."""
        ctx, (batch, _, column) = self.ctx, first
        tiles, part = (self._inside(), replace(kernel, vectors=vectors)) if vectors else (self, kernel)
        offsets = part.offsets(ctx, self.packed, right)

        def tile(kernel: Kernel, row: Register, share: Register, above: int) -> None:
            place = batch, row, column
            in_parts = kernel.parts > 1 and not vectors
            between = self.ahead.between(ctx, kernel, self.a, place, share) if in_parts else None
            self.ahead.before(ctx, share, in_parts)

            def multiplied() -> None:
                if vectors:
                    rest = replace(kernel, vectors=kernel.vectors - vectors)
                    behind = batch, row, ctx.b.iadd(column, part.columns)
                    self._begin(lambda: self._clear(rest, behind))
                tiles._tile(replace(part, rows=kernel.rows), place, right, offsets, between)

            self._or_clear(place, (kernel.rows, kernel.columns), above, multiplied,
                           lambda: self._clear(kernel, place),
                           lambda: self.ahead.skipped(ctx, share, in_parts))
        each(tile)
        return []

    def _inside(self) -> _Tiles:
        """The same for a panel of which something is left out: nothing of it may go straight to memory."""
        return replace(self, straight=None, behind=None)

    def _by_vectors(self, kernel: Kernel, batch: Register, first: Register, right: Register) -> None:
        """The panel that begins at a column, vector by vector, but for those that are not stored."""
        ctx, rows, narrow = self.ctx, self.result.shape[-2], replace(kernel, vectors=1)
        tiles = self._inside()
        with counted(ctx, kernel.vectors) as across:
            column = ctx.b.iadd(first, ctx.b.imul(across.index, kernel.width))

            def each(tile: Callable[[Kernel, Place], None]) -> None:
                for size, above, passes in parts(rows, kernel.narrow):
                    with counted(ctx, passes) as down:
                        row = ctx.b.iadd(ctx.b.imul(down.index, size), above)
                        tile(replace(narrow, rows=size), (batch, row, column))

            def multiplied() -> None:
                here = ctx.b.iadd(right, ctx.b.imul(across.index, self.packed.across))
                offsets = narrow.offsets(ctx, self.packed, here)
                each(lambda kernel, place: tiles._tile(kernel, place, here, offsets))
            tiles._or_clear((batch, ctx.b.constant(I32, 0), column), (rows, kernel.width), 0, multiplied,
                            lambda: each(tiles._clear))

    def _or_clear(self, place: Place, size: tuple[int, int], above: int, multiplied: Callable[[], None],
                  clear: Callable[[], None], skipped: Callable[[], None] = lambda: None) -> None:
        """Multiply, but for what is known not to be stored: that is `skipped`, and zero, if nothing is there
        yet."""
        ctx = self.ctx
        left_out = None if self.edges is None else self.edges.left_out(ctx, place[1:], size, above)
        if left_out is None:
            return multiplied()
        branch = IfElse(ctx.b.module, left_out)
        with branch.then():
            skipped()
            self._begin(clear)
        with branch.otherwise():
            ctx.scopes.open()
            multiplied()
            ctx.scopes.close()

    def _begin(self, clear: Callable[[], None]) -> None:
        """What is left out is cleared, if nothing is there yet."""
        if not self.accumulate:
            clear()
        elif self.begins is not None:
            with if_(self.ctx.b.module, self.begins):
                clear()

    def _places(self, kernel: Kernel, place: Place) -> tuple[Register, list[int]]:
        """Where a tile lies in the array of sums: its first element, and how far behind it each vector is."""
        builder, (rows, columns) = self.ctx.b, self.result.shape[-2:]
        batch, row, column = place
        above = builder.iadd(builder.imul(batch, rows * columns), builder.imul(row, columns))
        offsets = [i * columns + j * kernel.width for i in range(kernel.rows) for j in range(kernel.vectors)]
        return builder.iadd(above, column), offsets

    def _clear(self, kernel: Kernel, place: Place) -> None:
        """Zeros for a tile that is left out."""
        self._keep(kernel, place, [self._zero(kernel)] * (kernel.rows * kernel.vectors))

    def _keep(self, kernel: Kernel, place: Place, values: Sequence[Register]) -> None:
        first, offsets = self._places(kernel, place)
        for each, value in zip(offsets, values, strict=True):
            self.ctx.env.private_store(self.result.array, self.result.width, first, value, each)

    def _zero(self, kernel: Kernel) -> Register:
        return self.ctx.b.constant(with_width(register_type(self.result.element), kernel.width), 0)

    def _before(self, kernel: Kernel, place: Place) -> list[Register]:
        """The sums that there are of a tile."""
        first, offsets = self._places(kernel, place)
        element = register_type(self.result.element)
        return [self.ctx.env.private_load(self.result.array, self.result.width, element, first, kernel.width,
                                          each) for each in offsets]

    def _added(self, kernel: Kernel, place: Place, made: list[Register]) -> list[Register]:
        """Products on top of the sums that there are."""
        def added() -> list[Register]:
            old = self._before(kernel, place)
            return [self.ctx.b.binary("OpFAdd", *pair) for pair in zip(made, old, strict=True)]
        return self._unless_it_begins(lambda: made, added)

    def _unless_it_begins(self, begun: Callable[[], list[Register]], otherwise: Callable[[], list[Register]]
                          ) -> list[Register]:
        """What `begun` makes where tiles begin with zero, else what the other one makes."""
        if self.begins is None:
            return otherwise()
        branch = IfElse(self.ctx.b.module, self.begins)
        with branch.then():
            branch.yield_(begun())
        with branch.otherwise():
            branch.yield_(otherwise())
        return branch.results

    def _tile(self, kernel: Kernel, place: Place, right: Register, offsets: Sequence[Register],
              between: Callable[[Register], None] | None = None) -> None:
        """One tile of the result; right: where its columns begin in b; between: what happens before each part
        of its loop over K, if anything."""
        ctx, straight = self.ctx, self.straight
        if self.behind is not None:
            self.behind.fetch(ctx, place, kernel.rows, kernel.columns)

        zeros = [self._zero(kernel)] * (kernel.rows * kernel.vectors)
        old = None if kernel.apart or not self.accumulate else self._unless_it_begins(
            lambda: zeros, lambda: self._before(kernel, place))
        made = kernel.run(ctx, self.a, self.b, self.a.origin(ctx, *place[:2]), right, old, offsets,
                          between)
        if kernel.apart and self.accumulate:
            made = self._added(kernel, place, made)
        if straight is None:
            return self._keep(kernel, place, made)
        branch = IfElse(ctx.b.module, straight.now)
        with branch.then():
            straight.store(ctx, place, made, kernel.rows, kernel.width)
        with branch.otherwise():
            self._keep(kernel, place, made)

"""What is fetched while a tile of a product is multiplied.

A tile's loop over K leaves all caches but the nearest idle. So it runs in parts, and before each of them a
few lines are asked for: some of the tile's share of what the next round reads, some of the sums that the tile
below it begins with, and some of the rows of the left operand that that one multiplies. Asked for all at
once, they take the places in which the nearest cache waits for lines, and the tile's own loads wait behind
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...dataclass import dataclass
from ...spirv.builder import I32
from ...spirv.control import if_
from ...spirv.module import Value as Register
from ..context import Context
from ..memory.prefetch import LINE, SpreadFetches
from ..values.tensor import Stored
from ..values.types import storage_bytes
from .in_memory import InMemory
from .micro_kernel import Kernel
from .operand import Block
from .places import Place

#: Called with the number of each step along K.
Meanwhile = Callable[[Register], None]

#: Lines of a panel that are fetched with one step of tile registers, at most: a step takes 64 cycles.
MOST_LINES = 8


@dataclass(frozen=True)
class TileFetches:
    """Of a product's tiles. shares: a share for each tile, and in_parts: the same for each part of each,
    where there is anything to fetch for the next round; sums: what tiles begin with, if anything.
    """

    shares: SpreadFetches | None
    in_parts: SpreadFetches | None
    sums: Stored | None

    @staticmethod
    def of(kernel: Kernel, shares: SpreadFetches | None, sums: Stored | None) -> TileFetches:
        in_parts = None if shares is None or kernel.parts == 1 else shares.finer(kernel.parts)
        return TileFetches(shares, in_parts, sums)

    def at_once(self, ctx: Context, share: Register) -> None:
        """All of a tile's share."""
        if self.shares is not None:
            self.shares.fetch(ctx, share)

    def before(self, ctx: Context, share: Register, in_parts: bool) -> None:
        """What a tile fetches before it is multiplied, in parts or not."""
        if not (in_parts and self.in_parts):
            self.at_once(ctx, share)

    def skipped(self, ctx: Context, share: Register, in_parts: bool) -> None:
        """What it would fetch meanwhile, where it is left out."""
        if in_parts and self.in_parts:
            self.at_once(ctx, share)

    def between(self, ctx: Context, kernel: Kernel, a: object, place: Place, share: Register
                ) -> Callable[[Register], None]:
        """What a part of the tile at a place fetches first; a: the left operand."""
        batch, row, column = place
        below = ctx.b.iadd(row, kernel.rows)

        def fetch(part: Register) -> None:
            b = ctx.b
            if self.in_parts is not None:
                self.in_parts.fetch(ctx, b.iadd(b.imul(share, kernel.parts), part))
            if self.sums is not None:
                self._fetch_sums(ctx, kernel, (batch, below, column), part)
            if isinstance(a, InMemory):
                _fetch_rows(ctx, kernel, a, (batch, below), part)
        return fetch

    def _fetch_sums(self, ctx: Context, kernel: Kernel, place: Place, part: Register) -> None:
        """Those of the tile at a place."""
        b, sums = ctx.b, self.sums
        assert sums is not None
        batch, row, column = place
        rows, columns = sums.shape[-2:]
        wide = min(kernel.columns, max(kernel.width, LINE // storage_bytes(sums.element)))
        for down, across in lines_of_part(ctx, part, kernel.parts, kernel.rows, kernel.columns // wide):
            above = b.iadd(b.imul(batch, rows * columns), b.imul(b.iadd(row, down), columns))
            first = b.iadd(b.iadd(above, column), b.imul(across, wide))
            ctx.env.private_prefetch(sums.array, sums.width, first, kernel.width)


def _fetch_rows(ctx: Context, kernel: Kernel, a: InMemory, place: tuple[Register, Register], part: Register
                ) -> None:
    """The rows of the left operand that the tile at a place, a batch and a row, multiplies."""
    b, (batch, row) = ctx.b, place
    wide = min(kernel.depth, max(1, LINE // (ctx.env.pointee_bytes(a.pointer) * a.count)))
    for down, across in lines_of_part(ctx, part, kernel.parts, kernel.rows, kernel.depth // wide):
        origin = a.origin(ctx, batch, b.iadd(row, down))
        ctx.env.prefetch(a.along(ctx, origin, b.imul(across, wide)))


def panel_behind(ctx: Context, right: Block, start: Register, depth: int, far: Register, share: Register,
                 shares: int, steps: int) -> list[Meanwhile]:
    """While tile registers multiply a panel that starts there, of so many words of 32 bits along K: the one
    behind it, where `far` holds, in a share for each tile of sums and a part of that with each of its steps.
    It goes into the second cache: the nearest one is full. Nothing where tiles are too few for it."""
    b, words = ctx.b, LINE // storage_bytes(right.stored.element)
    lines = depth * right.panel // words
    if lines > MOST_LINES * shares * steps:
        return []
    behind = b.iadd(start, right.outer)

    def fetch(step: Register) -> None:
        with if_(b.module, far):
            ctx.scopes.open()
            part = b.iadd(b.imul(share, steps), step)
            for _, line in lines_of_part(ctx, part, shares * steps, 1, lines):
                place = b.iadd(behind, b.imul(line, words))
                ctx.env.private_prefetch(right.array, right.width, place, words, nearest=False)
            ctx.scopes.close()
    return [fetch]


def lines_of_part(ctx: Context, part: Register, parts: int, rows: int, across: int
                  ) -> Iterator[tuple[Register, Register]]:
    """(row, line) of those that a part fetches, of so many rows of so many lines."""
    each = -(-rows * across // parts)
    for n in range(each):
        yield divided(ctx, ctx.b.iadd(ctx.b.imul(part, each), n), across)


def divided(ctx: Context, number: Register, size: int) -> tuple[Register, Register]:
    """A number (I32, not negative) over a size, and what is left."""
    divisor = ctx.b.constant(I32, size)
    return ctx.b.binary("OpUDiv", number, divisor), ctx.b.binary("OpUMod", number, divisor)

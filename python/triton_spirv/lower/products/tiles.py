"""Tensors that a sub-group holds in matrices, and their way out of them.

Which lane holds which element of a matrix is the device's own business, so `Tiles` is a tensor without a
layout. To become a fragment it passes through shared memory, matrix by matrix, each warp in a part of its
own; a factor for each row goes the other way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...dataclass import dataclass
from ...ir.model import Operation, Type, Value
from ...layout import log2
from ...matrices.grid import Grid, layout_of_grid
from ...spirv.module import Value as Register
from ...spirv.types import Type as MatrixType
from ..addresses.element_motion import slope_along
from ..context import Context
from ..registry import symbolic
from ..values.tensor import Fragment, Shared, Tensor, Uniform
from ..values.types import storage_bytes

#: Bytes behind each row of a matrix on its way: lanes that hold neighbouring rows then use different banks.
PADDING = 32

#: Matrices on their way take up to so much of shared memory at a time; one of each warp at least.
PASSAGE_BYTES = 12288


def corner(ctx: Context, grid: Grid) -> tuple[Register, Register]:
    """Row and column of this warp's rectangle."""
    b, warp = ctx.b, ctx.env.warp_id()
    row, column = b.lshr(warp, log2(grid.warp_columns)), b.iand(warp, grid.warp_columns - 1)
    return b.imul(row, grid.shape[0] // grid.warp_rows), b.imul(column, grid.shape[1] // grid.warp_columns)


@dataclass(frozen=True, eq=False)
class Tiles:
    """A tensor in matrices, row by row of the grid of this warp."""

    grid: Grid
    element: Type
    matrices: tuple[Register, ...]


class _Passage:
    """Matrices of f32 or i32 in shared memory, some of each warp at a time, row by row."""

    def __init__(self, ctx: Context, grid: Grid, element: Type) -> None:
        self.ctx, self.grid, self.element = ctx, grid, element
        self.pitch = grid.n + PADDING // storage_bytes(element)
        self.size = grid.m * self.pitch
        self.own = grid.m * grid.n // ctx.target.sub_group_size
        self.step = min(self.own, grid.n, 16 // storage_bytes(element), ctx.target.components)

    def rounds(self, count: int, step: Callable[[Shared, Register, range], None]) -> None:
        """step(array, place of the warp's first matrix, which matrices) for `count` matrices of each warp, as
        many at a time as there is room for. A warp's part is of one size whatever the count, so that warps
        need not wait for each other between passages."""
        ctx, b = self.ctx, self.ctx.b
        room = ctx.shared.spare // (self.size * ctx.kernel.num_warps * storage_bytes(self.element))
        room = min(room, PASSAGE_BYTES // (self.size * ctx.kernel.num_warps * storage_bytes(self.element)))
        most = min(1 << max(0, room.bit_length() - 1), self.grid.rows * self.grid.columns)
        part, at_once = self.size * most, min(count, most)
        for start in range(0, count, at_once):
            with ctx.shared.scratch(self.element, part * ctx.kernel.num_warps, part) as array:
                first = b.imul(ctx.env.warp_id(), part)
                step(array, first, range(start, start + at_once))

    def mine(self, first: Register) -> list[Register]:
        """Where this lane's elements of the matrix at `first` lie, `step` neighbours each."""
        b, n = self.ctx.b, self.grid.n
        start = b.imul(self.ctx.env.lane_id(), self.own)
        place = b.iadd(b.iadd(first, start), b.imul(b.lshr(start, log2(n)), self.pitch - n))
        return [b.iadd(place, at + at // n * (self.pitch - n)) for at in range(0, self.own, self.step)]


def as_fragment(ctx: Context, tiles: Tiles) -> Fragment:
    """The elements in registers."""
    b, env, passage = ctx.b, ctx.env, _Passage(ctx, tiles.grid, tiles.element)
    registers: list[Register] = []

    def pass_(array: Shared, first: Register, which: range) -> None:
        ctx.shared.writes(array)
        for i, matrix in enumerate(tiles.matrices[which.start:which.stop]):
            place = b.iadd(first, i * passage.size)
            env.matrix_store(array.array, place, passage.size, matrix, passage.pitch)
        ctx.shared.reads(array)
        for i in range(len(which)):
            for place in passage.mine(b.iadd(first, i * passage.size)):
                loaded = env.shared_load(array.array, place, passage.step)
                registers.extend(b.extract(loaded, c) for c in range(passage.step))

    passage.rounds(len(tiles.matrices), pass_)
    return Fragment(layout_of_grid(tiles.grid, ctx.target.sub_group_size), tiles.element, tuple(registers))


# --- a factor for each row ----------------------------------------------------------------------------------


@symbolic("arith.mulf")
def scaled(ctx: Context, op: Operation, lhs: Tensor | Tiles, rhs: Tensor | Tiles) -> Tiles | None:
    """Tiles times one number, or one for each row."""
    tiles, factor = (lhs, rhs) if isinstance(lhs, Tiles) else (rhs, lhs)
    if not isinstance(tiles, Tiles):
        return None
    env, grid = ctx.env, tiles.grid
    type = env.matrix_type(grid.result, grid.m, grid.n, "c")
    if isinstance(factor, Uniform):
        factors = [env.matrix_fill(type, factor.scalar)] * grid.rows
    else:
        assert not isinstance(factor, Tiles)
        factors = _spread_rows(ctx, tiles, factor, type)
    made = [env.matrix_scale(matrix, factors[i // grid.columns]) for i, matrix in enumerate(tiles.matrices)]
    return replace(tiles, matrices=tuple(made))


def is_by_row(value: Value) -> bool:
    """Is a value of the IR one number, or one for each row?"""
    op = value.defining_op
    if op is None:
        return False
    return op.has("splats") or (op.has("repeats") and op.src.type.shape[1] == 1)


def _spread_rows(ctx: Context, tiles: Tiles, factor: Tensor, type: MatrixType) -> list[Register]:
    """A matrix for each row of the warp's grid, every element the factor of its row."""
    b, env, grid = ctx.b, ctx.env, tiles.grid
    whole = layout_of_grid(grid, ctx.target.sub_group_size)
    across = grid.shape[1] - 1
    assert slope_along(factor, 1, grid.shape[1]) == 0, "a factor that is not by rows"
    rows = tuple(basis for basis in whole.register if basis > across)  # below those inside of a matrix: none
    held = ctx.evaluation.fragment(factor, replace(whole, register=rows)).registers
    passage, factors = _Passage(ctx, grid, tiles.element), []
    inside = len(held) // grid.rows  # rows of one matrix that a lane holds

    def pass_(array: Shared, first: Register, which: range) -> None:
        ctx.shared.writes(array)
        for i, row in enumerate(which):
            for n, place in enumerate(passage.mine(b.iadd(first, i * passage.size))):
                value = held[row * inside + n * passage.step // grid.n]
                env.shared_store(array.array, place, b.splat(value, passage.step))
        ctx.shared.reads(array)
        for i in range(len(which)):
            place = b.iadd(first, i * passage.size)
            factors.append(env.matrix_load(type, array.array, place, passage.size, passage.pitch, False))

    passage.rounds(grid.rows, pass_)
    return factors

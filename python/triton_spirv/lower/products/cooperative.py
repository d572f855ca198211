"""tt.dot on matrices that a sub-group holds together: the operands pass through shared memory, the sums stay
in matrices for as long as a loop only adds products to them.

A warp sums one rectangle of the result, as a grid of matrices of the size that the device offers. Which lane
holds which element of them is unknown: tiles.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import gcd

from ...dataclass import dataclass
from ...ir.model import Block, Operation, TensorType, Type, Value
from ...layout import Layout, SharedLayout, log2
from ...matrices.grid import Grid, find_grid, placed_grid
from ...spirv.module import Value as Register
from ...spirv.types import Type as SpirvType
from ..context import Context
from ..lanes.shared import ALIGNMENT
from ..plan.records import Product
from ..values.tensor import Bound, Fragment, Shared, Tensor, Uniform
from ..values.types import element_of, register_type, storage_bytes
from .tiles import Tiles, as_fragment, corner, is_by_row

#: Elements behind each row of a staged operand, in bytes: rows then begin in different banks.
ROW_PADDING = 16


def grid_of(ctx: Context, op: Operation) -> Grid | None:
    """How the product is spread over matrices of the target; None where it has none that fit, and of another
    operation."""
    if op.name != "tt.dot":
        return None
    return placed_grid(op) or find_grid(ctx.target, ctx.kernel.num_warps, op)


# --- the product --------------------------------------------------------------------------------------------


def product_in_matrices(ctx: Context, op: Operation, grid: Grid, a: Tensor, b: Tensor, c: Tensor | Tiles
                        ) -> Fragment | Tiles:
    """a [M, K] x b [K, N] + c [M, N]: Tiles where c is, else a fragment."""
    element = element_of(op.results[0].type)
    type = ctx.env.matrix_type(grid.result, grid.m, grid.n, "c")
    zero = ctx.b.constant(register_type(element), 0)
    if isinstance(c, Tiles):
        sums = list(c.matrices)
    else:
        start = c.scalar if isinstance(c, Uniform) else zero
        sums = [ctx.env.matrix_fill(type, start)] * (grid.rows * grid.columns)
    where = "matrices" if isinstance(a, LeftMatrices) else "shared memory"
    tile = grid.rows * grid.m, grid.columns * grid.n, grid.k
    plan = Product(op, "matrices", tile, (where, "shared memory"), grid.operand)
    with ExitStack() as scratch:
        left, right = (_in_memory(ctx, scratch, value, bound) for value, bound in ((op.a, a), (op.b, b)))
        for array in (left, right):
            if isinstance(array, Shared):
                ctx.shared.reads(array)
        assert isinstance(right, Shared)
        _accumulate(ctx, grid, left, right, sums)
    ctx.recorder.add(plan)
    made = Tiles(grid, element, tuple(sums))
    if isinstance(c, Tiles):
        return made
    layout = ctx.layouts.of(op.results[0].type)
    fragment = ctx.evaluation.fragment(as_fragment(ctx, made), layout)
    if isinstance(c, Uniform):
        return fragment
    plus = "OpFAdd" if grid.result.startswith("f") else "OpIAdd"
    total = [ctx.b.binary(plus, x, y)
             for x, y in zip(fragment.registers, ctx.evaluation.registers(c, layout), strict=True)]
    return Fragment(layout, element, tuple(total))


def _in_memory(ctx: Context, scratch: ExitStack, value: Value, bound: Tensor) -> Shared | LeftMatrices:
    """The operand in shared memory, in an order that matrices are loaded from, or in matrices already."""
    if isinstance(bound, LeftMatrices):
        return bound
    if isinstance(bound, Shared) and pitch_of(bound.layout) is not None:
        return bound
    layout = ctx.layouts.of(value.type)
    fragment = ctx.evaluation.fragment(bound, layout)
    memory = memory_for_matrices(layout, storage_bytes(fragment.element))
    made = scratch.enter_context(ctx.shared.scratch(fragment.element, memory.size))
    array = replace(made, shape=layout.shape, layout=memory)
    ctx.shared.writes(array)
    ctx.shared_tensors.store(array, fragment)
    return array


def memory_for_matrices(source: Layout, bytes: int) -> SharedLayout:
    """Row by row, or column by column, as registers of the source are neighbours; padded behind each."""
    height, width = source.shape
    pad = max(1, ROW_PADDING // bytes)
    first = next((basis for basis in (*source.component, *source.register) if basis), 1)
    if first % width:
        return SharedLayout.row_major(source.shape, ((width, pad),))
    places = tuple(height << i for i in range(log2(width))) + tuple(1 << i for i in range(log2(height)))
    return SharedLayout(source.shape, places, ((height, pad),))


def pitch_of(memory: SharedLayout) -> tuple[int, bool] | None:
    """Elements from row to row, or (True) from column to column; None for any other order."""
    if len(memory.shape) != 2 or len(memory.padding) != 1 or memory.origin:
        return None
    (interval, pad), (height, width) = memory.padding[0], memory.shape
    by_rows = tuple(1 << i for i in range(log2(height * width)))
    by_columns = (*(height << i for i in range(log2(width))), *(1 << i for i in range(log2(height))))
    if interval == width and memory.places == by_rows:
        return interval + pad, False
    return (interval + pad, True) if interval == height and memory.places == by_columns else None


def is_resident_for_matrices(ctx: Context, value: Value) -> bool:
    """Do products on matrices alone use the value?"""
    return all(grid_of(ctx, user) is not None and user.operands[index] is not user.c
               for user, index in value.uses)


def rows_of_warps(ctx: Context, value: Value, source: Layout, memory: SharedLayout) -> int:
    """Elements of the rows that one warp writes to `memory` from `source`, where the same warp alone reads
    them: a left operand of products on matrices in which warps lie one below the other. Else 0."""
    grids = [grid_of(ctx, user) for user, _ in value.uses]
    pitch = pitch_of(memory)
    if None in grids or pitch is None or pitch[1] or not grids \
            or any(user.a is not value or user.b is value for user, _ in value.uses):
        return 0
    height, width = source.shape
    rows = height // ctx.kernel.num_warps
    warps = tuple(rows * width << i for i in range(log2(ctx.kernel.num_warps)))
    inside = rows * width - 1
    alone = source.warp == warps and not any(
        basis & ~inside for basis in (*source.component, *source.register, *source.lane))
    return rows * pitch[0] if alone and all(grid.warp_columns == 1 for grid in grids if grid) else 0


def _accumulate(ctx: Context, grid: Grid, x: Shared | LeftMatrices, y: Shared, sums: list[Register]) -> None:
    column = corner(ctx, grid)[1]
    for k in range(0, y.shape[0], grid.k):
        rows = x.matrices[k // grid.k] if isinstance(x, LeftMatrices) else _left_matrices(ctx, grid, x, k)
        for j in range(grid.columns):
            other = _matrix(ctx, grid, y, ctx.b.iadd(column, j * grid.n), k, False)
            for i, one in enumerate(rows):
                at = i * grid.columns + j
                sums[at] = ctx.env.matrix_multiply_add(one, other, sums[at])


def _left_matrices(ctx: Context, grid: Grid, x: Shared, k: int) -> list[Register]:
    """Those of the warp's rows, from k on."""
    row = corner(ctx, grid)[0]
    return [_matrix(ctx, grid, x, ctx.b.iadd(row, i * grid.m), k, True) for i in range(grid.rows)]


def _matrix(ctx: Context, grid: Grid, array: Shared, outer: Register, k: int, is_left: bool) -> Register:
    """A matrix of an operand in shared memory, from row (or column, of the right operand) `outer` on."""
    b, env = ctx.b, ctx.env
    type = env.matrix_type(grid.operand, grid.m, grid.k, "a") if is_left else \
        env.matrix_type(grid.operand, grid.k, grid.n, "b")
    found = pitch_of(array.layout)
    assert found is not None
    pitch, by_columns = found
    apart = is_left != by_columns  # what counts rows (left) or columns (right) is a pitch apart
    index = b.iadd(b.imul(outer, pitch), k) if apart else b.iadd(outer, k * pitch)
    multiple = gcd(pitch, grid.k if apart else grid.m if is_left else grid.n)
    if array.start is not None:
        index, multiple = b.iadd(index, array.start), gcd(multiple, ALIGNMENT // storage_bytes(array.element))
    return env.matrix_load(type, array.array, index, multiple, pitch, by_columns)


# --- left operands that a loop does not change --------------------------------------------------------------

#: Registers of a lane for such operands, of 32 bits.
LEFT_REGISTERS = 32


@dataclass(frozen=True, eq=False)
class LeftMatrices:
    """A left operand in matrices, for each k those of the warp's rows."""

    matrices: tuple[list[Register], ...]


def load_left_matrices(ctx: Context, loop: Operation) -> None:
    """Load the left operands that a loop multiplies in every round before it, where they fit into registers:
    the conversions of the body that would stage them again have them for results."""
    body = loop.regions[0].entry
    for op in body.operations if ctx.target.holds_operands else ():
        if not op.has("converts") or op.src.owner is body or len(op.result.uses) != 1:
            continue
        maker, user = op.src.defining_op, op.result.uses[0][0]
        if (maker is not None and maker.parent is body) or user.name != "tt.dot" or user.parent is not body \
                or user.a is not op.result or user.b is op.result:
            continue
        grid = grid_of(ctx, user)
        if grid is not None:
            made = _left_before_loop(ctx, grid, op)
            if made is not None:
                ctx.prepared.conversions[op] = made


def _left_before_loop(ctx: Context, grid: Grid, op: Operation) -> LeftMatrices | None:
    layout, element = ctx.layouts.of(op.src.type), element_of(op.src.type)
    bytes, depth = storage_bytes(element), layout.shape[1]
    memory = memory_for_matrices(layout, bytes)
    of_lane = grid.rows * grid.m * depth * bytes // ctx.target.sub_group_size
    if of_lane > 4 * LEFT_REGISTERS or memory.size * bytes > ctx.shared.free:
        return None
    part = rows_of_warps(ctx, op.result, layout, memory)
    with ctx.shared.scratch(element, memory.size, part) as made:
        array = replace(made, shape=layout.shape, layout=memory)
        fragment = ctx.evaluation.fragment(ctx.bindings.tensor(op.src), layout)
        ctx.shared.writes(array)
        ctx.shared_tensors.store(array, fragment)
        ctx.shared.reads(array)
        return LeftMatrices(tuple(_left_matrices(ctx, grid, array, k) for k in range(0, depth, grid.k)))


# --- across the iterations of a loop ------------------------------------------------------------------------


@dataclass
class TilesCarrier:
    """A sum of products that a loop does nothing else with: its matrices."""

    ctx: Context
    grid: Grid
    element: Type

    @property
    def types(self) -> list[SpirvType]:
        type = self.ctx.env.matrix_type(self.grid.result, self.grid.m, self.grid.n, "c")
        return [type] * (self.grid.rows * self.grid.columns)

    def registers(self, bound: Tiles | Tensor) -> list[Register]:
        if isinstance(bound, Tiles):
            return list(bound.matrices)
        assert isinstance(bound, Uniform)
        return [self.ctx.env.matrix_fill(type, bound.scalar) for type in self.types]

    def bound(self, registers: Sequence[Register]) -> Tiles:
        return Tiles(self.grid, self.element, tuple(registers))


def tiles_carrier(ctx: Context, loop: Operation, index: int, initial: Bound) -> TilesCarrier | None:
    """The carrier for value `index` of a loop, where all the loop does is add products to it, perhaps scaled
    by rows before."""
    body = loop.regions[0].entry
    argument = body.arguments[index + 1]
    if not isinstance(argument.type, TensorType) or not isinstance(initial, Uniform):
        return None
    value = argument
    user = _only_user(value, body)
    while ctx.target.places_tiles and user is not None and user.name == "arith.mulf":
        if not any(is_by_row(operand) for operand in user.operands if operand is not value):
            return None
        value = user.result
        user = _only_user(value, body)
    if user is None or user.name != "tt.dot" or user.c is not value or value in (user.a, user.b):
        return None
    terminator = body.operations[-1]
    if [each for each, _ in user.result.uses] != [terminator] or \
            terminator.operands[index] is not user.result:
        return None
    grid = grid_of(ctx, user)
    return None if grid is None else TilesCarrier(ctx, grid, element_of(argument.type))


def _only_user(value: Value, body: Block) -> Operation | None:
    return value.uses[0][0] if len(value.uses) == 1 and value.uses[0][0].parent is body else None


def without_tiles(ctx: Context, bound: Bound | Tiles, type: Type) -> Bound:
    """Behind the loop: matrices as a fragment under the layout of the type."""
    if not isinstance(bound, Tiles):
        return bound
    return ctx.evaluation.fragment(as_fragment(ctx, bound), ctx.layouts.of(type))



"""How a product [M, N] is spread over the matrices that a sub-group holds together, and those over warps.

Which lane holds which element of a matrix is the device's own business; `layout_of_grid` is how a result lies
in lanes once it has come out of its matrices (lower/products/tiles.py).
"""

from __future__ import annotations

from ..dataclass import dataclass
from ..ir.model import FloatType, Operation, Value, element_type, shape_of
from ..layout import Layout, log2
from ..target import Target

#: The attribute of a product that has been placed: the size of a matrix and the warps along each side.
PLACED = "ts.grid"


@dataclass(frozen=True)
class Grid:
    """How a result [M, N] is spread: matrices m x n x k of a device, warps by rows x columns."""

    shape: tuple[int, int]
    m: int
    n: int
    k: int
    operand: str
    result: str
    warp_rows: int
    warp_columns: int

    @property
    def rows(self) -> int:
        """Matrices of a warp, one below the other."""
        return self.shape[0] // self.warp_rows // self.m

    @property
    def columns(self) -> int:
        return self.shape[1] // self.warp_columns // self.n

    def attribute(self) -> tuple[int, ...]:
        """What `placed_grid` makes it of again, together with the product."""
        return self.m, self.n, self.k, self.warp_rows, self.warp_columns


def placed_grid(op: Operation) -> Grid | None:
    """The grid that a pass has given a product; None where it has none."""
    given = op.attributes.get(PLACED)
    if given is None:
        return None
    m, n, k, rows, columns = given
    height, width = shape_of(op.results[0].type)
    operand, result = (_spelled(value) for value in (op.a, op.results[0]))
    return Grid((height, width), m, n, k, operand, result, rows, columns)


def find_grid(target: Target, warps: int, op: Operation, whole_rows: bool = False) -> Grid | None:
    """How the product may be spread over matrices of a target and so many warps; None where it has none that
    fit. `whole_rows`: of the result, for each warp, where that can be."""
    shape = shape_of(op.results[0].type)
    if len(shape) != 2 or not target.matrices:
        return None
    (m_size, n_size), depth = shape, shape_of(op.a.type)[-1]
    left, right, result = (_spelled(value) for value in (op.a, op.b, op.results[0]))
    found = None
    for m, n, k, a, b, c, made in sorted(target.matrices, key=lambda form: form[0] * form[1] * form[2]):
        if (a, b, c, made) != (left, right, result, result) or depth % k:
            continue
        for columns in _powers(warps):
            rows = warps // columns
            if m_size % (rows * m) or n_size % (columns * n):
                continue
            grid = Grid((m_size, n_size), m, n, k, left, result, rows, columns)
            if found is None or _traffic(grid, whole_rows) <= _traffic(found, whole_rows):
                found = grid
    return found


def layout_of_grid(grid: Grid, lanes: int) -> Layout:
    """A lane holds neighbours in a row, of each matrix of its warp."""
    n_size = grid.shape[1]

    def place(row: int, column: int) -> int:
        return row * n_size + column

    inside = [place(0, 1 << i) for i in range(log2(grid.n))] + [place(1 << i, 0) for i in range(log2(grid.m))]
    own = len(inside) - log2(lanes)
    columns = [place(0, grid.n << i) for i in range(log2(grid.columns))]
    rows = [place(grid.m << i, 0) for i in range(log2(grid.rows))]
    warps = [place(0, grid.n * grid.columns << i) for i in range(log2(grid.warp_columns))] + \
        [place(grid.m * grid.rows << i, 0) for i in range(log2(grid.warp_rows))]
    return Layout(grid.shape, (), (*inside[:own], *columns, *rows), (), tuple(inside[own:]), tuple(warps))


def _spelled(value: Value) -> str:
    """The element of a tensor as matrices of a device name it, however registers hold it."""
    element = element_type(value.type)
    return element.name if isinstance(element, FloatType) else str(element)


def _powers(limit: int) -> list[int]:
    return [1 << i for i in range(log2(limit) + 1)]


def _traffic(grid: Grid, whole_rows: bool) -> tuple[int, int, int]:
    """What is to be small: warps that share a row, if that matters; the elements of operands that a warp
    loads for each step along K, the edge of its rectangle; the number of its matrices."""
    edge = grid.rows * grid.m + grid.columns * grid.n
    return grid.warp_columns if whole_rows else 0, edge, grid.rows * grid.columns

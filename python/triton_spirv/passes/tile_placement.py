"""Where the lanes of a program hold the results of its products: a pass over TTGIR, for targets without a
matrix unit of their own layouts (matrix_placement.py has those).

The stock passes spread a result over lanes row by row. A lane that holds a square reads fewer operands for
each of its sums, and a result that is made in matrices of a sub-group is best held as it comes out of them.
A result whose rows are reduced, as scores of attention are, is held in whole rows of a warp: nothing of a row
then leaves its sub-group, and the fewer rows a lane has, the fewer registers their maxima and sums take.
Targets that place rows alone leave other results where they are.

The layout spreads over what is computed from the result, as in matrix_placement.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.model import Encoding, Operation, TensorType, Value, shape_of
from ..ir.module import Module
from ..layout import Layout
from ..matrices.grid import PLACED, find_grid, layout_of_grid
from ..target import Target
from .conversions import convert_at_edges
from .matrix_placement import assign, is_chained, is_placed_product, spread

#: Neighbours in each dimension that a lane holds: as many as one access to shared memory moves.
SIDE = 4


def place_tiles(module: Module, target: Target, warps: int) -> None:
    """Give every product of two dimensions the layout of its result, in place; where a matrix unit has taken
    one, its layouts are all over the kernel, and this adds nothing."""
    if any(map(is_placed_product, module.walk())):
        return
    placed: dict[Value, Encoding] = {}
    for op in module.walk():
        if op.name != "tt.dot" or len(shape_of(op.result.type)) != 2:
            continue
        encoding = _placed(op, target, warps)
        if encoding is not None:
            assign(op.result, encoding, placed)
    for value, encoding in list(placed.items()):
        spread(value, encoding, placed)
    convert_at_edges(module)


def _placed(op: Operation, target: Target, warps: int) -> Encoding | None:
    """The layout of a product's result; None: as it is."""
    lanes, chained = target.sub_group_size, is_chained(op)
    if not target.places_tiles:
        return whole_rows(op, lanes, warps) if chained else None
    grid = find_grid(target, warps, op, chained)
    if grid is None:
        return square(op, lanes, warps, chained)
    op.set_attribute(PLACED, grid.attribute())
    return linear(layout_of_grid(grid, lanes))


def linear(layout: Layout) -> Encoding:
    """A layout as an encoding."""
    bases = {name: [layout.unravel(basis) for basis in getattr(layout, name)]
             for name in ("register", "lane", "warp")}
    return Encoding("ttg", "linear", tuple((name, tuple(known)) for name, known in bases.items()))


def square(op: Operation, lanes: int, warps: int, chained: bool) -> Encoding | None:
    """Squares of SIDE x SIDE of a lane, lanes in a rectangle that is nearly a square, warps so that each
    reads the least of both operands; `chained`: one below the other. None for a result that is too small, or
    has no layout."""
    down = 1 << (lanes.bit_length() - 1) // 2
    found = [(columns if chained else height + width, columns, rows)
             for rows, columns, height, width in _spreads(op, down, lanes, warps)]
    if not found:
        return None
    _, columns, rows = min(found)
    return _blocked(down, lanes // down, rows, columns)


def whole_rows(op: Operation, lanes: int, warps: int) -> Encoding | None:
    """Such squares, as few warps beside each other as can be, and lanes so that each reads the least of both
    operands. None as in `square`."""
    found = [(columns, height // down + width * down // lanes, down, rows)
             for down in (1 << bit for bit in range(lanes.bit_length()))
             for rows, columns, height, width in _spreads(op, down, lanes, warps)]
    if not found:
        return None
    columns, _, down, rows = min(found)
    return _blocked(down, lanes // down, rows, columns)


def _spreads(op: Operation, down: int, lanes: int, warps: int) -> Iterator[tuple[int, int, int, int]]:
    """(warps below and beside each other, rows and columns of a warp): how a result can be spread over warps,
    each lane of which has a square, `down` lanes below each other."""
    type = op.result.type
    assert isinstance(type, TensorType)
    if type.encoding is None:
        return
    for bit in range(warps.bit_length()):
        rows, columns = 1 << bit, warps >> bit
        height, width = type.shape[0] // rows, type.shape[1] // columns
        if height >= SIDE * down and width >= SIDE * lanes // down:
            yield rows, columns, height, width


def _blocked(down: int, across: int, rows: int, columns: int) -> Encoding:
    return Encoding("ttg", "blocked", (("sizePerThread", (SIDE, SIDE)), ("threadsPerWarp", (down, across)),
                                       ("warpsPerCTA", (rows, columns)), ("order", (1, 0))))

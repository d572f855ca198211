"""Where the lanes of a program hold the results of its products: a pass over TTGIR, for targets without a
matrix unit of their own layouts (matrix_placement.py has those).

The stock passes spread a result over lanes row by row. A lane that holds a square reads fewer operands for
each of its sums, and a result that is made in matrices of a sub-group is best held as it comes out of them.
The layout spreads over what is computed from the result, as in matrix_placement.py.
"""

from __future__ import annotations

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
        grid = find_grid(target, warps, op, is_chained(op))
        if grid is not None:
            op.set_attribute(PLACED, grid.attribute())
            encoding: Encoding | None = linear(layout_of_grid(grid, target.sub_group_size))
        else:
            encoding = square(op, target.sub_group_size, warps, is_chained(op))
        if encoding is not None:
            assign(op.result, encoding, placed)
    for value, encoding in list(placed.items()):
        spread(value, encoding, placed)
    convert_at_edges(module)


def linear(layout: Layout) -> Encoding:
    """A layout as an encoding."""
    bases = {name: [layout.unravel(basis) for basis in getattr(layout, name)]
             for name in ("register", "lane", "warp")}
    return Encoding("ttg", "linear", tuple((name, tuple(known)) for name, known in bases.items()))


def square(op: Operation, lanes: int, warps: int, whole_rows: bool) -> Encoding | None:
    """Squares of SIDE x SIDE of a lane, lanes in a rectangle that is nearly a square, warps so that each
    reads the least of both operands; `whole_rows`: one below the other. None for a result that is too small,
    or has no layout."""
    type = op.result.type
    assert isinstance(type, TensorType)
    height, width = type.shape
    down = 1 << (lanes.bit_length() - 1) // 2
    across = lanes // down
    if type.encoding is None or height < SIDE * down or width < SIDE * across:
        return None
    if height * width < SIDE * SIDE * lanes * warps:
        return None
    choices = []
    for bit in range(warps.bit_length()):
        rows, columns = 1 << bit, warps >> bit
        if height >= SIDE * down * rows and width >= SIDE * across * columns:
            choices.append((columns if whole_rows else height // rows + width // columns, columns, rows))
    if not choices:
        return None
    _, columns, rows = min(choices)
    return Encoding("ttg", "blocked", (("sizePerThread", (SIDE, SIDE)), ("threadsPerWarp", (down, across)),
                                       ("warpsPerCTA", (rows, columns)), ("order", (1, 0))))

"""How products are made by one work-item, and by lanes that share a program: decided before a word of the
product is emitted.

What is returned is part of the plan; dot.py, operand.py and fma.py do as it says. Where an operand lies
meanwhile is decided operand by operand, each before its own words: staging the left one may put into an array
what the right one is made of, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...ir.model import FloatType, IntegerType, Operation, bits_of
from ...layout import log2
from ...spirv.module import Value as Register
from ...target import Target
from ...traversal import Asking, every, question
from ..addresses.element_motion import contiguous_axis
from ..context import Context
from ..plan.records import IN_SQUARES, IN_TILES, IN_TURN, Product
from ..values.tensor import Affine, Deferred, Shared, Stored, Tensor, Uniform
from ..values.types import element_of, shape_of
from .operand import Operand, one_panel

#: Steps along K in one turn of the innermost loop over arrays.
UNROLLED = 2

#: Parts of a tile's loop over K between which lines are fetched, at most; and steps of each, at least.
PARTS = 8
STEPS_OF_A_PART = 16

#: Steps along K that lanes load at a time.
SLICE = 4


# --- one work-item ------------------------------------------------------------------------------------------


def plan_in_arrays(ctx: Context, op: Operation, left: Operand, form: str = "", added: bool = True,
                   most: int = 0) -> Product:
    """Of operands in arrays; `form`: that of the groups that they are in; added: to sums that are there;
    most: vectors of a tile, at most, if any."""
    shape = shape_of(op.results[0].type)
    width = min(shape[-1], ctx.target.vector_width)
    vectors = min(shape[-1] // width, most or shape[-1])
    rows, vectors = micro_tile(ctx.target, shape[-2], vectors, bits_of(left.target), added)
    narrow = micro_tile(ctx.target, shape[-2], 1, bits_of(left.target), added)[0] if vectors > 1 else 0
    fewer = vectors * 3 // 4 * width if vectors % 4 == 0 else 0
    turn = min(left.shape[-1], UNROLLED)
    begins = op in ctx.prepared.zeroed
    tiles = prod(shape) > rows * vectors * width
    exactly = isinstance(left.target, FloatType) and isinstance(element_of(op.results[0].type), IntegerType)
    fetches = added and tiles and not exactly and ctx.target.fetches_in_parts \
        and ctx.target.optimises("prefetch")
    parts = min(PARTS, left.shape[-1] // STEPS_OF_A_PART) if fetches else 1
    return Product(op, "arrays", (rows, vectors * width, turn), form=form, turn=turn, begins=begins,
                   narrow=narrow, fewer=fewer, parts=max(1, parts))


def micro_tile(target: Target, rows: int, vectors: int, bits: int, added: bool = True) -> tuple[int, int]:
    """Rows and vectors of the result that are summed in registers at a time. Rows are shared out evenly among
    tiles. Where tiles are the first to write the result (not `added`), they are a power of two: so definite
    assignment follows them (spirv/passes/definite_assignment.py)."""
    budget = max(1, target.accumulators[0] * target.accumulators[1] * 32 // max(bits, 32))
    height = min(rows, target.accumulators[0], budget)
    across = min(vectors, 1 << (budget // height).bit_length() - 1)
    height = min(rows, budget // across)
    if not added:
        height = 1 << height.bit_length() - 1
    return -(-rows // -(-rows // height)), across


def staging_of_left(operand: Operand) -> str:
    """Either order of its dimensions will do: that in which it is found."""
    if operand.stored() is not None:
        return "where it is"
    return "by columns" if _is_by_columns(operand) and operand.shape[-1] > 1 else "by rows"


def staging_for_tiles(ctx: Context, operand: Operand, tile: int) -> str:
    """The left one for registers of tile x tile elements, however it is found: tile by tile, where there are
    whole ones, else row by row."""
    form = IN_TILES if min(operand.shape[-2:]) >= tile else "by rows"
    return f"{form}{_in_squares(ctx, operand)}"


def staging_of_right(ctx: Context, operand: Operand) -> str:
    """It is read in vectors along N: in panels, unless an array holds it so already."""
    known = operand.stored()
    return "where it is" if known is not None and not known[1] else f"panels{_in_squares(ctx, operand)}"


def in_turn(ctx: Context, plan: Product, operand: Operand, staging: str, panel: int) -> str:
    """The same where panels may be packed one by one: tiles are as wide as a panel, and no condition hangs on
    the elements of all of them."""
    fits = staging == "panels" and plan.tile[1] == panel and ctx.target.optimises("tiles")
    return IN_TURN if fits and one_panel(ctx, operand, panel) is not None else staging


def _in_squares(ctx: Context, operand: Operand) -> str:
    """What is found column by column, and is large enough."""
    large = min(operand.shape[-2:]) >= ctx.target.vector_width > 1
    return IN_SQUARES if large and _is_by_columns(operand) else ""


def _is_by_columns(operand: Operand) -> bool:
    """Are the neighbours of a column neighbours in memory?"""
    return contiguous_axis(operand.tensor) == len(operand.shape) - 2


# --- lanes --------------------------------------------------------------------------------------------------


def plan_in_lanes(ctx: Context, op: Operation, left: Sequence[Tensor], right: Sequence[Tensor],
                  depth: int) -> Product:
    """Of lanes that sum their own elements; left and right: the tensors that the operands are made of, of
    `depth` along K."""
    registers = ctx.layouts.of(op.results[0].type).registers
    steps = all(map(_can_step, (*left, *right)))
    turn = min(depth, 1 << log2(max(1, ctx.target.unrolled // registers))) if steps else depth
    sliced = steps and turn > SLICE and ctx.target.places_tiles
    return Product(op, "lanes", (1, registers, SLICE if sliced else turn), (_place(left), _place(right)),
                   turn=turn)


def _place(tensors: Sequence[Tensor]) -> str:
    return "shared memory" if any(isinstance(x, Shared) for x in tensors) else "registers"


@question
def _can_step(tensor: object) -> Asking[bool]:
    """Can a slice of the tensor be had that only run time knows, without keeping all of it in registers?"""
    if isinstance(tensor, Deferred):
        return tensor.evaluated is None and (yield from every(tensor.operands))
    if isinstance(tensor, Affine):
        return (yield (tensor.exact,))
    return tensor is None or isinstance(tensor, (Uniform, Shared, Stored, Register))


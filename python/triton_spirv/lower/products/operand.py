"""Operands of matrix products: put into private arrays, in the type and in the order that the micro kernel
reads.

The left operand is read one element at a time, so either order of its dimensions will do: it is kept in the
order in which it is found. The right operand is read in vectors along N. It is packed into panels, each as
wide as the micro kernel's tile, so that the kernel walks memory from front to back (Goto and van de Geijn,
Anatomy of high-performance matrix multiplication, 2008). Each is packed when it is multiplied, where that may
be: it is in the nearest cache then, and the others take no place in the second one. An operand that is
contiguous along K, as a key matrix in attention, is read along K and transposed in registers on the way.
An array that has the right type already is used where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Protocol

from ...dataclass import dataclass
from ...ir.model import IntegerType, Operation, Type
from ...layout import Layout, log2, row_major, transposed
from ...spirv.builder import with_width
from ...spirv.module import Value as Register
from ..addresses.masks import all_false, is_proven, one_of, proven_whole
from ..arithmetic.cast import to_float
from ..context import CHEAP, Context, StepLoop
from ..memory.prefetch import SpreadFetches, prefetch_next
from ..plan.records import IN_SQUARES, IN_TILES, IN_TURN
from ..values import fragment as fragments
from ..values.tensor import Bound, Deferred, Fragment, Stored, Tensor
from ..values.types import register_type
from .edges import mask_of_zeros

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Block:
    """An operand in a private array of vectors of `width` components.

    Element (batch, row, k) of a left operand, or the first one of (batch, panel, k) of a right operand, is at
    the sum of the indices times their strides. panel: columns of a panel of a right operand; across: from one
    vector of a tile to the next. pitch: of a left operand in tiles, from one row of a tile to the next; there
    strides hold for the first elements of tiles. pack: the array holds one panel at a time, of the number
    that this is given.
    """

    stored: Stored
    batch: int
    outer: int
    depth: int
    panel: int = 1
    across: int = 0
    pitch: int = 0
    pack: Callable[[Register], None] | None = None

    @property
    def array(self) -> Register:
        return self.stored.array

    @property
    def width(self) -> int:
        return self.stored.width

    def origin(self, ctx: Context, batch: Register, row: Register) -> Register:
        """Where k = 0 of a row of a left operand is."""
        return ctx.b.iadd(ctx.b.imul(batch, self.batch), ctx.b.imul(row, self.outer))

    def along(self, ctx: Context, origin: Register, k: Register) -> Register:
        """Where k is."""
        return ctx.b.iadd(origin, ctx.b.imul(k, self.depth))

    def element(self, ctx: Context, place: Register, row: int, k: int) -> Register:
        """The one so many rows and steps along K behind a place."""
        return ctx.env.private_load(self.array, self.width, register_type(self.stored.element), place, 1,
                                    row * self.outer + k * self.depth)

    def column(self, ctx: Context, column: Register) -> Register:
        """Where the panel that begins with this column begins."""
        return ctx.b.imul(ctx.b.lshr(column, log2(self.panel)), self.outer)


class Operand(Protocol):
    """A matrix [..., rows, columns]; its elements come in the type of the product."""

    @property
    def shape(self) -> Shape: ...

    @property
    def tensor(self) -> Tensor:
        """What it is made of, in the same dimensions."""

    @property
    def target(self) -> Type:
        """The type of the product."""

    def stored(self) -> tuple[Stored, bool] | None:
        """An array that holds the matrix in that type already, and whether it holds it transposed."""

    def inputs(self, layout: Layout) -> list[tuple[Tensor, Layout]]:
        """The tensors that `fragment` will ask for."""

    def fragment(self, ctx: Context, layout: Layout) -> Fragment:
        """The elements under a layout."""

    def zeros(self, ctx: Context, layout: Layout) -> Fragment | None:
        """What `fragment` makes of zeros; None where other things matter, too."""


@dataclass(frozen=True)
class Plain:
    """A tensor as it is, but for its type."""

    tensor: Tensor
    target: Type

    @property
    def shape(self) -> Shape:
        return self.tensor.shape

    def stored(self) -> tuple[Stored, bool] | None:
        tensor: Bound | None = self.tensor
        flipped = False
        while isinstance(tensor, Deferred):
            if tensor.evaluated is not None:
                tensor = tensor.evaluated
            elif tensor.operation.has("transposes") and swaps_last(tensor.operation):
                tensor, flipped = tensor.operands[0], not flipped
            else:
                break
        if isinstance(tensor, Stored) and tensor.element == self.target:
            return tensor, flipped
        return None

    def inputs(self, layout: Layout) -> list[tuple[Tensor, Layout]]:
        return [(self.tensor, layout)]

    def fragment(self, ctx: Context, layout: Layout) -> Fragment:
        made = ctx.evaluation.fragment(self.tensor, layout)
        registers = [converted(ctx, x, self.tensor.element, self.target) for x in made.registers]
        return Fragment(layout, self.target, tuple(registers))

    def zeros(self, ctx: Context, layout: Layout) -> Fragment:
        zero = ctx.b.constant(with_width(register_type(self.target), layout.width), 0)
        return Fragment(layout, self.target, (zero,) * layout.registers)


def converted(ctx: Context, register: Register, source: Type, target: Type) -> Register:
    """An element in the type that is computed in; integers are signed."""
    if isinstance(target, IntegerType):
        return ctx.b.resize(register, target.width)
    if isinstance(source, IntegerType):
        return ctx.b.convert("OpConvertSToF", register, register_type(target))
    return to_float(ctx, register, source, target)


# --- staging ------------------------------------------------------------------------------------------------


def stage_left(ctx: Context, op: Operation, operand: Operand, staging: str,
               fetches: SpreadFetches | None = None, tested: bool = False, tile: int = 0,
               array: Stored | None = None) -> Block:
    """The left operand [..., M, K], as decide.py says. tested: its masks are known not to hold everywhere.
    tile: rows and columns of one, where it is put into tiles. array: where it is put that is not found by
    columns, if there is one already."""
    rows, depth = operand.shape[-2:]
    known = operand.stored() if staging == "where it is" else None
    flipped = staging == "by columns"
    if known is not None:
        stored, flipped = known
    elif flipped:
        shape = _swapped(operand.shape)
        natural = ctx.layouts.default(shape)
        stored = ctx.arrays.allocate(shape, operand.target)
        _copy(ctx, op, operand, _flip(natural), stored, lambda made: replace(made, layout=natural))
    else:
        stored = array or ctx.arrays.allocate(operand.shape, operand.target)
        in_tiles = staging.startswith(IN_TILES)

        def place(made: Fragment) -> Fragment:
            return replace(made, layout=made.layout.map(
                operand.shape, lambda index: _in_tiles(index, depth, tile))) if in_tiles else made
        _copy_by_rows(ctx, op, operand, stored, staging, place, fetches, tested)
        if in_tiles:
            return Block(stored, rows * depth, depth, tile, pitch=tile)
    strides = (1, rows) if flipped else (depth, 1)
    return Block(stored, rows * depth, *strides)


def packed_shape(operand: Operand, panel: int) -> Shape:
    """Of a right operand in panels."""
    depth, columns = operand.shape[-2:]
    return prod(operand.shape[:-2]), columns // panel, depth, panel


def stage_right(ctx: Context, op: Operation, operand: Operand, staging: str, panel: int,
                fetches: SpreadFetches | None = None, array: Stored | None = None,
                down_first: bool = False) -> Block:
    """The right operand [..., K, N], as decide.py says; panels have `panel` columns. array: that of all
    panels, if there already. down_first: walked down a few columns at a time, so few panels are written."""
    depth, columns = operand.shape[-2:]
    side = min(columns, ctx.target.vector_width)
    known = operand.stored() if staging == "where it is" else None
    if known is not None:
        return Block(known[0], depth * columns, panel, columns, panel, side)
    if staging == IN_TURN:
        return _panels_in_turn(ctx, op, operand, panel, fetches)
    packed, layout = packed_shape(operand, panel), ctx.layouts.default(operand.shape)
    if down_first:
        layout = rows_first(layout, operand.shape)
    stored = array or ctx.arrays.allocate(packed, operand.target)

    def place(made: Fragment) -> Fragment:
        places = made.layout.map(packed, lambda index: _packed(index, depth, columns, panel))
        return replace(made, layout=places)
    _copy_by_rows(ctx, op, operand, stored, staging, place, fetches, walked=layout)
    across = depth * panel if panel == side else side
    return Block(stored, depth * columns, depth * panel, panel, panel, across)


def rows_first(layout: Layout, shape: Shape) -> Layout:
    """The steps down the rows of [..., rows, columns] before those across, and those before other batches."""
    rows, columns = shape[-2:]
    return replace(layout, step=tuple(sorted(
        layout.step, key=lambda basis: (basis // (rows * columns), basis % columns, basis))))


def one_panel(ctx: Context, operand: Operand, panel: int) -> Layout | None:
    """The layout of a right operand whose last steps are the panels; None where a panel is no whole number of
    vectors, or all there is."""
    columns, layout = operand.shape[-1], ctx.layouts.default(operand.shape)

    def is_inside(basis: int) -> bool:
        return basis < operand.shape[-2] * columns and basis % columns < panel

    if panel >= columns or not all(map(is_inside, layout.component)):
        return None
    registers = tuple(filter(is_inside, layout.register))
    others = (basis for basis in (*layout.register, *layout.step) if basis not in registers)
    return replace(layout, register=registers, step=tuple(sorted(others, key=lambda x: not is_inside(x))))


def _panels_in_turn(ctx: Context, op: Operation, operand: Operand, panel: int,
                    fetches: SpreadFetches | None) -> Block:
    """The right operand in one array, panel after panel. What the next round will read is fetched in the
    order of memory."""
    depth, columns = operand.shape[-2:]
    layout, natural = one_panel(ctx, operand, panel), ctx.layouts.default(operand.shape)
    assert layout is not None
    bits = log2(prod(operand.shape[:-2]) * (columns // panel))
    inputs = operand.inputs(layout)
    compute_before(ctx, op, inputs)
    later = fetches is not None and fetches.takes(ctx, operand.inputs(natural), len(natural.step))
    shape = (1, 1, depth, panel)
    stored = ctx.arrays.allocate(shape, operand.target)

    def place(made: Fragment) -> Fragment:
        places = made.layout.map(shape, lambda index: index // columns % depth * panel + index % panel)
        return replace(made, layout=places)

    def pack(number: Register) -> None:
        ctx.indices.pieces.insert(0, (number, bits))
        ctx.scopes.open(walks=True)
        _write(ctx, operand, layout, len(layout.step) - bits, stored, place, later, tested=False)
        ctx.scopes.close()
        ctx.indices.pieces.pop(0)
        ctx.recorder.reads(stored, None)
    side = min(columns, ctx.target.vector_width)
    return Block(stored, 0, 0, panel, panel, depth * panel if panel == side else side,
                 pack=pack)


def _copy_by_rows(ctx: Context, op: Operation, operand: Operand, stored: Stored, staging: str,
                  place: Callable[[Fragment], Fragment], fetches: SpreadFetches | None,
                  tested: bool = False, walked: Layout | None = None) -> None:
    """Walk the operand along its rows, or under another layout, and write it to the array; `place` says where
    each fragment goes. One that is found column by column is read so, and transposed in squares."""
    if not staging.endswith(IN_SQUARES):
        _copy(ctx, op, operand, walked or ctx.layouts.default(operand.shape), stored, place, fetches, tested)
        return
    side = ctx.target.vector_width
    layout = _squares(operand.shape, side)

    def place_transposed(made: Fragment) -> Fragment:
        bits = log2(side)
        across = replace(layout, component=layout.register[:bits], register=layout.component)
        return place(fragments.rearrange(ctx.b, made, across))
    _copy(ctx, op, operand, layout, stored, place_transposed, fetches)


def _copy(ctx: Context, op: Operation, operand: Operand, layout: Layout, stored: Stored,
          place: Callable[[Fragment], Fragment], fetches: SpreadFetches | None = None,
          tested: bool = False) -> None:
    """Walk the operand under `layout` and write it to the array; `place` says where each fragment goes. What
    the next round will read is fetched here, or by who takes that over."""
    inputs = operand.inputs(layout)
    compute_before(ctx, op, inputs)
    later = fetches is not None and fetches.takes(ctx, inputs, len(layout.step))
    _write(ctx, operand, layout, len(layout.step), stored, place, later, tested)


def _write(ctx: Context, operand: Operand, layout: Layout, bits: int, stored: Stored,
           place: Callable[[Fragment], Fragment], later: bool, tested: bool) -> None:
    """The loop over so many bits of the steps. Steps in which the operand's mask is false everywhere write
    zeros: a block at the edge of a matrix has many."""
    inputs = operand.inputs(layout)

    def load() -> list[Register]:
        ctx.arrays.write(stored, place(operand.fragment(ctx, layout)))
        if not later:
            prefetch_next(ctx, inputs)
        return []

    def walk() -> None:
        with StepLoop(ctx.walks, bits):
            zeros = operand.zeros(ctx, layout) if bits else None
            nothing = None if zeros is None else _is_left_out(ctx, inputs)
            if zeros is None or nothing is None:
                load()
                return

            def clear() -> list[Register]:
                ctx.arrays.write(stored, place(zeros))
                return []
            one_of(ctx, nothing, "is the mask false in all of this window?",
                   ("nothing", clear), ("some", load), may_skip=True)
    ctx.open_walks.fetches_elsewhere = later
    if tested:
        walk()
    else:
        proven_whole(ctx, inputs, walk)
    ctx.open_walks.fetches_elsewhere = False


def _is_left_out(ctx: Context, inputs: list[tuple[Tensor, Layout]]) -> Register | None:
    """A scalar Bool that implies that a load gives nothing but zeros; None where none is known."""
    if len(inputs) != 1 or ctx.layouts.brief:
        return None
    tensor, layout = inputs[0]
    mask = mask_of_zeros(tensor)
    return None if is_proven(ctx, mask, layout) else all_false(ctx, mask, layout)


def compute_before(ctx: Context, op: Operation, inputs: list[tuple[Tensor, Layout]]) -> None:
    """Prepare a loop that asks for each element once, in any order: what `op` is not the last to need is
    computed now, and registers that the loop indexes are put into arrays."""
    for node, layouts in ctx.requests.of(inputs):
        if isinstance(node, Fragment):
            if any(any(layout.step) for layout in layouts):
                ctx.arrays.spill(node)
        elif node.evaluated is None and _is_expensive(node) and ctx.later_uses.needs(node, op):
            ctx.walks.materialise([node])


def _is_expensive(node: Deferred) -> bool:
    return node.reads_memory or node.weight > CHEAP


# --- orders -------------------------------------------------------------------------------------------------


def swaps_last(op: Operation) -> bool:
    """Does this tt.trans exchange the last two dimensions and leave the others?"""
    order = tuple(op.attributes["order"])
    return len(order) >= 2 and order == _swapped(tuple(range(len(order))))


def _swapped(shape: Shape) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2])


def _flip(layout: Layout) -> Layout:
    """The same elements, of the transposed matrix."""
    shape, order = _swapped(layout.shape), _swapped(tuple(range(len(layout.shape))))
    return layout.map(shape, lambda index: transposed(index, shape, order))


def _packed(index: int, depth: int, columns: int, panel: int) -> int:
    """The row-major index in [batch, N / panel, K, panel] of an element of [batch, K, N]."""
    index, column = divmod(index, columns)
    batch, k = divmod(index, depth)
    return ((batch * (columns // panel) + column // panel) * depth + k) * panel + column % panel


def _in_tiles(index: int, depth: int, tile: int) -> int:
    """The place, tile by tile, of an element of [..., M, K]."""
    row, k = divmod(index, depth)
    band, row = divmod(row, tile)
    return (band * depth + k // tile * tile + row) * tile + k % tile


def _squares(shape: Shape, side: int) -> Layout:
    """[..., K, N] walked in squares: components along K, as many registers along N."""
    whole = row_major(shape, 1)
    bits, low = log2(side), log2(shape[-1])
    component = whole.register[low:low + bits]
    register = whole.register[:bits]
    step = tuple(basis for basis in whole.register if basis not in component + register)
    return Layout(shape, component, register, step)

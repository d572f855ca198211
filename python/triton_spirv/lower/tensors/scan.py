"""tt.scan: every element becomes the combination of all elements up to it along an axis, in order.

The axis is a string of index bits, and each of them is a bit of some coordinate. The bits are worked from the
lowest to the highest: once those below bit `k` are done, blocks of 1 << k neighbours are scanned, and bit `k`
joins two blocks by combining the total of the lower one with every element of the upper one:

    lower block   a  ab  abc  abcd        stays
    upper block   e  ef  efg  efgh        becomes  abcd.e  abcd.ef  abcd.efg  abcd.efgh

The combiner need only be associative: what comes first is always its left operand. Where the total of the
lower block is found depends on the coordinate of the bit: in another component (a shuffle), in another
register (nothing to do), in the step before (carried by the loop), in another lane or warp (exchanged). A
reversed scan swaps lower and upper and does the steps from the last.

Lanes and warps do not change their registers at each of their bits: they sum up what comes before them, and
put it before all their registers once, at the end.

A combiner that is not element by element (it branches, or asserts) runs on one element at a time, in a loop
over the axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from ...dataclass import dataclass
from ...ir.model import Operation, Type
from ...layout import Layout, bit_by_bit, row_major
from ...spirv.builder import with_width
from ...spirv.control import IfElse
from ...spirv.module import Value as Register
from ...spirv.types import Bool
from ..addresses.masks import guarded
from ..context import Context, StepLoop
from ..control.region import accumulator_types, combine, from_accumulator, is_elementwise, to_accumulator
from ..lanes.exchange import warp_values
from ..registry import lowers
from ..values.tensor import Fragment, Tensor
from ..values.types import element_of, register_type
from .reduce import Row, has_identity, start_rows

Places = list[tuple[str, int]]  # the coordinate bits that hold index bits, lowest index bit first


@lowers("tt.scan")
def scan(ctx: Context, op: Operation, srcs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """[..., N, ...] x k -> the same shape x k; the combiner takes 2k scalars and must be associative."""
    axis, reverse = op.attributes["axis"], bool(op.attributes.get("reverse", False))
    natural = ctx.layouts.of(op.srcs[0].type)
    elements = [element_of(value.type) for value in op.srcs]
    types = accumulator_types(op.regions[0], elements)
    if not is_elementwise(op.regions[0]) and not natural.lane:
        return _scan_in_order(ctx, op, srcs, elements, reverse)
    mask = natural.axis_mask(axis)
    layout = natural if is_bit_by_bit(natural, mask) else bit_by_bit(natural)
    layout, inner, outer = _steps_of_axis_first(layout, mask)
    inputs = [(src, layout) for src in srcs]
    walk = ctx.walks.plan(op, inputs)
    stored = [ctx.arrays.allocate(layout.shape, element) for element in elements] if layout.step else []
    with StepLoop(ctx.walks, outer):
        before = start_rows(ctx, op, types, layout.width, _rows_off_axis(layout, mask)) if inner else []
        with StepLoop(ctx.walks, inner, [x for row in before for x in row], reverse) as loop:
            flat = guarded(ctx, inputs, [], lambda: [
                to_accumulator(ctx, x, element, type)
                for src, element, type in zip(srcs, elements, types, strict=True)
                for x in ctx.evaluation.fragment(src, layout).registers])
            columns = [flat[i:i + layout.registers] for i in range(0, len(flat), layout.registers)]
            blocks = Blocks(ctx, op, layout, reverse, [list(row) for row in zip(*columns, strict=True)])
            first = None
            if loop.index is not None and not has_identity(op, types):
                first = ctx.b.compare("OpIEqual", loop.index, 0)
            blocks.scan(_rows(loop.carried, len(srcs)), first)
            made = [
                Fragment(layout, element, tuple(
                    from_accumulator(ctx, row[i], element, type) for row in blocks.rows))
                for i, (element, type) in enumerate(zip(elements, types, strict=True))
            ]
            for array, piece in zip(stored, made, strict=False):
                ctx.arrays.write(array, piece)
            loop.yield_([x for row in blocks.totals() for x in row] if inner else [])
    ctx.walks.finish(walk)
    if not stored and layout != natural:
        made = [ctx.evaluation.fragment(piece, natural) for piece in made]
    return tuple(stored or made)


def _steps_of_axis_first(layout: Layout, mask: int) -> tuple[Layout, int, int]:
    """The layout with the steps along the axis innermost; how many of them, and how many other step bits."""
    inner = tuple(basis for basis in layout.step if basis & mask)
    outer = tuple(basis for basis in layout.step if not basis & mask)
    return replace(layout, step=inner + outer), len(inner), len(outer)


def _rows(flat: Sequence[Register], size: int) -> list[Row]:
    return [list(flat[i:i + size]) for i in range(0, len(flat), size)]


def _rows_off_axis(layout: Layout, mask: int) -> int:
    return sum(1 for index in layout.register_indices if not index & mask)


def _scan_in_order(ctx: Context, op: Operation, srcs: tuple[Tensor, ...], elements: Sequence[Type],
                   reverse: bool) -> tuple[Tensor, ...]:
    """One element after the other: the combiner runs once per element, and never on anything but elements."""
    # the combiner may open blocks, in which nothing pending must be computed
    ctx.pending.settle(memory_only=False)
    type = op.srcs[0].type
    mask = Layout(type.shape).axis_mask(op.attributes["axis"])
    layout, inner, outer = _steps_of_axis_first(row_major(type.shape, 1, 1, 1), mask)
    walk = ctx.walks.plan(op, [(src, layout) for src in srcs])
    stored = [ctx.arrays.allocate(type.shape, element) for element in elements]
    anything = [ctx.b.constant(kind, False if kind == Bool() else 0) for kind in map(register_type, elements)]
    with StepLoop(ctx.walks, outer):
        with StepLoop(ctx.walks, inner, anything, reverse) as loop:
            row = [ctx.evaluation.fragment(src, layout).registers[0] for src in srcs]
            if loop.index is not None:
                branch = IfElse(ctx.b.module, ctx.b.compare("OpIEqual", loop.index, 0))
                with branch.then():
                    branch.yield_(row)
                with branch.otherwise():
                    branch.yield_(combine(ctx, op.regions[0], list(loop.carried) + row))
                row = list(branch.results)
            for array, element, register in zip(stored, elements, row, strict=True):
                ctx.arrays.write(array, Fragment(layout, element, (register,)))
            loop.yield_(row)
    ctx.walks.finish(walk)
    whole = ctx.layouts.of(type)
    return tuple(stored) if whole.step else tuple(ctx.evaluation.fragment(array, whole) for array in stored)


@dataclass(frozen=True)
class Behind:
    """What the registers of a block come behind: the row, None for nothing yet; a Bool that says in which
    lanes it counts, None for all."""

    row: Row | None = None
    lanes: Register | None = None


class Blocks:
    """Rows (one register per scanned tensor) under a layout, scanned in ever larger blocks along the axis.

    `done` holds the coordinate bits joined so far. Once lanes or warps are among them, `_totals` holds the
    total of the block that each work-item stands in, for every register without its `done` bits; before
    that, totals are read off the rows. `_behind` then holds, for the blocks of the time when the first lane
    was joined, what comes before all their registers, and the lanes in which that is anything.
    """

    def __init__(self, ctx: Context, op: Operation, layout: Layout, reverse: bool, rows: list[Row]) -> None:
        self.ctx, self.layout, self.reverse = ctx, layout, reverse
        self.region = op.regions[0]
        self.rows = rows
        self.places = _places(layout, layout.axis_mask(op.attributes["axis"]))
        self.done = {"component": 0, "register": 0}
        self._totals: dict[int, Row] | None = None
        self._behind: dict[int, Behind] = {}
        self._done_alone = 0  # registers that were joined before the first lane

    def scan(self, carried: Sequence[Row] = (), first: Register | None = None) -> None:
        """Join all bits but those of steps, behind `carried`: one row per register off the axis, or none.

        `carried` does not count where the scalar `first` is true.
        """
        join = {"component": self._join_components, "lane": self._join_lanes, "warp": self._join_warps}
        runs = [(kind, [bit for _, bit in run]) for kind, run in groupby(self.places, lambda place: place[0])]
        if carried and (not runs or runs[-1][0] != "register"):
            runs.append(("register", []))
        for i, (kind, bits) in enumerate(runs):
            if kind == "register":
                self._join_registers(bits, carried if i == len(runs) - 1 else (), first)
                continue
            for bit in bits:
                join[kind](bit)
        self._put_all_behind()

    def totals(self) -> list[Row]:
        """The combination of everything along the axis, one row per register off the axis."""
        return [self._total(group) for group in self._groups()]

    # --- who is who -------------------------------------------------------------------------------------

    def _group(self, register: int) -> int:
        """Registers of one block share this number: the register without the bits that are done."""
        return register & ~self.done["register"]

    def _groups(self) -> list[int]:
        return [r for r in range(len(self.rows)) if r == self._group(r)]

    def _last(self, index: int, done: int) -> int:
        """The coordinate of the last element of the block in which `index` stands."""
        return index & ~done if self.reverse else index | done

    def _total(self, group: int) -> Row:
        """The total of a block, in every component of that block."""
        if self._totals is not None:
            return self._totals[group]
        row = self.rows[self._last(group, self.done["register"])]
        which = [self._last(c, self.done["component"]) for c in range(self.layout.width)]
        return [self._shuffle(x, which) for x in row]

    # --- joining blocks ---------------------------------------------------------------------------------

    def _join_components(self, bit: int) -> None:
        """Two blocks in the components of one vector."""
        assert self._totals is None, "components lie below lanes"
        upper = [bool(c >> bit & 1) != self.reverse for c in range(self.layout.width)]
        which = [self._last(c ^ is_upper << bit, self.done["component"]) for c, is_upper in enumerate(upper)]
        takes = self.ctx.b.constant(with_width(Bool(), self.layout.width), tuple(upper))
        lower = {group: [self._shuffle(x, which) for x in self.rows[self._last(group, self.done["register"])]]
                 for group in self._groups()}
        self.rows = [self._select(takes, self._combine(lower[self._group(r)], row), row)
                     for r, row in enumerate(self.rows)]
        self.done["component"] |= 1 << bit

    def _join_registers(self, bits: Sequence[int], carried: Sequence[Row], first: Register | None) -> None:
        """Blocks in different registers: a chain, in which each block is joined once."""
        along = sum(1 << bit for bit in bits)
        totals: dict[int, Row] = {}
        if carried:
            totals = dict(zip([g for g in self._groups() if not g & along], carried, strict=True))
        values = [sum((i >> k & 1) << bit for k, bit in enumerate(bits)) for i in range(1 << len(bits))]
        if self.reverse:
            values.reverse()
        for value in values:
            for group in [g for g in self._groups() if g & along == value]:
                before = totals.get(group & ~along)
                if before is not None:
                    self._put_behind(before, group, first if value == values[0] else None)
                whole = self._total(group)
                if self._totals is not None and before is not None:
                    whole = self._combine(before, whole)
                totals[group & ~along] = whole
        if self._totals is not None:
            self._totals = totals
        self.done["register"] |= along

    def _put_behind(self, before: Row, group: int, unless: Register | None) -> None:
        """Combine `before` with all registers of a block, except where the scalar `unless` is true."""
        if self._behind:
            assert unless is None, "lanes that share a tensor do not walk it in steps"
            for key in [key for key in self._behind if self._group(key) == group]:
                self._behind[key] = self._joined(before, self._behind[key])
            return
        for r in [r for r in range(len(self.rows)) if self._group(r) == group]:
            joined = self._combine(before, self.rows[r])
            self.rows[r] = joined if unless is None else self._select(unless, self.rows[r], joined)

    def _join_lanes(self, bit: int) -> None:
        """Blocks in the lanes whose ids differ in `bit`."""
        upper = self._upper(self.ctx.env.lane_id(), bit)
        mine = self._shared_totals()
        self._join(upper, {group: [self.ctx.env.shuffle_xor(x, 1 << bit) for x in row]
                           for group, row in mine.items()})

    def _join_warps(self, bit: int) -> None:
        """Blocks in the warps whose ids differ in `bit`."""
        upper = self._upper(self.ctx.env.warp_id(), bit)
        mine = self._shared_totals()
        self._join(upper, dict(zip(mine, warp_values(self.ctx, list(mine.values()), 1 << bit), strict=True)))

    def _upper(self, index: Register, bit: int) -> Register:
        b = self.ctx.b
        return b.compare("OpIEqual" if self.reverse else "OpINotEqual", b.iand(index, 1 << bit), 0)

    def _shared_totals(self) -> dict[int, Row]:
        """The totals, kept from now on, since they are spread over lanes."""
        if self._totals is None:
            self._totals = {group: self._total(group) for group in self._groups()}
            self._behind = dict.fromkeys(self._totals, Behind())
            self._done_alone = self.done["register"]
        return self._totals

    def _join(self, upper: Register, others: dict[int, Row]) -> None:
        """Two blocks, one of them held here: the lower total goes before all of the upper block."""
        mine = self._shared_totals()
        for key, behind in self._behind.items():
            joined = self._joined(others[self._group(key)], behind)
            if behind.row is None:
                self._behind[key] = Behind(joined.row, upper)
                continue
            lanes = None if behind.lanes is None else self.ctx.b.logical_or(behind.lanes, upper)
            self._behind[key] = Behind(self._select(upper, joined.row, behind.row), lanes)
        self._totals = {group: self._combine(self._select(upper, other, mine[group]),
                                             self._select(upper, mine[group], other))
                        for group, other in others.items()}

    def _joined(self, before: Row, behind: Behind) -> Behind:
        """`before`, then what there was: there is something everywhere."""
        if behind.row is None:
            return Behind(before)
        joined = self._combine(before, behind.row)
        return Behind(joined if behind.lanes is None else self._select(behind.lanes, joined, before))

    def _put_all_behind(self) -> None:
        """Combine what comes before each block with the block's registers."""
        for r, row in enumerate(self.rows):
            behind = self._behind.get(r & ~self._done_alone, Behind())
            if behind.row is not None:
                joined = self._combine(behind.row, row)
                self.rows[r] = joined if behind.lanes is None else self._select(behind.lanes, joined, row)

    # --- rows -------------------------------------------------------------------------------------------

    def _combine(self, before: Row, after: Row) -> Row:
        return combine(self.ctx, self.region, [*before, *after])

    def _select(self, condition: Register, x: Row | None, y: Row | None) -> Row:
        assert x is not None and y is not None
        return [self.ctx.b.select(condition, u, v) for u, v in zip(x, y, strict=True)]

    def _shuffle(self, x: Register, which: Sequence[int]) -> Register:
        return x if list(which) == list(range(len(which))) else self.ctx.b.shuffle(x, x, which)


def is_bit_by_bit(layout: Layout, mask: int) -> bool:
    """Is every index bit of the axis one bit of a coordinate, and of one only?"""
    along = [basis for basis in layout.all_bases if basis & mask]
    return len(set(along)) == len(along) and all(basis & (basis - 1) == 0 for basis in along)


def _places(layout: Layout, mask: int) -> Places:
    """The coordinate bit that holds each index bit of the axis, lowest first; steps are left out."""
    found = {}
    for kind in ("component", "register", "lane", "warp"):
        for position, basis in enumerate(getattr(layout, kind)):
            if basis & mask:
                found[basis] = (kind, position)
    return [found[basis] for basis in sorted(found)]

"""tt.reduce with any combiner, over any axis, of any number of tensors at once.

Registers first, then the steps of a loop, then components, then lanes, then warps: each stage is empty where
the axis has no bits of that coordinate. What is left lies under the operand's layout without the axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...ir.model import IntegerType, Operation, Region, Type, Value
from ...layout import Layout, bit_by_bit, log2
from ...spirv.builder import scalar_type, width_of, with_width
from ...spirv.module import Value as Register
from ...spirv.types import Float, Int
from ...spirv.types import Type as SpirvType
from ..addresses.masks import guarded
from ..context import Context, StepLoop
from ..control.region import (
    accumulator_types,
    combine,
    from_accumulator,
    is_elementwise,
    operation_of,
    operations_of,
    to_accumulator,
)
from ..lanes.exchange import warps_along
from ..registry import lowers
from ..values.tensor import Bound, Fragment, Stored, Tensor
from ..values.types import as_scalar, element_of, register_type, shape_of
from .idle_turns import idle_turns

Row = list[Register]  # one register per reduced tensor


def identity(name: str | None, type: SpirvType) -> float | int | None:
    """e with combine(e, x) == x for every x, -0.0 and NaN included; None where none is known."""
    element = scalar_type(type)
    if isinstance(element, Float):
        nan, inf = float("nan"), float("inf")
        return {"arith.addf": -0.0, "arith.mulf": 1.0, "arith.maxnumf": nan, "arith.minnumf": nan,
                "arith.maximumf": -inf, "arith.minimumf": inf, "ts.larger": -inf, "ts.smaller": inf,
                }.get(name or "")
    if isinstance(element, Int):
        top = 1 << (element.width - 1)
        return {
            "arith.addi": 0,
            "arith.muli": 1,
            "arith.ori": 0,
            "arith.xori": 0,
            "arith.andi": -1,
            "arith.maxsi": -top,
            "arith.minsi": top - 1,
            "arith.maxui": 0,
            "arith.minui": -1,
        }.get(name or "")
    return None


def without_axis(layout: Layout, axis: int) -> Layout:
    """The layout of the result: index bits of the axis are dropped, coordinates that had only those hold it
    repeatedly.
    """
    low, bits = layout.dim_bits[axis]
    shape = layout.shape[:axis] + layout.shape[axis + 1:]
    below = (1 << low) - 1
    return layout.map(shape, lambda basis: basis & below | basis >> (low + bits) << low)


def _reduced_layout(ctx: Context, value: Value) -> Layout:
    """The layout to reduce a tensor under: its own, but for all of a tensor in one axis that of what was
    reshaped, so that nothing moves first (tl.sum without an axis)."""
    layout, made_by = ctx.layouts.of(value.type), value.defining_op
    if layout.lane and len(layout.shape) == 1 and made_by is not None and made_by.name == "tt.reshape":
        return ctx.layouts.of(made_by.src.type).reshaped(layout.shape)
    return layout


def is_apart(layout: Layout, mask: int) -> bool:
    """Does each bit of a coordinate move along the axis or across it, and meet each element once?"""
    return layout.holds_once and all(basis & mask in (0, basis) for basis in layout.all_bases)


@lowers("tt.reduce")
def reduce(ctx: Context, op: Operation, srcs: tuple[Tensor, ...]) -> tuple[Bound, ...]:
    """[..., N, ...] x k -> [..., ...] x k; the combiner takes 2k scalars and must be associative and
    commutative.
    """
    b = ctx.b
    region, axis = op.regions[0], op.attributes["axis"]
    layout = _reduced_layout(ctx, op.srcs[0])
    mask = layout.axis_mask(axis)
    if not is_apart(layout, mask):
        layout = bit_by_bit(layout)
    if not is_elementwise(region):
        ctx.pending.settle(
            memory_only=False
        )  # the combiner may open blocks, in which nothing pending must be computed
    inner = tuple(basis for basis in layout.step if basis & mask)
    outer = tuple(basis for basis in layout.step if not basis & mask)
    layout = replace(layout, step=inner + outer)
    elements = [element_of(v.type) for v in op.srcs]
    types = accumulator_types(region, elements)
    inputs = [(src, layout) for src in srcs]
    walk = ctx.walks.plan(op, inputs)
    kept = [r for r, index in enumerate(layout.register_indices) if not index & mask]
    widths = layout.width
    together = is_elementwise(region) and ctx.target.optimises("joint-reductions")
    shared = _rows_together(layout, outer, mask, len(kept)) if together else 0
    partial = replace(layout, step=outer, register=tuple(x for x in layout.register if not x & mask))
    narrow = narrowed(partial, axis) if shared else partial
    stored = [ctx.arrays.allocate(narrow.shape if shared else _kept_shape(layout, axis), element)
              for element in (types if shared else elements)] if outer else []

    def finished(layout: Layout, rows: list[Row]) -> list[Fragment]:
        """Of rows that are reduced to one register each: what is left under the layout without the axis."""
        partial, rows = _reduce_components(ctx, region, layout, rows, layout.axis_mask(axis))
        rows = _reduce_lanes(ctx, region, partial, rows, mask)
        rows = _reduce_warps(ctx, region, partial, rows, mask)
        shrunk = without_axis(partial, axis)
        return [Fragment(shrunk, element, tuple(from_accumulator(ctx, row[i], element, type) for row in rows))
                for i, (element, type) in enumerate(zip(elements, types, strict=True))]

    with StepLoop(ctx.walks, len(outer)):
        start = start_rows(ctx, op, types, widths, len(kept))
        with StepLoop(ctx.walks, len(inner), [x for row in start for x in row], short=bool(outer)) as loop:

            def reduced() -> list[Register]:
                columns = [[to_accumulator(ctx, x, element, type)
                            for x in ctx.evaluation.fragment(src, layout).registers]
                           for src, element, type in zip(srcs, elements, types, strict=True)]
                return [x for row in _reduce_registers(ctx, region, layout, columns, mask) for x in row]

            idle = idle_turns(ctx, op, srcs, layout, walk, len(kept), types)
            masks = [] if idle is None else [(idle.mask, layout)]
            flat = guarded(ctx, inputs, masks, reduced, idle)
            rows = [flat[i:i + len(srcs)] for i in range(0, len(flat), len(srcs))]
            if inner:
                before = [list(loop.carried[i:i + len(srcs)]) for i in range(0, len(loop.carried), len(srcs))]
                joined = [combine(ctx, region, x + y) for x, y in zip(before, rows, strict=True)]
                if not has_identity(op, types):
                    first = b.compare("OpIEqual", loop.index, 0)  # type: ignore[arg-type]
                    joined = [[b.select(first, y, x) for x, y in zip(old, new, strict=True)]
                              for old, new in zip(joined, rows, strict=True)]
                rows = joined
            loop.yield_([x for row in rows for x in row])
        rows = [list(loop.results[i:i + len(srcs)]) for i in range(0, len(loop.results), len(srcs))]
        if shared:
            made = [Fragment(narrow, type, tuple(row[i] for row in rows)) for i, type in enumerate(types)]
        else:
            made = finished(partial, rows)
        for array, piece in zip(stored, made, strict=False):
            ctx.arrays.write(array, piece)
    ctx.walks.finish(walk)
    if shared:
        made, stored = _reduce_together(ctx, narrow, shared, stored, elements, axis, finished)
    return tuple(
        _result(ctx, value.type, stored[i] if stored else made[i]) for i, value in enumerate(op.results)
    )


def _rows_together(layout: Layout, outer: tuple[int, ...], mask: int, registers: int) -> int:
    """The bits of an outer loop whose turns leave their vectors in an array, so that components of several
    are reduced together behind it (`_reduce_components`); 0 where each turn had better reduce its own.

    Of a vector of 16 alone that takes four shuffles and four combinations, each of which waits for the one
    before; of 16 vectors together 30 and 15.
    """
    along = [basis & mask for basis in layout.component if basis & mask]
    lowest = mask & -mask
    if any(layout.lane) or any(layout.warp) or sum(along) != lowest * ((1 << len(along)) - 1):
        return 0
    return max(0, min(len(outer), len(along) - log2(registers)))


def narrowed(layout: Layout, axis: int) -> Layout:
    """The layout of what is left when registers and steps along an axis are reduced: the axis is as long as
    the components along it, which are its lowest bits."""
    low, bits = layout.dim_bits[axis]
    left = sum(1 for basis in layout.component if basis & layout.axis_mask(axis))
    below = (1 << low + left) - 1
    shape = (*layout.shape[:axis], 1 << left, *layout.shape[axis + 1:])
    return layout.map(shape, lambda basis: basis & below | basis >> low + bits << low + left)


def _reduce_together(ctx: Context, layout: Layout, shared: int, parts: Sequence[Stored],
                     elements: Sequence[Type], axis: int,
                     finished: Callable[[Layout, list[Row]], list[Fragment]]
                     ) -> tuple[list[Fragment], list[Stored]]:
    """Reduce the components of vectors in arrays, of `1 << shared` turns at a time -> the fragments of a
    turn, and the arrays that all turns have filled; none where one turn does it."""
    register = tuple(sorted(layout.register + layout.step[:shared], reverse=True))  # for results in order
    layout = replace(layout, register=register, step=layout.step[shared:])
    walk = ctx.walks.plan(None, [])
    stored = [ctx.arrays.allocate(_kept_shape(layout, axis), element) for element in elements] \
        if layout.step else []
    with StepLoop(ctx.walks, len(layout.step)):
        columns = [ctx.arrays.read(part, layout).registers for part in parts]
        made = finished(layout, [list(row) for row in zip(*columns, strict=True)])
        for array, piece in zip(stored, made, strict=False):
            ctx.arrays.write(array, piece)
    ctx.walks.finish(walk)
    return made, stored


def _kept_shape(layout: Layout, axis: int) -> tuple[int, ...]:
    return layout.shape[:axis] + layout.shape[axis + 1:]


def _result(ctx: Context, type: Type, made: Fragment | Stored) -> Bound:
    """The result under its own layout; a reduction to one element of rank 0 is a scalar."""
    if not shape_of(type):
        fragment = made if isinstance(made, Fragment) else ctx.evaluation.fragment(made, Layout(()))
        return as_scalar(ctx.env, ctx.b.extract(fragment.registers[0], 0), type)
    layout = ctx.layouts.of(type)
    if isinstance(made, Fragment) and layout.steps == 1:
        return ctx.evaluation.fragment(made, layout)
    return made


def has_identity(op: Operation, elements: Sequence[Type]) -> bool:
    """Are there values that the combiner of a reduction or scan leaves any others unchanged with?"""
    return all(identity(name, register_type(x)) is not None and not _is_truth(x)
               for name, x in zip(operations_of(op.regions[0]), elements, strict=True))


def _is_truth(element: Type) -> bool:
    return isinstance(element, IntegerType) and element.width == 1


def start_rows(ctx: Context, op: Operation, elements: Sequence[Type], width: int, rows: int) -> list[Row]:
    """The carried values before the first step: the identity, or anything where the first step replaces
    it.
    """
    has = has_identity(op, elements)
    row = []
    for name, element in zip(operations_of(op.regions[0]), elements, strict=True):
        type = with_width(register_type(element), width)
        value = identity(name, type) if has else False if _is_truth(element) else 0
        row.append(ctx.b.constant(type, value))  # type: ignore[arg-type]
    return [list(row) for _ in range(rows)]


def _reduce_registers(
    ctx: Context, region: Region, layout: Layout, columns: Sequence[Row], mask: int
) -> list[Row]:
    """Combine registers that differ only along the axis; rows in the order of the registers that are kept.

    A tree, not a chain: the operations of one level do not wait for each other.
    """
    groups: dict[int, list[Row]] = {}
    for index, row in zip(layout.register_indices, zip(*columns, strict=True), strict=True):
        groups.setdefault(index & ~mask, []).append(list(row))
    rows = []
    for group in groups.values():
        while len(group) > 1:
            group = [combine(ctx, region, x + y) for x, y in zip(group[::2], group[1::2], strict=True)]
        rows.append(group[0])
    return rows


def _reduce_components(
    ctx: Context, region: Region, layout: Layout, rows: list[Row], mask: int
) -> tuple[Layout, list[Row]]:
    """Combine components that differ only along the axis.

    While several registers are left, two are merged: the halves of both are interleaved into two full vectors
    and combined, so that vectors stay wide and a reduction of 16 rows of 16 costs 15 combinations, not 64. A
    last register is halved.
    """
    b = ctx.b
    while True:
        bit = next((i for i in reversed(range(len(layout.component))) if layout.component[i] & mask), None)
        if bit is None:
            return layout, rows
        zeros = [c for c in range(layout.width) if not c >> bit & 1]
        ones = [c for c in range(layout.width) if c >> bit & 1]
        if len(rows) > 1:
            merged = []
            width = layout.width
            half = len(rows) // 2
            for x, y in zip(rows[:half], rows[half:], strict=True):
                low = [b.shuffle(u, v, zeros + [width + c for c in zeros]) for u, v in zip(x, y, strict=True)]
                high = [b.shuffle(u, v, ones + [width + c for c in ones]) for u, v in zip(x, y, strict=True)]
                merged.append(combine(ctx, region, low + high))
            rows = merged
            component = layout.component[:bit] + layout.component[bit + 1:] + (layout.register[-1],)
            layout = replace(layout, component=component, register=layout.register[:-1])
            continue
        halves = [
            [b.shuffle(x, x, part) if width_of(x.type) > 1 else x for x in rows[0]] for part in (zeros, ones)
        ]
        rows = [combine(ctx, region, halves[0] + halves[1])]
        layout = replace(layout, component=layout.component[:bit] + layout.component[bit + 1:])


def _reduce_lanes(ctx: Context, region: Region, layout: Layout, rows: list[Row], mask: int) -> list[Row]:
    """A butterfly of shuffles over the lane bits of the axis; afterwards all those lanes hold the result."""
    b, env = ctx.b, ctx.env
    operation = operation_of(region)
    in_order = operation is None  # then f(x, y) may differ from f(y, x), and lanes from each other
    along = [bool(basis & mask) for basis in layout.lane]
    if operation is not None and any(along) and along == sorted(along, reverse=True):
        found = [[env.reduce_lanes(operation, x, 1 << sum(along)) for x in row] for row in rows]
        made = [[x for x in row if x is not None] for row in found]
        if made == found:
            return made
    for bit, basis in enumerate(layout.lane):
        if not basis & mask:
            continue
        upper = b.compare("OpINotEqual", b.iand(env.lane_id(), 1 << bit), 0) if in_order else None
        reduced = []
        for row in rows:
            other = [env.shuffle_xor(x, 1 << bit) for x in row]
            pair = row + other
            if upper is not None:
                pair = [b.select(upper, y, x) for x, y in zip(pair, other + row, strict=True)]
            reduced.append(combine(ctx, region, pair))
        rows = reduced
    return rows


def _reduce_warps(ctx: Context, region: Region, layout: Layout, rows: list[Row], mask: int) -> list[Row]:
    """Exchange through shared memory over the warp bits of the axis; afterwards all those warps hold the
    result.
    """
    bits = [bit for bit, basis in enumerate(layout.warp) if basis & mask]
    if not bits:
        return rows
    reduced = []
    for group in warps_along(ctx, rows, bits):
        while len(group) > 1:
            group = [combine(ctx, region, x + y) for x, y in zip(group[::2], group[1::2], strict=True)]
        reduced.append(group[0])
    return reduced

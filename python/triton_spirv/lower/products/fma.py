"""Matrix products of lanes that share a program: every lane sums its own elements of the result.

A lane that holds rows m and columns n of the result multiplies and adds over all of K. The operands are asked
for under layouts made from the result's: rows (or columns) as in the result, K in registers. An operand that
waits in shared memory is read inside a loop over K, a few steps at a time, so that registers hold only the
sums and one slice of each operand; one that is in registers already has its steps unrolled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...ir.model import FloatType, IntegerType, Operation, Type
from ...layout import Layout, log2, span
from ...spirv.module import Value as Register
from ...traversal import Asking, answer
from ..arithmetic.cast import to_float
from ..context import Context, StepLoop
from ..plan.records import Product
from ..values.tensor import Deferred, Fragment, Shared, Tensor
from ..values.types import element_of, shape_of
from .decide import plan_in_lanes
from .operand import Operand, converted

F32 = FloatType("f32")


def product_in_lanes(ctx: Context, op: Operation, left: Operand, right: Operand, c: Tensor) -> Fragment:
    """left [..., M, K] x right [..., K, N] + c [..., M, N], under the layout of the result."""
    layout, element = ctx.layouts.of(op.results[0].type), element_of(op.results[0].type)
    target = element if isinstance(element, IntegerType) or str(element) == "f64" else F32
    left, right = (replace(x, target=target) for x in (left, right))  # type: ignore[type-var]
    depth = left.shape[-1]
    shape = shape_of(op.results[0].type)
    rows = _operand_layout(layout, left.shape, [1 << i for i in range(log2(depth))],
                           lambda batch, m, n: (batch * shape[-2] + m) * depth)
    columns = _operand_layout(layout, right.shape, [shape[-1] << i for i in range(log2(depth))],
                              lambda batch, m, n: batch * depth * shape[-1] + n)
    of_left, of_right = ([tensor for tensor, _ in operand.inputs(under)]
                         for operand, under in ((left, rows), (right, columns)))
    plan = plan_in_lanes(ctx, op, of_left, of_right, depth)
    inner = log2(plan.turn)
    rows, columns = _stepped(rows, inner, depth), _stepped(columns, inner, depth)
    for tensor in (*of_left, *of_right):
        _announce(ctx, tensor)
    sums = [converted(ctx, x, element, target) for x in ctx.evaluation.registers(c, layout)]
    slices = _slices(plan, rows, columns)
    ctx.recorder.add(plan)
    with StepLoop(ctx.walks, len(rows.step), sums) as loop:
        made = list(loop.carried)
        for count, some_rows, some_columns in slices:
            a, b = left.fragment(ctx, some_rows), right.fragment(ctx, some_columns)
            made = _accumulated(ctx, layout, a, b, made, count)
        loop.yield_(made)
    results = [_rounded(ctx, x, target, element) for x in loop.results]
    return Fragment(layout, element, tuple(results))


def _operand_layout(result: Layout, shape: tuple[int, ...], inner: Sequence[int],
                    place: Callable[[int, int, int], int]) -> Layout:
    """The layout of an operand whose rows, or columns, lie as in the result; K in the lowest registers.

    `inner` are the bases of K; `place(batch, m, n)` is the linear index in the operand for k = 0.
    """
    def index(basis: int) -> int:
        *batch, m, n = result.unravel(basis)
        outer = 0
        for size, i in zip(result.shape[:-2], batch, strict=True):
            outer = outer * size + i
        return place(outer, m, n)

    whole = Layout(result.shape, (), result.register, (), result.lane, result.warp)
    outer = tuple(index(basis) for basis in whole.register if index(basis))
    lanes, warps = (tuple(map(index, x)) for x in (whole.lane, whole.warp))
    return Layout(shape, (), (*inner, *outer), (), lanes, warps)


def _stepped(layout: Layout, inner: int, depth: int) -> Layout:
    """The layout with all but the lowest `inner` bits of K walked by a loop."""
    bits = log2(depth)
    registers = layout.register[:inner] + layout.register[bits:]
    return replace(layout, register=registers, step=layout.register[inner:bits])


def _slices(plan: Product, rows: Layout, columns: Layout) -> list[tuple[int, Layout, Layout]]:
    """(steps along K, layouts of both operands) for the steps of one turn: as many steps at a time as one
    access to shared memory moves, so that registers hold no more of the operands than that."""
    depth = plan.tile[2]
    few, inner = log2(depth), log2(plan.turn)

    def part(layout: Layout, index: int) -> Layout:
        kept, dropped = layout.register[:few], layout.register[few:inner]
        return replace(layout, register=kept + layout.register[inner:],
                       origin=layout.origin ^ span(dropped, index))

    return [(depth, part(rows, i), part(columns, i)) for i in range(plan.turn // depth)]


def _announce(ctx: Context, tensor: object) -> None:
    """Say before the loop what it reads from shared memory: one barrier there is enough."""

    def announce(tensor: object) -> Asking[None]:
        if isinstance(tensor, Shared):
            ctx.shared.reads(tensor)
        elif isinstance(tensor, Deferred) and tensor.evaluated is None:
            for operand in tensor.operands:
                yield (operand,)

    answer(announce, tensor)


def _accumulated(ctx: Context, layout: Layout, a: Fragment, b: Fragment, sums: list[Register],
                 count: int) -> list[Register]:
    """The sums after `count` more steps along K."""
    rows = {index ^ a.layout.origin: r for r, index in enumerate(a.layout.register_indices)}
    columns = {index ^ b.layout.origin: r for r, index in enumerate(b.layout.register_indices)}
    *_, m_size, n_size = layout.shape
    depth = a.layout.shape[-1]
    for k in range(count):
        for r, index in enumerate(layout.register_indices):
            outer, n = divmod(index, n_size)
            batch, m = divmod(outer, m_size)
            x = a.registers[rows[(batch * m_size + m) * depth + k]]
            y = b.registers[columns[(batch * depth + k) * n_size + n]]
            sums[r] = ctx.env.multiply_add(x, y, sums[r])
    return sums


def _rounded(ctx: Context, value: Register, source: Type, target: Type) -> Register:
    return value if source == target else to_float(ctx, value, source, target)

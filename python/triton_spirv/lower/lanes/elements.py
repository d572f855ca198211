"""Visiting the elements of tensors one by one, for effects without a vector form (atomics, printing).

A few elements become straight-line code. More of them are put into private arrays and visited by a loop, so
that the code does not grow with the tensor: a 128x128 tensor of atomics is one atomic instruction. Lanes put
each element of theirs there by itself, so what is one instruction stays straight-line code for more of them:
without arrays a lane's registers hold addresses and values only until they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ...ir.model import IntegerType, Type
from ...layout import Layout, SharedLayout, bit_by_bit
from ...spirv.builder import I32
from ...spirv.control import For, if_
from ...spirv.module import Value as Register
from ...spirv.types import Type as SpirvType
from ..context import Context
from ..values import fragment as fragments
from ..values.tensor import Affine, Bound, Fragment, Pointers, Tensor, Uniform
from ..values.types import is_pointer, register_type
from .shared_tensors import from_shared

#: Up to so many elements are visited by straight-line code; and by lanes, where a visit is one instruction.
STRAIGHT, STRAIGHT_IN_LANES = 4, 32

#: The registers of one element, one per operand -> the result for this element, or None.
Visit = Callable[[list[Any]], Register | None]

#: The bits of the lane's and of the warp's number: all of them.
EVERYONE = (-1, -1)

#: What yields an operand's element at a position, a number where the code is straight.
Column = Callable[[int | Register], Register | None]


def visit_elements(ctx: Context, layout: Layout, operands: Sequence[Bound | None], visit: Visit,
                   result: Type | None = None, short: bool = False) -> Fragment | None:
    """Run `visit`, one instruction if it is short, for every element that this work-item holds at the current
    step.

    Operands are tensors of the layout's shape; None stays None, pointers are visited by their addresses.
    What visit returns, of IR type `result`, comes back as a Fragment; None where there is no result.
    """
    count = layout.registers * layout.width
    straight = count <= (STRAIGHT_IN_LANES if short and layout.lane else STRAIGHT)
    columns = [_column(ctx, operand, layout, straight) for operand in operands]
    if straight:
        made = [visit([column(position) for column in columns]) for position in range(count)]
        if result is None:
            return None
        rows = [made[r * layout.width:(r + 1) * layout.width] for r in range(layout.registers)]
        return Fragment(layout, result, tuple(ctx.b.construct(row) for row in rows))  # type: ignore[arg-type]
    b = ctx.b
    array = _array(ctx, register_type(result), layout) if result is not None else None
    loop = For(b.module, b.constant(I32, 0), b.constant(I32, count), b.constant(I32, 1), control="DontUnroll")
    with loop:
        ctx.scopes.open()
        made_here = visit([column(loop.index) for column in columns])
        if array is not None:
            assert made_here is not None
            ctx.env.private_store(array, layout.width, loop.index, made_here)
        ctx.scopes.close()
        loop.yield_([])
    if array is None or result is None:
        return None
    width, element = layout.width, register_type(result)
    firsts = [b.constant(I32, r * width) for r in range(layout.registers)]
    registers = [ctx.env.private_load(array, width, element, first, width) for first in firsts]
    return Fragment(layout, result, tuple(registers))


@contextmanager
def lookup(ctx: Context, tensor: Tensor, type: Type) -> Iterator[Callable[[Register], Register]]:
    """A function from the row-major index of an element (i32), known at run time only, to the element.

    The tensor stands where every lane that holds a part of it can read all of it: in a private array, or in
    shared memory while the `with` block is emitted.
    """
    layout = ctx.layouts.of(type)
    if not layout.lane:
        stored = ctx.walks.stored(tensor)
        ctx.recorder.reads(stored, None)
        kind = register_type(stored.element)
        yield lambda place: ctx.env.private_load(stored.array, stored.width, kind, place, 1)
        return
    made = ctx.evaluation.fragment(tensor, layout)
    with ctx.shared.scratch(made.element, layout.numel) as scratch:
        array = replace(scratch, shape=layout.shape, layout=SharedLayout.row_major(layout.shape))
        ctx.shared.writes(array)
        ctx.shared_tensors.store(array, made)
        ctx.shared.reads(array)
        yield lambda place: from_shared(ctx.b, made.element, ctx.env.shared_load(array.array, place))


def redundant(layout: Layout) -> tuple[int, int]:
    """The bits of the lane's and of the warp's number on which the elements that it holds do not depend."""
    def zeros(bases: Sequence[int]) -> int:
        return sum(1 << bit for bit, basis in enumerate(bases) if basis == 0)
    return zeros(layout.lane), zeros(layout.warp)


def owner(ctx: Context, lane_bits: int, warp_bits: int) -> Register | None:
    """Is this lane the one that acts for all that hold the same elements? None where each holds its own."""
    b = ctx.b
    mine: Register | None = None
    lane_bits &= ctx.target.sub_group_size - 1
    warp_bits &= ctx.kernel.num_warps - 1
    for bits, number in ((lane_bits, ctx.env.lane_id), (warp_bits, ctx.env.warp_id)):
        if bits:
            part = b.iand(number(), bits)
            mine = part if mine is None else b.ior(mine, part)
    return None if mine is None else b.compare("OpIEqual", mine, 0)


def acting(ctx: Context) -> Register | None:
    """Is this the lane that acts for the whole program, as for effects on scalars? None: it is alone."""
    return owner(ctx, *EVERYONE)


def guarded(ctx: Context, condition: Register | None, action: Callable[[], object]) -> None:
    """Run `action` where the condition holds; None: always."""
    if condition is None or condition.constant is True:
        action()
        return
    with if_(ctx.b.module, condition):
        ctx.scopes.open()
        action()
        ctx.scopes.close()


def _array(ctx: Context, element: SpirvType, layout: Layout) -> Register:
    return ctx.env.private_array(element, layout.registers * layout.width, layout.width)


def _column(ctx: Context, operand: Bound | None, layout: Layout, straight: bool) -> Column:
    b, env = ctx.b, ctx.env
    if operand is None:
        return lambda _: None
    if isinstance(operand, Pointers) and operand.affine is None and not operand.terms:
        operand = operand.base
    if isinstance(operand, Uniform):
        operand = operand.scalar
    if isinstance(operand, Register):
        scalar = env.address(operand) if is_pointer(operand) else operand
        return lambda _: scalar
    registers = ctx.evaluation.fragment(operand, layout).registers
    if straight:
        return lambda i: b.extract(registers[i // layout.width], i % layout.width)  # type: ignore[operator]
    element = register_type(operand.element)
    array = _array(ctx, element, layout)
    for r, register in enumerate(registers):
        env.private_store(array, layout.width, b.constant(I32, r * layout.width), register)
    return lambda i: env.private_load(array, layout.width, element, i, 1)  # type: ignore[arg-type]


def visited_layout(ctx: Context, type: Type) -> Layout:
    """The layout under which elements are visited: each once, but for lanes and warps that hold the same."""
    layout = fragments.without_broadcast(ctx.layouts.of(type))
    return layout if layout.holds_once else bit_by_bit(layout)


def linear_index(ctx: Context, shape: tuple[int, ...], kind: IntegerType) -> Affine:
    """The tensor of each element's number in row-major order, of an integer type."""
    strides, size = [], 1
    for extent in reversed(shape):
        strides.append(size)
        size *= extent
    return Affine(shape, kind, ctx.b.constant(register_type(kind), 0), tuple(reversed(strides)))

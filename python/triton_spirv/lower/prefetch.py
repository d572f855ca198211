"""Fetching what the next iteration of a loop will load, while this one computes.

The operands of a product in a loop are short runs of many rows, and a loop over rows may take each
hundredth: nothing that processors foresee. How far their pointers move from one iteration to the next follows
from the IR: a derivative with respect to the iteration, where loop-carried values grow by what is added to
them and the counter by the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..analysis.uniform import uniform_step
from ..ir.model import Block, Operation, Value
from ..layout import Layout
from ..spirv.builder import I64
from ..spirv.module import Value as Register
from ..spirv.types import Int
from .access import Access, growth
from .context import Context
from .tensor import Deferred, Pointers, Uniform
from .types import element_of

LINE = 64  # bytes that a processor fetches at a time, at least
PAGE = 4096  # bytes of a page of memory, at least

#: The result grows as the operand does.
AS_OPERAND = frozenset((
    "tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans", "arith.extsi", "arith.extui",
    "arith.trunci", "arith.index_cast",
))


def prefetch_next(ctx: Context, inputs: Sequence[tuple[Any, Layout]]) -> None:
    """Inside a walk of `inputs`: fetch what the loads below them will read here in the next iteration."""
    for node, layouts in ctx.requests(inputs):
        if not isinstance(node, Deferred) or node.operation.name != "tt.load" or node.stored is not None:
            continue
        for layout in layouts:
            fetch_ahead(ctx, node.operation, node.operands[0], layout, soon=True)


def fetch_ahead(ctx: Context, load: Operation, pointers: Any, layout: Layout, soon: bool = False) -> None:
    """Fetch what a load will read under this layout in the next iteration of the loop around it; `soon`: into
    the nearest cache."""
    access = None if not soon and _is_next(ctx, load, layout) else _following(ctx, load, pointers, layout)
    if access is not None:
        _fetch(ctx, access, layout, soon)


def _is_next(ctx: Context, op: Operation, layout: Layout) -> bool:
    """Does the next iteration go on where this one ends, as processors foresee?"""
    moved = distance(ctx, op)
    if moved is None or not isinstance(moved.constant, int) or not layout.component:
        return False
    along = layout.unravel(layout.component[0])
    return abs(moved.constant) <= max(size for size, index in zip(layout.shape, along, strict=True) if index)


def touch_ahead(ctx: Context, store: Operation, pointers: Any, layout: Layout) -> None:
    """Before a walk of a store: fetch a line of each page that the next iteration will store to.

    Rows that lie far apart, as in a loop over every tenth row, each begin a page whose address is to be
    translated first, and a store that waits for that holds up all others.
    """
    one = replace(layout, register=(), step=())
    parts = [] if not isinstance(pointers, Pointers) else [pointers.affine, *pointers.terms]
    for basis in (*layout.register, *layout.step):
        moved = [growth(part, basis, layout) for part in parts if part is not None]
        if None in moved or sum(moved) != basis:  # type: ignore[arg-type]
            return
    access = None if _is_next(ctx, store, layout) else _following(ctx, store, pointers, one)
    if access is not None:
        for place in (*range(0, layout.numel, PAGE // access.size), layout.numel - 1):
            ctx.env.prefetch(access.pointer(0, place), soon=False)


def _following(ctx: Context, op: Operation, pointers: Any, layout: Layout) -> Access | None:
    """The access of a load or store in the next iteration, if its components are neighbours in memory."""
    moved, block = distance(ctx, op), op.parent
    if moved is None or not isinstance(pointers, Pointers):
        return None
    loop: Any = block.parent.parent  # type: ignore[union-attr]  # the scf.for that distance has found
    following = replace(pointers, base=ctx.env.offset(pointers.base, _in_reach(ctx, loop, moved)))
    pointee = element_of(op.ptr.type).pointee  # type: ignore[attr-defined]
    access = Access(ctx, following, layout, pointee, op.ptr)
    return access if access.run == layout.width > 1 else None


def _fetch(ctx: Context, access: Access, layout: Layout, soon: bool) -> None:
    """Every line that the registers touch, once for registers side by side."""
    per_line = max(1, LINE // access.size)
    along = next(d for d, i in enumerate(layout.unravel(layout.component[0])) if i)
    lines = set()
    for r, index in enumerate(layout.register_indices):
        place = list(layout.unravel(index))
        place[along] //= per_line
        if tuple(place) not in lines:
            lines.add(tuple(place))
            for c in range(0, layout.width, per_line):
                ctx.env.prefetch(access.pointer(r, c), soon)


def distance(ctx: Context, load: Operation) -> Register | None:
    """Elements that the pointers of a load or store move by in an iteration of the scf.for around it; None
    where they do not move, or not all alike."""
    block = load.parent
    if block is None or block.parent is None or block.parent.parent is None:
        return None
    loop = block.parent.parent
    if loop.name != "scf.for":
        return None
    moved = _growth(ctx, load.ptr, loop, block)
    return moved if isinstance(moved, Register) else None


def _in_reach(ctx: Context, loop: Operation, moved: Register) -> Register:
    """Nothing in the last iteration: what lies behind a matrix has an address to translate, and no use."""
    index, upper, step = (_scalar(ctx, x) for x in (loop.regions[0].entry.arguments[0], *loop.operands[1:3]))
    if index is None or upper is None or step is None:
        return moved
    return ctx.b.select(ctx.b.compare("OpSLessThan", ctx.b.iadd(index, step), upper), moved, 0)


def _growth(ctx: Context, value: Value, loop: Operation, body: Block) -> Register | int | None:
    """What a value grows by in an iteration, in 64 bits: 0, or one number for all elements; None: unknown."""
    op = value.defining_op
    if op is None:
        if value.owner is not body:
            return 0
        if value.index == 0:
            return _scalar(ctx, loop.operands[2])
        chain = uniform_step(loop, value.index - 1)
        return None if chain is None else _sum(ctx, [_scalar(ctx, step) for step in chain])
    if op.parent is not body:
        return 0
    if op.name in AS_OPERAND:
        return _growth(ctx, op.operands[0], loop, body)
    parts = [_growth(ctx, operand, loop, body) for operand in op.operands]
    if None in parts:
        return None
    moving = [part for part in parts if isinstance(part, Register)]
    if not moving:
        return 0
    if op.name in ("arith.addi", "tt.addptr"):
        return _sum(ctx, parts)
    if op.name == "arith.muli" and len(moving) == 1:
        factor = _scalar(ctx, op.operands[1 - parts.index(moving[0])])
        return None if factor is None else ctx.b.imul(moving[0], factor)
    return None


def _sum(ctx: Context, parts: Sequence[Register | int | None]) -> Register | int | None:
    total: Register | int = 0
    for part in parts:
        if part is None:
            return None
        if isinstance(part, Register):
            total = part if not isinstance(total, Register) else ctx.b.iadd(total, part)
    return total


def _scalar(ctx: Context, value: Value) -> Register | None:
    """A uniform value that is known where the code stands, in 64 bits."""
    bound = ctx.frame.values.get(value)
    if isinstance(bound, Uniform):
        bound = bound.scalar
    if not isinstance(bound, Register) or not isinstance(bound.type, Int):
        return None
    return ctx.b.resize(bound, I64.width)

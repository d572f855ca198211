"""Accesses as checks look at them: neighbours together, a vector at a time, all others one by one."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.model import Operation
from ...spirv.builder import I32, I64
from ...spirv.control import For, IfElse, if_
from ...spirv.module import Value as Register
from ...spirv.types import Vector
from ..context import Context, StepLoop
from ..lanes.elements import guarded, visited_layout
from ..values.tensor import Bound, Uniform

#: what one access is given: its address. What neighbours are given: the first address, the last, how many
#: they are; whether it is done with them is the answer: if not, each is visited.
One = Callable[[Register], object]
Together = Callable[[Register, Register, int], Register]


def briefly(ctx: Context, condition: Register, action: Callable[[], None]) -> None:
    """Run `action` where the condition holds, as code that is short."""
    brief, ctx.layouts.brief = ctx.layouts.brief, True
    guarded(ctx, condition, action)
    ctx.layouts.brief = brief


def visit_accesses(ctx: Context, op: Operation, size: int, ptr: Bound, mask: Bound | None, one: One,
                   together: Together | None) -> None:
    """Visit the accesses of op.ptr, to elements of so many bytes, where the mask is true."""
    b, env = ctx.b, ctx.env
    if isinstance(ptr, Register):
        assert mask is None or isinstance(mask, Register)
        guarded(ctx, mask, lambda: one(env.address(ptr)))
        return
    if isinstance(mask, Uniform) and mask.scalar.constant is True:
        mask = None
    assert not isinstance(mask, Register)
    layout = visited_layout(ctx, op.ptr.type)
    walk = ctx.walks.plan(None, [(x, layout) for x in (ptr, mask) if x is not None])
    width, count = layout.width, layout.registers * layout.width
    places, masks = env.private_array(I64, count, width), env.private_array(I32, count, width)
    with StepLoop(ctx.walks, len(layout.step)):
        inside = ctx.evaluation.fragment(mask, layout).registers if mask is not None else None
        for r, register in enumerate(ctx.evaluation.fragment(ptr, layout).registers):
            env.private_store(places, width, b.constant(I32, r * width), register)
            held = b.select(inside[r], b.constant(I32, 1), 0) if inside else b.constant(I32, 1)
            env.private_store(masks, width, b.constant(I32, r * width), b.splat(held, width))
        loop = For(b.module, b.constant(I32, 0), b.constant(I32, count), b.constant(I32, width),
                   control="DontUnroll")
        with loop:
            ctx.scopes.open()
            _visit_vector(ctx, size, (places, masks), loop.index, width, one, together)
            ctx.scopes.close()
            loop.yield_([])
    ctx.walks.finish(walk)


def _visit_vector(ctx: Context, size: int, arrays: tuple[Register, Register], index: Register, width: int,
                  one: One, together: Together | None) -> None:
    b, env = ctx.b, ctx.env
    places, masks = arrays

    def each() -> None:
        loop = For(b.module, index, b.iadd(index, width), b.constant(I32, 1), control="DontUnroll")
        with loop:
            holds = env.private_load(masks, width, I32, loop.index, 1)
            address = env.private_load(places, width, I64, loop.index, 1)
            guarded(ctx, b.compare("OpINotEqual", holds, 0), lambda: one(address))
            loop.yield_([])

    if width == 1 or together is None:
        each()
        return
    addresses = env.private_load(places, width, I64, index, width)
    holds = b.compare("OpINotEqual", env.private_load(masks, width, I32, index, width), 0)
    branch = IfElse(b.module, b.logical_and(b.all(holds), are_neighbours(ctx, addresses, size)))
    with branch.then():
        branch.yield_([together(b.extract(addresses, 0), b.extract(addresses, width - 1), width)])
    with branch.otherwise():
        branch.yield_([b.logical_not(b.any(holds))])
    with if_(b.module, b.logical_not(branch.results[0])):
        each()


def are_neighbours(ctx: Context, addresses: Register, size: int) -> Register:
    """Is each address of a vector that of the element behind the one before?"""
    b = ctx.b
    first, width = b.extract(addresses, 0), addresses.type.count  # type: ignore[attr-defined]
    steps = b.constant(Vector(I64, width), tuple(size * k for k in range(width)))
    return b.all(b.compare("OpIEqual", b.isub(addresses, b.splat(first, width)), steps))

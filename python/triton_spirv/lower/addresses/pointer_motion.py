"""How far pointers move to where the kernel will load or store next, from the IR: `Distance` says it, and
emits nothing; `emitted` computes it.

In a loop that is what a round adds (facts/motion.py). Outside of loops it is the distance to what the next
program will load, where programs run in the order of their numbers: where a program computes on what it has
loaded (a softmax), or where a number that it looks up decides (an embedding, a page of a cache). Then the
next program's number is looked up here too. That load is sure to be allowed: it is in the kernel's first
block and has no mask, so that every program makes it; there is a next program; and its pointer grows with the
program's number alone, by no arithmetic that may wrap. Its result is a hint: it does not matter who writes
there meanwhile.
"""

from __future__ import annotations

from functools import reduce

from ...facts.lookup import next_program
from ...facts.motion import Program, Round, motion
from ...facts.slopes import Product, Slope
from ...ir.model import Operation, Value
from ...spirv.builder import I64, to_signed
from ...spirv.module import Value as Register
from ...spirv.types import Int
from ...traversal import Asking, answer, every
from ..context import Context
from ..plan.accesses import Distance
from ..values.tensor import Uniform


def distance(ctx: Context, access: Operation) -> Distance | None:
    """How far the pointers of a load or store move from one iteration of the scf.for around it to the next,
    or from this program to the next one where that follows from a number looked up. None where they do not
    move, or not all alike."""
    block = access.parent
    if block is None or block.parent is None or block.parent.parent is None:
        return None
    around = block.parent.parent
    if around.has("counts"):
        return _computable(ctx, motion(access.ptr, Round(block), hint=True).slope, "round")
    if not around.has("function") or ctx.bindings.names or block is not around.regions[0].entry:
        return None
    slope, looked_up = next_program(access.ptr, block)
    if not looked_up or not all(_is_sure(ctx, value) for value in looked_up):
        return None
    return _computable(ctx, slope, "program", looked_up)


def to_next_program(ctx: Context, access: Operation) -> Distance | None:
    """How far the pointers of a load move from this program to the next one, in the same iteration of the
    loops around it; 0 in the last program. None where that does not follow from the program's number, or they
    do not move."""
    if ctx.bindings.names:
        return None
    return _computable(ctx, motion(access.ptr, Program("x"), hint=True).slope, "program")


def in_reach(ctx: Context, access: Operation, moved: Register, last: Register | int = 0,
             rounds: int = 1) -> Register:
    """The same so many iterations on, but `last` in as many of the last ones: what lies behind a matrix has
    an address to translate, and no use."""
    body = access.parent
    loop = body.parent.parent if body is not None and body.parent is not None else None
    if body is None or loop is None or not loop.has("counts"):
        return moved
    index, upper, step = (known_scalar(ctx, x) for x in (body.arguments[0], *loop.operands[1:3]))
    moved = ctx.b.imul(moved, rounds)
    if index is None or upper is None or step is None:
        return moved
    ahead = ctx.b.iadd(index, ctx.b.imul(step, rounds))
    return ctx.b.select(ctx.b.compare("OpSLessThan", ahead, upper), moved, last)


def rounds_of(ctx: Context, store: Operation) -> tuple[Register, Register] | None:
    """How often the loop around a store runs and moves its pointers on, as a quotient of two numbers in 64
    bits; None where it stands in no such loop."""
    body = store.parent
    loop = body.parent.parent if body is not None and body.parent is not None else None
    if loop is None or not loop.has("counts") or distance(ctx, store) is None:
        return None
    lower, upper, step = (known_scalar(ctx, value) for value in loop.operands[:3])
    if lower is None or upper is None or step is None:
        return None
    return ctx.b.isub(ctx.b.iadd(upper, ctx.b.isub(step, 1)), lower), step


def _computable(ctx: Context, slope: Slope[Value] | None, mover: str,
                looked_up: frozenset[Value] = frozenset()) -> Distance | None:
    """This distance, where every scalar that it is made of is known where the code stands; None where it is
    not, where the slope is unknown, or 0."""

    def rule(slope: Slope[Value]) -> Asking[bool]:
        if isinstance(slope, Value):
            return _bound_scalar(ctx, slope) is not None
        if isinstance(slope, int):
            return True
        if isinstance(slope, Product):
            known = isinstance(slope.factor, int) or _bound_scalar(ctx, slope.factor) is not None
            return known and (yield (slope.slope,))
        return (yield from every(slope.parts))

    if slope is None or slope == 0 or not answer(rule, slope):
        return None
    return Distance(slope, mover, looked_up)


def emitted(ctx: Context, distance: Distance) -> Register:
    """A distance as a number of 64 bits; of values that are looked up it is the next program's less this
    one's."""

    def rule(slope: Slope[Value]) -> Asking[Register]:
        if isinstance(slope, Value):
            return _looked_up(ctx, slope) if slope in distance.looked_up else _known(ctx, slope)
        if isinstance(slope, int):
            unit = ctx.b.constant(I64, 1) if distance.mover == "round" else to_next(ctx)
            return unit if slope == 1 else ctx.b.imul(unit, slope)
        if isinstance(slope, Product):
            moved = yield (slope.slope,)
            factor = slope.factor if isinstance(slope.factor, int) else _known(ctx, slope.factor)
            return ctx.b.imul(moved, factor)
        parts = []
        for part in slope.parts:
            parts.append((yield (part,)))
        return reduce(ctx.b.iadd, parts)

    return answer(rule, distance.slope)


def constant_of(ctx: Context, distance: Distance) -> int | None:
    """The number that a distance is, where that is known when compiling."""

    def rule(slope: Slope[Value]) -> Asking[int | None]:
        if isinstance(slope, int):
            return slope if distance.mover == "round" else None
        if isinstance(slope, Value):
            return None if slope in distance.looked_up else _constant(ctx, slope)
        if isinstance(slope, Product):
            moved = yield (slope.slope,)
            factor = slope.factor if isinstance(slope.factor, int) else _constant(ctx, slope.factor)
            if 0 in (moved, factor):
                return 0
            return None if moved is None or factor is None else to_signed(moved * factor, I64.width)
        total = 0
        for part in slope.parts:
            value = yield (part,)
            if value is None:
                return None
            total += value
        return to_signed(total, I64.width)

    return answer(rule, distance.slope)


def _is_sure(ctx: Context, loaded: Value) -> bool:
    """Is what a load of the kernel's first block has read a number, at an address at hand?"""
    load = loaded.defining_op
    assert load is not None
    pointer, now = ctx.bindings.frame.values.get(load.ptr), ctx.bindings.frame.values.get(loaded)
    return isinstance(pointer, Register) and isinstance(now, Register) and isinstance(now.type, Int)


def _looked_up(ctx: Context, loaded: Value) -> Register:
    """What the next program will load, less what this one has."""
    load = loaded.defining_op
    assert load is not None
    now = _known(ctx, loaded)
    following = ctx.env.load(ctx.env.offset(ctx.bindings.scalar(load.ptr), to_next(ctx)), 1)
    return ctx.b.isub(ctx.b.resize(following, I64.width), now)


def to_next(ctx: Context) -> Register:
    """1, or 0 in the last program."""
    b, env = ctx.b, ctx.env
    is_last = b.compare("OpSGreaterThanEqual", b.iadd(env.program_id(0), 1), env.num_programs(0))
    return b.select(is_last, b.constant(I64, 0), 1)


def known_scalar(ctx: Context, value: Value) -> Register | None:
    """A uniform value that is known where the code stands, in 64 bits."""
    bound = _bound_scalar(ctx, value)
    return None if bound is None else ctx.b.resize(bound, I64.width)


def _known(ctx: Context, value: Value) -> Register:
    found = known_scalar(ctx, value)
    assert found is not None  # the distance was computable
    return found


def _bound_scalar(ctx: Context, value: Value) -> Register | None:
    """The integer that all elements of a value are, as it is bound."""
    bound = ctx.bindings.frame.values.get(value)
    if isinstance(bound, Uniform):
        bound = bound.scalar
    return bound if isinstance(bound, Register) and isinstance(bound.type, Int) else None


def _constant(ctx: Context, value: Value) -> int | None:
    """The same as a number, where that is known when compiling."""
    bound = _bound_scalar(ctx, value)
    if bound is None or not isinstance(bound.type, Int) or not isinstance(bound.constant, int):
        return None
    return to_signed(bound.constant, bound.type.width)

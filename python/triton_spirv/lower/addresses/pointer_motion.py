"""How far pointers move to where the kernel will load or store next, from the IR.

In a loop that is what a round adds (facts/motion.py). Outside of loops it is the distance to what the next
program will load, where programs run in the order of their numbers: where a program computes on what it has
loaded (a softmax), or where a number that it looks up decides (an embedding, a page of a cache). Then the
next program's number is looked up here too. That load is sure to be allowed: it is in the kernel's first
block and has no mask, so that every program makes it; there is a next program; and its pointer grows with the
program's number alone, by no arithmetic that may wrap. Its result is a hint: it does not matter who writes
there meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import reduce

from ...facts.motion import FAR, UNKNOWN, Motion, Product, Program, Round, Slope, motion
from ...ir.model import Block, Operation, Value
from ...spirv.builder import I64
from ...spirv.module import Value as Register
from ...spirv.types import Int
from ...traversal import Asking, Known, answer
from ..context import Context
from ..values.tensor import Uniform


def distance(ctx: Context, access: Operation) -> Register | None:
    """Elements that the pointers of a load or store move by: from one iteration of the scf.for around it to
    the next, or from this program to the next one where that follows from a number looked up. None where they
    do not move, or not all alike."""
    block = access.parent
    if block is None or block.parent is None or block.parent.parent is None:
        return None
    around = block.parent.parent
    if around.name == "scf.for":
        return _emitted(ctx, motion(access.ptr, Round(block), hint=True).slope)
    if around.name != "tt.func" or ctx.calls.names or block is not around.regions[0].entry:
        return None
    looked_up: set[Value] = set()
    steps: Known = {}

    def source(op: Operation) -> Motion | None:
        added = answer(_steps, op.ptr, block, known=steps) if op.name == "tt.load" else 0
        if added == 0:
            return None
        if added != 1 or len(steps) > FAR or not _is_sure(ctx, op):
            return UNKNOWN
        looked_up.add(op.results[0])
        return Motion(None, op.results[0])
    slope = motion(access.ptr, Program("x"), hint=True, source=source).slope
    return _emitted(ctx, slope, to_next, looked_up) if looked_up else None


def to_next_program(ctx: Context, access: Operation) -> Register | None:
    """Elements that the pointers of a load move by from this program to the next one, in the same iteration
    of the loops around it; 0 in the last program. None where that does not follow from the program's number,
    or they do not move."""
    if ctx.calls.names:
        return None
    return _emitted(ctx, motion(access.ptr, Program("x"), hint=True).slope, to_next)


def in_reach(ctx: Context, access: Operation, moved: Register, last: Register | int = 0) -> Register:
    """The same, but `last` in the last iteration: what lies behind a matrix has an address to translate, and
    no use."""
    body = access.parent
    loop = body.parent.parent if body is not None and body.parent is not None else None
    if body is None or loop is None or loop.name != "scf.for":
        return moved
    index, upper, step = (known_scalar(ctx, x) for x in (body.arguments[0], *loop.operands[1:3]))
    if index is None or upper is None or step is None:
        return moved
    return ctx.b.select(ctx.b.compare("OpSLessThan", ctx.b.iadd(index, step), upper), moved, last)


def rounds_of(ctx: Context, store: Operation) -> tuple[Register, Register] | None:
    """How often the loop around a store runs and moves its pointers on, as a quotient of two numbers in 64
    bits; None where it stands in no such loop."""
    body = store.parent
    loop = body.parent.parent if body is not None and body.parent is not None else None
    if loop is None or loop.name != "scf.for" or distance(ctx, store) is None:
        return None
    lower, upper, step = (known_scalar(ctx, value) for value in loop.operands[:3])
    if lower is None or upper is None or step is None:
        return None
    return ctx.b.isub(ctx.b.iadd(upper, ctx.b.isub(step, 1)), lower), step


def _emitted(ctx: Context, slope: Slope | None, one: Callable[[Context], Register] | None = None,
             looked_up: Collection[Value] = ()) -> Register | None:
    """A slope as a number of 64 bits; None where it is unknown or 0. `one` emits what the mover moves by,
    where that is not 1; of values that are looked up the slope is the next program's less this one's."""
    if slope is None or slope == 0:
        return None

    def rule(slope: Slope) -> Asking[Register | None]:
        if isinstance(slope, Value):
            return _looked_up(ctx, slope) if slope in looked_up else known_scalar(ctx, slope)
        if isinstance(slope, int):
            unit = ctx.b.constant(I64, 1) if one is None else one(ctx)
            return unit if slope == 1 else ctx.b.imul(unit, slope)
        if isinstance(slope, Product):
            moved = yield (slope.slope,)
            factor = slope.factor if isinstance(slope.factor, int) else known_scalar(ctx, slope.factor)
            return None if moved is None or factor is None else ctx.b.imul(moved, factor)
        parts = []
        for part in slope.parts:
            parts.append((yield (part,)))
        return None if None in parts else reduce(ctx.b.iadd, parts)

    return answer(rule, slope)


def _is_sure(ctx: Context, load: Operation) -> bool:
    """Can what a load of the kernel's first block reads be looked up for the next program?"""
    pointer, now = ctx.frame.values.get(load.ptr), ctx.frame.values.get(load.results[0])
    is_known = isinstance(pointer, Register) and isinstance(now, Register) and isinstance(now.type, Int)
    return is_known and len(load.operands) == 1 and not load.attributes.get("isVolatile")


def _looked_up(ctx: Context, loaded: Value) -> Register | None:
    """What the next program will load, less what this one has."""
    load = loaded.defining_op
    now = known_scalar(ctx, loaded)
    assert load is not None and now is not None
    following = ctx.env.load(ctx.env.offset(ctx.frame.values[load.ptr], to_next(ctx)), 1)
    return ctx.b.isub(ctx.b.resize(following, I64.width), now)


def _steps(value: Value, body: Block) -> Asking[int | None]:
    """How many times the program's number is added to make this value; None where anything else is done with
    it."""
    op = value.defining_op
    if op is None or op.parent is not body:
        return 0
    if op.name == "tt.get_program_id":
        return 1 if op.attributes["axis"] == "x" else 0
    parts: list[int | None] = []
    for operand in op.operands:
        parts.append((yield operand, body))
    if op.has("widens") or op.name == "arith.extui":  # of what is not negative
        return parts[0]
    if op.name == "tt.addptr" and parts == [0, 1]:
        return 1
    return 0 if op.is_pure and all(part == 0 for part in parts) else None


def to_next(ctx: Context) -> Register:
    """1, or 0 in the last program."""
    b, env = ctx.b, ctx.env
    is_last = b.compare("OpSGreaterThanEqual", b.iadd(env.program_id(0), 1), env.num_programs(0))
    return b.select(is_last, b.constant(I64, 0), 1)


def known_scalar(ctx: Context, value: Value) -> Register | None:
    """A uniform value that is known where the code stands, in 64 bits."""
    bound = ctx.frame.values.get(value)
    if isinstance(bound, Uniform):
        bound = bound.scalar
    if not isinstance(bound, Register) or not isinstance(bound.type, Int):
        return None
    return ctx.b.resize(bound, I64.width)

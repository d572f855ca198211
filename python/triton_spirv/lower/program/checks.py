"""What kernels in checked mode do besides (passes/checked/): words of the array that they share with the
launcher, accesses that lie inside of an argument by their extremes, reports.

A report counts at its site, and the first of a launch leave a record there. It writes nothing else, so it
orders nothing: what is pending stays pending.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from ...check_layout import RECORD, SLOTS
from ...ir.model import IntegerType, Operation, TensorType
from ...spirv.builder import I32, I64
from ...spirv.control import For, if_
from ...spirv.module import Value as Register
from ...spirv.types import Bool
from ..context import Context, StepLoop
from ..lanes.elements import acting, guarded, linear_index, owner, redundant, visit_elements, visited_layout
from ..registry import lowers
from ..stop_word import REPORTS, stage
from ..values.tensor import Affine, Bound, Pointers, Tensor, Uniform
from ..values.types import is_pointer

INDEX = IntegerType(64)


@lowers("ts.check_word")
def check_word(ctx: Context, op: Operation) -> Register:
    """A word of the array, i64."""
    b, array = ctx.b, ctx.launch.hidden["check_buffer"]
    return ctx.env.load(ctx.env.offset(array, b.constant(I64, op.attributes["word"])), 1)


@lowers("ts.stopped")
def stopped(ctx: Context, op: Operation) -> Register:
    """Does the launcher want to know where programs are? i1."""
    seen = stage(ctx, op.attributes["word"], together=ctx.shared.races is None)
    return ctx.b.compare("OpSGreaterThanEqual", seen, REPORTS)


@lowers("ts.inside")
def inside(ctx: Context, op: Operation, value: Tensor | Register, first: Register,
           last: Register) -> Register:
    """Does every address, or integer of 64 bits, lie in [first, last]? False where only the elements
    themselves could say it."""
    b = ctx.b
    extremes = _extremes(ctx, value)
    if extremes is None:
        return b.constant(Bool(), False)
    low, high = extremes
    return b.logical_and(b.compare("OpSGreaterThanEqual", low, first),
                         b.compare("OpSLessThanEqual", high, last))


def _extremes(ctx: Context, value: Tensor | Register) -> tuple[Register, Register] | None:
    """The least and the greatest of what is affine."""
    b, env = ctx.b, ctx.env
    if isinstance(value, Uniform):
        value = value.scalar
    if isinstance(value, Register):
        number = env.address(value) if is_pointer(value) else value
        return number, number
    if isinstance(value, Affine):
        return _ends(ctx, value, b.constant(I64, 0), 1)
    if not isinstance(value, Pointers) or value.terms:
        return None
    first = env.address(value.base)
    if value.affine is None:
        return first, first
    return _ends(ctx, value.affine, first, env.pointee_bytes(value.base))


def _ends(ctx: Context, affine: Affine, first: Register, size: int) -> tuple[Register, Register]:
    """The least and the greatest of first + size * affine."""
    b = ctx.b
    low = high = b.iadd(first, b.imul(affine.base, size))
    for stride, extent in zip(affine.strides, affine.shape, strict=True):
        if extent == 1:
            continue
        if isinstance(stride, int):
            reach = stride * (extent - 1) * size
            low, high = (b.iadd(low, reach), high) if reach < 0 else (low, b.iadd(high, reach))
            continue
        moved = b.imul(stride, (extent - 1) * size)
        backwards, none = b.compare("OpSLessThan", moved, 0), b.constant(I64, 0)
        low = b.iadd(low, b.select(backwards, moved, none))
        high = b.iadd(high, b.select(backwards, none, moved))
    return low, high


@lowers("ts.report")
def report(ctx: Context, op: Operation, fine: Register, bad: Tensor | Register,
           value: Tensor | Register) -> None:
    """Where not all is fine, a record for each element that is bad, with its value."""
    b = ctx.b
    if fine.constant is not None:
        if not fine.constant:
            _visit(ctx, op, bad, value)
        return
    with if_(b.module, b.logical_not(fine)):
        ctx.scopes.open()
        brief, ctx.layouts.brief = ctx.layouts.brief, True
        _visit(ctx, op, bad, value)
        ctx.layouts.brief = brief
        ctx.scopes.close()


def _visit(ctx: Context, op: Operation, bad: Bound, value: Bound) -> None:
    b = ctx.b
    type = op.operands[1].type
    if not isinstance(type, TensorType):
        assert isinstance(bad, Register) and isinstance(value, Register)
        mine = acting(ctx)
        holds = bad if mine is None else b.logical_and(bad, mine)
        guarded(ctx, holds, lambda: _report(ctx, op, b.constant(I64, 0), value))
        return
    assert not isinstance(bad, Register) and not isinstance(value, Register)
    layout = visited_layout(ctx, type)
    mine = owner(ctx, *redundant(layout))
    index = linear_index(ctx, type.shape, INDEX)

    def visit(row: list[Any]) -> None:
        holds = row[0] if mine is None else b.logical_and(row[0], mine)
        guarded(ctx, holds, lambda: _report(ctx, op, row[2], row[1]))

    # for nobody's sake: what an array holds is needed behind this arm, so none is taken over
    walk = ctx.walks.plan(None, [(bad, layout), (value, layout)])
    with StepLoop(ctx.walks, len(layout.step)):
        with if_(b.module, reduce(b.logical_or, map(b.any, ctx.evaluation.fragment(bad, layout).registers))):
            ctx.scopes.open()
            visit_elements(ctx, layout, [bad, value, index], visit)
            ctx.scopes.close()
    ctx.walks.finish(walk)


def _report(ctx: Context, op: Operation, index: Register, value: Register) -> None:
    """A record, unless the value is an address in an array that the user has named, where those count, or the
    program has left one, where one is enough."""
    word, size = op.attributes["word"], op.attributes.get("elsewhere")
    if op.attributes.get("once"):
        with if_(ctx.b.module, ctx.b.logical_not(_has_reported(ctx, word))):
            record(ctx, word, index, value)
        return
    if size is None:
        record(ctx, word, index, value)
        return
    with if_(ctx.b.module, ctx.b.logical_not(_is_named(ctx, op.attributes["named"], value, size))):
        record(ctx, word, index, value)


def _has_reported(ctx: Context, word: int) -> Register:
    """Has this program left one of the records of a site?"""
    b, env = ctx.b, ctx.env
    array, mine = ctx.launch.hidden["check_buffer"], [env.program_id(axis) for axis in range(3)]
    count = b.resize(env.load(env.offset(array, b.constant(I64, word)), 1), 32)
    kept = b.select(b.compare("OpULessThan", count, SLOTS), count, b.constant(I32, SLOTS))
    with For(b.module, b.constant(I32, 0), kept, b.constant(I32, 1),
             carried=[b.constant(Bool(), False)]) as loop:
        first = b.iadd(b.imul(b.resize(loop.index, 64), RECORD), word + 1)
        theirs = (env.load(env.offset(array, b.iadd(first, axis)), 1) for axis in range(3))
        same = (b.compare("OpIEqual", x, b.resize(y, 64)) for x, y in zip(theirs, mine, strict=True))
        loop.yield_([reduce(b.logical_or, (loop.carried[0], reduce(b.logical_and, same)))])
    return loop.results[0]


def _is_named(ctx: Context, word: int, address: Register, size: int) -> Register:
    """Does an access lie in one of the arrays of the table behind a word? Their number, then where each
    begins and ends."""
    b, env = ctx.b, ctx.env
    place = env.load(env.offset(ctx.launch.hidden["check_buffer"], b.constant(I64, word)), 1)
    table = env.pointer(place, I64)
    zero, one = b.constant(I64, 0), b.constant(I64, 1)
    with For(b.module, zero, env.load(table, 1), one, carried=[b.constant(Bool(), False)]) as loop:
        at = b.iadd(b.imul(loop.index, 2), 1)
        begin, end = (env.load(env.offset(table, b.iadd(at, i)), 1) for i in range(2))
        inside = b.logical_and(b.compare("OpSGreaterThanEqual", address, begin),
                               b.compare("OpSLessThanEqual", b.iadd(address, size), end))
        loop.yield_([b.logical_or(loop.carried[0], inside)])
    return loop.results[0]


def record(ctx: Context, word: int, index: Register, value: Register) -> None:
    """Count at the site whose word this is, and leave a record where there is room for one."""
    b, env = ctx.b, ctx.env
    array = ctx.launch.hidden["check_buffer"]
    count = env.pointer(env.address(env.offset(array, b.constant(I64, word))), I32)
    slot = env.atomic("add", count, b.constant(I32, 1), "gpu", "relaxed")
    with if_(b.module, b.compare("OpULessThan", slot, SLOTS)):
        first = b.iadd(b.imul(b.resize(slot, 64), RECORD), word + 1)
        fields = [*(b.resize(env.program_id(axis), 64) for axis in range(3)), index, b.resize(value, 64)]
        for place, field in enumerate(fields):
            env.store(env.offset(array, b.iadd(first, place)), field)

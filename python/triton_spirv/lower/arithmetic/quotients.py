"""Quotients of indices by a number that only the launch knows: a vector of integers is divided one by one,
which takes a hundred cycles and more where they have 64 bits.

Neighbours have one quotient, or two that follow each other, unless the divisor is small. So the first and the
last one are divided, and the others compared: which are beyond the multiple between them? What is assumed of
the index (facts/pieces.py: from first to last it grows) is tested, all of it.
"""

from __future__ import annotations

from ...facts.pieces import numerator_of
from ...ir.model import Operation
from ...spirv.builder import width_of
from ...spirv.control import IfElse
from ...spirv.module import Value as Register
from ..context import Context


def divided(ctx: Context, op: Operation, instruction: str, x: Register, y: Register) -> Register:
    """The result of a division or a remainder, of registers of integers."""
    target, width = ctx.target, width_of(x.type)
    if width == 1 or width != target.components or target.lanes or not target.optimises("pieces") \
            or not numerator_of(op, ctx.transfers.pieces):
        return ctx.env.integer(instruction, x, y)
    b = ctx.b
    unsigned = op.name.endswith("ui")
    divide, less, at_least = ("OpUDiv", "OpULessThanEqual", "OpUGreaterThanEqual") if unsigned else \
        ("OpSDiv", "OpSLessThanEqual", "OpSGreaterThanEqual")
    first, last = b.extract(x, 0), b.extract(x, width - 1)
    divisor = y if width_of(y.type) == 1 else b.extract(y, 0)
    low, high = ctx.env.integer(divide, first, divisor), ctx.env.integer(divide, last, divisor)
    further = b.isub(x, b.splat(first, width))
    test = b.all(b.compare("OpULessThanEqual", further, b.splat(b.isub(last, first), width)))
    for each in (b.compare(less, first, last), b.compare("OpULessThanEqual", b.isub(high, low), 1),
                 b.compare(at_least, divisor, 1), *([] if unsigned else [b.compare(at_least, first, 0)])):
        test = b.logical_and(test, each)
    branch = IfElse(b.module, test)
    with branch.then():
        rest = b.iadd(further, b.splat(b.isub(first, b.imul(low, divisor)), width))
        beyond = b.compare(at_least, rest, b.splat(divisor, width))
        if op.has("remainder"):
            branch.yield_([b.select(beyond, b.isub(rest, b.splat(divisor, width)), rest)])
        else:
            branch.yield_([b.select(beyond, b.splat(b.iadd(low, 1), width), b.splat(low, width))])
    with branch.otherwise():
        branch.yield_([ctx.env.integer(instruction, x, y)])
    return branch.results[0]

"""Arithmetic of MLIR's dialects that Triton's language does not write itself, but its passes and other front
ends may: tests of floats, integer powers, clamping, arithmetic with a wide result, sine with cosine.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ir.model import Operation
from ...layout import Layout
from ...spirv.builder import I32, scalar_type
from ...spirv.control import For
from ...spirv.module import Value as Register
from ...spirv.types import Float, Int
from ..context import Context
from ..registry import elementwise, pulled
from ..values.numbers import float_test, from_arithmetic, in_f32, is_bool, to_arithmetic
from ..values.tensor import Bound, Fragment
from ..values.types import element_of

TESTS = {"math.isnan": "OpIsNan", "math.isinf": "OpIsInf", "math.isfinite": "OpIsFinite"}

#: exponent and mantissa bits of a float's bits
MAGNITUDE = {16: 0x7FFF, 32: 0x7FFF_FFFF, 64: 0x7FFF_FFFF_FFFF_FFFF}
#: the bits of the smallest normal number and of infinity
NORMAL = {16: (0x0400, 0x7C00), 32: (0x0080_0000, 0x7F80_0000), 64: (0x0010 << 48, 0x7FF0 << 48)}


# --- floats -------------------------------------------------------------------------------------------------


@elementwise(*TESTS)
def test_of_float(ctx: Context, op: Operation, operand: Register) -> Register:
    b = ctx.b
    value = to_arithmetic(b, operand, element_of(op.operands[0].type))
    return float_test(b, TESTS[op.name], value)


@elementwise("math.isnormal", weight=3)
def is_normal(ctx: Context, op: Operation, operand: Register) -> Register:
    """Neither zero, denormal, infinite nor NaN; bf16 has f32's exponents."""
    b = ctx.b
    value = to_arithmetic(b, operand, element_of(op.operands[0].type))
    magnitude, width = _magnitude(ctx, value)
    lowest, infinity = NORMAL[width]
    # one unsigned comparison: what lies below the lowest wraps around
    return b.compare("OpULessThan", b.isub(magnitude, lowest), infinity - lowest)


@elementwise("arith.flush_denormals", weight=4)
def flush_denormals(ctx: Context, op: Operation, operand: Register) -> Register:
    """A denormal becomes the zero of its sign."""
    b = ctx.b

    def flush(value: Register) -> Register:
        magnitude, width = _magnitude(ctx, value)
        bits = b.bitcast(value, Int(width))
        sign = b.iand(bits, -1 << (width - 1))
        small = b.compare("OpULessThan", magnitude, NORMAL[width][0])
        return b.bitcast(b.select(small, sign, bits), Float(width))
    return in_f32(b, element_of(op.operands[0].type), flush, operand)


def _magnitude(ctx: Context, value: Register) -> tuple[Register, int]:
    """The bits without the sign, and how many bits the float has."""
    kind = scalar_type(value.type)
    assert isinstance(kind, Float)
    return ctx.b.iand(ctx.b.bitcast(value, Int(kind.width)), MAGNITUDE[kind.width]), kind.width


@elementwise("math.clampf", weight=4)
def clamp(ctx: Context, op: Operation, value: Register, min: Register, max: Register) -> Register:
    """`value` within [min, max]; NaN stays NaN."""
    b = ctx.b

    def formula(x: Register, low: Register, high: Register) -> Register:
        x = b.select(b.compare("OpFOrdLessThan", x, low), low, x)
        return b.select(b.compare("OpFOrdGreaterThan", x, high), high, x)
    return in_f32(b, element_of(op.operands[0].type), formula, value, min, max)


# --- powers -------------------------------------------------------------------------------------------------


@elementwise("math.fpowi", weight=12)
def float_power(ctx: Context, op: Operation, lhs: Register, rhs: Register) -> Register:
    """A float to an integer's power, which is taken as i32."""
    b = ctx.b
    type = element_of(op.operands[0].type)
    base, exponent = b.match(to_arithmetic(b, lhs, type), b.resize(rhs, 32))
    made = ctx.env.function("pown", [base, exponent], base.type)
    return from_arithmetic(b, made, type)


@elementwise("math.ipowi", weight=12)
def integer_power(ctx: Context, op: Operation, lhs: Register, rhs: Register) -> Register:
    """An integer to an integer's power, wrapping; a negative power gives the reciprocal, rounded to zero.

    Square and multiply, one loop for all components.
    """
    b = ctx.b
    base, exponent = b.match(lhs, rhs)
    bits = scalar_type(base.type).width  # type: ignore[attr-defined]
    one = b.constant(base.type, 1)
    start, end, step = (b.constant(I32, number) for number in (0, bits, 1))
    loop = For(b.module, start, end, step, carried=[one, base, exponent], control="DontUnroll")
    with loop:
        power, square, remaining = loop.carried
        odd = b.compare("OpINotEqual", b.iand(remaining, 1), 0)
        following = b.select(odd, b.imul(power, square), power)
        loop.yield_([following, b.imul(square, square), b.lshr(remaining, 1)])
    odd = b.compare("OpINotEqual", b.iand(exponent, 1), 0)
    unit = b.select(b.compare("OpIEqual", base, -1), b.select(odd, base, one), b.constant(base.type, 0))
    reciprocal = b.select(b.compare("OpIEqual", base, 1), one, unit)
    return b.select(b.compare("OpSLessThan", exponent, 0), reciprocal, loop.results[0])


# --- two results --------------------------------------------------------------------------------------------

Formula = Callable[..., tuple[Register, Register]]

#: Two results: of scalars, or of tensors.
Both = tuple[Register, Register] | tuple[Fragment, ...]


def both_results(ctx: Context, op: Operation, layout: Layout | None, operands: tuple[Bound, ...],
                 formula: Formula) -> Both:
    """The two results of a formula on registers, for scalars (no layout) or register by register."""
    if layout is None:
        return formula(*operands)
    rows = zip(*[ctx.evaluation.registers(operand, layout) for operand in operands], strict=True)
    columns = zip(*[formula(*row) for row in rows], strict=True)
    made = []
    for result, column in zip(op.results, columns, strict=True):
        registers = tuple(ctx.b.splat(x, layout.width) for x in column)
        made.append(Fragment(layout, element_of(result.type), registers))
    return tuple(made)


@pulled("arith.addui_extended", "arith.subui_extended", weight=2)
def with_carry(ctx: Context, op: Operation, layout: Layout | None, lhs: Bound, rhs: Bound) -> Both:
    """Sum and carry, or difference and borrow, of unsigned integers."""
    b = ctx.b
    adds = op.name == "arith.addui_extended"

    def formula(x: Register, y: Register) -> tuple[Register, Register]:
        x, y = b.match(x, y)
        if is_bool(x):
            return b.binary("OpLogicalNotEqual", x, y), b.logical_and(x if adds else b.logical_not(x), y)
        total = b.iadd(x, y) if adds else b.isub(x, y)
        return total, b.compare("OpULessThan", total, x) if adds else b.compare("OpULessThan", x, y)
    return both_results(ctx, op, layout, (lhs, rhs), formula)


@pulled("arith.mulsi_extended", "arith.mului_extended", weight=2)
def wide_product(ctx: Context, op: Operation, layout: Layout | None, lhs: Bound, rhs: Bound) -> Both:
    """The lower and the upper half of a product."""
    b = ctx.b
    high = "s_mul_hi" if op.name == "arith.mulsi_extended" else "u_mul_hi"

    def formula(x: Register, y: Register) -> tuple[Register, Register]:
        x, y = b.match(x, y)
        if is_bool(x):  # 1 * 1 and -1 * -1 are 01 in two bits
            return b.logical_and(x, y), b.constant(x.type, False)
        return b.imul(x, y), ctx.env.math(high, x, y)
    return both_results(ctx, op, layout, (lhs, rhs), formula)


@pulled("math.sincos", weight=24)
def sine_and_cosine(ctx: Context, op: Operation, layout: Layout | None, operand: Bound) -> Both:
    type = element_of(op.operands[0].type)

    def formula(x: Register) -> tuple[Register, Register]:
        sine = in_f32(ctx.b, type, lambda v: ctx.env.math("sin", v), x)
        return sine, in_f32(ctx.b, type, lambda v: ctx.env.math("cos", v), x)
    return both_results(ctx, op, layout, (operand,), formula)

"""Operations that act element by element: arithmetic, comparisons, elementary functions.

Regular families are tables from operation to SPIR-V instruction; a function remains where an operation says
more than its instruction. Registers may be scalars or vectors of any width: scalars meet vectors by
splatting.
"""

from __future__ import annotations

from ...ir.dialects import with_trait
from ...ir.model import FloatType, Operation, Value
from ...spirv.builder import scalar_type, width_of, with_width
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Float, Int
from ..context import Context
from ..registry import elementwise
from ..values.float16 import f16_to_f32, f32_to_f16, is_bits16, multiply_add_to_odd
from ..values.numbers import bool_to_int, in_f32, int_to_bool, is_bf16, is_bits, is_bool, to_arithmetic
from ..values.types import element_of
from .quotients import divided

INTEGER = {
    "arith.addi": "OpIAdd",
    "arith.subi": "OpISub",
    "arith.muli": "OpIMul",
    "arith.divsi": "OpSDiv",
    "arith.divui": "OpUDiv",
    "arith.remsi": "OpSRem",
    "arith.remui": "OpUMod",
    "arith.shli": "OpShiftLeftLogical",
    "arith.shrsi": "OpShiftRightArithmetic",
    "arith.shrui": "OpShiftRightLogical",
}
#: Worth keeping rather than computing twice.
DIVISION = [name for name in INTEGER if name in with_trait("divides")]
INTEGER_FUNCTION = {
    "arith.maxsi": "s_max", "arith.maxui": "u_max", "arith.minsi": "s_min", "arith.minui": "u_min",
    "math.ctlz": "clz", "math.cttz": "ctz", "math.ctpop": "popcount", "tt.mulhiui": "u_mul_hi",
}
BITWISE = {
    "arith.andi": ("OpBitwiseAnd", "OpLogicalAnd"), "arith.ori": ("OpBitwiseOr", "OpLogicalOr"),
    "arith.xori": ("OpBitwiseXor", "OpLogicalNotEqual"),
}
FLOAT = {"arith.addf": "OpFAdd", "arith.subf": "OpFSub", "arith.mulf": "OpFMul", "arith.divf": "OpFDiv",
         "tt.precise_divf": "OpFDiv", "tt.approx_divf": "OpFDiv"}
FLOAT_FUNCTION = {
    "arith.maxnumf": "fmax",
    "arith.minnumf": "fmin",
    "arith.remf": "fmod",
    "math.absf": "fabs",
    "math.floor": "floor",
    "math.ceil": "ceil",
    "math.trunc": "trunc",
    "math.round": "round",
    "math.roundeven": "rint",
    "math.copysign": "copysign",
}
#: Elementary functions: worth keeping rather than computing twice.
ELEMENTARY = {
    "math.exp": "exp",
    "math.exp2": "exp2",
    "math.expm1": "expm1",
    "math.log": "log",
    "math.log2": "log2",
    "math.log10": "log10",
    "math.log1p": "log1p",
    "math.sin": "sin",
    "math.cos": "cos",
    "math.tan": "tan",
    "math.asin": "asin",
    "math.acos": "acos",
    "math.atan": "atan",
    "math.atan2": "atan2",
    "math.sinh": "sinh",
    "math.cosh": "cosh",
    "math.tanh": "tanh",
    "math.asinh": "asinh",
    "math.acosh": "acosh",
    "math.atanh": "atanh",
    "math.erf": "erf",
    "math.erfc": "erfc",
    "math.sqrt": "sqrt",
    "math.rsqrt": "rsqrt",
    "math.cbrt": "cbrt",
    "math.powf": "pow",
    "tt.precise_sqrt": "sqrt",
}
COMPARE_INTEGERS = {
    "eq": "OpIEqual",
    "ne": "OpINotEqual",
    "slt": "OpSLessThan",
    "sle": "OpSLessThanEqual",
    "sgt": "OpSGreaterThan",
    "sge": "OpSGreaterThanEqual",
    "ult": "OpULessThan",
    "ule": "OpULessThanEqual",
    "ugt": "OpUGreaterThan",
    "uge": "OpUGreaterThanEqual",
}
COMPARE_FLOATS = {
    "oeq": "OpFOrdEqual",
    "ogt": "OpFOrdGreaterThan",
    "oge": "OpFOrdGreaterThanEqual",
    "olt": "OpFOrdLessThan",
    "ole": "OpFOrdLessThanEqual",
    "one": "OpFOrdNotEqual",
    "ueq": "OpFUnordEqual",
    "ugt": "OpFUnordGreaterThan",
    "uge": "OpFUnordGreaterThanEqual",
    "ult": "OpFUnordLessThan",
    "ule": "OpFUnordLessThanEqual",
    "une": "OpFUnordNotEqual",
}


@elementwise(*(name for name in INTEGER if name not in DIVISION))
@elementwise(*DIVISION, weight=12)
def integer(ctx: Context, op: Operation, lhs: Register, rhs: Register) -> Register:
    """Two's complement, wrapping; i1 is computed modulo 2."""
    b = ctx.b
    if is_bool(lhs):
        signed = op.name.endswith("si")
        wide = [bool_to_int(b, x, true=-1 if signed else 1) for x in (lhs, rhs)]
        return int_to_bool(b, ctx.env.integer(INTEGER[op.name], *wide))
    if op.has("divides"):
        return divided(ctx, op, INTEGER[op.name], lhs, rhs)
    return ctx.env.integer(INTEGER[op.name], lhs, rhs)


@elementwise(*INTEGER_FUNCTION)
def integer_function(ctx: Context, op: Operation, *operands: Register) -> Register:
    b = ctx.b
    if is_bool(operands[0]):
        true = -1 if op.name.endswith("si") else 1
        return int_to_bool(
            b,
            ctx.env.math(
                INTEGER_FUNCTION[op.name], *b.match(*[bool_to_int(b, x, true=true) for x in operands])
            ),
        )
    return ctx.env.math(INTEGER_FUNCTION[op.name], *b.match(*operands))


@elementwise("math.absi")
def absolute(ctx: Context, op: Operation, operand: Register) -> Register:
    """|x|; the most negative number stays as it is."""
    return operand if is_bool(operand) else ctx.env.math("s_abs", operand)


@elementwise("arith.ceildivsi", "arith.ceildivui", "arith.floordivsi", weight=4)
def rounded_division(ctx: Context, op: Operation, lhs: Register, rhs: Register) -> Register:
    """Division rounded up or down: the truncated quotient, corrected by one where a remainder says so."""
    b = ctx.b
    lhs, rhs = b.match(lhs, rhs)
    unsigned = op.name.endswith("ui")
    quotient = ctx.env.integer("OpUDiv" if unsigned else "OpSDiv", lhs, rhs)
    remainder = b.isub(lhs, b.imul(quotient, rhs))
    inexact = b.compare("OpINotEqual", remainder, 0)
    if unsigned:
        return b.select(inexact, b.iadd(quotient, 1), quotient)
    negative = b.compare("OpSLessThan", b.ixor(lhs, rhs), 0)
    if op.name == "arith.floordivsi":
        return b.select(b.logical_and(inexact, negative), b.isub(quotient, 1), quotient)
    return b.select(b.logical_and(inexact, b.logical_not(negative)), b.iadd(quotient, 1), quotient)


@elementwise(*BITWISE)
def bitwise(ctx: Context, op: Operation, lhs: Register, rhs: Register) -> Register:
    b = ctx.b
    on_integers, on_bools = BITWISE[op.name]
    if not is_bool(lhs):
        return b.binary(on_integers, lhs, rhs)
    return b.logical_and(lhs, rhs) if on_bools == "OpLogicalAnd" else b.binary(on_bools, lhs, rhs)


@elementwise(*FLOAT)
def floating(ctx: Context, op: Operation, lhs: Register, rhs: Register) -> Register:
    """IEEE arithmetic in the type; bf16 in f32, rounded after each operation."""
    b = ctx.b

    def formula(x: Register, y: Register) -> Register:
        if FLOAT[op.name] == "OpFDiv":
            found = _approximate(ctx, op, "divide", x, y)
            return found or ctx.env.divide(x, y, precise=op.has("precise"))
        value = b.binary(FLOAT[op.name], x, y)
        fuses = ctx.kernel.options.enable_fp_fusion
        if not fuses or is_bits(element_of(op.operands[0].type)):
            return value
        return ctx.env.contract(value, _users(op.result) if op.name == "arith.mulf" else "")
    return in_f32(b, element_of(op.operands[0].type), formula, lhs, rhs)


def _users(product: Value) -> str:
    """`contract`: who uses a product, checks left out."""
    users = [user for user, _ in product.uses if not user.has("watches")]
    if len(users) != 1:
        return "several" if users else ""
    user = users[0]
    if user.has("view") and len(user.results) == 1:
        return _users(user.result)
    return "sum" if FLOAT.get(user.name) in ("OpFAdd", "OpFSub") else ""


@elementwise("arith.negf")
def negate(ctx: Context, op: Operation, operand: Register) -> Register:
    b, type = ctx.b, element_of(op.operands[0].type)
    if (is_bf16(type) or is_bits16(type)) and isinstance(scalar_type(operand.type), Int):
        return b.ixor(operand, -0x8000)
    return in_f32(b, type, lambda x: b.unary("OpFNegate", x), operand)


@elementwise(*FLOAT_FUNCTION)
def float_function(ctx: Context, op: Operation, *operands: Register) -> Register:
    b = ctx.b
    name = FLOAT_FUNCTION[op.name]
    return in_f32(b, element_of(op.operands[0].type), lambda *x: ctx.env.math(name, *b.match(*x)), *operands)


@elementwise(*ELEMENTARY, weight=12)
def elementary(ctx: Context, op: Operation, *operands: Register) -> Register:
    b = ctx.b
    name = ELEMENTARY[op.name]

    def formula(*x: Register) -> Register:
        return _approximate(ctx, op, name, *x) or ctx.env.math(name, *b.match(*x))
    return in_f32(b, element_of(op.operands[0].type), formula, *operands)


def _approximate(ctx: Context, op: Operation, name: str, *operands: Register) -> Register | None:
    """The function of f32 as the option fast_math allows it; None where it does not, or nothing is gained."""
    if not ctx.kernel.options.fast_math or op.has("precise"):
        return None
    matched = ctx.b.match(*operands)
    return ctx.env.approximate(name, *matched) if scalar_type(matched[0].type) == Float(32) else None


@elementwise("math.fma", weight=2)
def fused_multiply_add(ctx: Context, op: Operation, a: Register, b: Register, c: Register) -> Register:
    """a * b + c with one rounding."""
    if is_bits16(element_of(op.operands[0].type)):
        x, y, z = ctx.b.match(*(f16_to_f32(ctx.b, value) for value in (a, b, c)))
        return f32_to_f16(ctx.b, multiply_add_to_odd(ctx.b, x, y, z))
    return in_f32(
        ctx.b, element_of(op.operands[0].type), lambda *x: ctx.env.math("fma", *ctx.b.match(*x)), a, b, c
    )


EXTREMES = {"ts.larger": "OpFOrdGreaterThan", "ts.smaller": "OpFOrdLessThan"}


@elementwise(*EXTREMES, weight=3)
def larger_or_nan(ctx: Context, op: Operation, lhs: Register, rhs: Register) -> Register:
    """The first one where it is NaN, else the larger or smaller one; of equal numbers, 0.0 and -0.0 too, the
    second one."""
    b = ctx.b

    def formula(x: Register, y: Register) -> Register:
        x, y = b.match(x, y)
        return b.select(b.unordered(x, x), x, ctx.env.extreme(x, y, EXTREMES[op.name]))
    return in_f32(b, element_of(op.operands[0].type), formula, lhs, rhs)


@elementwise("arith.maximumf", "arith.minimumf", weight=4)
def propagating(ctx: Context, op: Operation, lhs: Register, rhs: Register) -> Register:
    """IEEE 754-2019 maximum or minimum: NaN where an operand is NaN, -0 below 0."""
    b = ctx.b
    largest = op.name == "arith.maximumf"
    first = "OpFOrdGreaterThan" if largest else "OpFOrdLessThan"

    def formula(x: Register, y: Register) -> Register:
        x, y = b.match(x, y)
        kind = scalar_type(x.type)
        bits = [b.bitcast(value, Int(kind.width)) for value in (x, y)]  # type: ignore[attr-defined]
        zero = b.bitcast(b.iand(*bits) if largest else b.ior(*bits), kind)  # of equal numbers: their bits
        chosen = b.select(b.compare("OpFOrdEqual", x, y), zero, b.select(b.compare(first, x, y), x, y))
        return b.select(b.unordered(x, y), b.binary("OpFAdd", x, y), chosen)
    return in_f32(b, element_of(op.operands[0].type), formula, lhs, rhs)


@elementwise("tt.clampf", weight=4)
def clamp(ctx: Context, op: Operation, x: Register, min: Register, max: Register) -> Register:
    """min(max(x, min), max); `propagateNan = all` gives NaN where x is NaN."""
    b = ctx.b
    propagates = str(op.attributes.get("propagateNan", "none")) == "all"

    def formula(x: Register, low: Register, high: Register) -> Register:
        x, low, high = b.match(x, low, high)
        clamped = ctx.env.math("fmin", ctx.env.math("fmax", x, low), high)
        return b.select(b.compare("OpFUnordNotEqual", x, x), x, clamped) if propagates else clamped
    return in_f32(b, element_of(op.operands[0].type), formula, x, min, max)


@elementwise("arith.cmpi")
def compare_integers(ctx: Context, op: Operation, lhs: Register, rhs: Register) -> Register:
    b = ctx.b
    predicate = op.attributes["predicate"]
    if is_bool(lhs):
        if predicate in ("eq", "ne"):
            return b.compare("OpLogicalEqual" if predicate == "eq" else "OpLogicalNotEqual", lhs, rhs)
        true = -1 if predicate[0] == "s" else 1
        lhs, rhs = bool_to_int(b, lhs, true=true), bool_to_int(b, rhs, true=true)
    return b.compare(COMPARE_INTEGERS[predicate], lhs, rhs)


@elementwise("arith.cmpf")
def compare_floats(ctx: Context, op: Operation, lhs: Register, rhs: Register) -> Register:
    """o* predicates are false where an operand is NaN, u* true. OpFUnordNotEqual is `une`, as in C's !=."""
    b = ctx.b
    predicate = op.attributes["predicate"]
    type = element_of(op.operands[0].type)
    lhs, rhs = to_arithmetic(b, lhs, type), to_arithmetic(b, rhs, type)
    if predicate in ("true", "false"):
        width = max(width_of(lhs.type), width_of(rhs.type))
        return b.constant(with_width(Bool(), width), predicate == "true")
    if predicate in ("ord", "uno"):
        return b.ordered(lhs, rhs) if predicate == "ord" else b.unordered(lhs, rhs)
    return b.compare(COMPARE_FLOATS[predicate], lhs, rhs)


@elementwise("arith.select")
def select(
    ctx: Context, op: Operation, condition: Register, true_value: Register, false_value: Register
) -> Register:
    type = element_of(op.results[0].type)
    if isinstance(type, FloatType) and scalar_type(true_value.type) != scalar_type(false_value.type):
        # One of them is held wide (region.accumulator_types).
        true_value, false_value = (to_arithmetic(ctx.b, x, type) for x in (true_value, false_value))
    return ctx.b.select(condition, true_value, false_value)

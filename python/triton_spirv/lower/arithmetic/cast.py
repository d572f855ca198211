"""Conversions between element types.

Every conversion rounds once. Where SPIR-V has no such conversion and two steps are needed, the first rounds
to odd: it keeps in the last bit whether anything was lost, so that the second step gives what one would
(Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
"""

from __future__ import annotations

from ...ir.model import FloatType, IntegerType, Operation, PointerType, Type, bits_of
from ...spirv.builder import scalar_type
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Float, Int
from ..context import Context
from ..registry import elementwise
from ..values.float8 import float8_to_float, float_to_float8, is_float8
from ..values.float16 import f32_to_f16, is_bits16
from ..values.numbers import F32, bool_to_int, f32_to_bf16, int_to_bool, is_bf16, is_bool, to_arithmetic
from ..values.types import as_scalar, element_of, is_pointer, register_type

F64 = Float(64)
SINGLE = FloatType("f32")


# --- floats -------------------------------------------------------------------------------------------------


def widened(ctx: Context, value: Register, type: Type) -> Register:
    """A float of any type in a type that has arithmetic."""
    return to_arithmetic(ctx.b, value, type)


def to_float(ctx: Context, value: Register, source: Type, target: Type, rounding: str = "rtne") -> Register:
    """Between any two float types; "rtne" rounds to nearest even, "rtz" towards zero."""
    assert isinstance(source, FloatType) and isinstance(target, FloatType)
    if source == target:
        return value
    if is_float8(source) and not is_float8(target):
        return float8_to_float(ctx.b, value, source, target)
    b = ctx.b
    value = to_arithmetic(b, value, source)
    wanted = register_type(target)
    if wanted == F64:
        return b.convert("OpFConvert", value, F64)
    if target.width < 32 and scalar_type(value.type) == F64:
        value = f64_to_f32(ctx, value, "odd")
    if wanted == F32:
        return f64_to_f32(ctx, value, rounding) if source.width == 64 else as_f32(ctx, value)
    if wanted == Float(16):
        return ctx.env.narrow(value, Float(16), "RTZ" if rounding == "rtz" else "RTE")
    value = as_f32(ctx, value)
    if is_bits16(target):
        return f32_to_f16(b, value, rounding)
    if is_bf16(target):
        return f32_to_bf16(b, value, rounding)
    return float_to_float8(b, value, target, rounding)


def as_f32(ctx: Context, value: Register) -> Register:
    """f16 or f32 -> f32."""
    return value if scalar_type(value.type) == F32 else ctx.b.convert("OpFConvert", value, F32)


def f64_to_f32(ctx: Context, value: Register, rounding: str = "rtne") -> Register:
    """Round to nearest even, towards zero ("rtz") or to odd ("odd": an inexact result ends in a one)."""
    b = ctx.b
    nearest = ctx.env.narrow(value, F32)
    if rounding == "rtne":
        return nearest
    back = b.convert("OpFConvert", nearest, F64)
    bits = b.bitcast(nearest, Int(32))
    above = b.compare("OpFOrdGreaterThan", ctx.env.math("fabs", back), ctx.env.math("fabs", value))
    truncated = b.select(above, b.isub(bits, 1), bits)
    if rounding == "rtz":
        return b.bitcast(truncated, F32)
    inexact = b.compare("OpFOrdNotEqual", back, value)
    return b.bitcast(b.select(inexact, b.ior(truncated, 1), bits), F32)


@elementwise("arith.extf", "arith.truncf", weight=2)
def float_to_float(ctx: Context, op: Operation, value: Register) -> Register:
    """Exact to a wider type, round to nearest even to a narrower one."""
    return to_float(ctx, value, element_of(op.operands[0].type), element_of(op.results[0].type))


@elementwise("tt.fp_to_fp", weight=4)
def fp_to_fp(ctx: Context, op: Operation, value: Register) -> Register:
    """Between any two float types; `rounding` ("rtne", "rtz") is there where the result is narrower."""
    rounding = str(op.attributes.get("rounding", "rtne"))
    return to_float(ctx, value, element_of(op.operands[0].type), element_of(op.results[0].type), rounding)


# --- integers -----------------------------------------------------------------------------------------------


def result_width(op: Operation) -> int:
    """Bits of the integers that `op` makes; LoweringError for those that no register holds, such as i128."""
    register = register_type(element_of(op.results[0].type))
    return 1 if isinstance(register, Bool) else register.width  # type: ignore[attr-defined]


@elementwise("arith.extsi", "arith.trunci", "arith.index_cast")
def resize_signed(ctx: Context, op: Operation, value: Register) -> Register:
    """Sign extended, or the lowest bits."""
    return resized(ctx, op, value, signed=True)


@elementwise("arith.extui", "arith.index_castui")
def resize_unsigned(ctx: Context, op: Operation, value: Register) -> Register:
    """Zero extended, or the lowest bits."""
    return resized(ctx, op, value, signed=False)


def resized(ctx: Context, op: Operation, value: Register, signed: bool) -> Register:
    """An integer or a boolean as the type of the result."""
    width = result_width(op)
    if is_bool(value):
        return value if width == 1 else bool_to_int(ctx.b, value, Int(width), true=-1 if signed else 1)
    return int_to_bool(ctx.b, value) if width == 1 else ctx.b.resize(value, width, signed=signed)


# --- between the two ----------------------------------------------------------------------------------------


@elementwise("arith.sitofp", "arith.uitofp")
def integer_to_float(ctx: Context, op: Operation, value: Register) -> Register:
    """Round to nearest even; i1 is 0 or 1 unsigned, 0 or -1 signed."""
    b = ctx.b
    signed = op.name == "arith.sitofp"
    if is_bool(value):
        value = bool_to_int(b, value, true=-1 if signed else 1)
    target = element_of(op.results[0].type)
    opcode = "OpConvertSToF" if signed else "OpConvertUToF"
    bits = scalar_type(value.type).width  # type: ignore[attr-defined]
    if is_bf16(target):
        for large, dropped in SQUEEZED_FOR_BF16.get(bits, ()):
            value = squeezed(ctx, value, signed, large, dropped)
        return f32_to_bf16(b, b.convert(opcode, value, F32))
    if bits_of(target) < 32:
        # An integer that f32 rounds is beyond the largest number of these types, on either side of the
        # rounding.
        return to_float(ctx, b.convert(opcode, value, F32), SINGLE, target)
    return b.convert(opcode, value, register_type(target))


#: By the bits of an integer, what `squeezed` is to do so that f32 holds the result, which keeps the 8 bits of
#: bf16 and two more to round by: (beyond 2^large, the lowest bits that are dropped).
SQUEEZED_FOR_BF16 = {32: ((24, 9),), 64: ((24, 15), (38, 28), (51, 41))}


def squeezed(ctx: Context, value: Register, signed: bool, large: int, dropped: int) -> Register:
    """An integer of fewer significant bits, which rounds to fewer still as `value` does.

    Numbers beyond 2^large have their `dropped` lowest bits cleared; where one of them was set, the highest of
    them is set instead, which is off every middle between two neighbours of the narrower type, on the side
    where `value` is.
    """
    b = ctx.b
    low = b.iand(value, (1 << dropped) - 1)
    sticky = b.select(b.compare("OpINotEqual", low, 0), b.constant(low.type, 1 << (dropped - 1)), 0)
    distance = b.iadd(value, 1 << large) if signed else value
    beyond = b.compare("OpUGreaterThan", distance, 2 << large if signed else 1 << large)
    return b.select(beyond, b.ior(b.isub(value, low), sticky), value)


@elementwise("arith.fptosi", "arith.fptoui")
def float_to_integer(ctx: Context, op: Operation, value: Register) -> Register:
    """Round towards zero; out of range is unspecified, as in Triton. Narrow integers come through i32."""
    b = ctx.b
    value = to_arithmetic(b, value, element_of(op.operands[0].type))
    width = result_width(op)
    signed = op.name == "arith.fptosi"
    made = b.convert("OpConvertFToS" if signed or width < 32 else "OpConvertFToU", value, Int(max(width, 32)))
    return int_to_bool(b, made) if width == 1 else b.resize(made, width)


@elementwise("arith.bitcast", "tt.bitcast")
def bitcast(ctx: Context, op: Operation, value: Register) -> Register:
    """The same bits as another type of the same size; a pointer to another pointee is the same address."""
    b = ctx.b
    target = element_of(op.results[0].type)
    if isinstance(target, PointerType):
        return as_scalar(ctx.env, ctx.env.address(value), target) if is_pointer(value) else value
    if target == IntegerType(1) or isinstance(scalar_type(value.type), Bool):
        return value
    return b.bitcast(value, register_type(target))

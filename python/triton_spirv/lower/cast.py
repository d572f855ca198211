"""Conversions between element types."""

from __future__ import annotations

from ..errors import LoweringError
from ..ir.model import FloatType, IntegerType, Operation, PointerType
from ..spirv.builder import scalar_type
from ..spirv.module import Value as Register
from ..spirv.types import Bool, Float, Int
from .context import Context
from .numbers import F32, bf16_to_f32, bool_to_int, f32_to_bf16, int_to_bool, is_bf16, is_bool
from .registry import elementwise
from .types import element_of, register_type


def widened(ctx: Context, value: Register, type: object) -> Register:
    """A float of any type in a type that has arithmetic."""
    return bf16_to_f32(ctx.b, value) if is_bf16(type) else value  # type: ignore[arg-type]


def to_float(ctx: Context, value: Register, source: object, target: FloatType) -> Register:
    """Between f16, bf16, f32, f64; rounds to nearest even."""
    b = ctx.b
    value = widened(ctx, value, source)
    if is_bf16(target):
        if scalar_type(value.type) == Float(64):
            value = round_to_odd(ctx, value)
        elif scalar_type(value.type) != F32:
            value = b.convert("OpFConvert", value, F32)
        return f32_to_bf16(b, value)
    wanted = register_type(target)
    return value if scalar_type(value.type) == wanted else b.convert("OpFConvert", value, wanted)


def round_to_odd(ctx: Context, value: Register) -> Register:
    """f64 -> f32 so that a second rounding, to a narrower type, gives what one rounding would.

    An inexact result gets its last bit set (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
    """
    b = ctx.b
    nearest = b.convert("OpFConvert", value, F32)
    back = b.convert("OpFConvert", nearest, Float(64))
    bits = b.bitcast(nearest, Int(32))
    inexact = b.compare("OpFOrdNotEqual", back, value)
    above = b.compare("OpFOrdGreaterThan", ctx.env.math("fabs", back), ctx.env.math("fabs", value))
    truncated = b.select(above, b.isub(bits, 1), bits)
    return b.bitcast(b.select(inexact, b.ior(truncated, 1), bits), F32)


@elementwise("arith.extf", "arith.truncf")
def float_to_float(ctx: Context, op: Operation, value: Register) -> Register:
    """Exact to a wider type, round to nearest even to a narrower one."""
    source, target = (element_of(v.type) for v in (op.operands[0], op.results[0]))
    if any(isinstance(t, FloatType) and t.width < 16 for t in (source, target)):
        return convert_fp8(ctx, op, value)
    return to_float(ctx, value, source, target)  # type: ignore[arg-type]


@elementwise("tt.fp_to_fp", weight=4)
def fp_to_fp(ctx: Context, op: Operation, value: Register) -> Register:
    """Between any two float types, with the stated rounding."""
    source, target = (element_of(v.type) for v in (op.operands[0], op.results[0]))
    if any(isinstance(t, FloatType) and t.width < 16 for t in (source, target)):
        return convert_fp8(ctx, op, value)
    if op.attributes.get("rounding") == "rtz":
        return truncate(ctx, value, source, target)  # type: ignore[arg-type]
    return to_float(ctx, value, source, target)  # type: ignore[arg-type]


def truncate(ctx: Context, value: Register, source: FloatType, target: FloatType) -> Register:
    """Round towards zero to f16 or bf16."""
    b = ctx.b
    value = widened(ctx, value, source)
    if is_bf16(target):
        return b.convert("OpUConvert", b.lshr(b.bitcast(value, Int(32)), 16), Int(16))
    made = b.convert("OpFConvert", value, register_type(target))
    b.module.decorate(made, "FPRoundingMode", "RTZ")
    return made


def convert_fp8(ctx: Context, op: Operation, value: Register) -> Register:
    raise LoweringError(f"{op.location}: {op.name}: 8-bit floats have no conversion yet")


@elementwise("arith.extsi")
def extend_signed(ctx: Context, op: Operation, value: Register) -> Register:
    width = element_of(op.results[0].type).width  # type: ignore[attr-defined]
    return bool_to_int(ctx.b, value, Int(width), true=-1) if is_bool(value) else ctx.b.resize(value, width)


@elementwise("arith.extui")
def extend_unsigned(ctx: Context, op: Operation, value: Register) -> Register:
    width = element_of(op.results[0].type).width  # type: ignore[attr-defined]
    return bool_to_int(ctx.b, value, Int(width)) if is_bool(value) else ctx.b.resize(value, width, signed=False)


@elementwise("arith.trunci")
def truncate_integer(ctx: Context, op: Operation, value: Register) -> Register:
    width = element_of(op.results[0].type).width  # type: ignore[attr-defined]
    return int_to_bool(ctx.b, value) if width == 1 else ctx.b.resize(value, width)


@elementwise("arith.index_cast", "arith.index_castui")
def index_cast(ctx: Context, op: Operation, value: Register) -> Register:
    width = register_type(element_of(op.results[0].type)).width  # type: ignore[attr-defined]
    return ctx.b.resize(value, width, signed=op.name == "arith.index_cast")


@elementwise("arith.sitofp", "arith.uitofp")
def integer_to_float(ctx: Context, op: Operation, value: Register) -> Register:
    """Round to nearest even; i1 is 0 or 1 unsigned, 0 or -1 signed."""
    b = ctx.b
    signed = op.name == "arith.sitofp"
    if is_bool(value):
        value = bool_to_int(b, value, true=-1 if signed else 1)
    target = element_of(op.results[0].type)
    opcode = "OpConvertSToF" if signed else "OpConvertUToF"
    if is_bf16(target):
        bits = scalar_type(value.type).width  # type: ignore[attr-defined]
        if bits < 32:
            return f32_to_bf16(b, b.convert(opcode, value, F32))
        wide = b.convert(opcode, value, Float(64))
        if bits == 64:
            wide = _sticky(ctx, value, wide, signed)
        return f32_to_bf16(b, round_to_odd(ctx, wide))
    return b.convert(opcode, value, register_type(target))


def _sticky(ctx: Context, value: Register, wide: Register, signed: bool) -> Register:
    """A 64-bit integer as f64 rounded to odd: clear the low bits that f64 cannot hold, and set one in their place."""
    b = ctx.b
    magnitude = ctx.env.math("s_abs", value) if signed else value
    low = b.iand(magnitude, 0xFFF)
    large = b.compare("OpUGreaterThanEqual", magnitude, 1 << 53)
    squeezed = b.ior(b.isub(magnitude, low), b.select(b.compare("OpINotEqual", low, 0), b.constant(low.type, 0x800), 0))
    exact = b.convert("OpConvertUToF", b.select(large, squeezed, magnitude), Float(64))
    if not signed:
        return exact
    return b.select(b.compare("OpSLessThan", value, 0), b.unary("OpFNegate", exact), exact)


@elementwise("arith.fptosi", "arith.fptoui")
def float_to_integer(ctx: Context, op: Operation, value: Register) -> Register:
    """Round towards zero; out of range is unspecified, as in Triton. Narrow integers come through i32."""
    b = ctx.b
    value = widened(ctx, value, element_of(op.operands[0].type))
    width = element_of(op.results[0].type).width  # type: ignore[attr-defined]
    signed = op.name == "arith.fptosi"
    made = b.convert("OpConvertFToS" if signed or width < 32 else "OpConvertFToU", value, Int(max(width, 32)))
    return int_to_bool(b, made) if width == 1 else b.resize(made, width)


@elementwise("arith.bitcast", "tt.bitcast")
def bitcast(ctx: Context, op: Operation, value: Register) -> Register:
    """The same bits as another type of the same size; a pointer to another pointee is the same address."""
    b = ctx.b
    target = element_of(op.results[0].type)
    if isinstance(target, PointerType):
        return ctx.as_scalar(ctx.env.address(value), target) if ctx.is_pointer(value) else value
    if isinstance(target, IntegerType) and target.width == 1 or isinstance(scalar_type(value.type), Bool):
        return value
    return b.bitcast(value, register_type(target))

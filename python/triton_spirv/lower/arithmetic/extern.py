"""Functions that kernels call by a library's symbol, and assembly that they bring along.

Two families of symbols are known: `__spirv_ocl_<instruction>`, which is OpenCL.std's instruction of that name
(our own triton.language.extra.libdevice uses it), and `__nv_<function>`, CUDA's libdevice, for kernels that
ask for triton.language.extra.cuda.libdevice by name. Of the second, what is one instruction or a short
formula has a line in a table; the rest is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ...errors import LoweringError, UnsupportedOperation
from ...ir.model import FloatType, Operation
from ...spirv import grammar
from ...spirv.builder import scalar_type, width_of, with_width
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Float, Int
from ..context import Context
from ..registry import elementwise, lowers
from ..values.numbers import bool_to_int, float_test, from_arithmetic, to_arithmetic
from ..values.types import element_of, register_type

OPENCL, CUDA = "__spirv_ocl_", "__nv_"


def _same(names: str) -> dict[str, str]:
    return {name: name for name in names.split()}


#: CUDA's name, without the f of single precision -> OpenCL.std's instruction, or a core one
CUDA_INSTRUCTIONS: dict[str, str] = {
    **_same("acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi erf erfc exp exp10 "
            "exp2 expm1 fabs fdim floor fma fmod hypot ilogb ldexp lgamma log log10 log1p log2 logb "
            "nextafter pow remainder rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc clz"),
    "nearbyint": "rint", "scalbn": "ldexp", "powi": "pown", "fma_rn": "fma",
    "fast_cos": "cos", "fast_exp": "exp", "fast_exp10": "exp10", "fast_log": "log", "fast_log10": "log10",
    "fast_log2": "log2", "fast_pow": "pow", "fast_sin": "sin", "fast_tan": "tan", "fast_tanh": "tanh",
    "fadd_rn": "OpFAdd", "fsub_rn": "OpFSub", "fmul_rn": "OpFMul", "fdiv_rn": "OpFDiv", "fsqrt_rn": "sqrt",
    "dadd_rn": "OpFAdd", "dsub_rn": "OpFSub", "dmul_rn": "OpFMul", "ddiv_rn": "OpFDiv", "dsqrt_rn": "sqrt",
    "frsqrt_rn": "rsqrt", "fast_fdivide": "OpFDiv",
    "abs": "s_abs", "llabs": "s_abs", "hadd": "s_hadd",
    "uhadd": "u_hadd", "rhadd": "s_rhadd", "urhadd": "u_rhadd", "mul24": "s_mul24", "umul24": "u_mul24",
    "mulhi": "s_mul_hi", "mul64hi": "s_mul_hi", "umulhi": "u_mul_hi", "umul64hi": "u_mul_hi",
    "int_as_float": "OpBitcast", "uint_as_float": "OpBitcast", "longlong_as_double": "OpBitcast",
    "float_as_int": "OpBitcast", "float_as_uint": "OpBitcast", "double_as_longlong": "OpBitcast",
}
#: the same for tests, whose result is an integer
CUDA_TESTS = {
    "isnan": "OpIsNan", "isnand": "OpIsNan", "isinf": "OpIsInf", "isinfd": "OpIsInf", "finite": "OpIsFinite",
    "isfinited": "OpIsFinite", "signbit": "OpSignBitSet", "signbitd": "OpSignBitSet",
}

Formula = Callable[..., Register]
CUDA_FORMULAS: dict[str, Formula] = {
    "saturate": lambda ctx, x: _saturated(ctx, x),
    "frcp_rn": lambda ctx, x: ctx.env.divide(1.0, x),
    "drcp_rn": lambda ctx, x: ctx.env.divide(1.0, x),
    "rcbrt": lambda ctx, x: ctx.env.divide(1.0, ctx.env.math("cbrt", x)),
    "rhypot": lambda ctx, x, y: ctx.env.math("rsqrt", _squares(ctx, x, y)),
    "norm3d": lambda ctx, *x: ctx.env.math("sqrt", _squares(ctx, *x)),
    "norm4d": lambda ctx, *x: ctx.env.math("sqrt", _squares(ctx, *x)),
    "rnorm3d": lambda ctx, *x: ctx.env.math("rsqrt", _squares(ctx, *x)),
    "rnorm4d": lambda ctx, *x: ctx.env.math("rsqrt", _squares(ctx, *x)),
    "normcdf": lambda ctx, x: ctx.b.binary(
        "OpFMul", ctx.env.math("erfc", ctx.b.binary("OpFMul", x, -0.5 ** 0.5)), 0.5),
    "popc": lambda ctx, x: ctx.env.math("popcount", x),
    "popcll": lambda ctx, x: ctx.env.math("popcount", x),
    "clzll": lambda ctx, x: ctx.env.math("clz", x),
    "ffs": lambda ctx, x: _lowest_bit(ctx, x),
    "brev": lambda ctx, x: ctx.env.reverse_bits(x),
    "brevll": lambda ctx, x: ctx.env.reverse_bits(x),
    "ffsll": lambda ctx, x: _lowest_bit(ctx, x),
}
CONVERSION = re.compile(r"(float|double|int|uint|ll|ull)2(float|double|int|uint|ll|ull)_(rn|rz|rd|ru)")
#: how a float is rounded before it becomes an integer
TO_INTEGER = {"rn": "rint", "rd": "floor", "ru": "ceil"}
#: and a double before it becomes a float: decorations of the specification, 3.17
TO_FLOAT = {"rn": "RTE", "rz": "RTZ", "rd": "RTN", "ru": "RTP"}


def _saturated(ctx: Context, x: Register) -> Register:
    zero, one = ctx.b.match(x, 0.0)[1], ctx.b.match(x, 1.0)[1]
    return ctx.env.math("fmin", ctx.env.math("fmax", x, zero), one)


def _squares(ctx: Context, *values: Register) -> Register:
    first, *others = ctx.b.match(*values)
    total = ctx.b.binary("OpFMul", first, first)
    for x in others:
        total = ctx.env.math("fma", x, x, total)
    return total


def _lowest_bit(ctx: Context, x: Register) -> Register:
    """The position of the lowest set bit, counted from 1; 0 for 0."""
    b = ctx.b
    return b.select(b.compare("OpIEqual", x, 0), b.constant(x.type, 0), b.iadd(ctx.env.math("ctz", x), 1))


@elementwise("tt.extern_elementwise", weight=12)
def external(ctx: Context, op: Operation, *srcs: Register) -> Register:
    """srcs [...] -> [...] by a function's symbol; floats that are held as bits are computed in f32."""
    b, symbol = ctx.b, str(op.attributes["symbol"])
    values = [to_arithmetic(b, x, element_of(v.type)) for x, v in zip(srcs, op.srcs, strict=True)]
    width = max(width_of(x.type) for x in values)
    values = [b.splat(x, width) for x in values]
    result = element_of(op.results[0].type)
    try:
        if any(isinstance(scalar_type(x.type), Bool) for x in values):
            raise TypeError("none takes i1")
        if symbol.startswith(OPENCL):
            made = _instruction(ctx, op, symbol.removeprefix(OPENCL), values)
        elif symbol.startswith(CUDA):
            made = _cuda(ctx, op, symbol.removeprefix(CUDA), values)
        else:
            raise _unknown(op)
        if isinstance(scalar_type(made.type), Float) != isinstance(result, FloatType):
            raise TypeError(f"its result is {made.type}")
    except TypeError as error:  # the kernel says which function it is, and what it takes
        raise LoweringError(f"the function {symbol} is not for such operands: {error}") from error
    if isinstance(result, FloatType):
        return from_arithmetic(b, made, result)
    if isinstance(scalar_type(made.type), Bool):
        made = bool_to_int(b, made)
    kind = register_type(result)
    if not isinstance(kind, Int):
        raise LoweringError(f"the function {symbol} gives {made.type}, not {result}")
    return b.resize(made, kind.width)


def _cuda(ctx: Context, op: Operation, name: str, values: list[Register]) -> Register:
    b = ctx.b
    conversion = CONVERSION.fullmatch(name)
    if conversion:
        return _converted(ctx, op, values[0], *conversion.groups())
    single = scalar_type(values[0].type) == Float(32)
    for spelled in (name, name[:-1] if single and name.endswith("f") else name):
        if spelled in CUDA_TESTS:
            return float_test(b, CUDA_TESTS[spelled], values[0])
        if spelled in CUDA_FORMULAS:
            return CUDA_FORMULAS[spelled](ctx, *values)
        if spelled in CUDA_INSTRUCTIONS:
            return _instruction(ctx, op, CUDA_INSTRUCTIONS[spelled], values)
    raise _unknown(op)


def _instruction(ctx: Context, op: Operation, name: str, values: list[Register]) -> Register:
    """One instruction of OpenCL.std, or a core one; its result has the operation's type (bits: f32)."""
    result = element_of(op.results[0].type)
    computed = register_type(result)
    of_integers = name.startswith(("s_", "u_")) or name in ("clz", "ctz", "popcount")
    if not name.startswith("Op") and isinstance(scalar_type(values[0].type), Float) == of_integers:
        raise TypeError(f"{name} takes {'integers' if of_integers else 'floats'}")
    if isinstance(result, FloatType) and isinstance(computed, Int):
        computed = Float(32)
    if not name.startswith("Op"):
        alike = [scalar_type(x.type) for x in values] + [computed]
        if any(x != alike[0] for x in alike if isinstance(x, Float) and isinstance(alike[0], Float)):
            raise TypeError(f"{name} takes and gives one type, not {', '.join(map(str, alike))}")
    if name in ("clz", "popcount"):
        computed = scalar_type(values[0].type)
    type = with_width(computed, width_of(values[0].type))
    if name == "OpFDiv":
        return ctx.env.divide(values[0], values[1])
    if name.startswith("Op"):
        return ctx.b.emit(name, *values, type=type)
    try:
        grammar.extended("OpenCL.std", name)
    except LookupError:
        raise _unknown(op) from None
    return ctx.env.function(name, values, type)


def _converted(ctx: Context, op: Operation, value: Register, source: str, target: str, mode: str) -> Register:
    """float2int_rn and its family."""
    b = ctx.b
    floats = {"float": 32, "double": 64}
    integers = {"int": (32, "S"), "uint": (32, "U"), "ll": (64, "S"), "ull": (64, "U")}
    if target in integers and source in floats:
        bits, sign = integers[target]
        if mode in TO_INTEGER:
            value = ctx.env.math(TO_INTEGER[mode], value)
        return b.convert(f"OpConvertFTo{sign}", value, Int(bits))
    if source in floats and target in floats:
        if floats[target] >= floats[source]:
            return b.convert("OpFConvert", value, Float(floats[target]))
        return ctx.env.narrow(value, Float(floats[target]), TO_FLOAT[mode])
    exact = target == "double" and source in ("int", "uint")
    if source in integers and target in floats and (exact or mode == "rn"):
        return b.convert(f"OpConvert{integers[source][1]}ToF", value, Float(floats[target]))
    raise _unknown(op)


def _unknown(op: Operation) -> UnsupportedOperation:
    return UnsupportedOperation(
        f"{op.location}: tt.extern_elementwise: no rule for the function {op.attributes['symbol']}; "
        "triton.language.extra.libdevice has what this backend offers")


@lowers("tt.elementwise_inline_asm")
def inline_asm(ctx: Context, op: Operation, args: object) -> None:
    """Refused: it is assembly of one processor."""
    text = " ".join(str(op.attributes["asm_string"]).split())
    raise UnsupportedOperation(
        f"{op.location}: tt.elementwise_inline_asm: {text!r} is assembly of one kind of GPU, which cannot "
        "become SPIR-V; write it in Triton's operations for this backend")

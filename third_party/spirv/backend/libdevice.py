"""triton.language.extra.libdevice for this backend: Triton replaces that module by this one while it
compiles.

Most functions are instructions of SPIR-V's OpenCL.std set. They become `tt.extern_elementwise` with the
symbol `__spirv_ocl_` and the instruction's name, which the emitter knows. Others are written with Triton's
own operations: short ones here, those that take a formula in libdevice_special.py. What SPIR-V has no means
for (directed rounding of arithmetic) raises an error that says so.

Functions are made when a kernel uses them: importing this module costs every process that compiles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton.language import core

SYMBOL_PREFIX = "__spirv_ocl_"

#: libdevice name -> (instruction of OpenCL.std, kinds of its arguments): f a float, all of one type; i a
#: 32-bit integer
FLOAT_INSTRUCTIONS: dict[str, tuple[str, str]] = {
    **{name: (name, "f") for name in (
        "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "cospi", "erf",
        "erfc", "exp", "exp10", "exp2", "expm1", "floor", "ilogb", "lgamma", "log", "log10", "log1p", "log2",
        "logb", "rint", "round", "rsqrt", "sin", "sinh", "sinpi", "sqrt", "tan", "tanh", "tgamma", "trunc")},
    **{f"fast_{name}f": (name, "f")
       for name in ("cos", "exp", "exp10", "log", "log10", "log2", "sin", "tan", "tanh")},
    **{name: (name, "ff")
       for name in ("atan2", "copysign", "fdim", "fmod", "hypot", "nextafter", "pow", "remainder")},
    "fast_powf": ("pow", "ff"), "fma": ("fma", "fff"), "fma_rn": ("fma", "fff"), "ldexp": ("ldexp", "fi"),
    "nearbyint": ("rint", "f"), "rsqrt_rn": ("rsqrt", "f"), "scalbn": ("ldexp", "fi"),
}
#: instructions of floats that give a 32-bit integer
_INTEGER_RESULTS = ("ilogb",)
#: libdevice name -> instructions for signed and for unsigned integers, number of arguments
INTEGER_INSTRUCTIONS: dict[str, tuple[str, str, int]] = {
    "mulhi": ("s_mul_hi", "u_mul_hi", 2), "mul24": ("s_mul24", "u_mul24", 2), "hadd": ("s_hadd", "u_hadd", 2),
    "rhadd": ("s_rhadd", "u_rhadd", 2), "clz": ("clz", "clz", 1), "popc": ("popcount", "popcount", 1),
}
#: how a float becomes an integer in each rounding mode; rz is what the conversion itself does
_ROUNDING = {"rn": "rint", "rd": "floor", "ru": "ceil"}
_TYPES = {"float": core.float32, "double": core.float64, "int": core.int32, "uint": core.uint32,
          "ll": core.int64, "ull": core.uint64, "longlong": core.int64}


def __getattr__(name: str) -> Any:
    """The function of that name, made when it is asked for first."""
    function = _make(name)
    if function is None:
        raise AttributeError(f"libdevice has no function {name}")
    globals()[name] = function
    return function


def _make(name: str) -> Any:
    if name.startswith("__"):
        return None
    if name in FLOAT_INSTRUCTIONS:
        return _named(name, _float_instruction(*FLOAT_INSTRUCTIONS[name]))
    if name in INTEGER_INSTRUCTIONS:
        return _named(name, _integer_instruction(name))
    if "2" in name or "_as_" in name:
        conversion = _conversion(name)
        if conversion:
            return _named(name, conversion)
    from . import libdevice_special

    if name in libdevice_special.__all__:
        return getattr(libdevice_special, name)
    return _missing(name)


def _named(name: str, function: Callable[..., Any]) -> Any:
    function.__name__ = function.__qualname__ = name
    return core.extern(function)


def _missing(name: str) -> Any:
    from triton.language.extra import libdevice as everything
    from triton_spirv.errors import UnsupportedOperation

    if not hasattr(everything, name):
        return None

    def refuse(*arguments: Any, _semantic: Any = None) -> Any:
        directed = name.endswith(("_rz", "_rd", "_ru"))
        reason = "SPIR-V for OpenCL rounds arithmetic to nearest" if directed else "nobody has written it"
        raise UnsupportedOperation(f"libdevice.{name} is not available on this backend: {reason}")

    return _named(name, refuse)


def external(symbol: str, arguments: list[Any], result: Any, semantic: Any) -> Any:
    """`tt.extern_elementwise` of tensors or scalars that have their types already; shapes are broadcast."""
    types = tuple(argument.dtype for argument in arguments)
    symbols = {types: (SYMBOL_PREFIX + symbol, result)}
    return core.extern_elementwise("", "", arguments, symbols, is_pure=True, _semantic=semantic)


def _float_instruction(instruction: str, kinds: str) -> Callable[..., Any]:
    def function(*arguments: Any, _semantic: Any = None) -> Any:
        if len(arguments) != len(kinds):
            raise TypeError(f"libdevice.{instruction} takes {len(kinds)} arguments, got {len(arguments)}")
        values = [_semantic.to_tensor(argument) for argument in arguments]
        if instruction == "pow" and values[1].dtype.is_int():
            return _float_instruction("pown", "fi")(*values, _semantic=_semantic)
        wide = widest([value for value, kind in zip(values, kinds, strict=True) if kind == "f"])
        types = [wide if kind == "f" else core.int32 for kind in kinds]
        values = [value.to(type, _semantic=_semantic) for value, type in zip(values, types, strict=True)]
        result = core.int32 if instruction in _INTEGER_RESULTS else wide
        return external(instruction, values, result, _semantic)

    return function


def widest(values: list[Any]) -> Any:
    """The float type to compute in: the widest of the arguments', at least fp32 for anything that is not
    fp16."""
    types = {value.dtype for value in values}
    if core.float64 in types:
        return core.float64
    return core.float16 if types == {core.float16} else core.float32


def _integer_instruction(name: str) -> Callable[..., Any]:
    signed, unsigned, count = INTEGER_INSTRUCTIONS[name]
    counts_bits = count == 1  # the instruction's result has the argument's type, libdevice's is 32-bit

    def function(*arguments: Any, _semantic: Any = None) -> Any:
        values = [_semantic.to_tensor(argument) for argument in arguments]
        types = [value.dtype for value in values]
        if len(types) != count or not all(type.is_int() for type in types):
            raise TypeError(f"libdevice.{name} takes {count} integers, got {', '.join(map(str, types))}")
        kind = max(types, key=lambda type: (type.primitive_bitwidth, type.is_int_unsigned()))
        values = [value.to(kind, _semantic=_semantic) for value in values]
        result = external(unsigned if kind.is_int_unsigned() else signed, values, kind, _semantic)
        return result.to(core.int32, _semantic=_semantic) if counts_bits else result

    return function


def _conversion(name: str) -> Callable[..., Any] | None:
    """float2int_rn, ull2double_rn, ...; float_as_int, longlong_as_double, ...: one argument of the type that
    is named first."""
    source, separator, target = name.partition("_as_")
    if separator:
        if source not in _TYPES or target not in _TYPES:
            return None

        def bitcast(argument: Any, _semantic: Any = None) -> Any:
            return _semantic.to_tensor(argument).to(_TYPES[target], bitcast=True, _semantic=_semantic)

        return bitcast
    source, _, rest = name.partition("2")
    target, _, mode = rest.partition("_")
    if source not in _TYPES or target not in _TYPES or not mode:
        return None
    to_integer = _TYPES[target].is_int()
    if not to_integer and mode != "rn":
        return None  # the conversion rounds to nearest only

    def convert(argument: Any, _semantic: Any = None) -> Any:
        value = _semantic.to_tensor(argument).to(_TYPES[source], _semantic=_semantic)
        if to_integer and mode in _ROUNDING:
            value = external(_ROUNDING[mode], [value], value.dtype, _semantic)
        return value.to(_TYPES[target], _semantic=_semantic)

    return convert

"""Instructions of OpenCL.std and GLSL.std.450: computed in f64 and rounded once, integers exactly."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from triton_spirv.spirv import grammar
from triton_spirv.spirv.decode import Decoded
from triton_spirv.spirv.types import CooperativeMatrix

from . import arithmetic
from .findings import Unsupported
from .program import Program
from .steps import step
from .values import dtype, signed, unsigned

Run = Callable[[Any], None]
Lanes = Any


def _round_away(x: Lanes) -> Lanes:
    whole = np.trunc(x)
    return np.copysign(np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1.0, x), whole), x)


def _max(x: Lanes, y: Lanes) -> Lanes:
    return np.where((x == 0) & (y == 0), np.where(np.signbit(x), y, x), np.fmax(x, y)).astype(x.dtype)


def _min(x: Lanes, y: Lanes) -> Lanes:
    return np.where((x == 0) & (y == 0), np.where(np.signbit(x), x, y), np.fmin(x, y)).astype(x.dtype)


def _special(name: str) -> Callable[[Lanes], Lanes]:
    """A function of scipy's, which is imported with the first call: every process that runs tests, or starts
    some, imports this file."""
    def computed(x: Lanes) -> Lanes:
        from scipy import special

        return getattr(special, name)(x)

    return computed


_gammaln = _special("gammaln")

#: computed in double precision (or wider), then rounded
WIDE: dict[str, Any] = {
    "acos": np.arccos, "acosh": np.arccosh, "acospi": lambda x: np.arccos(x) / np.pi, "asin": np.arcsin,
    "asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh, "atan2": np.arctan2, "cbrt": np.cbrt,
    "cos": np.cos, "cosh": np.cosh, "cospi": lambda x: _turned(x, 1),
    "erf": _special("erf"), "erfc": _special("erfc"), "exp": np.exp, "exp2": np.exp2,
    "exp10": lambda x: np.power(10.0, x), "expm1": np.expm1, "hypot": np.hypot,
    "lgamma": lambda x: np.where(np.isinf(x), np.inf, _gammaln(x)),
    "log": np.log, "log10": np.log10, "log1p": np.log1p, "log2": np.log2,
    "pow": np.power, "pown": np.power, "powr": np.power, "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin,
    "sinh": np.sinh, "sinpi": lambda x: _turned(x, 0), "sqrt": np.sqrt, "tan": np.tan,
    "tanh": np.tanh, "tgamma": _special("gamma"), "fdim": lambda x, y: np.where(x > y, x - y, np.where(
        np.isnan(x) | np.isnan(y), np.nan, 0.0)),
    "divide": np.divide, "recip": lambda x: 1 / x, "remainder": lambda x, y: _remainder(x, y),
}
#: in the precision of the operands
SAME: dict[str, Any] = {
    "fabs": np.abs, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "rint": np.rint,
    "round": _round_away, "fmax": _max, "fmin": _min, "fmod": np.fmod, "copysign": np.copysign,
    "nextafter": np.nextafter, "fma": arithmetic.fma, "mad": arithmetic.fma,
    "fmax_common": _max, "fmin_common": _min, "fclamp": lambda x, low, high: _min(_max(x, low), high),
    "logb": lambda x: np.where(x == 0, -np.inf, np.where(np.isfinite(x), np.frexp(x)[1] - 1.0, np.abs(x))),
    "sign": np.sign, "mix": lambda x, y, a: x + (y - x) * a,
}


def _turned(x: Lanes, quarters: int) -> Lanes:
    """sin(pi x), or of a quarter of a turn more; what is taken off x is exact."""
    turns = np.fmod(x, 2.0)
    quarter = np.rint(2.0 * turns)
    rest = (turns - 0.5 * quarter) * np.pi
    quarter = np.where(np.isfinite(quarter), quarter, 0.0).astype(np.int64) + quarters
    value = np.where(quarter % 2 == 0, np.sin(rest), np.cos(rest))
    return np.where(quarter % 4 >= 2, -value, value)


def _remainder(x: Lanes, y: Lanes) -> Lanes:
    import math

    def one(a: float, b: float) -> float:
        try:
            return math.remainder(a, b)
        except ValueError:
            return math.nan
    return np.vectorize(one, otypes=[np.float64])(x, y)


def _high_product(as_signed: bool) -> Any:
    return lambda x, y: arithmetic.wide_product(x, y, as_signed)[1]


def _leading_zeros(x: Lanes) -> Lanes:
    bits, made = 8 * x.itemsize, np.zeros_like(x)
    for i in range(bits):
        made = np.where(x >> x.dtype.type(i) != 0, x.dtype.type(bits - 1 - i), made)
    return np.where(x == 0, x.dtype.type(bits), made)


def _trailing_zeros(x: Lanes) -> Lanes:
    lowest = x & (~x + x.dtype.type(1))
    return np.where(x == 0, x.dtype.type(8 * x.itemsize),
                    x.dtype.type(8 * x.itemsize - 1) - _leading_zeros(lowest))


def _as_signed(function: Any) -> Any:
    return lambda *values: unsigned(function(*map(signed, values)))


def _saturated(sign: int, as_signed: bool) -> Any:
    def add(x: Lanes, y: Lanes) -> Lanes:
        bits = 8 * x.itemsize
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if as_signed else (0, (1 << bits) - 1)
        a, b = ((signed(v) if as_signed else v).astype(object) for v in (x, y))
        exact = np.vectorize(lambda v: min(max(v, low), high) & (1 << bits) - 1,
                             otypes=[object])(a + b if sign > 0 else a - b)
        return exact.astype(x.dtype)
    return add


def _halved(as_signed: bool, up: int) -> Any:
    def half(x: Lanes, y: Lanes) -> Lanes:
        mask = (1 << 8 * x.itemsize) - 1
        a, b = ((signed(v) if as_signed else v).astype(object) for v in (x, y))
        return np.asarray((a + b + up) >> 1 & mask).astype(x.dtype)
    return half


def _low_24(as_signed: bool) -> Any:
    def product(x: Lanes, y: Lanes) -> Lanes:
        return x * y
    return product


INTEGERS: dict[str, Any] = {
    "s_abs": _as_signed(np.abs), "u_abs": lambda x: x, "s_max": _as_signed(np.maximum),
    "s_min": _as_signed(np.minimum), "u_max": np.maximum, "u_min": np.minimum,
    "s_clamp": _as_signed(np.clip), "u_clamp": np.clip,
    "s_mul_hi": _high_product(True), "u_mul_hi": _high_product(False),
    "s_mul24": _low_24(True), "u_mul24": _low_24(False),
    "popcount": arithmetic.bit_count, "clz": _leading_zeros, "ctz": _trailing_zeros,
    "s_add_sat": _saturated(1, True), "u_add_sat": _saturated(1, False), "s_sub_sat": _saturated(-1, True),
    "u_sub_sat": _saturated(-1, False), "s_hadd": _halved(True, 0), "u_hadd": _halved(False, 0),
    "s_rhadd": _halved(True, 1), "u_rhadd": _halved(False, 1),
    "rotate": lambda x, y: _rotated(x, y),
}


def _rotated(x: Lanes, y: Lanes) -> Lanes:
    bits = x.dtype.type(8 * x.itemsize)
    by = y % bits
    return np.where(by == 0, x, x << by | x >> (bits - by) % bits)


#: GLSL.std.450's names for the same
GLSL = {
    "Round": "rint", "RoundEven": "rint", "Trunc": "trunc", "FAbs": "fabs", "SAbs": "s_abs", "FSign": "sign",
    "Floor": "floor", "Ceil": "ceil", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Asin": "asin",
    "Acos": "acos", "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh", "Atan2": "atan2",
    "Pow": "pow", "Exp": "exp", "Log": "log", "Exp2": "exp2", "Log2": "log2", "Sqrt": "sqrt",
    "InverseSqrt": "rsqrt", "FMin": "fmin", "UMin": "u_min", "SMin": "s_min", "FMax": "fmax",
    "UMax": "u_max", "SMax": "s_max", "NMin": "fmin", "NMax": "fmax", "FClamp": "fclamp", "Fma": "fma",
    "UClamp": "u_clamp", "SClamp": "s_clamp", "FMix": "mix",
}


@step("OpExtInst")
def extended(p: Program, it: Decoded, number: int) -> Run:
    library, code, *operands = it.words
    set_name = p.contents.sets[library]
    name = grammar.extended_names(set_name).get(code, str(code))
    if name == "printf":
        return _printf(p, it, operands)
    if set_name == "GLSL.std.450":
        if name == "Ldexp":
            return _ldexp(p, it, operands)
        if name in ("FindILsb", "FindUMsb"):
            return _bit_position(p, it, operands, name)
        if name not in GLSL:
            raise Unsupported(f"{set_name} {name}")
        name = GLSL[name]
    name = re.sub("^(native|half)_", "", name)
    if name == "ldexp":
        return _ldexp(p, it, operands)
    if name == "ilogb":
        return _ilogb(p, it, operands)
    if name == "prefetch":
        return lambda w: None
    result, type = it.result, p.types[it.result]
    if isinstance(type, CooperativeMatrix):
        raise Unsupported(f"{name} of matrices")
    to = dtype(type)
    function = SAME.get(name) or INTEGERS.get(name)
    wide = WIDE.get(name) if function is None else None
    if function is None and wide is None:
        raise Unsupported(f"{set_name} {name}")

    def run(w: Any) -> None:
        values = [w.v[id] for id in operands]
        if wide is not None:
            made = wide(*((signed(x) if x.dtype.kind == "u" else x).astype(np.float64) for x in values))
        else:
            made = function(*values)
        w.put(result, np.asarray(made).astype(to), None if w.plain else w.origins(*operands))
    return run


def _ldexp(p: Program, it: Decoded, operands: list[int]) -> Run:
    (x, by), result, to = operands, it.result, dtype(p.types[it.result])

    def run(w: Any) -> None:
        exponent = np.clip(signed(w.v[by]).astype(np.int64), -10000, 10000)
        wide = w.v[x].astype(np.longdouble)
        made = np.ldexp(wide, exponent.astype(np.int32)).astype(to)
        w.put(result, made, None if w.plain else w.origins(x, by))
    return run


def _ilogb(p: Program, it: Decoded, operands: list[int]) -> Run:
    (x,), result = operands, it.result

    def run(w: Any) -> None:
        value = w.v[x]
        made = np.frexp(value)[1].astype(np.int64) - 1
        made = np.where(value == 0, -0x7FFFFFFF, np.where(np.isfinite(value), made, 0x7FFFFFFF))
        w.put(result, made.astype(np.int32).view(np.uint32), None if w.plain else w.origins(x))
    return run


def _bit_position(p: Program, it: Decoded, operands: list[int], name: str) -> Run:
    (x,), result, to = operands, it.result, dtype(p.types[it.result])

    def run(w: Any) -> None:
        value = w.v[x]
        found = _trailing_zeros(value) if name == "FindILsb" \
            else value.dtype.type(8 * value.itemsize - 1) - _leading_zeros(value)
        w.put(result, np.where(value == 0, ~value.dtype.type(0), found).astype(to),
              None if w.plain else w.origins(x))
    return run


def _printf(p: Program, it: Decoded, operands: list[int]) -> Run:
    values = operands[1:]
    result = it.result

    def run(w: Any) -> None:
        for lane in w.active:
            w.run.findings.printed.append(" ".join(str(w.whole(id)[lane].tolist()) for id in values))
        w.put(result, np.zeros((1, 1), np.uint32))
    return run

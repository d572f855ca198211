"""Arithmetic: from SPIR-V's instructions to numpy's functions, component by component."""

from __future__ import annotations

from typing import Any

import numpy as np
from triton_spirv.spirv.types import Float, Int, Type

from .values import FLOATS, SIGNED, dtype, scalar, signed, unsigned

Lanes = Any


def _divided(function: Any, as_signed: bool) -> Any:
    def divide(x: Lanes, y: Lanes) -> Lanes:
        if as_signed:
            x, y = signed(x), signed(y)
        return unsigned(np.asarray(function(x, np.where(y == 0, y.dtype.type(1), y)), x.dtype))
    return divide


def _toward_zero(x: Lanes, y: Lanes) -> Lanes:
    quotient = np.floor_divide(x, y)
    return quotient + ((quotient * y != x) & ((x < 0) != (y < 0)))


def _remainder(x: Lanes, y: Lanes) -> Lanes:
    return np.fmod(x, y)


def _shift(function: Any, as_signed: bool) -> Any:
    def shift(x: Lanes, y: Lanes) -> Lanes:
        bits = 8 * x.itemsize
        by = (y & y.dtype.type(bits - 1)).astype(x.dtype)
        if as_signed:
            return unsigned(np.right_shift(signed(x), signed(by)))
        return function(x, by)
    return shift


def _compare(function: Any, kind: str) -> Any:
    if kind == "S":
        return lambda x, y: function(signed(x), signed(y))
    if kind == "FUnord":
        return lambda x, y: function(x, y) | np.isnan(x) | np.isnan(y)
    if kind == "FOrd":
        return lambda x, y: function(x, y) & ~(np.isnan(x) | np.isnan(y))
    return function


BINARY: dict[str, Any] = {
    "OpIAdd": np.add, "OpISub": np.subtract, "OpIMul": np.multiply,
    "OpFAdd": np.add, "OpFSub": np.subtract, "OpFMul": np.multiply, "OpFDiv": np.divide,
    "OpFRem": np.fmod, "OpFMod": np.mod,
    "OpUDiv": _divided(np.floor_divide, False), "OpUMod": _divided(np.remainder, False),
    "OpSDiv": _divided(_toward_zero, True), "OpSRem": _divided(_remainder, True),
    "OpSMod": _divided(np.remainder, True),
    "OpBitwiseAnd": np.bitwise_and, "OpBitwiseOr": np.bitwise_or, "OpBitwiseXor": np.bitwise_xor,
    "OpShiftLeftLogical": _shift(np.left_shift, False),
    "OpShiftRightLogical": _shift(np.right_shift, False),
    "OpShiftRightArithmetic": _shift(None, True),
    "OpLogicalAnd": np.logical_and, "OpLogicalOr": np.logical_or,
    "OpLogicalEqual": np.equal, "OpLogicalNotEqual": np.not_equal,
    "OpIEqual": np.equal, "OpINotEqual": np.not_equal, "OpPtrEqual": np.equal, "OpPtrNotEqual": np.not_equal,
    "OpOrdered": lambda x, y: ~(np.isnan(x) | np.isnan(y)),
    "OpUnordered": lambda x, y: np.isnan(x) | np.isnan(y),
}
RELATIONS = {"LessThan": np.less, "LessThanEqual": np.less_equal, "GreaterThan": np.greater,
             "GreaterThanEqual": np.greater_equal}
BINARY.update({f"Op{kind}{name}": _compare(function, kind) for name, function in RELATIONS.items()
               for kind in ("S", "U", "FOrd", "FUnord")})
BINARY.update({f"Op{kind}{name}": _compare(function, kind) for kind in ("FOrd", "FUnord")
               for name, function in (("Equal", np.equal), ("NotEqual", np.not_equal))})

UNARY: dict[str, Any] = {
    "OpSNegate": np.negative, "OpFNegate": np.negative, "OpNot": np.bitwise_not,
    "OpLogicalNot": np.logical_not, "OpIsNan": np.isnan, "OpIsInf": np.isinf, "OpIsFinite": np.isfinite,
    "OpSignBitSet": np.signbit, "OpCopyObject": lambda x: x, "OpCopyLogical": lambda x: x,
}


def undefined_bits(name: str, x: Lanes, y: Lanes) -> Any:
    """Which results of an instruction SPIR-V leaves undefined, or None."""
    if name in ("OpUDiv", "OpUMod"):
        return y == 0
    if name in ("OpSDiv", "OpSRem", "OpSMod"):
        least = y.dtype.type(1 << 8 * y.itemsize - 1)
        return (y == 0) | ((x == least) & (y == ~y.dtype.type(0)))
    if name.startswith("OpShift"):
        return y >= 8 * x.itemsize
    return None


def decided(name: str, x: Lanes, y: Lanes, defined_x: Any, defined_y: Any) -> Any:
    """Where a defined operand alone gives the result: x & 0, x | ~0, x * 0, false and true."""
    if name in ("OpBitwiseAnd", "OpIMul", "OpLogicalAnd"):
        return (defined_x & (x == 0)) | (defined_y & (y == 0))
    if name == "OpLogicalOr":
        return (defined_x & x) | (defined_y & y)
    if name == "OpBitwiseOr":
        return (defined_x & (x == ~x.dtype.type(0))) | (defined_y & (y == ~y.dtype.type(0)))
    return None


# ---- conversions

def convert(name: str, source: Type, target: Type, rounding: str) -> Any:
    """The function of a conversion."""
    to, element = dtype(target), scalar(target)
    if name == "OpSConvert":
        return lambda x: unsigned(signed(x).astype(SIGNED[8 * to.itemsize]))
    if name in ("OpUConvert", "OpConvertPtrToU", "OpConvertUToPtr"):
        return lambda x: x.astype(to)
    if name == "OpConvertUToF":
        return lambda x: x.astype(to)
    if name == "OpConvertSToF":
        return lambda x: signed(x).astype(to)
    if name in ("OpConvertFToS", "OpConvertFToU"):
        assert isinstance(element, Int)
        return lambda x: to_integer(x, element.width, name.endswith("S"))
    if name == "OpFConvert":
        bits = 8 * to.itemsize
        return lambda x: narrow(x, bits, rounding)
    raise KeyError(name)


def to_integer(x: Lanes, bits: int, as_signed: bool) -> Lanes:
    """Toward zero; out of range: the nearest there is, 0 for NaN."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if as_signed else (0, (1 << bits) - 1)
    wide = np.trunc(x.astype(np.float64))
    wide = np.where(np.isnan(wide), 0.0, wide)
    inside = np.clip(wide, float(low), float(high))
    if bits < 64:
        return inside.astype(np.int64).astype(np.uint64).astype(f"u{bits // 8}")
    limit = float(1 << (63 if as_signed else 64))
    clipped = np.where(inside >= limit, 0.0, inside)
    made = clipped.astype(np.int64).view(np.uint64) if as_signed else clipped.astype(np.uint64)
    return np.where(inside >= limit, np.uint64(high), made)


def narrow(x: Lanes, bits: int, rounding: str = "RTE") -> Lanes:
    """A float of another width."""
    made = x.astype(FLOATS[bits])
    if rounding in ("", "RTE") or bits >= 8 * x.itemsize:
        return made
    back = made.astype(x.dtype)
    towards = {"RTZ": np.zeros_like(made), "RTP": np.full_like(made, np.inf),
               "RTN": np.full_like(made, -np.inf)}[rounding]
    over = {"RTZ": np.abs(back) > np.abs(x), "RTP": back < x, "RTN": back > x}[rounding]
    return np.where(over & ~np.isnan(x), np.nextafter(made, towards), made)


def to_bfloat16(x: Lanes) -> Lanes:
    """f32 -> the bits of the nearest bfloat16."""
    bits = x.view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> np.uint64(16) & np.uint64(1))) >> np.uint64(16)
    return np.where(np.isnan(x), (bits >> np.uint64(16)) | np.uint64(0x40), rounded).astype(np.uint16)


def from_bfloat16(x: Lanes) -> Lanes:
    """The bits of a bfloat16 -> f32."""
    return (x.astype(np.uint32) << np.uint32(16)).view(np.float32)


# ---- wide products, counting

def wide_product(x: Lanes, y: Lanes, as_signed: bool) -> tuple[Lanes, Lanes]:
    """The low and the high half of a product."""
    bits = 8 * x.itemsize
    if as_signed:
        a, b = signed(x).astype(object), signed(y).astype(object)
    else:
        a, b = x.astype(object), y.astype(object)
    product = a * b
    mask = (1 << bits) - 1
    return (np.asarray(product & mask).astype(x.dtype), np.asarray(product >> bits & mask).astype(x.dtype))


def fma(x: Lanes, y: Lanes, z: Lanes) -> Lanes:
    """x * y + z with one rounding."""
    if x.itemsize == 8:
        return _fma64(x, y, z)
    a, b = x.astype(np.float64) * y.astype(np.float64), z.astype(np.float64)  # the product is exact
    a, b = np.broadcast_arrays(a, b)
    total = a + b
    part = total - a
    error = (a - (total - part)) + (b - part)
    odd = total.view(np.uint64) & np.uint64(1)  # round to odd, so that the second rounding is the only one
    fix = np.isfinite(total) & (error != 0) & (odd == 0)
    direction = np.where(error > 0, np.inf, -np.inf)
    total = np.where(fix, np.nextafter(total, direction), total)
    return total.astype(x.dtype)


def _fma64(x: Lanes, y: Lanes, z: Lanes) -> Lanes:
    from fractions import Fraction

    def one(a: float, b: float, c: float) -> float:
        if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)) or a * b == 0:
            return a * b + c
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        if exact == 0:
            return a * b + c
        try:
            return float(exact)
        except OverflowError:
            return np.inf if exact > 0 else -np.inf
    return np.vectorize(one, otypes=[np.float64])(x, y, z)


def bit_count(x: Lanes) -> Lanes:
    return np.bitwise_count(x).astype(x.dtype)


def bit_reverse(x: Lanes) -> Lanes:
    made = np.zeros_like(x)
    bits = 8 * x.itemsize
    for i in range(bits):
        made |= (x >> x.dtype.type(i) & x.dtype.type(1)) << x.dtype.type(bits - 1 - i)
    return made


def is_float(type: Type) -> bool:
    return isinstance(scalar(type), Float)

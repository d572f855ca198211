"""What the operations of generated kernels mean, in numpy: each rounds once, as its dtype does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numeric
import numpy as np

from property.steps import Value

Array = np.ndarray


def is_float(dtype: str) -> bool:
    return numeric.DTYPES[dtype].kind == "float"


def rounded(data: Any, dtype: str) -> Array:
    """A float result, computed at least in f32, as the dtype holds it."""
    if dtype == "bf16":
        return numeric.round_to(data, "bf16")
    if dtype in numeric.FP8:  # saturates
        kind = numeric.DTYPES[dtype]
        return np.clip(numeric.round_to(data, dtype), -kind.top, kind.top).astype(np.float32)
    return np.asarray(data).astype(numeric.DTYPES[dtype].values)


def wide(data: Array, dtype: str) -> Array:
    return data.astype(np.float32) if dtype == "f16" else data


def truncated(a: Array, b: Any) -> tuple[Array, Array]:
    """Quotient and remainder of i64, the quotient rounded toward zero."""
    quotient = np.abs(a) // np.abs(b) * np.where((a < 0) == (b < 0), 1, -1)
    return quotient, a - quotient * b


def cast(data: Array, source: str, target: str) -> Array:
    if target == source and target in numeric.FP8:  # nothing happens, and nothing saturates
        return data
    if target == "i1":
        return data != 0
    if is_float(target) and not is_float(source):
        return rounded(data if target in ("f32", "f64") else data.astype(np.float32), target)
    return rounded(data, target) if is_float(target) else data.astype(numeric.DTYPES[target].values)


def toward_zero(data: Array, dtype: str) -> Array:
    """A float, rounded to f16 or bf16 toward zero."""
    nearest = rounded(data, dtype)
    if dtype == "bf16":
        return np.where(np.isnan(data), data, (data.view(np.uint32) & 0xFFFF0000).view(np.float32))
    beyond = np.abs(nearest.astype(np.float64)) > np.abs(data.astype(np.float64))
    return np.where(beyond, np.nextafter(nearest, np.float16(0)), nearest)


def arithmetic(function: Callable[..., Any], dtype: str) -> Callable[..., Value]:
    """An exact operation of same-typed operands."""

    def compute(*operands: Value) -> Value:
        result = function(*(wide(v.data, dtype) for v in operands))
        return Value(
            rounded(result, dtype)
            if is_float(dtype)
            else np.asarray(result).astype(numeric.DTYPES[dtype].values)
        )

    return compute


def view(function: Callable[..., Any]) -> Callable[..., Value]:
    """What moves elements: errors move along."""

    def compute(*operands: Value) -> Value:
        errors = None
        if any(v.error is not None for v in operands):
            errors = function(*(np.zeros(v.data.shape) if v.error is None else v.error for v in operands))
        return Value(np.asarray(function(*(v.data for v in operands))), errors)

    return compute


def select(condition: Value, x: Value, y: Value) -> Value:
    return view(lambda a, b: np.where(condition.data, a, b))(x, y)


def approximate(function: Callable[..., Any], dtype: str, ulps: float) -> Callable[..., Value]:
    """A result within `ulps`, computed in f64; where that overflows anything goes."""
    limits = np.finfo(numeric.DTYPES[dtype].values)

    def compute(*operands: Value) -> Value:
        exact = np.asarray(function(*(v.data.astype(np.float64) for v in operands)), np.float64)
        error = np.abs(exact) * ulps * float(limits.eps) + float(limits.tiny) * float(limits.eps) * ulps
        error = np.where(np.abs(exact) > float(limits.max) / 2, np.inf, error)
        return Value(rounded(exact, dtype), np.where(np.isfinite(exact), error, 0.0))

    return compute


def product(dtype: str, exact: bool) -> Callable[..., Value]:
    """a @ b + c for operands of `dtype`, sums in any order: within K roundings of f32 (or f64)."""
    wide_type = np.float64 if is_float(dtype) else np.int64

    def compute(a: Value, b: Value, c: Value) -> Value:
        x, y, z = (v.data.astype(wide_type) for v in (a, b, c))
        total = np.matmul(x, y) + z
        if not is_float(dtype):
            return Value(total.astype(np.int32))
        result = total.astype(np.float64 if dtype == "f64" else np.float32)
        if exact:
            return Value(result)
        products = np.matmul(np.abs(x), np.abs(y))
        size = products + np.abs(z)
        unit, top = (2.0**-52, 1e300) if dtype == "f64" else (2.0**-23, 1e38)
        error = size * (x.shape[-1] + 2) * unit + (0 if dtype == "f64" else 1e-43)
        # infinities and NaN of the operands are exact unless sums overflow before they meet
        whole = np.isfinite(x).all(-1)[..., :, None] & np.isfinite(y).all(-2)[..., None, :]
        finite = whole & np.isfinite(z)
        error = np.where(finite & ~(size < top), np.inf, np.where(finite, error, 0.0))
        # a product of finite numbers that overflows is infinite, or finite where it is added to an infinity
        # in one rounding: c, or what another product has given
        overflows = ~(np.matmul(*(np.where(np.isfinite(v), np.abs(v), 0) for v in (x, y))) < top)
        return Value(result, np.where(overflows | (~finite & ~np.isnan(total)), np.inf, error))

    return compute


COMBINERS: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "mul": np.multiply,
    "bit_xor": np.bitwise_xor,
    "bit_and": np.bitwise_and,
    "bit_or": np.bitwise_or,
    "largest": np.fmax,
    "smallest": np.fmin,
    "last_nonzero": lambda a, b: np.where(b != 0, b, a),
}


def folded(name: str, dtype: str, axis: int, scan: bool, reverse: bool = False) -> Callable[..., Value]:
    """A reduction or scan, element after element; sums of floats with the error of any other order."""

    def compute(operand: Value) -> Value:
        items = np.moveaxis(operand.data, axis, 0)
        items = items[::-1] if reverse else items
        inexact = name in ("add", "mul") and is_float(dtype)
        if inexact:
            items = items.astype(np.float64)
        row, total, rows = items[0], np.abs(items[0]), [items[0]]
        totals = [total]
        for item in items[1:]:
            row = np.asarray(COMBINERS[name](row, item)).astype(items.dtype)
            total = COMBINERS[name](total, np.abs(item)) if inexact else total
            rows.append(row)
            totals.append(total)

        def shaped(parts: list[Array]) -> Array:
            if not scan:
                return parts[-1]
            return np.moveaxis(np.stack(parts[::-1] if reverse else parts), 0, axis)

        data = shaped(rows)
        if not inexact:
            return Value(data)
        size, kind = shaped(totals), numeric.DTYPES[dtype]
        error = size * len(items) * 2.0**-kind.mantissa + 2.0 ** (kind.lowest_exponent - kind.mantissa)
        error = np.where(~(size < kind.top / 4), np.inf, error)  # may overflow on the way, in some order
        return Value(rounded(data, dtype), error)

    return compute


def recurrence(axis: int, first: bool) -> Callable[..., Value]:
    """The scan of x -> a * x + b over pairs (a, b), in wrapping integers."""

    def compute(a: Value, b: Value) -> Value:
        factors, terms = np.moveaxis(a.data, axis, 0).copy(), np.moveaxis(b.data, axis, 0).copy()
        for i in range(1, len(factors)):
            terms[i] = terms[i - 1] * factors[i] + terms[i]
            factors[i] = factors[i - 1] * factors[i]
        return Value(np.moveaxis(factors if first else terms, 0, axis))

    return compute


FOUR_BITS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def scaled(data: Array, exponents: Array, form: str) -> Array:
    """[rows, K] of values with a power of two (bias 127) for each 32 along K; of a pair of 4 bits the first
    is the low half."""
    if form == "e2m1":
        data = np.stack([FOUR_BITS[data & 15], FOUR_BITS[data >> 4]], -1).reshape(len(data), -1)
    return data.astype(np.float64) * 2.0 ** (np.repeat(exponents, 32, axis=1).astype(np.int64) - 127)

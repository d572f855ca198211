"""What the operations of generated kernels mean, in numpy: each rounds once, as its dtype does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numeric
import numpy as np

from property.program import Value

Array = np.ndarray


def is_float(dtype: str) -> bool:
    return numeric.DTYPES[dtype].kind == "float"


def rounded(data: Any, dtype: str) -> Array:
    """A float result, computed at least in f32, as the dtype holds it."""
    if dtype == "bf16":
        return numeric.round_to(data, "bf16")
    return np.asarray(data).astype(numeric.DTYPES[dtype].values)


def wide(data: Array, dtype: str) -> Array:
    return data.astype(np.float32) if dtype == "f16" else data


def cast(data: Array, source: str, target: str) -> Array:
    if target == "i1":
        return data != 0
    if is_float(target) and not is_float(source):
        return rounded(data if target in ("f32", "f64") else data.astype(np.float32), target)
    return rounded(data, target) if is_float(target) else data.astype(numeric.DTYPES[target].values)


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
    """A result within `ulps`, computed in f64."""
    limits = np.finfo(numeric.DTYPES[dtype].values)

    def compute(*operands: Value) -> Value:
        exact = np.asarray(function(*(v.data.astype(np.float64) for v in operands)), np.float64)
        error = np.abs(exact) * ulps * float(limits.eps) + float(limits.tiny) * float(limits.eps) * ulps
        error = np.where(np.abs(exact) > float(limits.max) / 2, np.inf, error)
        return Value(rounded(exact, dtype), np.where(np.isfinite(exact), error, 0.0))

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

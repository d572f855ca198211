"""lower/arithmetic/mlir_arithmetic.py: operations that no Triton kernel reaches, so these kernels are
written in IR; every dtype, scalars and tensors, against numpy."""

from __future__ import annotations

from typing import Any

import numeric
import numpy as np
import pytest
from lower.one_operation import SIGNED, compute
from numeric import DTYPES, FLOATS

COUNT = 1024


BLOCKS = pytest.mark.parametrize("block", (1, 4, 256, COUNT))


@BLOCKS
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ("isnan", "isinf", "isfinite", "isnormal"))
def test_predicates(run_text: Any, name: str, dtype: str, block: int) -> None:
    x = numeric.pairs(dtype, COUNT)[0]
    exact, lowest = x.astype(np.float64), 2.0 ** DTYPES[dtype].lowest_exponent
    expected = {"isnan": np.isnan(x), "isinf": np.isinf(x), "isfinite": np.isfinite(x),
                "isnormal": np.isfinite(x) & (np.abs(exact) >= lowest)}[name]
    (out,) = compute(run_text, f"math.{name} %v0 : T<{dtype}>", [x], [dtype], ["i1"], block)
    numeric.assert_same(out, expected)


@BLOCKS
@pytest.mark.parametrize("dtype", FLOATS)
def test_flush_denormals(run_text: Any, dtype: str, block: int) -> None:
    x = numeric.pairs(dtype, COUNT)[0]
    small = np.abs(x.astype(np.float64)) < 2.0 ** DTYPES[dtype].lowest_exponent
    (out,) = compute(run_text, f"arith.flush_denormals %v0 : T<{dtype}>", [x], [dtype], [dtype], block)
    numeric.assert_same(out, np.where(small, np.copysign(x.dtype.type(0), x), x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_clamp(run_text: Any, dtype: str) -> None:
    x, y = numeric.pairs(dtype, COUNT)
    low = np.where(np.isnan(y), y.dtype.type(-1), np.minimum(y, 1))
    high = np.maximum(low, x.dtype.type(2))
    line = f"math.clampf %v0 to [%v1, %v2] : T<{dtype}>"
    (out,) = compute(run_text, line, [x, low, high], [dtype] * 3, [dtype])
    expected = np.where(x < low, low, np.where(x > high, high, x))
    numeric.assert_same(out, expected, signed_zeros=False)


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_power(run_text: Any, dtype: str) -> None:
    x = numeric.random(COUNT, dtype, 0, low=-4, high=4)
    n = numeric.random(COUNT, "i32", 1, low=-6, high=7)
    (out,) = compute(run_text, f"math.fpowi %v0, %v1 : T<{dtype}>, T<i32>", [x, n], [dtype, "i32"], [dtype])
    exact = x.astype(np.float64) ** n.astype(np.float64)
    numeric.assert_ulps(out, exact, {"f64": 64}.get(dtype, 16), dtype)  # OpenCL: 16 ulp; numpy's own in f64


@BLOCKS
@pytest.mark.parametrize("dtype", SIGNED)
def test_integer_power(run_text: Any, dtype: str, block: int) -> None:
    x = numeric.random(COUNT, dtype, 0)
    x[::3] %= 5
    x[::5] = -1
    n = numeric.random(COUNT, dtype, 1, low=-3, high=9)
    (out,) = compute(run_text, f"math.ipowi %v0, %v1 : T<{dtype}>", [x, n], [dtype] * 2, [dtype], block)
    kind = np.dtype(x.dtype)

    def power(base: int, exponent: int) -> int:
        if exponent < 0:
            return {1: 1, -1: 1 if exponent % 2 == 0 else -1}.get(base, 0)
        return pow(base, exponent)
    wrapped = [power(int(b), int(e)) % (1 << 8 * kind.itemsize) for b, e in zip(x, n, strict=True)]
    numeric.assert_same(out, np.array(wrapped, f"u{kind.itemsize}").view(kind))


@BLOCKS
@pytest.mark.parametrize("dtype", SIGNED)
@pytest.mark.parametrize("name", ("addui_extended", "subui_extended", "mulsi_extended", "mului_extended"))
def test_wide_results(run_text: Any, name: str, dtype: str, block: int) -> None:
    x, y = numeric.pairs(dtype, COUNT)
    bits = 8 * x.dtype.itemsize
    unsigned = "ui" in name

    def exact(values: np.ndarray) -> list[int]:
        return [int(v) % (1 << bits) if unsigned else int(v) for v in values]
    pairs = list(zip(exact(x), exact(y), strict=True))
    second = "i1" if name[:3] != "mul" else dtype
    types = f"T<{dtype}>, T<i1>" if second == "i1" else f"T<{dtype}>"
    line = f"arith.{name} %v0, %v1 : {types}"
    low, high = compute(run_text, line, [x, y], [dtype] * 2, [dtype, second], block)
    if name[:3] == "mul":
        whole = [a * b for a, b in pairs]
        numeric.assert_same(high, as_type([v >> bits for v in whole], x.dtype))
    else:
        whole = [a + b if name[:3] == "add" else a - b for a, b in pairs]
        numeric.assert_same(high, np.array([not 0 <= v < 1 << bits for v in whole]))
    numeric.assert_same(low, as_type(whole, x.dtype))


def as_type(values: list[int], dtype: np.dtype[Any]) -> np.ndarray:
    """Integers of any size, wrapped."""
    bits = 8 * dtype.itemsize
    return np.array([v % (1 << bits) for v in values], f"u{dtype.itemsize}").view(dtype)


def test_wide_results_of_one_bit(run_text: Any) -> None:
    x, y = (np.tile(side, 64) for side in ([False, False, True, True], [False, True, False, True]))
    line = "arith.addui_extended %v0, %v1 : T<i1>, T<i1>"
    total, carry = compute(run_text, line, [x, y], ["i1"] * 2, ["i1"] * 2)
    numeric.assert_same(total, x ^ y)
    numeric.assert_same(carry, x & y)
    low, high = compute(run_text, "arith.mulsi_extended %v0, %v1 : T<i1>", [x, y], ["i1"] * 2, ["i1"] * 2)
    numeric.assert_same(low, x & y)
    numeric.assert_same(high, np.zeros_like(x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_sine_and_cosine(run_text: Any, dtype: str) -> None:
    x = numeric.random(COUNT, dtype, 0, low=-10, high=10)
    sine, cosine = compute(run_text, f"math.sincos %v0 : T<{dtype}>", [x], [dtype], [dtype] * 2)
    numeric.assert_ulps(sine, np.sin(x.astype(np.float64)), 4, dtype)  # OpenCL: 4 ulp
    numeric.assert_ulps(cosine, np.cos(x.astype(np.float64)), 4, dtype)

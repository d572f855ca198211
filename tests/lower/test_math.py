"""lower/arithmetic/elementwise.py, the `math` dialect and Triton's own precise operations, against
references of higher precision.

The bounds are those that the OpenCL specification gives for single precision (7.4, relative error as ULPs)
and, for tl's own functions of two roundings, one more; operations that IEEE rounds correctly are compared by
bits.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from kernels import apply, cos, exp, exp2, log, log2, rsqrt, sin
from numeric import DTYPES
from versions import TRITON

COUNT = 512


@triton.jit
def sqrt(x):
    return tl.sqrt(x)


@triton.jit
def erf(x):
    return tl.erf(x)


@triton.jit
def floor(x):
    return tl.floor(x)


@triton.jit
def ceil(x):
    return tl.ceil(x)


@triton.jit
def sigmoid(x):
    return tl.sigmoid(x)


@triton.jit
def sqrt_rn(x):
    return tl.sqrt_rn(x)


@triton.jit
def div_rn(x, y):
    return tl.div_rn(x, y)


@triton.jit
def fdiv(x, y):
    return tl.fdiv(x, y)


@triton.jit
def fdiv_ieee(x, y):
    return tl.fdiv(x, y, ieee_rounding=True)


@triton.jit
def fma(x, y, z):
    return tl.fma(x, y, z)


@triton.jit
def umulhi(x, y):
    return tl.umulhi(x, y)


@np.vectorize
def exact_erf(x):
    return math.erf(float(x))


#: name -> function, reference, ulps, range of the random arguments
FUNCTIONS = {
    "exp": (exp, np.exp, 3, (-100, 90)),
    "exp2": (exp2, np.exp2, 3, (-150, 130)),
    "log": (log, np.log, 3, (0, 1e6)),
    "log2": (log2, np.log2, 3, (0, 4)),
    "sin": (sin, np.sin, 4, (-1e4, 1e4)),
    "cos": (cos, np.cos, 4, (-10, 10)),
    "sqrt": (sqrt, np.sqrt, 3, (0, 1e10)),
    "rsqrt": (rsqrt, lambda x: 1 / np.sqrt(x), 2, (0, 1e3)),
    "erf": (erf, exact_erf, 16, (-4, 4)),  # of f32: tests/environment/test_error_function.py
    "floor": (floor, np.floor, 0, (-1e3, 1e3)),
    "ceil": (ceil, np.ceil, 0, (-1e3, 1e3)),
    "sigmoid": (sigmoid, lambda x: 1 / (1 + np.exp(-x)), 5, (-40, 40)),
}


@pytest.mark.parametrize("dtype", ("f32", "f64"))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(run, name, dtype):
    function, reference, ulps, (low, high) = FUNCTIONS[name]
    x = np.concatenate([numeric.specials(dtype), numeric.random(COUNT, dtype, low=low, high=high)])[:COUNT]
    # what sin and cos give far beyond any table of pi is not held against them
    x = x[~(np.abs(x) > 1e30)] if name in ("sin", "cos") else x
    wide = x.astype(np.longdouble if dtype == "f64" else np.float64)
    with np.errstate(all="ignore"):
        expected = reference(wide)
    numeric.assert_ulps(apply(run, function, [x], dtype, dtype), expected, ulps, dtype)


@pytest.mark.parametrize("block", (1, 2, 4, 8, 64, 2048))
@pytest.mark.parametrize("name", ("exp", "sin", "erf"))
def test_block_sizes(run, name, block):
    function, reference, ulps, (low, high) = FUNCTIONS[name]
    x = numeric.random(2 * block + block // 2, "f32", low=max(low, -20), high=min(high, 20))
    numeric.assert_ulps(
        apply(run, function, [x], "f32", "f32", block), reference(x.astype(np.float64)), ulps, "f32"
    )


def test_precise_sqrt(run):
    x = np.abs(numeric.pairs("f32")[0])
    numeric.assert_same(apply(run, sqrt_rn, [x], "f32", "f32"), np.sqrt(x))


@pytest.mark.parametrize("function", (div_rn, fdiv_ieee), ids=("div_rn", "fdiv_ieee"))
def test_precise_division(run, function):
    x, y = numeric.pairs("f32")
    with np.errstate(all="ignore"):
        expected: Any = x / y
    if function is fdiv_ieee and TRITON < (3, 8):  # which does not look at the argument
        expected = numeric.array(apply(run, fdiv, [x, y], "f32", "f32"))
    numeric.assert_same(apply(run, function, [x, y], "f32", "f32"), expected)


@pytest.mark.parametrize("dtype", ("f32", "f64"))
def test_division(run, dtype):
    x, y = numeric.pairs(dtype)
    with np.errstate(all="ignore"):
        expected = x.astype(np.float64) / y.astype(np.float64)
    numeric.assert_ulps(apply(run, fdiv, [x, y], dtype, dtype), expected, 2.5 if dtype == "f32" else 0, dtype)


def fused(x: float, y: float, z: float, dtype: str) -> float:
    """x*y+z rounded once: exactly, then to an odd float64 (which keeps the sticky bit), then to the dtype."""
    if not all(map(math.isfinite, (x, y, z))):
        with np.errstate(all="ignore"):
            return float(np.float64(x) * np.float64(y) + np.float64(z))
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z  # the sign of a zero follows from the signs
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    if dtype == "f64" or Fraction(nearest) == exact:
        return nearest
    toward_zero = nearest if abs(Fraction(nearest)) < abs(exact) else math.nextafter(nearest, 0.0)
    return float((np.float64(toward_zero).view(np.uint64) | np.uint64(1)).view(np.float64))


@pytest.mark.parametrize("dtype", ("f16", "f32", "f64"))
def test_fma_rounds_once(run, dtype):
    x, y = numeric.pairs(dtype)
    z = numeric.random(1024, dtype, 9)
    z[512:] = numeric.round_to(
        -(x[512:].astype(np.float64) * y[512:].astype(np.float64)), dtype
    )  # nearly cancels
    if dtype == "f64":
        keep = (
            np.abs(np.nan_to_num(x * y + z)) > 1e-290
        )  # Fraction to a float64 denormal is not this reference's business
        x, y, z = x[keep], y[keep], z[keep]
    exact = np.array([fused(float(a), float(b), float(c), dtype) for a, b, c in zip(x, y, z, strict=True)])
    numeric.assert_same(
        apply(run, fma, [x, y, z], dtype, dtype), numeric.round_to(exact, dtype), signed_zeros=False
    )


@pytest.mark.parametrize("dtype", ("i32", "i64", "u32", "u64"))
def test_umulhi(run, dtype):
    """The upper half of the unsigned product, whatever the operands' sign."""
    x, y = numeric.pairs(dtype)
    width = DTYPES[dtype].bits
    product = (x.view(f"u{width // 8}").astype(object) * y.view(f"u{width // 8}").astype(object)) >> width
    numeric.assert_same(
        apply(run, umulhi, [x, y], dtype, dtype), product.astype(f"u{width // 8}").view(x.dtype)
    )


@triton.jit
def softmax_rows(x_ptr, out_ptr, columns, COLUMNS: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=-float("inf"))
    tl.store(out_ptr + row * columns + i, tl.softmax(x), mask=i < columns)


@pytest.mark.parametrize("columns", (1, 5, 64, 781))
def test_softmax(run, columns):
    x = numeric.random((7, columns), "f32", low=-20, high=20)
    out = numeric.poisoned((7, columns), "f32")
    run(softmax_rows, 7, numeric.tensor(x, "f32"), out, columns, triton.next_power_of_2(columns))
    wide = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    # exp (3 ulp), a sum of up to 1024 terms, a division (2.5 ulp)
    numeric.assert_close(out, wide / wide.sum(1, keepdims=True), 1e-5, 1e-9)

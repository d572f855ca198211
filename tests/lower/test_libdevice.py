"""triton.language.extra.libdevice: the functions that Triton offers for every target, against numpy and
scipy.

The bounds in ulp are the OpenCL specification's (7.4) where it has the function; for the others (inverse and
scaled error functions, Bessel functions, lgamma) CUDA's documentation gives a few ulp, or an absolute error
near their zeros, and 1e-6 relative and absolute is asked for here.
"""

from __future__ import annotations

import math

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from kernels import scalar2
from scipy import special
from triton.language.extra import libdevice


@triton.jit
def one(x, NAME: tl.constexpr):
    if NAME == "asin":
        y = libdevice.asin(x)
    elif NAME == "acos":
        y = libdevice.acos(x)
    elif NAME == "atan":
        y = libdevice.atan(x)
    elif NAME == "tan":
        y = libdevice.tan(x)
    elif NAME == "sin":
        y = libdevice.sin(x)
    elif NAME == "cos":
        y = libdevice.cos(x)
    elif NAME == "sinh":
        y = libdevice.sinh(x)
    elif NAME == "cosh":
        y = libdevice.cosh(x)
    elif NAME == "tanh":
        y = libdevice.tanh(x)
    elif NAME == "asinh":
        y = libdevice.asinh(x)
    elif NAME == "acosh":
        y = libdevice.acosh(x)
    elif NAME == "atanh":
        y = libdevice.atanh(x)
    elif NAME == "exp":
        y = libdevice.exp(x)
    elif NAME == "exp2":
        y = libdevice.exp2(x)
    elif NAME == "exp10":
        y = libdevice.exp10(x)
    elif NAME == "expm1":
        y = libdevice.expm1(x)
    elif NAME == "log":
        y = libdevice.log(x)
    elif NAME == "log2":
        y = libdevice.log2(x)
    elif NAME == "log10":
        y = libdevice.log10(x)
    elif NAME == "log1p":
        y = libdevice.log1p(x)
    elif NAME == "sqrt":
        y = libdevice.sqrt(x)
    elif NAME == "rsqrt":
        y = libdevice.rsqrt(x)
    elif NAME == "cbrt":
        y = libdevice.cbrt(x)
    elif NAME == "abs":
        y = libdevice.abs(x)
    elif NAME == "floor":
        y = libdevice.floor(x)
    elif NAME == "ceil":
        y = libdevice.ceil(x)
    elif NAME == "trunc":
        y = libdevice.trunc(x)
    elif NAME == "round":
        y = libdevice.round(x)
    elif NAME == "rint":
        y = libdevice.rint(x)
    elif NAME == "nearbyint":
        y = libdevice.nearbyint(x)
    elif NAME == "llrint":
        y = libdevice.llrint(x)
    elif NAME == "erf":
        y = libdevice.erf(x)
    elif NAME == "erfc":
        y = libdevice.erfc(x)
    elif NAME == "erfcx":
        y = libdevice.erfcx(x)
    elif NAME == "erfinv":
        y = libdevice.erfinv(x)
    elif NAME == "lgamma":
        y = libdevice.lgamma(x)
    elif NAME == "tgamma":
        y = libdevice.tgamma(x)
    elif NAME == "j0":
        y = libdevice.j0(x)
    elif NAME == "j1":
        y = libdevice.j1(x)
    elif NAME == "y0":
        y = libdevice.y0(x)
    elif NAME == "y1":
        y = libdevice.y1(x)
    elif NAME == "cyl_bessel_i0":
        y = libdevice.cyl_bessel_i0(x)
    elif NAME == "cyl_bessel_i1":
        y = libdevice.cyl_bessel_i1(x)
    elif NAME == "isnan":
        y = libdevice.isnan(x)
    elif NAME == "isinf":
        y = libdevice.isinf(x)
    elif NAME == "isfinited":
        y = libdevice.isfinited(x)
    elif NAME == "finitef":
        y = libdevice.finitef(x)
    elif NAME == "signbit":
        y = libdevice.signbit(x)
    elif NAME == "ilogb":
        y = libdevice.ilogb(x)
    elif NAME == "clz":
        y = libdevice.clz(x)
    elif NAME == "popc":
        y = libdevice.popc(x)
    else:
        tl.static_assert(False, "no such function")
    return y


@triton.jit
def two(x, y, NAME: tl.constexpr):
    if NAME == "atan2":
        z = libdevice.atan2(x, y)
    elif NAME == "hypot":
        z = libdevice.hypot(x, y)
    elif NAME == "pow":
        z = libdevice.pow(x, y)
    elif NAME == "fmod":
        z = libdevice.fmod(x, y)
    elif NAME == "copysign":
        z = libdevice.copysign(x, y)
    elif NAME == "nextafter":
        z = libdevice.nextafter(x, y)
    elif NAME == "ldexp":
        z = libdevice.ldexp(x, y)
    else:
        tl.static_assert(False, "no such function")
    return z


@triton.jit
def call1(x_ptr, out_ptr, n, NAME: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, one(tl.load(x_ptr + i, mask=i < n), NAME), mask=i < n)


@triton.jit
def call2(x_ptr, y_ptr, out_ptr, n, NAME: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + i, mask=i < n), tl.load(y_ptr + i, mask=i < n)
    tl.store(out_ptr + i, two(x, y, NAME), mask=i < n)


@pytest.fixture(autouse=True)
def no_interpreter():
    numeric.interpreter_is_wrong("it has no libdevice")


def launch(run, name, values, dtypes, out_dtype, block=128):
    out = numeric.poisoned(len(values[0]), out_dtype)
    kernel, grid = (call1, call2)[len(values) - 1], triton.cdiv(len(values[0]), block)
    inputs = [numeric.tensor(v, d) for v, d in zip(values, dtypes, strict=True)]
    run(kernel, grid, *inputs, out, len(values[0]), name, block)
    return out


#: name -> reference, ulps (None: 1e-6 relative and absolute), range of the arguments
FUNCTIONS = {
    "asin": (np.arcsin, 4, (-1, 1)), "acos": (np.arccos, 4, (-1, 1)), "atan": (np.arctan, 5, (-50, 50)),
    "tan": (np.tan, 5, (-50, 50)), "sin": (np.sin, 4, (-50, 50)), "cos": (np.cos, 4, (-50, 50)),
    "sinh": (np.sinh, 4, (-80, 80)), "cosh": (np.cosh, 4, (-80, 80)), "tanh": (np.tanh, 5, (-10, 10)),
    "asinh": (np.arcsinh, 4, (-1e4, 1e4)), "acosh": (np.arccosh, 4, (1, 1e4)),
    "atanh": (np.arctanh, 5, (-1, 1)), "exp": (np.exp, 3, (-80, 80)), "exp2": (np.exp2, 3, (-120, 120)),
    "exp10": (lambda x: 10**x, 3, (-30, 30)), "expm1": (np.expm1, 3, (-10, 10)),
    "log": (np.log, 3, (0, 1e4)), "log2": (np.log2, 3, (0, 1e4)), "log10": (np.log10, 3, (0, 1e4)),
    "log1p": (np.log1p, 2, (-1, 10)), "sqrt": (np.sqrt, 3, (0, 1e6)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 2, (0, 1e6)), "cbrt": (np.cbrt, 2, (-1e6, 1e6)),
    "abs": (np.abs, 0, (-9, 9)), "floor": (np.floor, 0, (-9, 9)), "ceil": (np.ceil, 0, (-9, 9)),
    "trunc": (np.trunc, 0, (-9, 9)), "rint": (np.rint, 0, (-9, 9)), "nearbyint": (np.rint, 0, (-9, 9)),
    "round": (lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), 0, (-9, 9)),
    "erf": (special.erf, 16, (-4, 4)), "erfc": (np.vectorize(math.erfc), 16, (-4, 8)),
    "tgamma": (special.gamma, 16, (0.1, 30)), "erfcx": (special.erfcx, None, (-3, 30)),
    "erfinv": (special.erfinv, None, (-0.99, 0.99)), "lgamma": (special.gammaln, None, (0.1, 60)),
    "j0": (special.j0, None, (-20, 20)), "j1": (special.j1, None, (-20, 20)),
    "y0": (special.y0, None, (0.1, 20)), "y1": (special.y1, None, (0.1, 20)),
    "cyl_bessel_i0": (special.i0, None, (-9, 9)), "cyl_bessel_i1": (special.i1, None, (-9, 9)),
}
EDGES = {"asin", "acos", "atan", "tanh", "exp", "expm1", "log", "log1p", "cbrt", "abs", "floor", "rint"}


@pytest.mark.parametrize("dtype", ("f32", "f64"))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_argument(run, name, dtype):
    reference, ulps, (low, high) = FUNCTIONS[name]
    x = numeric.random(500, dtype, low=low, high=high)
    halves = np.arange(math.ceil(low), math.floor(min(high, 8))) + 0.5
    x = np.concatenate([x, halves.astype(x.dtype)])  # ties of the roundings
    if name in EDGES:
        x = np.concatenate([x, np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30], x.dtype)])
    with np.errstate(all="ignore"):
        expected = reference(x.astype(np.float64))
    out = launch(run, name, [x], [dtype], dtype)
    if ulps is None:
        numeric.assert_close(out, expected, 1e-6, 1e-6)
        return
    own_error = 2 if dtype == "f64" and ulps else 0  # of the reference
    numeric.assert_ulps(out, expected, ulps + own_error, dtype)


BINARY = {"atan2": (np.arctan2, 6), "hypot": (np.hypot, 4), "pow": (np.power, 16), "fmod": (np.fmod, 0),
          "copysign": (np.copysign, 0), "nextafter": (np.nextafter, 0)}


@pytest.mark.parametrize("dtype", ("f32", "f64"))
@pytest.mark.parametrize("name", BINARY)
def test_two_arguments(run, name, dtype):
    reference, ulps = BINARY[name]
    x, y = (numeric.random(600, dtype, seed, low=0 if name == "pow" else -9, high=9) for seed in (0, 1))
    exact = name in ("fmod", "nextafter")
    with np.errstate(all="ignore"):
        expected = reference(x, y) if exact else reference(x.astype(np.float64), y.astype(np.float64))
    out = launch(run, name, [x, y], [dtype, dtype], dtype)
    numeric.assert_ulps(out, expected, ulps + (2 if dtype == "f64" and ulps else 0), dtype)


@pytest.mark.parametrize("dtype", ("f32", "f64"))
def test_pow_of_negative_numbers(run, dtype):
    """A whole exponent keeps the sign; any other gives NaN; x**0 is 1, of NaN too."""
    x = np.array([-2, -2, -2, -8, 0, 0, np.nan, 1, -1, np.inf], numeric.DTYPES[dtype].values)
    y = np.array([3, 2, 0.5, -1, 0, 3, 0, np.nan, np.inf, -2], numeric.DTYPES[dtype].values)
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), y.astype(np.float64))
    numeric.assert_ulps(launch(run, "pow", [x, y], [dtype, dtype], dtype, 16), expected, 16, dtype)


@pytest.mark.parametrize("dtype", ("f32", "f64"))
def test_ldexp_and_ilogb(run, dtype):
    x, n = numeric.random(200, dtype, low=-9, high=9), numeric.random(200, "i32", 1, low=-160, high=120)
    numeric.assert_same(launch(run, "ldexp", [x, n], [dtype, "i32"], dtype), np.ldexp(x, n))
    numeric.assert_same(launch(run, "ilogb", [x], [dtype], "i32"), (np.frexp(x)[1] - 1).astype(np.int32))


PREDICATES = [("isnan", "f32", np.isnan), ("isnan", "f64", np.isnan), ("isinf", "f32", np.isinf),
              ("isinf", "f64", np.isinf), ("finitef", "f32", np.isfinite), ("isfinited", "f64", np.isfinite),
              ("signbit", "f32", np.signbit), ("signbit", "f64", np.signbit)]


@pytest.mark.parametrize("name, dtype, reference", PREDICATES)
def test_predicates(run, name, dtype, reference):
    x = numeric.specials(dtype)
    out = numeric.array(launch(run, name, [x], [dtype], "i32", 16))
    keep = ~np.isnan(x) if name == "signbit" else np.full(len(x), True)  # the sign of a NaN is anybody's
    assert np.array_equal(out[keep] != 0, reference(x)[keep])


@pytest.mark.parametrize("dtype", ("i32", "i64"))
def test_bits(run, dtype):
    x, width = numeric.pairs(dtype)[0], numeric.DTYPES[dtype].bits
    unsigned = [int(v) & (1 << width) - 1 for v in x]
    ones = np.array([bin(v).count("1") for v in unsigned], np.int32)
    zeros = np.array([width - v.bit_length() for v in unsigned], np.int32)
    numeric.assert_same(launch(run, "popc", [x], [dtype], "i32"), ones)
    numeric.assert_same(launch(run, "clz", [x], [dtype], "i32"), zeros)


def test_llrint(run):
    x = np.array([0.5, 1.5, -2.5, 2.4, 1e9, -3e10], np.float32)
    numeric.assert_same(launch(run, "llrint", [x], ["f32"], "i64"), np.rint(x).astype(np.int64))


@triton.jit
def tanh_of_product(x, y):
    return libdevice.tanh(x * y)


def test_of_scalars(run):
    x, y, out = numeric.random(30, "f32", 0), numeric.random(30, "f32", 1), numeric.poisoned(30, "f32")
    run(scalar2, 30, numeric.tensor(x, "f32"), numeric.tensor(y, "f32"), out, tanh_of_product)
    numeric.assert_ulps(out, np.tanh((x * y).astype(np.float64)), 5, "f32")

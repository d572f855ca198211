"""libdevice.py, libdevice_special.py: every function against numpy or scipy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton_spirv import asarray, zeros
from triton_spirv_backend import libdevice as ours
from triton_spirv_backend import libdevice_special

special = pytest.importorskip("scipy.special")

COUNT = 256


@triton.jit
def unary(x, out, FUNCTION: tl.constexpr, COUNT: tl.constexpr):
    i = tl.arange(0, COUNT)
    tl.store(out + i, getattr(libdevice, FUNCTION)(tl.load(x + i)))


@triton.jit
def binary(x, y, out, FUNCTION: tl.constexpr, COUNT: tl.constexpr):
    i = tl.arange(0, COUNT)
    tl.store(out + i, getattr(libdevice, FUNCTION)(tl.load(x + i), tl.load(y + i)))


@triton.jit
def ternary(x, y, z, out, FUNCTION: tl.constexpr, COUNT: tl.constexpr):
    i = tl.arange(0, COUNT)
    tl.store(out + i, getattr(libdevice, FUNCTION)(tl.load(x + i), tl.load(y + i), tl.load(z + i)))


def call(function: str, *arguments: np.ndarray, result: Any = None) -> np.ndarray:
    out = zeros(COUNT, result or arguments[0].dtype)
    kernel = (unary, binary, ternary)[len(arguments) - 1]
    kernel[(1,)](*map(asarray, arguments), out, FUNCTION=function, COUNT=COUNT)
    return out.numpy()


def values(dtype: str, low: float = -4, high: float = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, COUNT).astype(dtype)


#: name -> (reference in fp64, lowest argument, highest argument)
UNARY: dict[str, tuple[Callable[..., Any], float, float]] = {
    "acos": (np.arccos, -1, 1), "acosh": (np.arccosh, 1, 50), "asin": (np.arcsin, -1, 1),
    "asinh": (np.arcsinh, -50, 50), "atan": (np.arctan, -50, 50), "atanh": (np.arctanh, -0.99, 0.99),
    "cbrt": (np.cbrt, -50, 50), "ceil": (np.ceil, -50, 50), "cos": (np.cos, -10, 10),
    "cosh": (np.cosh, -10, 10),
    "cospi": (lambda x: np.cos(np.pi * x), -1, 1), "erf": (special.erf, -3, 3), "erfc": (special.erfc, -3, 3),
    "exp": (np.exp, -20, 20), "exp10": (lambda x: 10.0**x, -9, 9), "exp2": (np.exp2, -20, 20),
    "expm1": (np.expm1, -9, 9), "floor": (np.floor, -50, 50), "lgamma": (special.gammaln, 3, 50),
    "log": (np.log, 2, 90), "log10": (np.log10, 2, 90), "log1p": (np.log1p, 0.1, 90),
    "log2": (np.log2, 2, 90),
    "logb": (lambda x: np.floor(np.log2(x)), 2.1, 1000), "rint": (np.rint, -50, 50),
    "nearbyint": (np.rint, -50, 50), "round": (lambda x: np.trunc(x + np.copysign(0.5, x)), -50, 50),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 50), "sin": (np.sin, -10, 10), "sinh": (np.sinh, -10, 10),
    "sinpi": (lambda x: np.sin(np.pi * x), -0.9, 0.9), "sqrt": (np.sqrt, 0, 50), "tan": (np.tan, -1.5, 1.5),
    "tanh": (np.tanh, -5, 5), "tgamma": (special.gamma, 1, 20), "trunc": (np.trunc, -50, 50),
    "abs": (np.abs, -5, 5), "rcbrt": (lambda x: 1 / np.cbrt(x), 0.1, 9), "rcp_rn": (lambda x: 1 / x, 0.1, 9),
    "sqrt_rn": (np.sqrt, 0, 9), "saturatef": (lambda x: np.clip(x, 0, 1), -2, 2),
    "normcdf": (special.ndtr, -5, 5), "normcdfinv": (special.ndtri, 0.001, 0.999),
    "erfcx": (special.erfcx, -2, 60), "erfinv": (special.erfinv, -0.9999, 0.9999),
    "erfcinv": (special.erfcinv, 0.0001, 1.9999),
    "j0": (special.j0, -60, 60), "j1": (special.j1, -60, 60), "y0": (special.y0, 0.001, 60),
    "y1": (special.y1, 0.001, 60), "cyl_bessel_i0": (special.i0, -60, 60),
    "cyl_bessel_i1": (special.i1, -60, 60),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, dtype: str) -> None:
    """fp32 to 4e-7; fp64 to 1e-9, which is what the Bessel functions' series leave where they cancel most."""
    reference, low, high = UNARY[name]
    x = values(dtype, low, high)
    tolerance = 4e-7 if dtype == "float32" else 1e-9
    np.testing.assert_allclose(call(name, x), reference(x.astype(np.float64)), rtol=tolerance, atol=tolerance)


BINARY: dict[str, Callable[..., Any]] = {
    "atan2": np.arctan2, "copysign": np.copysign, "fdim": lambda x, y: np.maximum(x - y, 0), "fmod": np.fmod,
    "hypot": np.hypot, "remainder": lambda x, y: x - y * np.rint(x / y), "fast_dividef": np.divide,
    "add_rn": np.add, "sub_rn": np.subtract, "mul_rn": np.multiply, "div_rn": np.divide,
    "rhypot": lambda x, y: 1 / np.hypot(x, y),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, dtype: str) -> None:
    x, y = values(dtype, seed=1), values(dtype, seed=2)
    tolerance = 1e-6 if dtype == "float32" else 1e-12
    expected = BINARY[name](x.astype(np.float64), y.astype(np.float64))
    np.testing.assert_allclose(call(name, x, y), expected, rtol=tolerance, atol=tolerance)


def test_powers() -> None:
    x = values("float32", 0.1, 4)
    y = values("float32", seed=5)
    np.testing.assert_allclose(call("pow", x, y), x.astype("f8")**y, rtol=1e-6)
    exponents = np.arange(COUNT, dtype=np.int32) % 9 - 4
    np.testing.assert_allclose(call("pow", -x, exponents), (-x.astype("f8"))**exponents, rtol=1e-6)
    np.testing.assert_array_equal(call("ldexp", x, exponents), np.ldexp(x, exponents))
    np.testing.assert_array_equal(call("scalbn", x, exponents), np.ldexp(x, exponents))
    np.testing.assert_array_equal(call("ilogb", x, result="int32"), np.frexp(x)[1] - 1)
    np.testing.assert_array_equal(call("nextafter", x, -x), np.nextafter(x, -x))


def test_fused() -> None:
    x, y, z = (values("float32", seed=seed) for seed in range(3))
    exact = x.astype("f8") * y + z
    np.testing.assert_array_equal(call("fma", x, y, z), exact.astype("f4"))
    np.testing.assert_allclose(call("norm3d", x, y, z), np.sqrt(x**2 + y**2 + z**2), rtol=1e-6)
    np.testing.assert_allclose(call("rnorm3d", x, y, z), 1 / np.sqrt(x**2 + y**2 + z**2), rtol=1e-6)


def test_kinds_of_numbers() -> None:
    x = np.tile(np.array([0.0, -0.0, 1.5, -2, np.inf, -np.inf, np.nan, 3e38], np.float32), COUNT // 8)
    for name, reference in (("isnan", np.isnan), ("isinf", np.isinf), ("finitef", np.isfinite),
                            ("isfinited", np.isfinite), ("signbit", np.signbit)):
        chosen = x[~np.isnan(x)].repeat(2)[:COUNT] if name == "signbit" else x
        for dtype in ("float32", "float64"):
            result = call(name, chosen.astype(dtype), result="int32")
            np.testing.assert_array_equal(result, reference(chosen).astype(np.int32), f"{name} {dtype}")


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_bits(dtype: str) -> None:
    width = 32 if dtype == "int32" else 64
    info = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(info.min, info.max, COUNT, dtype)
    x[:3] = 0, 1, -1
    x >>= np.arange(COUNT) % width
    texts = [format(int(value) & (2**width - 1), f"0{width}b") for value in x]
    np.testing.assert_array_equal(call("popc", x, result="int32"), [text.count("1") for text in texts])
    np.testing.assert_array_equal(call("clz", x, result="int32"), [(text + "1").index("1") for text in texts])
    positions = [0 if "1" not in text else width - text.rindex("1") for text in texts]
    np.testing.assert_array_equal(call("ffs", x, result="int32"), positions)
    reverse = [int(text[::-1], 2) for text in texts]
    np.testing.assert_array_equal(call("brev", x).view(f"u{width // 8}"), np.array(reverse, f"u{width // 8}"))


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
def test_integer_arithmetic(dtype: str) -> None:
    info = np.iinfo(dtype)
    x, y = np.random.default_rng(3).integers(info.min, info.max, (2, COUNT), dtype)
    wide = x.astype(object), y.astype(object)
    np.testing.assert_array_equal(call("mulhi", x, y), ((wide[0] * wide[1]) >> 32).astype(dtype))
    np.testing.assert_array_equal(call("hadd", x, y), ((wide[0] + wide[1]) >> 1).astype(dtype))
    np.testing.assert_array_equal(call("rhadd", x, y), ((wide[0] + wide[1] + 1) >> 1).astype(dtype))
    small = x % 1000, y % 1000
    np.testing.assert_array_equal(call("mul24", *small), small[0] * small[1])
    difference = np.maximum(*small) - np.minimum(*small)
    np.testing.assert_array_equal(call("sad", *small, small[0]), difference + small[0])


@pytest.mark.parametrize(("name", "source", "target", "reference"), [
    ("float2int_rn", "float32", "int32", np.rint), ("float2int_rz", "float32", "int32", np.trunc),
    ("float2int_rd", "float32", "int32", np.floor), ("float2int_ru", "float32", "int32", np.ceil),
    ("double2ll_rn", "float64", "int64", np.rint), ("double2ull_rz", "float64", "uint64", np.trunc),
    ("float2uint_ru", "float32", "uint32", np.ceil), ("int2float_rn", "int32", "float32", np.copy),
    ("ull2double_rn", "uint64", "float64", np.copy), ("double2float_rn", "float64", "float32", np.copy),
    ("llrint", "float64", "int64", np.rint), ("llround", "float32", "int64", lambda x: np.floor(x + 0.5)),
])
def test_conversions(name: str, source: str, target: str, reference: Callable[..., Any]) -> None:
    x = values("float64", 0, 1000).astype(source)
    x[:2] = 1.5, 2
    np.testing.assert_array_equal(call(name, x, result=target), reference(x).astype(target))


def test_bitcasts() -> None:
    x = values("float32")
    np.testing.assert_array_equal(call("float_as_int", x, result="int32"), x.view(np.int32))
    np.testing.assert_array_equal(call("uint_as_float", x.view(np.uint32), result="float32"), x)
    wide = values("float64")
    np.testing.assert_array_equal(call("double_as_longlong", wide, result="int64"), wide.view(np.int64))
    low, high = wide.view(np.int32).reshape(-1, 2).T.copy()
    np.testing.assert_array_equal(call("double2loint", wide, result="int32"), low)
    np.testing.assert_array_equal(call("double2hiint", wide, result="int32"), high)
    np.testing.assert_array_equal(call("hiloint2double", high, low, result="float64"), wide)


def test_half_precision() -> None:
    x = values("float16", 0.1, 4)
    np.testing.assert_allclose(call("exp", x), np.exp(x.astype("f4")), rtol=1e-3)
    np.testing.assert_allclose(call("pow", x, x), x.astype("f4")**x, rtol=2e-3)


def test_scalars_and_python_numbers() -> None:
    @triton.jit
    def kernel(out, x):
        tl.store(out, libdevice.pow(x, 3.0) + libdevice.exp(0.0))

    out = zeros(1)
    kernel[(1,)](out, 2.0)
    assert out.numpy()[0] == 9


def test_what_cannot_be_had() -> None:
    with pytest.raises(Exception, match=r"libdevice\.add_rz is not available .* rounds .* to nearest"):
        call("add_rz", values("float32"), values("float32"))
    with pytest.raises(Exception, match=r"libdevice\.popc takes 1 integers, got fp32"):
        call("popc", values("float32"))
    with pytest.raises(AttributeError, match="libdevice has no function no_such_function"):
        ours.no_such_function


def test_every_name_is_answered() -> None:
    """Each function of Triton's module is there or refuses by name: directed rounding and four more."""
    names = [name for name, value in vars(libdevice).items() if callable(value)]
    wrapped = {name: getattr(getattr(ours, name), "__wrapped__", None) for name in names}
    codes = {name: function.__code__.co_name for name, function in wrapped.items() if function}
    refused = {name for name, code in codes.items() if code == "refuse"}
    directed = {name for name in refused if name.endswith(("_rz", "_rd", "_ru"))}
    assert refused - directed == {"byte_perm", "jn", "rcp64h", "yn"}
    assert not any(name.startswith(("float2int", "float2ll", "double2")) for name in directed - {
        "double2float_rz", "double2float_rd", "double2float_ru"})
    assert set(libdevice_special.__all__) <= set(names)

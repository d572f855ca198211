"""lower/arithmetic/extern.py: functions by their symbols in CUDA's libdevice, for kernels that import it
by name, and what is refused. (triton.language.extra.libdevice itself: test_libdevice.py.)"""

from __future__ import annotations

from typing import Any

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from scipy import special
from triton.language.extra.cuda import libdevice
from triton_spirv.errors import TritonSpirvError


@triton.jit
def unary(x_ptr, out_ptr, NAME: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, getattr(libdevice, NAME)(tl.load(x_ptr + i)))


@triton.jit
def binary(x_ptr, y_ptr, out_ptr, NAME: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, getattr(libdevice, NAME)(tl.load(x_ptr + i), tl.load(y_ptr + i)))


@triton.jit
def scalar(x_ptr, out_ptr, NAME: tl.constexpr):
    i = tl.program_id(0)
    tl.store(out_ptr + i, getattr(libdevice, NAME)(tl.load(x_ptr + i)))


@pytest.fixture(autouse=True)
def no_interpreter() -> None:
    numeric.interpreter_is_wrong("it has no libdevice")


#: name -> (reference, lowest, highest argument, ulps: the OpenCL specification's, 7.4)
UNARY: dict[str, tuple[Any, float, float, float]] = {
    "exp": (np.exp, -10, 10, 3), "log": (np.log, 0.01, 100, 3), "sin": (np.sin, -10, 10, 4),
    "tanh": (np.tanh, -4, 4, 5), "erf": (special.erf, -3, 3, 16),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.01, 100, 2),
    "sqrt": (np.sqrt, 0, 100, 3), "floor": (np.floor, -9, 9, 0), "rint": (np.rint, -9, 9, 0),
    "round": (lambda x: np.trunc(x + np.copysign(.5, x)), -9, 9, 0), "abs": (np.abs, -9, 9, 0),
    "log1p": (np.log1p, -0.5, 10, 2), "rcbrt": (lambda x: 1 / np.cbrt(x), 0.1, 10, 5),
    "normcdf": (special.ndtr, -3, 3, 20), "rcp_rn": (lambda x: 1 / x, 1, 2, 0.5),
}


@pytest.mark.parametrize("dtype", ("f32", "f64"))
@pytest.mark.parametrize("name", UNARY)
def test_unary(run, name, dtype):
    reference, low, high, ulps = UNARY[name]
    x, out = numeric.random(512, dtype, 0, low=low, high=high), numeric.poisoned(512, dtype)
    run(unary, 2, numeric.tensor(x, dtype), out, name, 256)
    numeric.assert_ulps(out, reference(x.astype(np.float64)), max(ulps, 0.501), dtype)


@pytest.mark.parametrize("name, low, high", [
    ("fast_expf", -5, 5), ("fast_sinf", -3, 3), ("fast_logf", 0.1, 9)])
def test_fast_functions(run, name, low, high):
    x, out = numeric.random(256, "f32", 0, low=low, high=high), numeric.poisoned(256, "f32")
    run(unary, 1, numeric.tensor(x, "f32"), out, name, 256)
    exact = {"fast_expf": np.exp, "fast_sinf": np.sin, "fast_logf": np.log}[name](x.astype(np.float64))
    numeric.assert_close(out, exact, 1e-5, 1e-6)


@pytest.mark.parametrize("dtype", ("f32", "f64"))
@pytest.mark.parametrize("name, reference", [
    ("pow", np.power), ("atan2", np.arctan2), ("hypot", np.hypot), ("add_rn", np.add), ("div_rn", np.divide),
    ("copysign", np.copysign), ("rhypot", None)])
def test_binary(run, name, reference, dtype):
    x, y = (numeric.random(512, dtype, seed, low=0.5, high=3) for seed in (0, 1))
    out = numeric.poisoned(512, dtype)
    run(binary, 1, numeric.tensor(x, dtype), numeric.tensor(y, dtype), out, name, 512)
    wide = [side.astype(np.float64) for side in (x, y)]
    exact = reference(*wide) if reference else 1 / np.hypot(*wide)
    numeric.assert_ulps(out, exact, 0.501 if name.endswith("_rn") else 16, dtype)


@pytest.mark.parametrize("block", (0, 4, 256))
@pytest.mark.parametrize("name, reference", [
    ("isnan", np.isnan), ("isinf", np.isinf), ("signbit", np.signbit)])
@pytest.mark.parametrize("dtype", ("f32", "f64"))
def test_predicates(run, name, reference, dtype, block):
    x, out = numeric.pairs(dtype, 1024)[0], numeric.poisoned(1024, "i32")
    if block:
        run(unary, 1024 // block, numeric.tensor(x, dtype), out, name, block)
    else:
        run(scalar, 1024, numeric.tensor(x, dtype), out, name)
    numeric.assert_same(numeric.array(out) != 0, reference(x))


@pytest.mark.parametrize("name, reference", [
    ("rint", np.rint), ("trunc", np.trunc), ("floor", np.floor), ("ceil", np.ceil)])
@pytest.mark.parametrize("dtype", ("f32", "f64"))
def test_whole_numbers(run, name, reference, dtype):
    """Halves, zeros of both signs, infinities, NaN, and what has its last place near one."""
    given = [0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 0.0, -0.0, -0.3, np.inf, -np.inf, np.nan,
             2.0**24 + .5, 2.0**31 + .5, -2.0**40 - .5, 2.0**33 + 1.5, 2.0**51 + .5, 2.0**52 + 1,
             2.0**22 + .5, 2.0**23 + 1, 2.0**63, -2.0**64, 1e30]
    more = numeric.random(256 - len(given), "f64", 0, low=-1e9, high=1e9)
    x = np.concatenate([np.array(given), more]).astype(np.float32 if dtype == "f32" else np.float64)
    out = numeric.poisoned(256, dtype)
    run(unary, 1, numeric.tensor(x, dtype), out, name, 256)
    numeric.assert_same(out, reference(x))


@pytest.mark.parametrize("dtype", ("i32", "i64"))
@pytest.mark.parametrize("name", ("clz", "popc", "ffs", "abs", "brev"))
def test_integers(run, name, dtype):
    x = numeric.pairs(dtype, 1024)[0]
    bits = 8 * x.dtype.itemsize
    kind = "i32" if name in ("clz", "popc", "ffs") else dtype
    out = numeric.poisoned(1024, kind)
    run(unary, 4, numeric.tensor(x, dtype), out, name, 256)
    texts = [format(int(v) % (1 << bits), f"0{bits}b") for v in x]
    expected = {
        "clz": [len(t) - len(t.lstrip("0")) for t in texts], "popc": [t.count("1") for t in texts],
        "ffs": [bits - t.rindex("1") if "1" in t else 0 for t in texts], "abs": [abs(int(v)) for v in x],
        "brev": [int(t[::-1], 2) for t in texts]}[name]
    width = 32 if kind == "i32" else 64
    wrapped = np.array([v % (1 << width) for v in expected], f"u{width // 8}")
    numeric.assert_same(out, wrapped.view(f"i{width // 8}"))


@pytest.mark.parametrize("how, rounding", [
    ("rn", np.rint), ("rz", np.trunc), ("rd", np.floor), ("ru", np.ceil)])
@pytest.mark.parametrize("source, target", [
    ("float", "int"), ("float", "ll"), ("double", "int"), ("double", "uint")])
def test_to_integer(run, source, target, how, rounding):
    dtype = {"float": "f32", "double": "f64"}[source]
    kind = {"int": "i32", "ll": "i64", "uint": "i32"}[target]
    x = numeric.random(256, dtype, 0, low=0 if target == "uint" else -99, high=99)
    out = numeric.poisoned(256, kind)
    x[:4] = [0.5, 1.5, 2.5, 3]
    run(unary, 1, numeric.tensor(x, dtype), out, f"{source}2{target}_{how}", 256)
    numeric.assert_same(out, rounding(x).astype(out.numpy().dtype))


@pytest.mark.parametrize("how", ("rn", "rz", "rd", "ru"))
def test_double_to_float(run, how):
    x, out = numeric.random(512, "f64", 0), numeric.poisoned(512, "f32")
    run(unary, 1, numeric.tensor(x, "f64"), out, f"double2float_{how}", 512)
    nearest = x.astype(np.float32)
    below = np.where(nearest > x, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    above = np.where(nearest < x, np.nextafter(nearest, np.float32(np.inf)), nearest)
    expected = {"rn": nearest, "rd": below, "ru": above, "rz": np.where(x < 0, above, below)}[how]
    numeric.assert_same(out, expected)


def test_unknown_function_is_named(run):
    x, out = numeric.tensor([1.0], "f32"), numeric.poisoned(1, "f32")
    with pytest.raises(TritonSpirvError, match="no rule for the function __nv_fadd_rz"):
        run(binary, 1, x, x, out, "add_rz", 1)


@triton.jit
def assembly(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    y = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [tl.load(x_ptr + i)], tl.int32, True, 1)
    tl.store(out_ptr + i, y)


def test_assembly_is_refused(run):
    x, out = numeric.tensor(np.arange(4), "i32"), numeric.poisoned(4, "i32")
    place = r"test_extern\.py:\d+:\d+: tt\.elementwise_inline_asm"
    with pytest.raises(TritonSpirvError, match=place + r".*mov\.b32"):
        run(assembly, 1, x, out, 4)

"""lower/arithmetic/cast.py: conversions among all dtypes, bit casts, 8-bit floats; every result is exact.

What LLVM leaves undefined is left out: a float that the integer cannot hold. An 8-bit float saturates: what
is too large for it, infinity included, becomes its largest number.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from numeric import ALL, DTYPES, FP8

COUNT = 512


@triton.jit
def convert(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x.to(out_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def convert_toward_zero(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x.to(out_ptr.dtype.element_ty, fp_downcast_rounding="rtz"), mask=i < n)


@triton.jit
def bitcast(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x.to(out_ptr.dtype.element_ty, bitcast=True), mask=i < n)


@triton.jit
def convert_scalar(x_ptr, out_ptr):
    i = tl.program_id(0)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(out_ptr.dtype.element_ty))


def launch(run, kernel, x, source, target, block=256):
    """`x` is numpy values of the source dtype, or a torch tensor."""
    x = x if isinstance(x, torch.Tensor) else numeric.tensor(x, source)
    out = numeric.poisoned(x.numel(), target)
    run(kernel, triton.cdiv(x.numel(), block), x, out, x.numel(), block)
    return out


def sources(source: str, target: str) -> np.ndarray:
    """Values of `source` that `target` has an answer for."""
    x = np.concatenate([numeric.specials(source), numeric.random(COUNT, source)])[:COUNT]
    into, of = DTYPES[target], DTYPES[source]
    if of.kind == "float" and into.kind in ("int", "uint"):
        info = np.iinfo(into.values)
        reach = min(float(info.max), of.top, 2.0**40)
        x = np.concatenate(
            [x, numeric.random(COUNT, source, 1, low=-reach if into.kind == "int" else 0, high=reach)]
        )
        whole = np.trunc(np.nan_to_num(x.astype(np.float64), nan=np.inf, posinf=np.inf, neginf=-np.inf))
        return x[(whole >= float(info.min)) & (whole < float(info.max) + (info.max < 2**53))]
    if into.kind == "float" and into.bits == 16 and of.kind in ("int", "uint"):
        # exact in f32: how a target rounds twice, through f32, cannot show
        limit = 65504 if target == "f16" else 2**24
        info = np.iinfo(of.values)
        small = numeric.random(
            COUNT, source, 2, low=max(-limit, int(info.min)), high=min(limit, int(info.max))
        )
        return np.concatenate([x[np.abs(x.astype(object)) <= limit], small])
    return x


def reference(x: np.ndarray, source: str, target: str) -> np.ndarray:
    into = DTYPES[target]
    if into.kind == "bool":
        return x != 0
    if into.kind == "float":
        if DTYPES[source].kind != "float" and into.bits >= 32:
            return x.astype(into.values)  # numpy rounds 64-bit integers once
        return numeric.round_to(x, target)
    return np.trunc(x).astype(into.values) if DTYPES[source].kind == "float" else x.astype(into.values)


@pytest.mark.parametrize("target", ALL)
@pytest.mark.parametrize("source", ALL)
def test_convert(run, source, target):
    numeric.interpreter_is_wrong_on_bf16(source, target)
    x = sources(source, target)
    numeric.assert_same(launch(run, convert, x, source, target), reference(x, source, target))


@pytest.mark.parametrize(
    "source, target",
    [
        ("i32", "f32"),
        ("f32", "i32"),
        ("f32", "f16"),
        ("f16", "f32"),
        ("bf16", "f32"),
        ("f32", "bf16"),
        ("i8", "i64"),
        ("u8", "i32"),
        ("i64", "i16"),
        ("f32", "i1"),
    ],
)
def test_convert_scalar(run, source, target):
    numeric.interpreter_is_wrong_on_bf16(source, target)
    x = sources(source, target)[:40]
    out = numeric.poisoned(len(x), target)
    run(convert_scalar, len(x), numeric.tensor(x, source), out)
    numeric.assert_same(out, reference(x, source, target))


@pytest.mark.parametrize(
    "source, target", [("f32", "f16"), ("f32", "bf16"), ("f64", "f32"), ("f64", "f16"), ("f64", "bf16")]
)
def test_round_random_bits(run, source, target):
    """Any bits: all exponents, so denormals, overflow to infinity and NaN in plenty."""
    numeric.interpreter_is_wrong_on_bf16(target)
    width = DTYPES[source].bits // 8
    x = np.random.default_rng(0).integers(0, 256, 16384 * width, dtype=np.uint8).view(DTYPES[source].values)
    if target in ("f16", "bf16") and source == "f64":  # most of f64 is out of their range
        x = np.ldexp(
            np.frexp(x)[0], np.random.default_rng(1).integers(-30 if target == "f16" else -140, 18, len(x))
        )
    numeric.assert_same(launch(run, convert, x, source, target, 1024), numeric.round_to(x, target))


@pytest.mark.parametrize("target", ("f16", "bf16"))
def test_f64_rounds_once(run, target):
    """Just above the middle of two neighbours: through f32 it would land on the middle, and then on the even
    one."""
    numeric.interpreter_is_wrong_on_bf16(target)
    step = 2.0 ** -DTYPES[target].mantissa
    x = np.array(
        [1 + step / 2 + 2.0**-40, 1 + step * 1.5 - 2.0**-40, -(1 + step / 2 + 2.0**-40), 1 + step / 2] * 8
    )
    numeric.assert_same(launch(run, convert, x, "f64", target), numeric.round_to(x, target))


def truncated(x: np.ndarray, target: str) -> np.ndarray:
    """`x` rounded towards zero; a finite number stays finite."""
    kind = DTYPES[target]
    exact = x.astype(np.float64)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(np.where(np.isfinite(exact), exact, 1.0))[1] - 1, kind.lowest_exponent)
        step = np.ldexp(1.0, exponent - kind.mantissa)
        cut = np.clip(np.trunc(exact / step) * step, -kind.top, kind.top)
        return np.where(np.isfinite(exact), cut, exact).astype(kind.values)


@pytest.mark.parametrize(
    "source, target",
    [
        ("f32", "f16"),
        ("f32", "bf16"),
        ("f64", "f32"),
        ("f64", "f16"),
        ("f64", "bf16"),
        ("f32", "fp8e5"),
        ("f16", "fp8e5"),
        ("f64", "fp8e4nv"),
    ],
)
def test_round_toward_zero(run, source, target):
    numeric.interpreter_is_wrong("it truncates, but not denormals")
    kind = DTYPES[target]
    extremes = [0.0, -0.0, 1e-6, -3e-8, 65503.9, np.inf, np.nan, kind.top, kind.top * 1.001, -kind.top * 1.7]
    around = 2.0 ** np.arange(kind.lowest_exponent - kind.mantissa - 2, kind.lowest_exponent + 2.0)
    values = np.concatenate([extremes, around, -around * 1.25, around * 0.999])
    x = np.concatenate([numeric.random(COUNT, source), numeric.round_to(values, source)])
    expected = truncated(x, target)
    if target == "fp8e4nv":
        expected = np.where(np.isinf(expected), np.copysign(kind.top, expected), expected)
    numeric.assert_same(launch(run, convert_toward_zero, x, source, target), expected)


@pytest.mark.parametrize("target", ("f16", "bf16", "f32", "f64"))
@pytest.mark.parametrize("source", ("i32", "u32", "i64", "u64"))
def test_integers_round_once(run, source, target):
    """Just beside the middle of two neighbours: through a float of a few bits more it would land on it."""
    numeric.interpreter_is_wrong_on_bf16(target)
    info, bits = np.iinfo(DTYPES[source].values), DTYPES[target].mantissa + 1
    numbers = {0, 1, int(info.max), int(info.min)}
    for size in range(bits + 2, DTYPES[source].bits):
        for significant in ((1 << bits - 1) + 1, (1 << bits) - 1, (1 << bits - 1) + 2):
            middle = (2 * significant + 1) << size - bits - 1
            numbers |= {sign * (middle + d) for d in (-1, 0, 1) for sign in (1, -1)}
    x = np.array(sorted(n for n in numbers if info.min <= n <= info.max), dtype=DTYPES[source].values)
    expected = [round_integer(int(n), target) for n in x]
    numeric.assert_same(launch(run, convert, x, source, target), np.array(expected, DTYPES[target].values))


def round_integer(number: int, target: str) -> float:
    """A Python integer rounded once, to nearest even."""
    kind = DTYPES[target]
    dropped = max(abs(number).bit_length() - kind.mantissa - 1, 0)
    quotient, rest = divmod(abs(number), 1 << dropped)
    half = (1 << dropped) >> 1
    quotient += dropped > 0 and (rest > half or (rest == half and quotient & 1 == 1))
    rounded = float(quotient << dropped)
    return float(np.copysign(np.inf if rounded > kind.top else rounded, number))


BIT_CASTS = [
    ("f32", "i32"),
    ("f32", "u32"),
    ("i32", "f32"),
    ("f64", "i64"),
    ("u64", "f64"),
    ("f16", "i16"),
    ("u16", "f16"),
    ("bf16", "u16"),
    ("i16", "bf16"),
    ("i8", "u8"),
    ("u32", "i32"),
    ("f16", "bf16"),
]


@pytest.mark.parametrize("source, target", BIT_CASTS)
def test_bitcast(run, source, target):
    """NaN payloads are kept too, so bits are compared."""
    bits = DTYPES[source].bits
    raw = np.random.default_rng(0).integers(0, 1 << bits, COUNT, dtype=f"u{bits // 8}")
    x = torch.from_numpy(raw).view(DTYPES[source].torch)
    out = launch(run, bitcast, x, source, target)
    assert np.array_equal(out.view(DTYPES[f"u{bits}"].torch).numpy(), raw)


# ---- 8-bit floats


@pytest.mark.parametrize("target", ("f16", "bf16", "f32", "f64"))
@pytest.mark.parametrize("source", FP8)
def test_fp8_widens(run, source, target):
    """All 256 of them."""
    numeric.interpreter_is_wrong("infinities, NaN and f64 are not implemented for 8-bit floats")
    x = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(DTYPES[source].torch)
    expected = numeric.array(x).astype(DTYPES[target].values)
    numeric.assert_same(launch(run, convert, x, source, target), expected)


@pytest.mark.parametrize("source", ("f16", "bf16", "f32", "f64"))
@pytest.mark.parametrize("target", FP8)
def test_fp8_narrows(run, target, source):
    """Every f16 (or what the source has of it) within range, and the middles between neighbours: ties go to
    even."""
    numeric.interpreter_is_wrong("ties and f64 are not implemented for 8-bit floats")
    kind = DTYPES[target]
    half = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float64)
    grid = np.unique(numeric.round_to(half[np.abs(half) <= kind.top], target).astype(np.float64))
    middles = (grid[1:] + grid[:-1]) / 2
    x = np.concatenate([half, middles, middles * (1 + 2.0**-7), middles * (1 - 2.0**-7), [np.nan]])
    x = numeric.round_to(x, source)
    x = x[~(np.abs(numeric.round_to(x, target).astype(np.float64)) > kind.top)]
    expected = numeric.round_to(x, target)
    no_negative_zero = target in ("fp8e4b8", "fp8e5b16")
    out = launch(run, convert, x, source, target, 1024)
    numeric.assert_same(out, expected, signed_zeros=not no_negative_zero)


@pytest.mark.parametrize("source", ("f16", "bf16", "f32", "f64"))
@pytest.mark.parametrize("target", FP8)
def test_fp8_saturates(run, target, source):
    numeric.interpreter_is_wrong("overflow wraps into the sign")
    top = DTYPES[target].top
    x = numeric.round_to([top * 1.05, top * 1.2, top * 2, 1e30, np.inf], source)
    out = launch(run, convert, np.concatenate([x, -x]), source, target, 16)
    numeric.assert_same(out, np.repeat(np.float32([top, -top]), 5))


@pytest.mark.parametrize("target", FP8)
def test_fp8_rounds_random_bits(run, target):
    """f32 of every exponent near the format's: one rounding, whatever the lower bits."""
    numeric.interpreter_is_wrong("ties and denormals are not implemented for 8-bit floats")
    kind, generator = DTYPES[target], np.random.default_rng(0)
    exponents = generator.integers(kind.lowest_exponent - kind.mantissa - 4, 15, 8192)
    x = np.ldexp(generator.uniform(-1, 1, 8192).astype(np.float32), exponents)
    x = x[np.abs(x) <= kind.top]
    signed_zeros = target not in ("fp8e4b8", "fp8e5b16")
    out = launch(run, convert, x, "f32", target, 1024)
    numeric.assert_same(out, numeric.round_to(x, target), signed_zeros)


@triton.jit
def compute(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, x + y)
    tl.store(out_ptr + N + i, tl.where(x < y, x, -y))


@pytest.mark.parametrize("dtype", FP8)
def test_fp8_arithmetic(run, dtype):
    """Each operation is exact and rounds once, to the type."""
    numeric.interpreter_is_wrong("it computes on the bits of 8-bit floats")
    x, y = numeric.random(64, dtype, 0), numeric.random(64, dtype, 1)
    out = numeric.poisoned(128, dtype)
    run(compute, 1, numeric.tensor(x, dtype), numeric.tensor(y, dtype), out, 64)
    expected = np.concatenate([numeric.round_to(x + y, dtype), np.where(x < y, x, -y)])
    numeric.assert_same(out, expected, signed_zeros=False)


@triton.jit
def through_e4b15(x_ptr, bits_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    wide = tl.load(bits_ptr + i).to(tl.float8e4b15, bitcast=True).to(tl.float16)
    tl.store(out_ptr + i, wide)
    narrow = tl.load(x_ptr + i).to(tl.float8e4b15)
    tl.store(out_ptr + BLOCK + i, narrow.to(tl.float16))


def test_fp8e4b15(run):
    """Exponent bias 15, neither infinity nor NaN; every value but the largest, to which targets may not
    round, survives the way through f16 and back."""
    numeric.interpreter_is_wrong("the conversion of f16 to fp8e4b15 is off by a bit")
    raw = np.arange(256)
    raw[[127, 255]] = 126, 254
    fraction, exponent = raw & 7, (raw >> 3) & 15
    magnitude = np.where(
        exponent == 0, fraction / 8 * 2.0**-14, (1 + fraction / 8) * 2.0 ** (exponent - 15.0)
    )
    value = np.where(raw >= 128, -magnitude, magnitude).astype(np.float16)
    out = numeric.poisoned(512, "f16")
    run(through_e4b15, 1, numeric.tensor(value, "f16"), numeric.tensor(raw.astype(np.uint8), "u8"), out, 256)
    numeric.assert_same(out, np.concatenate([value, value]))

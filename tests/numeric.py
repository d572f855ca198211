"""Numbers for the operation tests: dtypes by Triton's names, values worth testing, exact rounding, comparison
by bits or ulps.

A test computes its reference in numpy. numpy has no bfloat16 and no 8-bit floats, so those live in torch
tensors and are seen by numpy as the float32 of the same value; `tensor` and `array` cross over, exactly.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


@dataclass(frozen=True)
class Dtype:
    """A Triton scalar type: how torch spells it, which numpy type holds its values, and its shape as a binary
    float.

    kind: "bool", "int", "uint", "float"; `mantissa` counts stored bits, `top` is the largest finite value."""

    name: str
    kind: str
    bits: int
    torch: torch.dtype
    values: type[Any]
    mantissa: int = 0
    lowest_exponent: int = 0  # of the smallest normal number, 2**lowest_exponent
    top: float = 0.0


_FLOATS = (
    Dtype("fp8e4nv", "float", 8, torch.float8_e4m3fn, np.float32, 3, -6, 448.0),
    Dtype("fp8e4b8", "float", 8, torch.float8_e4m3fnuz, np.float32, 3, -7, 240.0),
    Dtype("fp8e5", "float", 8, torch.float8_e5m2, np.float32, 2, -14, 57344.0),
    Dtype("fp8e5b16", "float", 8, torch.float8_e5m2fnuz, np.float32, 2, -15, 57344.0),
    Dtype("f16", "float", 16, torch.float16, np.float16, 10, -14, 65504.0),
    Dtype("bf16", "float", 16, torch.bfloat16, np.float32, 7, -126, float.fromhex("0x1.fep127")),
    Dtype("f32", "float", 32, torch.float32, np.float32, 23, -126, float(np.finfo(np.float32).max)),
    Dtype("f64", "float", 64, torch.float64, np.float64, 52, -1022, float(np.finfo(np.float64).max)),
)
DTYPES: dict[str, Dtype] = {
    "i1": Dtype("i1", "bool", 1, torch.bool, np.bool_),
    **{
        f"i{b}": Dtype(f"i{b}", "int", b, getattr(torch, f"int{b}"), getattr(np, f"int{b}"))
        for b in (8, 16, 32, 64)
    },
    **{
        f"u{b}": Dtype(f"u{b}", "uint", b, getattr(torch, f"uint{b}"), getattr(np, f"uint{b}"))
        for b in (8, 16, 32, 64)
    },
    **{f.name: f for f in _FLOATS},
}
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("f16", "bf16", "f32", "f64")
FP8 = ("fp8e4nv", "fp8e4b8", "fp8e5", "fp8e5b16")
NUMBERS = INTEGERS + FLOATS
ALL = ("i1",) + NUMBERS


def interpreter_is_wrong(reason: str, when: bool = True) -> None:
    """Skip the rest of this test when Triton's interpreter runs it: what it computes here is not what Triton
    means."""
    if INTERPRETED and when:
        pytest.skip(f"Triton's interpreter: {reason}")


def interpreter_is_wrong_on_bf16(*dtypes: str) -> None:
    """It adds, compares and sorts bfloat16 as integers, and converts denormals and infinities wrongly."""
    interpreter_is_wrong("bfloat16 is not implemented", "bf16" in dtypes)


# ---- crossing between numpy and torch


def tensor(values: Any, dtype: str) -> torch.Tensor:
    """A torch tensor of `values`, rounded to nearest even; numpy values that are the dtype's already keep
    their bits."""
    kind = DTYPES[dtype]
    data = np.array(values, dtype=None if isinstance(values, np.ndarray) else kind.values)
    if kind.values is np.float32 and dtype != "f32":
        return torch.from_numpy(data.astype(np.float32)).to(kind.torch)
    return torch.from_numpy(np.ascontiguousarray(data).astype(kind.values))


def resident(data: torch.Tensor, mode: str) -> Any:
    """The tensor where kernels can follow its address: on a Vulkan device, which has memory of the host at
    addresses of its own if at all, an array of the device."""
    if mode not in ("vulkan", "narrow"):
        return data
    import triton_spirv

    return triton_spirv.asarray(data, device=os.environ["TRITON_SPIRV_DEVICE"])


def array(data: torch.Tensor) -> np.ndarray:
    """The values as numpy holds them (bfloat16 and 8-bit floats as float32: exact)."""
    if data.dtype == torch.bfloat16 or (data.dtype.itemsize == 1 and data.dtype.is_floating_point):
        return data.to(torch.float32).numpy()
    return data.numpy()


def poisoned(shape: Any, dtype: str) -> torch.Tensor:
    """An output that no kernel computes by chance: each byte 0xA5 (i1: True), so that what was not written is
    seen."""
    kind = DTYPES[dtype]
    if dtype == "i1":
        return torch.ones(shape, dtype=torch.bool)
    count = int(np.prod(shape)) * (kind.bits // 8)
    return torch.full((count,), 0xA5, dtype=torch.uint8).view(kind.torch).reshape(shape)


# ---- values


def specials(dtype: str) -> np.ndarray:
    """The values of a dtype that rules get wrong: zeros of both signs, denormals, extremes, infinities,
    NaN."""
    kind = DTYPES[dtype]
    if kind.kind == "bool":
        return np.array([False, True])
    if kind.kind != "float":
        info = np.iinfo(kind.values)
        near = {0, 1, 2, 3, 7, info.max, info.max - 1, info.max // 2, info.min, info.min + 1}
        near |= {-1, -2, -7} if kind.kind == "int" else {1 << (kind.bits - 1), (1 << (kind.bits - 1)) + 1}
        return np.array(sorted(near), dtype=kind.values)
    tiny = 2.0**kind.lowest_exponent
    denormal = tiny * 2.0**-kind.mantissa
    finite = [
        0.0,
        1.0,
        1.5,
        2.0,
        3.0,
        0.1,
        7.75,
        kind.top,
        tiny,
        denormal,
        tiny - denormal,
        1 + 2.0**-kind.mantissa,
    ]
    values = round_to([s * v for v in finite for s in (1, -1)], dtype)
    return np.concatenate([values, np.array([np.inf, -np.inf, np.nan], dtype=kind.values)])


def random(
    shape: Any, dtype: str, seed: int = 0, low: float | None = None, high: float | None = None
) -> np.ndarray:
    """Reproducible values: integers over the whole range (or [low, high)), floats normal around 0 (or
    uniform)."""
    kind = DTYPES[dtype]
    generator = np.random.default_rng(seed)
    if kind.kind == "bool":
        return generator.integers(0, 2, shape).astype(np.bool_)
    if kind.kind != "float":
        info = np.iinfo(kind.values)
        return generator.integers(
            info.min if low is None else int(low),
            info.max if high is None else int(high) - 1,
            shape,
            dtype=kind.values,
            endpoint=True,
        )
    values = generator.standard_normal(shape) if low is None else generator.uniform(low, high, shape)
    return round_to(values, dtype)


def whole(shape: Any, dtype: str, seed: int) -> np.ndarray:
    """Small whole numbers: every product and every sum of them is exact."""
    return np.round(random(shape, dtype, seed, low=-4, high=4)).astype(DTYPES[dtype].values)


def pairs(dtype: str, count: int = 1024, seed: int = 0, **limits: Any) -> tuple[np.ndarray, np.ndarray]:
    """Two vectors of `count` values: every special beside every special, random values after them."""
    known = specials(dtype)
    x, y = (side.reshape(-1) for side in np.meshgrid(known, known))
    rest = count - len(x)
    return (
        np.concatenate([x, random(rest, dtype, seed, **limits)]),
        np.concatenate([y, random(rest, dtype, seed + 1, **limits)]),
    )


def round_to(values: Any, dtype: str) -> np.ndarray:
    """`values` (taken as float64) rounded once, to nearest even, to the dtype; beyond its largest value is
    infinity."""
    kind = DTYPES[dtype]
    exact = np.asarray(values, dtype=np.float64)
    if kind.values is np.float64:
        return exact
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(np.where(np.isfinite(exact), exact, 1.0))[1] - 1, kind.lowest_exponent)
        step = np.ldexp(1.0, exponent - kind.mantissa)
        rounded = np.where(np.isfinite(exact), np.rint(exact / step) * step, exact)
        rounded = np.where(np.abs(rounded) > kind.top, np.copysign(np.inf, rounded), rounded)
        # a rounding to zero keeps its sign, which rint does too
        return rounded.astype(kind.values)


# ---- comparison


def bits(values: np.ndarray) -> np.ndarray:
    """The values as unsigned integers of their bits."""
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def assert_same(actual: Any, expected: Any, signed_zeros: bool = True) -> None:
    """Equal bit by bit, any NaN equal to any NaN; `signed_zeros=False` lets -0 be 0, where an operation
    leaves that open."""
    actual = array(actual) if isinstance(actual, torch.Tensor) else np.asarray(actual)
    expected = np.broadcast_to(np.asarray(expected), actual.shape)
    assert actual.dtype == expected.dtype, f"got {actual.dtype}, the reference has {expected.dtype}"
    wrong = actual != expected
    if actual.dtype.kind == "f":
        wrong &= ~(np.isnan(actual) & np.isnan(expected))
        if signed_zeros:
            wrong |= (actual == 0) & (expected == 0) & (np.signbit(actual) != np.signbit(expected))
    _fail_where(wrong, actual, expected)


def assert_ulps(actual: Any, expected: Any, ulps: float, dtype: str) -> None:
    """Within `ulps` units in the last place of `dtype`, measured at the exact value `expected` (float64)."""
    kind = DTYPES[dtype]
    actual = (array(actual) if isinstance(actual, torch.Tensor) else np.asarray(actual)).astype(np.float64)
    expected = np.broadcast_to(np.asarray(expected, dtype=np.float64), actual.shape)
    with np.errstate(all="ignore"):
        exponent = np.maximum(
            np.frexp(np.where(np.isfinite(expected), expected, 1.0))[1] - 1, kind.lowest_exponent
        )
        limit = ulps * np.ldexp(1.0, np.maximum(exponent - kind.mantissa, -1074))
        wrong = ~(np.abs(actual - expected) <= limit)
        wrong &= actual != np.asarray(
            round_to(expected, dtype), np.float64
        )  # infinities, and overflow to them
        wrong &= ~(np.isnan(actual) & np.isnan(expected))
    _fail_where(wrong, actual, expected)


def assert_close(actual: Any, expected: Any, relative: float, absolute: float) -> None:
    """|actual - expected| <= absolute + relative * |expected|; infinities and NaN where the reference has
    them."""
    actual = (array(actual) if isinstance(actual, torch.Tensor) else np.asarray(actual)).astype(np.float64)
    expected = np.broadcast_to(np.asarray(expected, dtype=np.float64), actual.shape)
    _fail_where(~np.isclose(actual, expected, rtol=relative, atol=absolute, equal_nan=True), actual, expected)


def _fail_where(wrong: np.ndarray, actual: np.ndarray, expected: np.ndarray) -> None:
    if not wrong.any():
        return
    places = list(zip(*np.nonzero(wrong), strict=True)) if wrong.ndim else [()]
    shown = "\n".join(
        f"  {tuple(int(i) for i in p)}: got {actual[p]!r}, expected {expected[p]!r}" for p in places[:8]
    )
    pytest.fail(f"{len(places)} of {wrong.size} values differ\n{shown}", pytrace=True)

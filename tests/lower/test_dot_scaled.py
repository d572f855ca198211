"""lower/products/dot.py, block-scaled products: 4- and 8-bit floats whose groups of 32 along K share a
power of two.

The operands are decoded exactly here; a product of them is exact in f32, so only the sum rounds: within K
roundings of f32.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import torch
import triton
import triton.language as tl

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
STORED = {"e2m1": "u8", "e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16", "fp16": "f16"}
GROUP = 32


@triton.jit
def scaled(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr,
           A_SHAPE: tl.constexpr, B_SHAPE: tl.constexpr, A_ALONG_K: tl.constexpr, B_ALONG_K: tl.constexpr,
           M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a_rows, a_columns = tl.arange(0, A_SHAPE[0])[:, None], tl.arange(0, A_SHAPE[1])[None, :]
    b_rows, b_columns = tl.arange(0, B_SHAPE[0])[:, None], tl.arange(0, B_SHAPE[1])[None, :]
    a = tl.load(a_ptr + a_rows * A_SHAPE[1] + a_columns)
    b = tl.load(b_ptr + b_rows * B_SHAPE[1] + b_columns)
    m, n, groups = tl.arange(0, M)[:, None], tl.arange(0, N)[:, None], tl.arange(0, K // 32)[None, :]
    a_scale = None
    if a_scale_ptr is not None:
        a_scale = tl.load(a_scale_ptr + m * (K // 32) + groups)
    b_scale = None
    if b_scale_ptr is not None:
        b_scale = tl.load(b_scale_ptr + n * (K // 32) + groups)
    c = tl.dot_scaled(a, a_scale, A, b, b_scale, B, lhs_k_pack=A_ALONG_K, rhs_k_pack=B_ALONG_K)
    tl.store(out_ptr + m * N + tl.arange(0, N)[None, :], c)


def operand(
    rows: int, columns: int, form: str, seed: int, packed_axis: int
) -> tuple[torch.Tensor, np.ndarray]:
    """A random operand of a format: as it is stored, and the float64 values that it means."""
    generator = np.random.default_rng(seed)
    if form == "e2m1":
        codes = generator.integers(0, 16, (rows, columns), dtype=np.uint8)
        pairs = np.moveaxis(codes, packed_axis, -1)
        packed = np.moveaxis(
            pairs[..., 0::2] | pairs[..., 1::2] << 4, -1, packed_axis
        )  # the first is the low half
        return torch.from_numpy(np.ascontiguousarray(packed)), E2M1[codes]
    values = numeric.random((rows, columns), STORED[form], seed, low=-8, high=8)
    return numeric.tensor(values, STORED[form]), values.astype(np.float64)


def scales(rows: int, k: int, form: str, seed: int) -> tuple[torch.Tensor | None, np.ndarray]:
    """One exponent (bias 127) per row and group; formats of 16 bits go without."""
    if form in ("bf16", "fp16"):
        return None, np.ones((rows, k))
    exponents = np.random.default_rng(seed).integers(127 - 6, 127 + 6, (rows, k // GROUP), dtype=np.uint8)
    return torch.from_numpy(exponents), np.repeat(2.0 ** (exponents.astype(np.int64) - 127), GROUP, axis=1)


def check(run, a_form, b_form, m, n, k, a_axis=1, b_axis=0, change=None):
    (a, a_values), (b, b_values) = operand(m, k, a_form, 0, a_axis), operand(k, n, b_form, 1, b_axis)
    (a_scale, a_factor), (b_scale, b_factor) = scales(m, k, a_form, 2), scales(n, k, b_form, 3)
    if change is not None:
        change(a_scale, a_factor)
    out = numeric.poisoned((m, n), "f32")
    shapes, along_k = (tuple(a.shape), tuple(b.shape)), (a_axis == 1, b_axis == 0)
    run(scaled, 1, a, a_scale, b, b_scale, out, a_form, b_form, *shapes, *along_k, m, n, k)
    a_values, b_values = a_values * a_factor, b_values * b_factor.T
    limit = k * 2.0**-24 * (np.abs(a_values) @ np.abs(b_values))
    error = np.abs(out.numpy() - a_values @ b_values)
    wrong = ~(error <= limit) & ~(np.isnan(out.numpy()) & np.isnan(limit))
    assert not wrong.any(), f"{wrong.sum()} values off, {np.nanmax(error / limit)} times the bound"


@pytest.mark.parametrize("b_form", STORED)
@pytest.mark.parametrize("a_form", STORED)
def test_formats(run, a_form, b_form):
    if {a_form, b_form} <= {"bf16", "fp16"}:
        pytest.skip("no operand is scaled")
    numeric.interpreter_is_wrong_on_bf16(a_form, b_form)
    numeric.interpreter_is_wrong("f16 operands are decoded as 8-bit floats", "fp16" in (a_form, b_form))
    check(run, a_form, b_form, 32, 32, 64)


@pytest.mark.parametrize("m, n, k", [(16, 16, 32), (64, 32, 128), (128, 128, 64), (32, 16, 256)])
@pytest.mark.parametrize("form", ("e2m1", "e4m3", "e5m2"))
def test_shapes(run, form, m, n, k):
    check(run, form, form, m, n, k)


@pytest.mark.parametrize("a_axis, b_axis", [(0, 0), (1, 1), (0, 1)])
def test_fp4_packed_along_the_outer_dimension(run, a_axis, b_axis):
    check(run, "e2m1", "e2m1", 32, 64, 64, a_axis, b_axis)


def test_scale_of_nan(run):
    """A scale of 255 makes its group NaN."""

    def spoil(exponents: torch.Tensor, factors: np.ndarray) -> None:
        exponents[3, 1] = 255
        factors[3, GROUP : 2 * GROUP] = np.nan

    check(run, "e4m3", "e4m3", 16, 16, 64, change=spoil)


def test_extreme_scales(run):
    """Powers of two near both ends, of products that bfloat16 and f32 can still hold."""

    def stretch(exponents: torch.Tensor, factors: np.ndarray) -> None:
        for row, exponent in ((0, 12), (1, 30), (2, 180), (3, 215)):
            exponents[row], factors[row] = exponent, 2.0 ** (exponent - 127)

    check(run, "e5m2", "e4m3", 16, 16, 64, change=stretch)


@pytest.mark.parametrize("form", ("e2m1", "e4m3", "e5m2"))
def test_beside_f16_scaled_elements_are_f16(run, form):
    """Scales from 2 ** -26 to 2 ** 8: f16 rounds small products of an element and its scale, and has no large
    ones."""
    numeric.interpreter_is_wrong("f16 operands are decoded as 8-bit floats", True)
    m, n, k = 32, 16, 64
    (a, a_values), (b, b_values) = operand(m, k, form, 0, 1), operand(k, n, "fp16", 1, 0)
    exponents = (127 - 26 + np.arange(m, dtype=np.uint8))[:, None].repeat(k // GROUP, 1)
    exponents[-1] = 127 + 15  # the largest power of two of f16; twice that is infinite
    out = numeric.poisoned((m, n), "f32")
    shapes = tuple(a.shape), tuple(b.shape)
    run(scaled, 1, a, torch.from_numpy(exponents), b, None, out, form, "fp16", *shapes, True, True, m, n, k)
    factors = (2.0 ** (exponents.astype(int) - 127)).astype(np.float16)
    with np.errstate(over="ignore"):
        held = a_values.astype(np.float16) * np.repeat(factors, GROUP, 1)
    assert np.isfinite(held).all(1).tolist() == [True] * (m - 1) + [False]
    assert not np.isfinite(out.numpy()[-1]).any()
    exact = held[:-1].astype(np.float64)
    error = np.abs(out.numpy()[:-1] - exact @ b_values)
    assert (error <= k * 2.0**-24 * (np.abs(exact) @ np.abs(b_values))).all()

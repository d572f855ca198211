"""passes/join_reductions.py: reductions in one walk have the values that they have apart, bit by bit."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl

BLOCK, ROWS = 2048, 3


@triton.jit
def moments(x_ptr, y_ptr, center_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=0)
    y = tl.load(y_ptr + row * n + i, mask=i < n, other=0)
    center = tl.load(center_ptr + row)
    total = tl.sum(tl.where(i < n, x, 0), 0)
    tl.store(out_ptr + 4 * row, total)
    apart = y - center
    tl.store(out_ptr + 4 * row + 1, tl.sum(tl.where(i < n, x * apart, 0), 0))
    tl.store(out_ptr + 4 * row + 2, tl.max(tl.where(i < n, x, -100), 0))
    tl.store(out_ptr + 4 * row + 3, tl.min(tl.where(i < n, apart, total), 0))


def launched(run, x, y, center, dtype, optimise):
    out = numeric.poisoned((ROWS, 4), dtype)
    arguments = (numeric.tensor(each, dtype) for each in (x, y, center))
    # a driver may take either product of a * b + c * d into one rounding with the addition
    return out, run(moments, ROWS, *arguments, out, x.shape[1], BLOCK, optimise=optimise,
                    enable_fp_fusion=False)


@pytest.mark.parametrize("dtype", ("f32", "f64", "i32", "i64"))
@pytest.mark.parametrize("count", (1, 15, 1000, 1025, 1536, 2048))
def test_values(run, dtype, count):
    x, y, center = (numeric.whole((ROWS, n), dtype, n + i) for i, n in enumerate((count, count, 1)))
    out, _ = launched(run, x, y, center, dtype, "all")
    apart, total = y - center, x.sum(1)
    least = apart.min(1)
    if count < BLOCK:
        least = np.minimum(least, total)
    expected = np.stack([total, (x * apart).sum(1), x.max(1), least], 1)
    numeric.assert_same(out, expected.astype(x.dtype), signed_zeros=False)


@pytest.mark.cpu_device("lanes are not joined")
@pytest.mark.parametrize("dtype", ("f16", "f32", "f64"))
@pytest.mark.parametrize("special", (False, True))
def test_as_apart(run, dtype, special):
    x, y = (numeric.random((ROWS, 1801), dtype, low=-3, high=3, seed=seed) for seed in (1, 2))
    if special:
        values = numeric.specials(dtype)[:900]
        x[0, 7:7 + len(values)], y[2, -len(values):] = values, values
        x[1] = y[1] = -0.0
    center = numeric.random((ROWS, 1), dtype, low=-1, high=1)
    joined, kernel = launched(run, x, y, center, dtype, "all")
    single, other = launched(run, x, y, center, dtype, "-joint-reductions")
    numeric.assert_same(joined, single)
    if kernel is not None:
        walks = [each.asm["plan"].count("walk for reduce") for each in (kernel, other)]
        assert walks == [3 if dtype == "f16" else 2, 4]  # a sum of f16 is one of f32


@triton.jit
def added(a, b):
    return a + b


@triton.jit
def bits_of_either(a, b):
    bits = a.to(tl.int16, bitcast=True) | b.to(tl.int16, bitcast=True)
    return bits.to(a.dtype, bitcast=True)


@triton.jit
def sum_and_bits(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(out_ptr, tl.reduce(x, 0, added))
    tl.store(out_ptr + 1, tl.reduce(x, 0, bits_of_either))


@pytest.mark.cpu_device("lanes are not joined")
@pytest.mark.parametrize("dtype", ("bf16", "f16"))
def test_a_combiner_that_looks_at_bits_leaves_sums_their_precision(run, dtype):
    x = numeric.random((BLOCK,), dtype, low=-3, high=9, seed=5)
    joined, apart = numeric.poisoned((2,), dtype), numeric.poisoned((2,), dtype)
    run(sum_and_bits, 1, numeric.tensor(x, dtype), joined, BLOCK)
    run(sum_and_bits, 1, numeric.tensor(x, dtype), apart, BLOCK, optimise="-joint-reductions")
    numeric.assert_same(joined, numeric.array(apart))
    if dtype == "bf16":
        np.testing.assert_allclose(numeric.array(joined)[0], x.sum(), rtol=2**-8)


@triton.jit
def rows_kernel(x_ptr, out_ptr, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row, i = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + row[:, None] * n + i[None, :], mask=i[None, :] < n, other=0)
    tl.store(out_ptr + row, tl.sum(x, 1))
    tl.store(out_ptr + ROWS + row, tl.max(tl.where(i[None, :] < n, x, -100), 1))


@pytest.mark.cpu_device("lanes have no walks over rows")
@pytest.mark.parametrize("dtype", ("f16", "bf16", "f32", "f64", "i32"))
@pytest.mark.parametrize("shape", ((16, 128), (64, 100), (32, 1000), (128, 17)), ids=str)
def test_rows_together_as_one_by_one(run, dtype, shape):
    rows, columns = shape
    x = numeric.tensor(numeric.random(shape, dtype, low=-3, high=3, seed=columns), dtype)
    made, plans = [], []
    for optimise in ("all", "-joint-reductions"):
        out = numeric.poisoned((2, rows), dtype)
        kernel = run(rows_kernel, 1, x, out, columns, rows, triton.next_power_of_2(columns),
                     optimise=optimise, enable_fp_fusion=False)
        made.append(out)
        plans.append(kernel and kernel.asm["plan"])
    numeric.assert_same(made[0], numeric.array(made[1]))
    assert plans[0] is None or plans[0] != plans[1]

"""Zeros that the compiler sees, beside infinities, NaN and zeros of either sign: IEEE arithmetic, which some
drivers' compilers answer without looking at the other operand."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from numeric import DTYPES, FLOATS
from versions import negated

BLOCK = 32


@triton.jit
def around_zero(x_ptr, out_ptr, BLOCK: tl.constexpr, FUSED: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    zero = tl.zeros([BLOCK], x.dtype)
    negative = zero * -1.0  # a constant; tl.full of -0.0 is 0 in Triton before 3.9
    tl.store(out_ptr + i, x + zero)
    tl.store(out_ptr + BLOCK + i, zero + x)
    tl.store(out_ptr + 2 * BLOCK + i, x - zero)
    tl.store(out_ptr + 3 * BLOCK + i, zero - x)
    tl.store(out_ptr + 4 * BLOCK + i, x * zero)
    tl.store(out_ptr + 5 * BLOCK + i, x + negative)
    tl.store(out_ptr + 6 * BLOCK + i, x * negative)
    tl.store(out_ptr + 7 * BLOCK + i, x - x)
    tl.store(out_ptr + 8 * BLOCK + i, -x)
    tl.store(out_ptr + 9 * BLOCK + i, zero * x + x)
    if x.dtype != tl.bfloat16:
        tl.store(out_ptr + 10 * BLOCK + i, zero / x)
        tl.store(out_ptr + 11 * BLOCK + i, x / zero)
        tl.store(out_ptr + 12 * BLOCK + i, x / x)


@pytest.mark.parametrize("fused", (False, True), ids=("exact", "fused"))
@pytest.mark.parametrize("dtype", FLOATS)
def test_known_zeros(run, dtype, fused):
    known = numeric.specials(dtype)
    x = np.concatenate([known, numeric.random(BLOCK - len(known), dtype)])
    zero, rows = DTYPES[dtype].values(0), 10 if dtype == "bf16" else 13
    out = numeric.poisoned(rows * BLOCK, dtype)
    run(around_zero, 1, numeric.tensor(x, dtype), out, BLOCK, fused, enable_fp_fusion=fused)
    with np.errstate(all="ignore"):
        expected = [x + zero, zero + x, x - zero, zero - x, x * zero, x + -zero, x * -zero, x - x, negated(x),
                    zero * x + x, zero / x, x / zero, x / x]
    numeric.assert_same(out, np.concatenate([row.astype(x.dtype) for row in expected[:rows]]))


@triton.jit
def found_zeros(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    root = tl.sqrt(tl.zeros([BLOCK], x.dtype))
    truth = (i < n).to(tl.int8).to(x.dtype)
    tl.store(out_ptr + i, root / root)
    tl.store(out_ptr + BLOCK + i, x / root)
    tl.store(out_ptr + 2 * BLOCK + i, truth / truth)
    tl.store(out_ptr + 3 * BLOCK + i, x / truth)
    tl.store(out_ptr + 4 * BLOCK + i, x * truth)
    tl.store(out_ptr + 5 * BLOCK + i, (i >> 10).to(x.dtype) - x)


@pytest.mark.parametrize("dtype", ("f32", "f64"))
def test_zeros_that_a_compiler_finds(run, dtype):
    """The root of zero, a truth value as a number, the upper bits of a small one: compilers compute them,
    then forget about NaN and signs."""
    known = numeric.specials(dtype)
    x = np.concatenate([known, numeric.random(BLOCK - len(known), dtype)])
    out = numeric.poisoned(6 * BLOCK, dtype)
    run(found_zeros, 1, numeric.tensor(x, dtype), out, BLOCK // 2, BLOCK)
    root, truth = np.zeros_like(x), (np.arange(BLOCK) < BLOCK // 2).astype(x.dtype)
    with np.errstate(all="ignore"):
        expected = [root / root, x / root, truth / truth, x / truth, x * truth, 0 - x]
    numeric.assert_same(out, np.concatenate(expected))


@triton.jit
def rows_added(x_ptr, out_ptr, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    total = tl.zeros([ROWS, BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        total += tl.load(x_ptr + row * columns + column, mask=column < columns, other=-0.0)
    tl.store(out_ptr + tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.sum(total, axis=1))


@pytest.mark.parametrize("columns", (500, 1024, 2000))  # one round, one whole round, two
def test_zero_and_zeros_of_either_sign_sum_to_zero(run, columns):
    x = np.full((4, columns), -0.0, np.float32)
    x[1, ::3], x[2, 7], x[3, 1:3] = 0.0, np.nan, (1e-40, -1e-40)
    out = numeric.poisoned(4, "f32")
    run(rows_added, 1, numeric.tensor(x, "f32"), out, columns, 4, 1024)
    numeric.assert_same(out, np.array([0.0, 0.0, np.nan, 0.0], np.float32))
    assert not np.signbit(np.asarray(out)[[0, 1, 3]]).any()


@triton.jit
def differences_of_known_numbers(out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    zero = i.to(tl.float32, bitcast=True) - i.to(tl.float32, bitcast=True)
    again = zero - zero
    tl.store(out_ptr + i, zero - tl.abs(zero) * 0.5)
    tl.store(out_ptr + BLOCK + i, again - tl.abs(again) * 0.5)
    tl.store(out_ptr + 2 * BLOCK + i, again * -0.5 + again)


def test_zeros_that_are_differences_of_known_numbers(run):
    """0 - 0 and -0 + 0 are 0: a compiler that knows one operand to be a zero takes the other one for the
    result. Mesa's software device did with LP_NATIVE_VECTOR_WIDTH=512."""
    out = numeric.poisoned(3 * 16, "f32")
    run(differences_of_known_numbers, 1, out, 16)
    assert not np.signbit(out.numpy()).any() and (out.numpy() == 0).all()

"""lower/tensors/reduce.py: any combiner, any axis, several operands.

Sums of floats are compared within the error that adding n values in any order can have, n * eps * sum |x|
(Higham, Accuracy and Stability, 4.2), with a far smaller constant than n since implementations add pairwise;
all else is exact.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from kernels import map_block2d
from numeric import DTYPES, SIGNED, UNSIGNED

SHAPES = [
    (1, 1),
    (1, 16),
    (2, 4),
    (4, 2),
    (8, 8),
    (16, 64),
    (64, 16),
    (1, 4096),
    (512, 2),
    (8, 1024),
    (128, 128),
]


@triton.jit
def load_block(x_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    return tl.load(x_ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])


@triton.jit
def reduce2d(
    x_ptr, out_ptr, AXIS: tl.constexpr, FUNCTION: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    y = FUNCTION(load_block(x_ptr, ROWS, COLUMNS), AXIS)
    if AXIS is None:
        tl.store(out_ptr, y)
    elif AXIS == 0:
        tl.store(out_ptr + tl.arange(0, COLUMNS), y)
    else:
        tl.store(out_ptr + tl.arange(0, ROWS), y)


@triton.jit
def sum_(x, axis: tl.constexpr):
    return tl.sum(x, axis)


@triton.jit
def max_(x, axis: tl.constexpr):
    return tl.max(x, axis)


@triton.jit
def min_(x, axis: tl.constexpr):
    return tl.min(x, axis)


@triton.jit
def xor_(x, axis: tl.constexpr):
    return tl.xor_sum(x, axis)


@triton.jit
def or_(x, axis: tl.constexpr):
    return tl.reduce_or(x, axis)


@triton.jit
def argmax(x, axis: tl.constexpr):
    return tl.argmax(x, axis)


@triton.jit
def argmin(x, axis: tl.constexpr):
    return tl.argmin(x, axis)


@triton.jit
def product_combine(a, b):
    return a * b


@triton.jit
def product(x, axis: tl.constexpr):
    return tl.reduce(x, axis, product_combine)


@triton.jit
def parity_combine(a, b):
    return (a + b) & 7


@triton.jit
def sum_modulo_8(x, axis: tl.constexpr):
    return tl.reduce(x, axis, parity_combine)


@triton.jit
def branching_combine(a, b):
    if a > b:
        c = a
    else:
        c = b
    return c


@triton.jit
def branching_max(x, axis: tl.constexpr):
    return tl.reduce(x, axis, branching_combine)


def reduce(run, function, x, dtype, axis, out_dtype=None):
    shape = np.sum(x, axis=axis).shape
    out = numeric.poisoned(shape or (1,), out_dtype or dtype)
    run(reduce2d, 1, numeric.tensor(x, dtype), out, axis, function, *x.shape)
    return out


@pytest.mark.parametrize("axis", (0, 1, None))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(run, shape, axis):
    x = numeric.random(shape, "i32")
    with np.errstate(over="ignore"):
        numeric.assert_same(reduce(run, sum_, x, "i32", axis), np.sum(x, axis=axis, dtype=np.int32))
    y = numeric.random(shape, "f32")
    numeric.assert_same(reduce(run, max_, y, "f32", axis), np.max(y, axis=axis))


def wide(dtype: str) -> str:
    """tl.sum, max and min of less than 32 bits are computed and returned in 32, but for sums of floats."""
    return {"i": "i32", "u": "u32"}[dtype[0]] if dtype in ("i8", "i16", "u8", "u16") else dtype


@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_sum_of_integers(run, dtype, axis):
    x = numeric.random((16, 32), dtype)
    kind = DTYPES[wide(dtype)].values
    with np.errstate(over="ignore"):
        numeric.assert_same(reduce(run, sum_, x, dtype, axis, wide(dtype)), np.sum(x, axis=axis, dtype=kind))


@pytest.mark.parametrize("axis", (0, 1, None))
@pytest.mark.parametrize("dtype", ("f16", "bf16", "f32", "f64"))
def test_sum_of_floats(run, dtype, axis):
    numeric.interpreter_is_wrong_on_bf16(dtype)
    x = numeric.random((32, 64), dtype)
    exact = x.astype(np.longdouble)
    bound = (
        12 * 2.0 ** -DTYPES[dtype].mantissa
    )  # log2(2048) + 1 roundings, each at most half a step of the running sum
    limit = bound * np.abs(exact).sum(axis=axis)
    error = np.abs(
        numeric.array(reduce(run, sum_, x, dtype, axis)).astype(np.longdouble) - exact.sum(axis=axis)
    )
    assert np.all(error <= limit), (error / limit).max()


@pytest.mark.parametrize("dtype", ("f16", "bf16", "f32", "f64"))
def test_sum_of_whole_floats_is_exact(run, dtype):
    numeric.interpreter_is_wrong_on_bf16(dtype)
    x = np.round(numeric.random((4, 32), dtype, low=-3, high=3))
    numeric.assert_same(reduce(run, sum_, x, dtype, 1), np.sum(x, axis=1), signed_zeros=False)


@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("name", ("max", "min"))
@pytest.mark.parametrize("dtype", numeric.NUMBERS)
def test_max_and_min(run, dtype, name, axis):
    numeric.interpreter_is_wrong_on_bf16(dtype)
    x = numeric.random((16, 32), dtype)
    narrow = {"i": "i32", "u": "i32", "f": "f32", "b": "f32"}[dtype[0]] if DTYPES[dtype].bits < 32 else dtype
    function, reference = {"max": (max_, np.max), "min": (min_, np.min)}[name]
    expected = reference(x, axis=axis).astype(DTYPES[narrow].values)
    numeric.assert_same(reduce(run, function, x, dtype, axis, narrow), expected)


@pytest.mark.parametrize("name", ("max", "min"))
def test_max_and_min_of_specials(run, name):
    """NaN loses against any number; a row of NaN gives NaN; infinities take part."""
    row = np.array([np.nan, 1.0, -np.inf, 5e-324, -0.0, np.inf, np.nan, -2.0])
    x = np.stack(
        [
            row,
            np.roll(row, 3),
            np.where(np.isinf(row), np.nan, row),
            np.full(8, np.nan),
            np.full(8, -np.inf),
            np.full(8, np.inf),
            row[::-1],
            np.where(row == row, row, 0.25),
        ]
    )
    function, reference = {"max": (max_, np.fmax), "min": (min_, np.fmin)}[name]
    numeric.assert_same(reduce(run, function, x, "f64", 1), reference.reduce(x, axis=1), signed_zeros=False)


@pytest.mark.parametrize("dtype", ("i8", "i32", "u64", "i64"))
@pytest.mark.parametrize("name", ("xor", "or"))
def test_bits(run, name, dtype):
    x = numeric.random((8, 64), dtype)
    x[numeric.random((8, 64), "i32", 1) % 8 != 0] = 0  # else the bits of an or are soon all ones
    function, reference = {"xor": (xor_, np.bitwise_xor), "or": (or_, np.bitwise_or)}[name]
    for axis in (0, 1):
        numeric.assert_same(reduce(run, function, x, dtype, axis), reference.reduce(x, axis=axis))


@pytest.mark.parametrize("shape", [(1, 2), (4, 8), (2, 512), (64, 32)], ids=str)
@pytest.mark.parametrize("axis", (0, 1))
def test_own_combiners(run, axis, shape):
    x = numeric.random(shape, "u32")
    with np.errstate(over="ignore"):
        numeric.assert_same(reduce(run, product, x, "u32", axis), np.prod(x, axis=axis, dtype=np.uint32))
    small = numeric.random(shape, "i32", low=0, high=8)
    numeric.assert_same(
        reduce(run, sum_modulo_8, small, "i32", axis), np.sum(small, axis=axis, dtype=np.int32) & 7
    )
    signed = numeric.random(shape, "i32")
    numeric.assert_same(reduce(run, branching_max, signed, "i32", axis), np.max(signed, axis=axis))


# ---- combiners that branch


@triton.jit
def saturating(a, b):
    """Both sides compute something."""
    if a > 100 - b:
        c = a * 0 + 100
    else:
        c = a + b
    return c


@triton.jit
def of_larger_size(a, b):
    """Early returns, one inside of a branch."""
    if a < 0:
        if b < 0:
            return tl.minimum(a, b).to(a.dtype)  # Triton before 3.9: f32, of two bf16
        if -a > b:
            return a
        return b
    if b < 0:
        return tl.where(a > -b, a, b)
    return tl.maximum(a, b).to(a.dtype)


@triton.jit
def without_division_by_zero(a, b):
    """The greatest power of two that divides both, where the other side would divide by zero."""
    c = a | b
    if c != 0:
        c = 64 // (64 // (c & -c))
    return c


@triton.jit
def saturating_sum(x, axis: tl.constexpr):
    return tl.reduce(x, axis, saturating)


@triton.jit
def largest_size(x, axis: tl.constexpr):
    return tl.reduce(x, axis, of_larger_size)


@triton.jit
def common_power(x, axis: tl.constexpr):
    return tl.reduce(x, axis, without_division_by_zero)


@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("shape", [(1, 2), (4, 8), (2, 512), (64, 32)], ids=str)
@pytest.mark.parametrize("dtype", ("i8", "i32", "i64", "f16", "f32", "bf16"))
def test_branching_combiners(run, dtype, shape, axis):
    """Whole numbers, exact in every type: sums that stop at 100, the number of the largest size."""
    numeric.interpreter_is_wrong_on_bf16(dtype)
    x = np.floor(numeric.random(shape, dtype, low=0, high=20)).astype(DTYPES[dtype].values)
    sums = np.minimum(x.astype(np.int64).sum(axis), 100)
    numeric.assert_same(reduce(run, saturating_sum, x, dtype, axis), sums.astype(x.dtype))
    generator = np.random.default_rng(1)
    x = (x * generator.choice([-1, 1], shape)).astype(x.dtype)
    x[np.abs(x) == np.abs(x).max(axis, keepdims=True)] = -21  # one sign for those of the largest size
    size = np.abs(x.astype(np.int64)).max(axis)
    numeric.assert_same(reduce(run, largest_size, x, dtype, axis), (-size).astype(x.dtype))


@pytest.mark.parametrize("shape", [(4, 8), (2, 512)], ids=str)
def test_the_side_not_taken_does_no_harm(run, shape):
    x = np.left_shift(1, numeric.random(shape, "i32", low=2, high=7)) * numeric.random(shape, "i32", 1, 0, 2)
    x = x.astype(np.int32)
    x[0] = 0
    expected = np.array([np.bitwise_or.reduce(row) & -np.bitwise_or.reduce(row) for row in x], np.int32)
    numeric.assert_same(reduce(run, common_power, x, "i32", 1), expected)


# ---- indices


@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("shape", [(1, 1), (2, 8), (8, 2), (32, 64), (4, 1024)], ids=str)
@pytest.mark.parametrize("dtype", ("i32", "u8", "i64", "f16", "f32", "f64"))
@pytest.mark.parametrize("name", ("argmax", "argmin"))
def test_argmax_takes_the_first(run, name, dtype, shape, axis):
    """Few distinct values, so ties abound; the left one wins."""
    x = numeric.random(shape, dtype, low=0, high=4)
    x = np.floor(x).astype(x.dtype)
    function, reference = {"argmax": (argmax, np.argmax), "argmin": (argmin, np.argmin)}[name]
    expected = reference(x, axis=axis).astype(np.int32)
    numeric.assert_same(reduce(run, function, x, dtype, axis, "i32"), expected)


@triton.jit
def with_index(x_ptr, value_ptr, index_ptr, LEFT: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    x = load_block(x_ptr, ROWS, COLUMNS)
    value, index = tl.max(x, 1, return_indices=True, return_indices_tie_break_left=LEFT)
    tl.store(value_ptr + tl.arange(0, ROWS), value)
    tl.store(index_ptr + tl.arange(0, ROWS), index)


@pytest.mark.parametrize("left", (True, False))
def test_max_with_index(run, left):
    x = np.floor(numeric.random((16, 64), "f32", low=0, high=9))
    value, index = numeric.poisoned(16, "f32"), numeric.poisoned(16, "i32")
    run(with_index, 1, numeric.tensor(x, "f32"), value, index, left, 16, 64)
    numeric.assert_same(value, x.max(1))
    if left:
        numeric.assert_same(index, x.argmax(1).astype(np.int32))
    assert np.array_equal(x[np.arange(16), index.numpy()], x.max(1))


def test_argmax_of_nan_stays_in_range(run):
    """Which index NaN gives depends on the order of combination: only its range is promised."""
    x = numeric.random((8, 32), "f32")
    x[:4, ::3] = np.nan
    x[4] = np.nan
    index = numeric.array(reduce(run, argmax, x, "f32", 1, "i32")) if not numeric.INTERPRETED else np.zeros(8)
    assert np.all((index >= 0) & (index < 32))


# ---- several operands


@triton.jit
def moments(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    """Chan's merge of two sets' count, mean and sum of squared deviations."""
    count = count_a + count_b
    delta = mean_b - mean_a
    return count, mean_a + delta * count_b / count, m2_a + m2_b + delta * delta * count_a * count_b / count


@triton.jit
def welford(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    x = load_block(x_ptr, ROWS, COLUMNS)
    ones, zeros = tl.full([ROWS, COLUMNS], 1.0, tl.float32), tl.zeros([ROWS, COLUMNS], tl.float32)
    count, mean, m2 = tl.reduce((ones, x, zeros), 1, moments)
    rows = tl.arange(0, ROWS)
    tl.store(out_ptr + rows, count)
    tl.store(out_ptr + ROWS + rows, mean)
    tl.store(out_ptr + 2 * ROWS + rows, m2 / count)


@pytest.mark.parametrize("shape", [(1, 1), (2, 4), (16, 64), (4, 1024)], ids=str)
def test_three_operands(run, shape):
    x, out = numeric.random(shape, "f32"), numeric.poisoned((3, shape[0]), "f32")
    run(welford, 1, numeric.tensor(x, "f32"), out, *shape)
    wide = x.astype(np.float64)
    expected = np.stack([np.full(shape[0], float(shape[1])), wide.mean(1), wide.var(1)])
    numeric.assert_close(out, expected, 1e-5, 1e-6)  # some ten dependent f32 operations per level


@triton.jit
def pair_combine(value_a, tag_a, value_b, tag_b):
    take = (value_a > value_b) | ((value_a == value_b) & (tag_a < tag_b))
    return tl.where(take, value_a, value_b), tl.where(take, tag_a, tag_b)


@triton.jit
def best_tag(x_ptr, tag_ptr, out_ptr, AXIS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    value, tag = tl.reduce(
        (load_block(x_ptr, ROWS, COLUMNS), load_block(tag_ptr, ROWS, COLUMNS)), AXIS, pair_combine
    )
    tl.store(out_ptr + tl.arange(0, ROWS if AXIS == 1 else COLUMNS), tag + value.to(tl.int64))


@pytest.mark.parametrize("axis", (0, 1))
def test_operands_of_different_dtypes(run, axis):
    x = np.floor(numeric.random((32, 16), "f32", low=0, high=5))
    tag = numeric.random((32, 16), "i64", low=10, high=2**40)
    out = numeric.poisoned(x.shape[1 - axis], "i64")
    run(best_tag, 1, numeric.tensor(x, "f32"), numeric.tensor(tag, "i64"), out, axis, 32, 16)
    best = x.max(axis, keepdims=True)
    expected = np.where(x == best, tag, 2**62).min(axis) + best.reshape(-1).astype(np.int64)
    numeric.assert_same(out, expected)


# ---- three dimensions, kept dimensions, reductions of reductions


@triton.jit
def reduce3d(
    x_ptr, out_ptr, AXIS: tl.constexpr, KEEP: tl.constexpr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr
):
    x = tl.reshape(tl.load(x_ptr + tl.arange(0, A * B * C)), [A, B, C])
    y = tl.sum(x, AXIS, keep_dims=KEEP)
    if KEEP:
        y = tl.broadcast_to(y, [A, B, C]) - x
    tl.store(out_ptr + tl.arange(0, y.numel), tl.reshape(y, [y.numel]))


@pytest.mark.parametrize("keep", (False, True))
@pytest.mark.parametrize("axis", (0, 1, 2, -1))
@pytest.mark.parametrize("shape", [(2, 2, 2), (4, 8, 16), (16, 1, 4), (2, 64, 8)], ids=str)
def test_three_dimensions(run, shape, axis, keep):
    x = numeric.random(shape, "i32", low=-1000, high=1000)
    expected = x.sum(axis, keepdims=keep, dtype=np.int32)
    expected = (expected - x if keep else expected).reshape(-1)
    out = numeric.poisoned(len(expected), "i32")
    run(reduce3d, 1, numeric.tensor(x, "i32"), out, axis, keep, *shape)
    numeric.assert_same(out, expected)


@triton.jit
def normalise(x):
    """Reductions feeding each other through broadcasts: one over rows, one over columns, one over all."""
    x -= tl.max(x, 1)[:, None]
    x += tl.sum(x, 0)[None, :]
    return x - tl.min(x)


@pytest.mark.parametrize("shape", [(2, 2), (16, 32), (64, 8)], ids=str)
def test_chained(run, shape):
    x = numeric.random(shape, "i32", low=-100, high=100)
    out = numeric.poisoned(x.size, "i32")
    run(map_block2d, 1, numeric.tensor(x, "i32"), out, shape[1], 1, normalise, *shape)
    x = x - x.max(1, keepdims=True)
    x = x + x.sum(0, keepdims=True, dtype=np.int32)
    numeric.assert_same(out, (x - x.min()).reshape(-1))


@triton.jit
def masked_mean(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + i, mask=i < n, other=-float("inf"))
    tl.store(out_ptr + 2 * tl.program_id(0), tl.max(x, 0))
    tl.store(out_ptr + 2 * tl.program_id(0) + 1, tl.sum(tl.where(i < n, x, 0.0), 0))


@pytest.mark.parametrize("count", (1, 3, 17, 100, 1000))
def test_masked_rows(run, count):
    x, out = np.round(numeric.random((3, count), "f32", low=-50, high=50)), numeric.poisoned((3, 2), "f32")
    run(masked_mean, 3, numeric.tensor(x, "f32"), out, count, triton.next_power_of_2(count))
    numeric.assert_same(out, np.stack([x.max(1), x.sum(1)], 1), signed_zeros=False)

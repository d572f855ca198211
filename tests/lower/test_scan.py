"""lower/tensors/scan.py: prefix sums and any associative combiner, along any axis, forwards and
backwards, several operands.

A scan combines in order (left operand: what came before), so combiners need not commute; integers make that
exact.
"""

from __future__ import annotations

import itertools

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from numeric import DTYPES, SIGNED, UNSIGNED
from versions import TRITON

SHAPES = [
    (1, 1),
    (1, 16),
    (2, 4),
    (4, 2),
    (8, 8),
    (16, 64),
    (64, 16),
    (1, 2048),
    (512, 2),
    (8, 1024),
    (128, 32),
]


@triton.jit
def load_block(x_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    return tl.load(x_ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])


@triton.jit
def store_block(out_ptr, x, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :], x)


@triton.jit
def scan2d(x_ptr, out_ptr, AXIS: tl.constexpr, REVERSE: tl.constexpr, FUNCTION: tl.constexpr,
           ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    y = FUNCTION(load_block(x_ptr, ROWS, COLUMNS), AXIS, REVERSE)
    store_block(out_ptr, y, ROWS, COLUMNS)


@triton.jit
def cumsum(x, axis: tl.constexpr, reverse: tl.constexpr):
    return tl.cumsum(x, axis, reverse=reverse)


@triton.jit
def cumprod(x, axis: tl.constexpr, reverse: tl.constexpr):
    return tl.cumprod(x, axis, reverse=reverse)


@triton.jit
def maximum(a, b):
    return tl.maximum(a, b)


@triton.jit
def running_max(x, axis: tl.constexpr, reverse: tl.constexpr):
    return tl.associative_scan(x, axis, maximum, reverse=reverse)


@triton.jit
def last_nonzero(a, b):
    return tl.where(b != 0, b, a)


@triton.jit
def carry_forward(x, axis: tl.constexpr, reverse: tl.constexpr):
    return tl.associative_scan(x, axis, last_nonzero, reverse=reverse)


def scan(run, function, x, dtype, axis, reverse=False, out_dtype=None):
    out = numeric.poisoned(x.shape, out_dtype or dtype)
    run(scan2d, 1, numeric.tensor(x, dtype), out, axis, reverse, function, *x.shape)
    return out


def along(function, x: np.ndarray, axis: int, reverse: bool) -> np.ndarray:
    """function(x, axis), taken from the end when reversed."""
    return np.flip(function(np.flip(x, axis), axis), axis) if reverse else function(x, axis)


@pytest.mark.parametrize("reverse", (False, True), ids=("forward", "reverse"))
@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(run, shape, axis, reverse):
    x = numeric.random(shape, "i32")
    expected = along(lambda a, d: np.cumsum(a, d, dtype=np.int32), x, axis, reverse)
    numeric.assert_same(scan(run, cumsum, x, "i32", axis, reverse), expected)


def wide(dtype: str) -> str:
    """tl.cumsum of narrow integers is computed and returned in 32 bits."""
    return {"i": "i32", "u": "u32"}[dtype[0]] if dtype in ("i8", "i16", "u8", "u16") else dtype


@pytest.mark.parametrize(
    "function, reference", [(cumsum, np.cumsum), (cumprod, np.cumprod)], ids=("sum", "product")
)
@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_integers(run, function, reference, dtype):
    x, kind = numeric.random((8, 32), dtype), DTYPES[wide(dtype)].values
    wraps = function is cumprod and TRITON < (3, 9)  # then tl.cumprod kept the type
    with np.errstate(over="ignore"):
        expected = reference(x, axis=1, dtype=x.dtype if wraps else kind).astype(kind)
    numeric.assert_same(scan(run, function, x, dtype, 1, False, wide(dtype)), expected)


@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("dtype", ("f16", "bf16", "f32", "f64"))
def test_sums_of_floats(run, dtype, axis):
    """Whole numbers are exact; others within the rounding of n additions in any order."""
    numeric.interpreter_is_wrong_on_bf16(dtype)
    x = np.round(numeric.random((16, 32), dtype, low=-3, high=3))
    numeric.assert_same(scan(run, cumsum, x, dtype, axis), np.cumsum(x, axis=axis), signed_zeros=False)
    x = numeric.random((16, 32), dtype)
    got = numeric.array(scan(run, cumsum, x, dtype, axis)).astype(np.longdouble)
    limit = 32 * 2.0 ** -(DTYPES[dtype].mantissa + 1) * np.cumsum(np.abs(x.astype(np.longdouble)), axis=axis)
    assert np.all(np.abs(got - np.cumsum(x.astype(np.longdouble), axis=axis)) <= limit)


@pytest.mark.parametrize("dtype", ("f32", "f64"))
def test_products_of_floats(run, dtype):
    x = numeric.random((4, 64), dtype, low=0.5, high=1.9)
    expected = np.cumprod(x.astype(np.longdouble), axis=1)
    # each of up to 63 products is half an ulp off at most
    numeric.assert_close(
        scan(run, cumprod, x, dtype, 1), expected, 64 * 2.0 ** -(DTYPES[dtype].mantissa + 1), 0
    )


@pytest.mark.parametrize("reverse", (False, True), ids=("forward", "reverse"))
@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("dtype", ("i8", "u16", "f16", "f32"))
def test_running_maximum(run, dtype, axis, reverse):
    x = numeric.random((16, 16), dtype)
    numeric.assert_same(
        scan(run, running_max, x, dtype, axis, reverse), along(np.maximum.accumulate, x, axis, reverse)
    )


@pytest.mark.parametrize("reverse", (False, True), ids=("forward", "reverse"))
@pytest.mark.parametrize("shape", [(1, 8), (4, 64), (32, 4), (2, 1024)], ids=str)
def test_combiner_that_does_not_commute(run, shape, reverse):
    """The latest value that is not zero: the right operand wins."""
    x = numeric.random(shape, "i32")
    x[numeric.random(shape, "i32", 1) % 3 != 0] = 0

    def fill(a: np.ndarray, axis: int) -> np.ndarray:
        index = np.where(
            a != 0, np.arange(a.shape[axis]).reshape([-1 if d == axis else 1 for d in range(2)]), 0
        )
        return np.take_along_axis(a, np.maximum.accumulate(index, axis), axis)

    for axis in (0, 1):
        numeric.assert_same(scan(run, carry_forward, x, "i32", axis, reverse), along(fill, x, axis, reverse))


# ---- several operands


@triton.jit
def compose(scale_a, shift_a, scale_b, shift_b):
    """First x -> a x + b, then the second of them."""
    return scale_a * scale_b, shift_a * scale_b + shift_b


@triton.jit
def recurrence(scale_ptr, shift_ptr, out_ptr, AXIS: tl.constexpr, REVERSE: tl.constexpr, ROWS: tl.constexpr,
               COLUMNS: tl.constexpr):
    maps = (load_block(scale_ptr, ROWS, COLUMNS), load_block(shift_ptr, ROWS, COLUMNS))
    scale, shift = tl.associative_scan(maps, AXIS, compose, reverse=REVERSE)
    store_block(out_ptr, scale, ROWS, COLUMNS)
    store_block(out_ptr + ROWS * COLUMNS, shift, ROWS, COLUMNS)


@pytest.mark.parametrize("reverse", (False, True), ids=("forward", "reverse"))
@pytest.mark.parametrize("shape, axis", [((1, 16), 1), ((8, 64), 1), ((64, 8), 0), ((2, 512), 1)], ids=str)
def test_linear_recurrence(run, shape, axis, reverse):
    """Two operands, no commutativity, and wrapping integers, so that any slip of order shows."""
    scale, shift = numeric.random(shape, "u32", 0), numeric.random(shape, "u32", 1)
    out = numeric.poisoned((2, *shape), "u32")
    run(recurrence, 1, numeric.tensor(scale, "u32"), numeric.tensor(shift, "u32"), out, axis, reverse, *shape)
    expected = np.zeros((2, *shape), np.uint32)
    order = range(shape[axis])[:: -1 if reverse else 1]
    a, b = np.ones(shape[1 - axis], np.uint32), np.zeros(shape[1 - axis], np.uint32)
    for i in order:
        at = (slice(None), i) if axis == 1 else (i, slice(None))
        a, b = a * scale[at], b * scale[at] + shift[at]
        expected[(0, *at)], expected[(1, *at)] = a, b
    numeric.assert_same(out, expected)


@triton.jit
def scan3d(x_ptr, out_ptr, AXIS: tl.constexpr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, A * B * C)
    x = tl.reshape(tl.load(x_ptr + i), [A, B, C])
    tl.store(out_ptr + i, tl.reshape(tl.cumsum(x, AXIS), [A * B * C]))


@pytest.mark.parametrize("axis", (0, 1, 2, -1))
@pytest.mark.parametrize("shape", [(2, 2, 2), (4, 8, 16), (16, 2, 1), (2, 64, 4)], ids=str)
def test_three_dimensions(run, shape, axis):
    x, out = numeric.random(shape, "i32"), numeric.poisoned(shape, "i32")
    run(scan3d, 1, numeric.tensor(x, "i32"), out, axis, *shape)
    numeric.assert_same(out, np.cumsum(x, axis, dtype=np.int32))


@triton.jit
def compact(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Stream compaction: a scan gives each kept element its place."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    keep = (x > 0) & (i < n)
    place = tl.cumsum(keep.to(tl.int32), 0) - 1
    tl.store(out_ptr + place, x, mask=keep)


@pytest.mark.parametrize("count", (1, 7, 100, 1000))
def test_compaction(run, count):
    x, out = numeric.random(count, "i32"), numeric.poisoned(count, "i32")
    expected = out.numpy().copy()
    expected[: (x > 0).sum()] = x[x > 0]
    run(compact, 1, numeric.tensor(x, "i32"), out, count, triton.next_power_of_2(count))
    numeric.assert_same(out, expected)


# ---- large blocks, and blocks below the width of a vector


@triton.jit
def vectors(scale_ptr, shift_ptr, out_ptr, REVERSE: tl.constexpr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    maps = (tl.load(scale_ptr + i), tl.load(shift_ptr + i))
    scale, shift = tl.associative_scan(maps, 0, compose, reverse=REVERSE)
    tl.store(out_ptr + i, scale)
    tl.store(out_ptr + SIZE + i, shift)


def recurrences(scale, shift, axis, reverse):
    """The linear maps composed along an axis; element by element, wrapping."""
    out = np.zeros((2, *scale.shape), scale.dtype)
    a, b = np.ones_like(scale.take(0, axis)), np.zeros_like(scale.take(0, axis))
    for i in range(scale.shape[axis])[:: -1 if reverse else 1]:
        a, b = a * scale.take(i, axis), b * scale.take(i, axis) + shift.take(i, axis)
        at = tuple(i if d == axis else slice(None) for d in range(scale.ndim))
        out[(0, *at)], out[(1, *at)] = a, b
    return out


@pytest.mark.parametrize("reverse", (False, True), ids=("forward", "reverse"))
@pytest.mark.parametrize("size", (1, 2, 4, 8, 16, 32, 512, 1024, 4096))
@pytest.mark.parametrize("dtype", ("u8", "u32", "u64"))
def test_recurrence_of_vectors(run, dtype, size, reverse):
    scale, shift = numeric.random(size, dtype, 2), numeric.random(size, dtype, 3)
    out = numeric.poisoned((2, size), dtype)
    run(vectors, 1, numeric.tensor(scale, dtype), numeric.tensor(shift, dtype), out, reverse, size)
    with np.errstate(over="ignore"):
        numeric.assert_same(out, recurrences(scale, shift, 0, reverse))


@pytest.mark.parametrize("reverse", (False, True), ids=("forward", "reverse"))
@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("shape", [(128, 128), (4, 1024), (1024, 4), (256, 8)], ids=str)
def test_recurrence_of_large_blocks(run, shape, axis, reverse):
    scale, shift = numeric.random(shape, "u32", 4), numeric.random(shape, "u32", 5)
    out = numeric.poisoned((2, *shape), "u32")
    run(recurrence, 1, numeric.tensor(scale, "u32"), numeric.tensor(shift, "u32"), out, axis, reverse, *shape)
    numeric.assert_same(out, recurrences(scale, shift, axis, reverse))


@triton.jit
def later_of_equals(value_a, index_a, value_b, index_b):
    take = value_b >= value_a
    return tl.where(take, value_b, value_a), tl.where(take, index_b, index_a)


@triton.jit
def running_argmax(x_ptr, value_ptr, index_ptr, REVERSE: tl.constexpr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    x = tl.load(x_ptr + i)
    value, index = tl.associative_scan((x, i.to(tl.int64)), 0, later_of_equals, reverse=REVERSE)
    tl.store(value_ptr + i, value)
    tl.store(index_ptr + i, index)


@pytest.mark.parametrize("reverse", (False, True), ids=("forward", "reverse"))
@pytest.mark.parametrize("size", (4, 64, 2048))
@pytest.mark.parametrize("dtype", ("f16", "bf16", "i8"))
def test_operands_of_different_types(run, dtype, size, reverse):
    numeric.interpreter_is_wrong_on_bf16(dtype)
    x = numeric.random(size, dtype)
    value, index = numeric.poisoned(size, dtype), numeric.poisoned(size, "i64")
    run(running_argmax, 1, numeric.tensor(x, dtype), value, index, reverse, size)
    best, where = x.copy(), np.arange(size)
    order = range(size)[:: -1 if reverse else 1]
    for before, i in itertools.pairwise(order):
        if not x[i] >= best[before]:
            best[i], where[i] = best[before], where[before]
    numeric.assert_same(value, best)
    numeric.assert_same(index, where)


@triton.jit
def exclusive_or(a, b):
    return a ^ b


@triton.jit
def parities(x_ptr, out_ptr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    tl.store(out_ptr + i, tl.associative_scan(tl.load(x_ptr + i) != 0, 0, exclusive_or))


@pytest.mark.parametrize("size", (2, 16, 256, 4096))
def test_bits(run, size):
    """A scan of i1."""
    x, out = numeric.random(size, "i32", low=0, high=2), numeric.poisoned(size, "i1")
    run(parities, 1, numeric.tensor(x, "i32"), out, size)
    numeric.assert_same(out, np.cumsum(x) % 2 == 1)


@pytest.mark.parametrize("reverse", (False, True), ids=("forward", "reverse"))
@pytest.mark.parametrize("function", (cumsum, running_max), ids=("sum", "maximum"))
def test_nan_and_infinity_go_forward_only(run, function, reverse):
    """What stands behind a NaN does not change what stands before it."""
    x = numeric.random((4, 1024), "f32")
    x[0, 500], x[1, 3], x[2, 700], x[3, 1020] = np.nan, np.inf, -np.inf, np.nan
    x[1, 900] = -np.inf
    got = numeric.array(scan(run, function, x, "f32", 1, reverse))
    with np.errstate(invalid="ignore"):
        reference = np.cumsum if function is cumsum else np.fmax.accumulate
        expected = along(lambda a, d: reference(a, axis=d), x.astype(np.float64), 1, reverse)
    assert np.array_equal(np.isnan(got), np.isnan(expected))
    assert np.array_equal(np.isinf(got), np.isinf(expected))
    np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3)


# ---- combiners that branch


@triton.jit
def branching(a, b):
    """The latest value that is not zero, by an early return."""
    if b != 0:
        return b
    return a


@triton.jit
def scan_rows(x_ptr, out_ptr, REVERSE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    x = load_block(x_ptr, ROWS, COLUMNS)
    store_block(out_ptr, tl.associative_scan(x, 1, branching, reverse=REVERSE), ROWS, COLUMNS)


@pytest.mark.parametrize("reverse", (False, True), ids=("forward", "reverse"))
@pytest.mark.parametrize("shape", [(1, 1), (2, 4), (8, 16), (16, 128)], ids=str)
def test_combiner_with_early_return(run, shape, reverse):
    x = numeric.random(shape, "i32")
    x[numeric.random(shape, "i32", 1) % 3 != 0] = 0
    out = numeric.poisoned(shape, "i32")
    run(scan_rows, 1, numeric.tensor(x, "i32"), out, reverse, *shape)
    expected = np.flip(x, 1).copy() if reverse else x.copy()
    for i in range(1, shape[1]):
        expected[:, i] = np.where(expected[:, i] != 0, expected[:, i], expected[:, i - 1])
    numeric.assert_same(out, np.flip(expected, 1) if reverse else expected)

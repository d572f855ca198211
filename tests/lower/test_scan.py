"""lower/scan.py: prefix sums and any associative combiner, along any axis, forwards and backwards, several
operands.

A scan combines in order (left operand: what came before), so combiners need not commute; integers make that
exact.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from numeric import DTYPES, SIGNED, UNSIGNED

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
    with np.errstate(over="ignore"):
        expected = reference(x, axis=1, dtype=kind)
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

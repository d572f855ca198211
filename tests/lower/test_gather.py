"""lower/tensors/gather.py: picking elements of a block by an index block of the same rank; exact."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def gather2d(x_ptr, index_ptr, out_ptr, AXIS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
             INDEX_ROWS: tl.constexpr, INDEX_COLUMNS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    place = tl.arange(0, INDEX_ROWS)[:, None] * INDEX_COLUMNS + tl.arange(0, INDEX_COLUMNS)[None, :]
    tl.store(out_ptr + place, tl.gather(x, tl.load(index_ptr + place), AXIS))


CASES = [
    ((1, 1), (1, 1), 1),
    ((4, 8), (4, 8), 1),
    ((4, 8), (4, 2), 1),
    ((4, 8), (4, 64), 1),
    ((8, 4), (8, 4), 0),
    ((8, 4), (2, 4), 0),
    ((16, 64), (128, 64), 0),
    ((128, 64), (128, 64), 1),
    ((2, 512), (2, 512), 1),
]


@pytest.mark.parametrize("shape, index_shape, axis", CASES, ids=str)
@pytest.mark.parametrize("dtype", ("i8", "f16", "f32", "i64"))
def test_gather(run, dtype, shape, index_shape, axis):
    """The index may be smaller or larger than the source along the axis, and repeat."""
    x, index = numeric.random(shape, dtype), numeric.random(index_shape, "i32", 1, low=0, high=shape[axis])
    out = numeric.poisoned(index_shape, dtype)
    run(gather2d, 1, numeric.tensor(x, dtype), numeric.tensor(index, "i32"), out, axis, *shape, *index_shape)
    numeric.assert_same(out, np.take_along_axis(x, index.astype(np.int64), axis))


@pytest.mark.parametrize("index_dtype", ("i8", "u8", "i16", "u32", "i64"))
def test_index_dtypes(run, index_dtype):
    x, index = numeric.random((4, 64), "f32"), numeric.random((4, 64), index_dtype, 1, low=0, high=64)
    out = numeric.poisoned((4, 64), "f32")
    run(gather2d, 1, numeric.tensor(x, "f32"), numeric.tensor(index, index_dtype), out, 1, 4, 64, 4, 64)
    numeric.assert_same(out, np.take_along_axis(x, index.astype(np.int64), 1))


@triton.jit
def permute_twice(x_ptr, index_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    index = tl.load(index_ptr + i)
    once = tl.gather(tl.load(x_ptr + i) * 2, index, 0)
    tl.store(out_ptr + i, tl.gather(once, index, 0) + once)


@pytest.mark.parametrize("size", (1, 2, 8, 16, 1024))
def test_one_dimension_of_computed_values(run, size):
    x, index = (
        numeric.random(size, "i32", low=0, high=999),
        np.random.default_rng(0).permutation(size).astype(np.int32),
    )
    out = numeric.poisoned(size, "i32")
    run(permute_twice, 1, numeric.tensor(x, "i32"), numeric.tensor(index, "i32"), out, size)
    once = (x * 2)[index]
    numeric.assert_same(out, once[index] + once)


@triton.jit
def gather3d(x_ptr, index_ptr, out_ptr, AXIS: tl.constexpr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr,
             D: tl.constexpr, E: tl.constexpr, F: tl.constexpr):  # fmt: skip
    x = tl.reshape(tl.load(x_ptr + tl.arange(0, A * B * C)), [A, B, C])
    i = tl.arange(0, D * E * F)
    index = tl.reshape(tl.load(index_ptr + i), [D, E, F])
    tl.store(out_ptr + i, tl.reshape(tl.gather(x, index, AXIS), [D * E * F]))


@pytest.mark.parametrize(
    "shape, index_shape, axis",
    [
        ((2, 4, 8), (2, 4, 8), 2),
        ((2, 4, 8), (2, 16, 8), 1),
        ((16, 8, 4), (2, 8, 4), 0),
        ((64, 4, 8), (64, 4, 1), 2),
        ((2, 1, 2), (2, 1, 2), -1),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ("bf16", "i16"))
def test_three_dimensions(run, dtype, shape, index_shape, axis):
    x, index = numeric.random(shape, dtype), numeric.random(index_shape, "i32", 1, low=0, high=shape[axis])
    out = numeric.poisoned(index_shape, dtype)
    run(gather3d, 1, numeric.tensor(x, dtype), numeric.tensor(index, "i32"), out, axis, *shape, *index_shape)
    numeric.assert_same(out, np.take_along_axis(x, index.astype(np.int64), axis))


@triton.jit
def gather_bits(x_ptr, index_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    odd = tl.load(x_ptr + i) % 2 == 1
    tl.store(out_ptr + i, tl.gather(odd, tl.load(index_ptr + i), 0))


@pytest.mark.parametrize("size", (4, 64, 2048))
def test_gather_of_bits(run, size):
    x, index = numeric.random(size, "i32", low=0, high=99), numeric.random(size, "i32", 1, low=0, high=size)
    out = numeric.poisoned(size, "i1")
    run(gather_bits, 1, numeric.tensor(x, "i32"), numeric.tensor(index, "i32"), out, size)
    numeric.assert_same(out, (x % 2 == 1)[index])


@triton.jit
def rotate_in_loop(x_ptr, out_ptr, turns, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    for _ in range(turns):
        x = tl.gather(x, (i + 1) % N, 0) + 1
    tl.store(out_ptr + i, x)


@pytest.mark.parametrize("size", (2, 32, 1024))
def test_in_a_loop(run, size):
    """The source is the value that the loop carries."""
    x, out = numeric.random(size, "i32", low=0, high=99), numeric.poisoned(size, "i32")
    run(rotate_in_loop, 1, numeric.tensor(x, "i32"), out, 3, size)
    numeric.assert_same(out, np.roll(x, -3) + 3)

"""Whole kernels: rules together, on blocks from one element to far more than registers hold.

Each operation is right on its own in the other files; here its result feeds others, is used twice, in two
layouts, before and after a reduction or a loop, so that what is shared, kept in memory or computed again must
agree. Whole numbers keep most results exact.
"""

from __future__ import annotations

import math

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl

BLOCKS = [(1, 1), (2, 4), (16, 16), (1, 4096), (4, 64), (64, 4), (8, 1024), (128, 128)]


@triton.jit
def tile(ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """The places of a dense block."""
    return tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]


def whole(shape, seed: int = 0, dtype: str = "f32", reach: int = 8) -> np.ndarray:
    values = np.round(numeric.random(shape, dtype, seed, low=-reach, high=reach))
    return values.astype(numeric.DTYPES[dtype].values)


@triton.jit
def bias_gelu_sum(x_ptr, bias_ptr, out_ptr, sum_ptr, rows, columns, ROWS: tl.constexpr,
                  COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    place = row[:, None] * columns + column[None, :]
    x = tl.load(x_ptr + place, mask=inside, other=0.0)
    x += tl.load(bias_ptr + column, mask=column < columns, other=0.0)[None, :]
    y = tl.where(inside, 0.5 * x * (1 + tl.erf(x * 0.7071067811865476)), 0.0)
    tl.store(out_ptr + place, y, mask=inside)
    tl.store(sum_ptr + row, tl.sum(y, 1), mask=row < rows)


SIZES = [(1, 1, 1), (5, 3, 2), (13, 100, 4), (30, 1000, 8), (200, 65, 128)]


@pytest.mark.parametrize("rows, columns, ROWS", SIZES)
def test_bias_gelu_and_row_sum(run, rows, columns, ROWS):
    x, bias = numeric.random((rows, columns), "f32", 0), numeric.random(columns, "f32", 1)
    out, total = numeric.poisoned((rows, columns), "f32"), numeric.poisoned(rows, "f32")
    inputs = numeric.tensor(x, "f32"), numeric.tensor(bias, "f32")
    width = triton.next_power_of_2(columns)
    run(bias_gelu_sum, triton.cdiv(rows, ROWS), *inputs, out, total, rows, columns, ROWS, width)
    wide = x.astype(np.float64) + bias
    expected = 0.5 * wide * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
    numeric.assert_close(out, expected, 2e-5, 2e-6)  # where 1 + erf cancels, erf's 16 ulp stay
    numeric.assert_close(total, expected.sum(1), 2e-5, 2e-6 * columns)


@triton.jit
def both_ways(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Row and column reductions of one block, back through broadcasts, thrice dependent."""
    i = tile(ROWS, COLUMNS)
    x = tl.load(x_ptr + i)
    y = x - tl.max(x, 1)[:, None] + tl.min(x, 0)[None, :]
    z = y * 2 - tl.sum(y, 0)[None, :]
    tl.store(out_ptr + i, z + tl.max(tl.max(z, 1), 0) + x)


@pytest.mark.parametrize("shape", BLOCKS, ids=str)
def test_reductions_of_both_axes(run, shape):
    x, out = whole(shape, dtype="i32"), numeric.poisoned(shape, "i32")
    run(both_ways, 1, numeric.tensor(x, "i32"), out, *shape)
    y = x - x.max(1, keepdims=True) + x.min(0, keepdims=True)
    z = y * 2 - y.sum(0, keepdims=True, dtype=np.int32)
    numeric.assert_same(out, z + z.max() + x)


@triton.jit
def with_transpose(x_ptr, out_ptr, SIZE: tl.constexpr):
    """A block and its transpose meet: whatever x is held in, one of the two must move."""
    i = tile(SIZE, SIZE)
    x = tl.load(x_ptr + i)
    y = x + 3 * tl.trans(x)
    tl.store(out_ptr + i, y - tl.trans(y) * 2 + tl.sum(tl.trans(x), 0)[:, None])


@pytest.mark.parametrize("size", (1, 2, 4, 16, 64, 128))
def test_block_and_its_transpose(run, size):
    x, out = whole((size, size), dtype="i32"), numeric.poisoned((size, size), "i32")
    run(with_transpose, 1, numeric.tensor(x, "i32"), out, size)
    y = x + 3 * x.T
    numeric.assert_same(out, y - y.T * 2 + x.sum(1, dtype=np.int32)[:, None])


@triton.jit
def columns_then_halves(x_ptr, keep_ptr, out_ptr, xor_ptr, N: tl.constexpr):
    row, half = tl.arange(0, N)[:, None], tl.arange(0, 2)[None, :]
    keep = tl.load(keep_ptr + row * 2 + half) != 0
    x = tl.load(x_ptr + row + half * N, mask=keep, other=0)
    first, second = tl.split(x)
    tl.store(out_ptr + row * 2 + half, x)
    tl.store(xor_ptr + tl.arange(0, N), first ^ second)


@pytest.mark.parametrize("dtype", ("i64", "i8"))
@pytest.mark.parametrize("size", (2, 64, 512, 2048))
def test_a_load_that_its_halves_and_a_store_read(run, size, dtype):
    """Before the store, the load and its halves are computed at once: the halves need the load whole, so
    that it has an array already when its own turn comes."""
    x, keep = numeric.random((2, size), dtype, 0), numeric.random((size, 2), "i8", 1) > 0
    inputs = numeric.tensor(x, dtype), numeric.tensor(keep, "i8")
    out, xor = numeric.poisoned((size, 2), dtype), numeric.poisoned(size, dtype)
    run(columns_then_halves, 1, *inputs, out, xor, size)
    expected = np.where(keep, x.T, 0)
    numeric.assert_same(out, expected)
    numeric.assert_same(xor, expected[:, 0] ^ expected[:, 1])


@triton.jit
def used_everywhere(x_ptr, y_ptr, out_ptr, limit, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """One loaded block feeds a loop, a branch, a scan, a comparison and a store behind them all."""
    i = tile(ROWS, COLUMNS)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    acc = x * 0
    for k in range(limit):
        acc += x * k
        if k % 2 == 1:
            acc -= y
    running = tl.cumsum(x, 1)
    if limit > 2:
        acc += running
    tl.store(out_ptr + i, tl.where(x > y, acc, y) + tl.sum(x, 1)[:, None])


@pytest.mark.parametrize("limit", (0, 2, 5))
@pytest.mark.parametrize("shape", BLOCKS, ids=str)
def test_one_block_used_everywhere(run, shape, limit):
    x, y, out = whole(shape, 0, "i32"), whole(shape, 1, "i32"), numeric.poisoned(shape, "i32")
    run(used_everywhere, 1, numeric.tensor(x, "i32"), numeric.tensor(y, "i32"), out, limit, *shape)
    acc = x * np.int32(sum(range(limit))) - y * np.int32(limit // 2)
    acc = acc + np.cumsum(x, 1, dtype=np.int32) if limit > 2 else acc
    numeric.assert_same(out, np.where(x > y, acc, y) + x.sum(1, dtype=np.int32)[:, None])


@triton.jit
def tiles_in_a_loop(x_ptr, out_ptr, count, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Two carried blocks and a carried vector; the vector rescales a block each turn, as attention does."""
    i, r = tile(ROWS, COLUMNS), tl.arange(0, ROWS)
    top = tl.full([ROWS], -1000, tl.int32)
    acc, last = tl.zeros([ROWS, COLUMNS], tl.int32), tl.zeros([ROWS, COLUMNS], tl.int32)
    for k in range(count):
        x = tl.load(x_ptr + k * ROWS * COLUMNS + i)
        new_top = tl.maximum(top, tl.max(x, 1))
        acc = acc + x * (new_top - top)[:, None] + last
        last = x
        top = new_top
    tl.store(out_ptr + i, acc + top[:, None])
    tl.store(out_ptr + ROWS * COLUMNS + i, last)
    tl.store(out_ptr + 2 * ROWS * COLUMNS + r, top)


@pytest.mark.parametrize("count", (0, 1, 4))
@pytest.mark.parametrize("shape", BLOCKS, ids=str)
def test_carried_blocks_and_vectors(run, shape, count):
    x = whole((4, *shape), dtype="i32")
    out = numeric.poisoned(2 * x[0].size + shape[0], "i32")
    run(tiles_in_a_loop, 1, numeric.tensor(x, "i32"), out, count, *shape)
    top, acc, last = np.full(shape[0], -1000, np.int32), np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    for block in x[:count]:
        new_top = np.maximum(top, block.max(1))
        acc, last, top = acc + block * (new_top - top)[:, None] + last, block, new_top
    numeric.assert_same(out, np.concatenate([(acc + top[:, None]).reshape(-1), last.reshape(-1), top]))


@triton.jit
def distances(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A block of three dimensions that exists only between a broadcast and a reduction."""
    k = tl.arange(0, K)
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * K + k[None, :])
    y = tl.load(y_ptr + tl.arange(0, N)[:, None] * K + k[None, :])
    d = x[:, None, :] - y[None, :, :]
    squared = tl.sum(d * d, 2)
    nearest = tl.argmin(squared, 1)
    tl.store(out_ptr + tile(M, N), squared)
    tl.store(out_ptr + M * N + tl.arange(0, M), nearest.to(tl.float32))


@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (4, 8, 2), (16, 4, 16), (8, 32, 64), (32, 32, 16)])
def test_three_dimensions_between(run, m, n, k):
    x, y, out = whole((m, k), 0), whole((n, k), 1), numeric.poisoned(m * n + m, "f32")
    run(distances, 1, numeric.tensor(x, "f32"), numeric.tensor(y, "f32"), out, m, n, k)
    squared = ((x[:, None] - y[None]) ** 2).sum(2)
    numeric.assert_same(out, np.concatenate([squared.reshape(-1), squared.argmin(1).astype(np.float32)]))


@triton.jit
def product_with_epilogue(a_ptr, b_ptr, bias_ptr, out_ptr, stat_ptr, turns, M: tl.constexpr, N: tl.constexpr,
                          K: tl.constexpr):
    """Products in a loop, a bias along each axis, statistics of the result, and a transposed store of it."""
    a, b = tl.load(a_ptr + tile(M, K)), tl.load(b_ptr + tile(K, N))
    m, n = tl.arange(0, M), tl.arange(0, N)
    acc = tl.zeros([M, N], tl.float32)
    for k in range(turns):
        acc = tl.dot(a, b, acc, input_precision="ieee")
        acc = acc * 0.5 + k
    acc += tl.load(bias_ptr + n)[None, :] - tl.load(bias_ptr + m)[:, None]
    tl.store(out_ptr + n[:, None] * M + m[None, :], tl.trans(acc))
    tl.store(stat_ptr + m, tl.max(acc, 1))
    tl.store(stat_ptr + M + n, tl.sum(acc, 0))


@pytest.mark.parametrize("turns", (0, 1, 3))
@pytest.mark.parametrize("m, n, k", [(16, 16, 16), (64, 32, 16), (16, 128, 64), (128, 128, 32)])
def test_product_with_epilogue(run, m, n, k, turns):
    a, b, bias = whole((m, k), 0, reach=4), whole((k, n), 1, reach=4), whole(max(m, n), 2)
    out, statistics = numeric.poisoned((n, m), "f32"), numeric.poisoned(m + n, "f32")
    inputs = (numeric.tensor(v, "f32") for v in (a, b, bias))
    run(product_with_epilogue, 1, *inputs, out, statistics, turns, m, n, k)
    acc = np.zeros((m, n), np.float32)
    for turn in range(turns):
        acc = (acc + a @ b) * np.float32(0.5) + np.float32(turn)
    acc += bias[None, :n] - bias[:m, None]
    numeric.assert_same(out, acc.T, signed_zeros=False)
    numeric.assert_same(statistics, np.concatenate([acc.max(1), acc.sum(0)]), signed_zeros=False)


@triton.jit
def attention_tile(q_ptr, k_ptr, v_ptr, out_ptr, count, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    """Two products per turn, a reduction between them, accumulators of different widths carried."""
    q = tl.load(q_ptr + tile(BLOCK, WIDTH))
    top, total = tl.full([BLOCK], -1e30, tl.float32), tl.zeros([BLOCK], tl.float32)
    acc, gradient = tl.zeros([BLOCK, WIDTH], tl.float32), tl.zeros([BLOCK, WIDTH], tl.float32)
    for _ in range(count):
        k, v = tl.load(k_ptr + tile(BLOCK, WIDTH)), tl.load(v_ptr + tile(BLOCK, WIDTH))
        s = tl.dot(q, tl.trans(k), input_precision="ieee")
        new_top = tl.maximum(top, tl.max(s, 1))
        p = tl.where(s == new_top[:, None], 1.0, 0.0)
        total = total + tl.sum(p, 1)
        acc = tl.dot(p, v, acc, input_precision="ieee")
        gradient = tl.dot(tl.trans(p), q, gradient, input_precision="ieee")
        top = new_top
        k_ptr += BLOCK * WIDTH
        v_ptr += BLOCK * WIDTH
    i = tile(BLOCK, WIDTH)
    tl.store(out_ptr + i, acc - total[:, None])
    tl.store(out_ptr + BLOCK * WIDTH + i, gradient + top[:, None])


@pytest.mark.parametrize("count", (0, 1, 3))
@pytest.mark.parametrize("block, width", [(16, 16), (16, 64), (64, 16), (64, 64), (64, 128), (32, 128)])
def test_products_around_a_reduction(run, block, width, count):
    """A hardened attention: weights are 1 at the maxima, so that every number is whole."""
    shapes = (block, width), (3, block, width), (3, block, width)
    q, k, v = (whole(shape, seed, reach=4) for seed, shape in enumerate(shapes))
    out = numeric.poisoned((2, block, width), "f32")
    run(attention_tile, 1, *(numeric.tensor(x, "f32") for x in (q, k, v)), out, count, block, width)
    top, total = np.full(block, -1e30, np.float32), np.zeros(block, np.float32)
    acc, gradient = np.zeros((block, width), np.float32), np.zeros((block, width), np.float32)
    for turn in range(count):
        s = q @ k[turn].T
        top = np.maximum(top, s.max(1))
        p = (s == top[:, None]).astype(np.float32)
        total, acc, gradient = total + p.sum(1), acc + p @ v[turn], gradient + p.T @ q
    numeric.assert_same(out, np.stack([acc - total[:, None], gradient + top[:, None]]), signed_zeros=False)


@triton.jit
def mixed_widths(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    """One pipeline through 8, 16, 32 and 64 bits, a gather, a scan and a select."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)  # i8
    half = x.to(tl.float16) * 0.5
    wide = half.to(tl.float64) + i
    picked = tl.gather(wide, tl.load(index_ptr + i), 0)
    summed = tl.cumsum((x > 0).to(tl.int16), 0)
    tl.store(out_ptr + i, tl.where(summed % 2 == 0, picked, -wide).to(tl.int64))


@pytest.mark.parametrize("block", (1, 8, 16, 64, 1024))
def test_mixed_widths(run, block):
    x, index = numeric.random(block, "i8"), np.random.default_rng(0).permutation(block).astype(np.int32)
    out = numeric.poisoned(block, "i64")
    run(mixed_widths, 1, numeric.tensor(x, "i8"), numeric.tensor(index, "i32"), out, block)
    wide = x * 0.5 + np.arange(block)
    summed = np.cumsum(x > 0)
    numeric.assert_same(out, np.trunc(np.where(summed % 2 == 0, wide[index], -wide)).astype(np.int64))

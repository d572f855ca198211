"""Triton's sort, topk and flip: no operations of their own, but long chains of reshapes, reductions and
selections."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from versions import needs_triton


@triton.jit
def sort_rows(
    x_ptr, out_ptr, K: tl.constexpr, DESCENDING: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    r = tl.arange(0, ROWS)[:, None]
    x = tl.load(x_ptr + r * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    if K == 0:
        tl.store(out_ptr + r * COLUMNS + tl.arange(0, COLUMNS)[None, :], tl.sort(x, descending=DESCENDING))
    else:
        found = tl.topk(x, K) if DESCENDING else tl.topk(x, K, descending=False)
        tl.store(out_ptr + r * K + tl.arange(0, K)[None, :], found)


def ordered(x: np.ndarray, descending: bool) -> np.ndarray:
    return np.sort(x, 1)[:, ::-1] if descending else np.sort(x, 1)


@pytest.mark.parametrize("descending", (False, True))
@pytest.mark.parametrize("shape", [(1, 2), (1, 16), (4, 8), (8, 64), (2, 256)], ids=str)
@pytest.mark.parametrize("dtype", ("i8", "i32", "u16", "f16", "f32", "f64"))
def test_sort(run, dtype, shape, descending):
    """Infinities and equal values included; NaN has no order and is left out."""
    x = numeric.random(shape, dtype)
    x[:, :2] = x[:, -2:]
    if dtype[0] == "f":
        x[0, 0] = -np.inf
    out = numeric.poisoned(shape, dtype)
    run(sort_rows, 1, numeric.tensor(x, dtype), out, 0, descending, *shape)
    numeric.assert_same(out, ordered(x, descending))


def test_sort_bfloat16(run):
    numeric.interpreter_is_wrong_on_bf16("bf16")
    x, out = numeric.random((2, 32), "bf16"), numeric.poisoned((2, 32), "bf16")
    run(sort_rows, 1, numeric.tensor(x, "bf16"), out, 0, False, 2, 32)
    numeric.assert_same(out, ordered(x, False))


@pytest.mark.parametrize("k, columns", [(1, 8), (2, 8), (4, 64), (8, 8), (16, 128)])
@pytest.mark.parametrize("dtype, descending", [("f32", True), ("i32", True), ("f32", False)])
def test_topk(run, dtype, descending, k, columns):
    if not descending:
        needs_triton((3, 8), "tl.topk(descending=False)")
    x, out = numeric.random((4, columns), dtype), numeric.poisoned((4, k), dtype)
    run(sort_rows, 1, numeric.tensor(x, dtype), out, k, descending, 4, columns)
    numeric.assert_same(out, ordered(x, descending)[:, :k])


@triton.jit
def rank_of_each(x_ptr, out_ptr, N: tl.constexpr):
    """Sort pairs packed into 64 bits: the value above, its index below."""
    i = tl.arange(0, N)
    packed = (tl.load(x_ptr + i).to(tl.int64) << 32) | i.to(tl.int64)
    tl.store(out_ptr + i, (tl.sort(packed) & 0xFFFFFFFF).to(tl.int32))


@pytest.mark.parametrize("size", (2, 64, 128))
def test_argsort_by_packing(run, size):
    x, out = numeric.random(size, "i32", low=-9, high=9), numeric.poisoned(size, "i32")
    run(rank_of_each, 1, numeric.tensor(x, "i32"), out, size)
    numeric.assert_same(out, np.argsort(x, kind="stable").astype(np.int32))


@triton.jit
def flip_blocks(x_ptr, out_ptr, DIMENSION: tl.constexpr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, A * B * C)
    x = tl.reshape(tl.load(x_ptr + i), [A, B, C])
    tl.store(out_ptr + i, tl.reshape(tl.flip(x, DIMENSION), [A * B * C]))


@pytest.mark.parametrize("dimension", (0, 1, 2, -1))
@pytest.mark.parametrize("dtype", ("u8", "f32", "f64"))
def test_flip(run, dtype, dimension):
    x, out = numeric.random((4, 8, 16), dtype), numeric.poisoned((4, 8, 16), dtype)
    run(flip_blocks, 1, numeric.tensor(x, dtype), out, dimension, 4, 8, 16)
    numeric.assert_same(out, np.flip(x, dimension))


@pytest.mark.parametrize("descending", (False, True))
@pytest.mark.parametrize("shape", [(1, 1024), (1, 4096), (128, 128), (64, 16), (1024, 2)], ids=str)
@pytest.mark.parametrize("dtype", ("i8", "u32", "f32", "bf16", "i64"))
def test_sort_large_blocks(run, dtype, shape, descending):
    """Blocks that are walked in steps, of which some exchanges cross and some do not."""
    numeric.interpreter_is_wrong_on_bf16(dtype)
    x, out = numeric.random(shape, dtype), numeric.poisoned(shape, dtype)
    x[:, 0] = x[:, -1]
    run(sort_rows, 1, numeric.tensor(x, dtype), out, 0, descending, *shape)
    numeric.assert_same(out, ordered(x, descending))


@pytest.mark.parametrize(
    "k, shape", [(1, (8, 512)), (16, (8, 1024)), (128, (2, 4096)), (2, (1024, 8))], ids=str
)
def test_topk_large_blocks(run, k, shape):
    x, out = numeric.random(shape, "f32"), numeric.poisoned((shape[0], k), "f32")
    run(sort_rows, 1, numeric.tensor(x, "f32"), out, k, True, *shape)
    numeric.assert_same(out, ordered(x, True)[:, :k])


@triton.jit
def sort_in_loop(x_ptr, out_ptr, turns, N: tl.constexpr):
    """The carried block is sorted again and again, with a change between."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    for turn in range(turns):
        x = tl.sort(x) * -1 + turn
    tl.store(out_ptr + i, x)


@pytest.mark.parametrize("size", (4, 128, 1024))
def test_sort_in_a_loop(run, size):
    x, out = numeric.random(size, "i32", low=-999, high=999), numeric.poisoned(size, "i32")
    run(sort_in_loop, 1, numeric.tensor(x, "i32"), out, 5, size)
    for turn in range(5):
        x = -np.sort(x) + turn
    numeric.assert_same(out, x)


@triton.jit
def sort_in_place(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(x_ptr + i, tl.flip(x, 0))
    tl.store(x_ptr + i, tl.sort(tl.load(x_ptr + i)) + x)


@pytest.mark.parametrize("size", (8, 512, 2048))
def test_what_is_stored_was_read_before(run, size):
    """Flipped and sorted blocks replace the memory that they come from."""
    x = numeric.random(size, "i32", low=-999, high=999)
    data = numeric.tensor(x.copy(), "i32")
    run(sort_in_place, 1, data, size)
    numeric.assert_same(data, np.sort(x) + x)


@triton.jit
def halves_exchanged(x_ptr, sum_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr):
    """The same by hand, where the sum of the neighbours is wanted too."""
    i = tl.arange(0, A * 2 * B)
    x = tl.reshape(tl.load(x_ptr + i), [A, 2, B])
    both = tl.xor_sum(x, 1, True)
    tl.store(out_ptr + i, tl.reshape(x ^ both, [A * 2 * B]))
    tl.store(sum_ptr + tl.arange(0, A * B), tl.reshape(both, [A * B]))


@pytest.mark.parametrize("shape", [(1, 1), (1, 16), (4, 2), (2, 512), (512, 2), (64, 64)], ids=str)
@pytest.mark.parametrize("dtype", ("i8", "i32", "i64"))
def test_exchange_by_xor(run, dtype, shape):
    x = numeric.random((shape[0], 2, shape[1]), dtype)
    total, out = numeric.poisoned(shape, dtype), numeric.poisoned(x.shape, dtype)
    run(halves_exchanged, 1, numeric.tensor(x, dtype), total, out, *shape)
    numeric.assert_same(out, x[:, ::-1])
    numeric.assert_same(total, x[:, 0] ^ x[:, 1])


@triton.jit
def flip_strided(x_ptr, out_ptr, n, A: tl.constexpr, B: tl.constexpr, DIMENSION: tl.constexpr):
    """Masked and strided loads below a flip; what is masked is zero wherever it goes."""
    a, b = tl.arange(0, A)[:, None], tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + b * A + a, mask=a * B + b < n, other=0)
    tl.store(out_ptr + a * B + b, tl.flip(x, DIMENSION) * 2)


@pytest.mark.parametrize("dimension", (0, 1))
@pytest.mark.parametrize("shape", [(4, 4), (32, 64), (128, 8)], ids=str)
def test_flip_of_masked_transposed_loads(run, shape, dimension):
    count = shape[0] * shape[1] - 7
    x, out = numeric.random(shape[::-1], "i32"), numeric.poisoned(shape, "i32")
    run(flip_strided, 1, numeric.tensor(x, "i32"), out, count, *shape, dimension)
    seen = np.where(np.arange(x.size).reshape(shape) < count, x.T, 0)
    numeric.assert_same(out, np.flip(seen, dimension) * 2)

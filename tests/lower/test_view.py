"""lower/tensors/view.py: what moves values without changing them: reshape, permute, broadcast, join,
split, cat; all exact.

Each kernel loads x as [ROWS, COLUMNS] (or as given), rearranges, and stores densely; numpy does the same.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from kernels import map_block2d
from versions import TRITON

DTYPES = ("i1", "i8", "f16", "f32", "i64")
SHAPES = [(1, 1), (1, 8), (4, 2), (8, 8), (2, 64), (64, 2), (16, 128), (128, 32)]


@triton.jit
def transpose(x):
    return tl.trans(x)


@triton.jit
def dot_t(x):
    return x.T


@triton.jit
def permute_10(x):
    return tl.permute(x, 1, 0)


@triton.jit
def flatten(x):
    return tl.reshape(x, [x.numel])


@triton.jit
def ravel(x):
    return tl.ravel(x)


@triton.jit
def to_column(x):
    return tl.reshape(x, [x.numel, 1])


@triton.jit
def swap_by_reshape(x):
    return tl.trans(tl.reshape(x, [x.shape[1], x.shape[0]]))


@triton.jit
def expand_middle(x):
    return tl.expand_dims(x, 1)


@triton.jit
def unsqueeze_twice(x):
    return x[None, :, :, None]


@triton.jit
def flip_last(x):
    return tl.flip(x, 1)


@triton.jit
def flip_first(x):
    return tl.flip(x, 0)


def same(x: np.ndarray) -> np.ndarray:
    return x


REARRANGEMENTS = {
    "trans": (transpose, np.transpose),
    "T": (dot_t, np.transpose),
    "permute": (permute_10, np.transpose),
    "flatten": (flatten, same),
    "ravel": (ravel, same),
    "column": (to_column, same),
    "swap": (swap_by_reshape, lambda x: x.reshape(x.shape[::-1]).T),
    "expand": (expand_middle, same),
    "unsqueeze": (unsqueeze_twice, same),
    "flip_last": (flip_last, lambda x: x[:, ::-1]),
    "flip_first": (flip_first, lambda x: x[::-1]),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", REARRANGEMENTS)
def test_rearrange(run, name, shape):
    function, reference = REARRANGEMENTS[name]
    x, out = numeric.random(shape, "f32"), numeric.poisoned(shape[0] * shape[1], "f32")
    run(map_block2d, 1, numeric.tensor(x, "f32"), out, shape[1], 1, function, *shape)
    numeric.assert_same(out, reference(x).reshape(-1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ("trans", "swap", "flip_last"))
def test_rearrange_dtypes(run, name, dtype):
    if dtype == "i1" and name == "flip_last":
        pytest.skip("Triton's flip has no integer of one bit")
    function, reference = REARRANGEMENTS[name]
    x, out = numeric.random((8, 32), dtype), numeric.poisoned(256, dtype)
    run(map_block2d, 1, numeric.tensor(x, dtype), out, 32, 1, function, 8, 32)
    numeric.assert_same(out, reference(x).reshape(-1))


@triton.jit
def permute3(x_ptr, out_ptr, P0: tl.constexpr, P1: tl.constexpr, P2: tl.constexpr, A: tl.constexpr,
             B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, A * B * C)
    x = tl.reshape(tl.load(x_ptr + i), [A, B, C])
    tl.store(out_ptr + i, tl.reshape(tl.permute(x, (P0, P1, P2)), [A * B * C]))


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)], ids=str)
@pytest.mark.parametrize("shape", [(2, 4, 8), (16, 1, 4), (8, 8, 32), (2, 2, 2)], ids=str)
def test_permute_three_dimensions(run, shape, order):
    x, out = numeric.random(shape, "f32"), numeric.poisoned(x_size := int(np.prod(shape)), "f32")
    run(permute3, 1, numeric.tensor(x, "f32"), out, *order, *shape)
    numeric.assert_same(out, x.transpose(order).reshape(x_size))


@triton.jit
def permute_five(x_ptr, out_ptr):
    i = tl.arange(0, 96 // 3 * 2)
    x = tl.reshape(tl.load(x_ptr + i), [2, 4, 2, 2, 2])
    tl.store(out_ptr + i, tl.reshape(tl.permute(x, (4, 1, 3, 0, 2)), [64]))


def test_permute_five_dimensions(run):
    x, out = numeric.random(64, "i32"), numeric.poisoned(64, "i32")
    run(permute_five, 1, numeric.tensor(x, "i32"), out)
    numeric.assert_same(out, x.reshape(2, 4, 2, 2, 2).transpose(4, 1, 3, 0, 2).reshape(64))


@triton.jit
def combine(x_ptr, y_ptr, out_ptr, HOW: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    if HOW == "join":
        z = tl.join(x, y)
    else:
        z = tl.interleave(x, y)
    tl.store(out_ptr + tl.arange(0, 2 * ROWS * COLUMNS), tl.reshape(z, [2 * ROWS * COLUMNS]))


@pytest.mark.parametrize("how", ("join", "interleave"))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ("i8", "f32"))
def test_join_and_interleave(run, dtype, shape, how):
    """Both put the elements of x and y side by side in memory; join adds a dimension for it."""
    x, y = numeric.random(shape, dtype, 0), numeric.random(shape, dtype, 1)
    out = numeric.poisoned(2 * x.size, dtype)
    run(combine, 1, numeric.tensor(x, dtype), numeric.tensor(y, dtype), out, how, *shape)
    numeric.assert_same(out, np.stack([x, y], -1).reshape(-1))


@triton.jit
def split_pairs(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N)[:, None] * 2 + tl.arange(0, 2)[None, :])
    even, odd = tl.split(x)
    tl.store(out_ptr + tl.arange(0, N), even)
    tl.store(out_ptr + N + tl.arange(0, N), odd)


@pytest.mark.parametrize("size", (1, 2, 8, 16, 512))
@pytest.mark.parametrize("dtype", DTYPES)
def test_split(run, dtype, size):
    x, out = numeric.random(2 * size, dtype), numeric.poisoned(2 * size, dtype)
    run(split_pairs, 1, numeric.tensor(x, dtype), out, size)
    numeric.assert_same(out, np.concatenate([x[0::2], x[1::2]]))


@triton.jit
def split_inner_halves(x_ptr, out_ptr, ROWS: tl.constexpr, HALF: tl.constexpr):
    """The two halves of each row: reshape, permute, split, on a block of two dimensions."""
    x = tl.load(x_ptr + tl.arange(0, ROWS)[:, None] * 2 * HALF + tl.arange(0, 2 * HALF)[None, :])
    left, right = tl.split(tl.permute(tl.reshape(x, [ROWS, 2, HALF]), 0, 2, 1))
    place = tl.arange(0, ROWS)[:, None] * HALF + tl.arange(0, HALF)[None, :]
    tl.store(out_ptr + place, left * 2 - right)


@pytest.mark.parametrize("rows, half", [(1, 1), (4, 8), (16, 64), (64, 2)])
def test_split_halves(run, rows, half):
    x = np.round(numeric.random((rows, 2 * half), "f32", low=-99, high=99))
    out = numeric.poisoned((rows, half), "f32")
    run(split_inner_halves, 1, numeric.tensor(x, "f32"), out, rows, half)
    numeric.assert_same(out, x[:, :half] * 2 - x[:, half:])


@triton.jit
def concatenate(x_ptr, y_ptr, out_ptr, REORDER: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    z = tl.cat(tl.load(x_ptr + i), tl.load(y_ptr + i), can_reorder=REORDER)
    tl.store(out_ptr + tl.arange(0, 2 * N), z)


@pytest.mark.parametrize("size", (1, 4, 16, 1024))
@pytest.mark.parametrize("dtype", ("i8", "f32"))
def test_cat(run, dtype, size):
    """In order; before Triton 3.7 only in any order."""
    x, y, out = (
        numeric.random(size, dtype, 0),
        numeric.random(size, dtype, 1),
        numeric.poisoned(2 * size, dtype),
    )
    reorders = TRITON < (3, 7)
    run(concatenate, 1, numeric.tensor(x, dtype), numeric.tensor(y, dtype), out, reorders, size)
    order = np.sort if reorders else np.asarray
    numeric.assert_same(order(numeric.array(out)), order(np.concatenate([x, y])))


def test_cat_may_reorder(run):
    x, y, out = np.arange(16, dtype=np.int32), np.arange(16, 32, dtype=np.int32), numeric.poisoned(32, "i32")
    run(concatenate, 1, numeric.tensor(x, "i32"), numeric.tensor(y, "i32"), out, True, 16)
    assert sorted(out.tolist()) == list(range(32))


@triton.jit
def broadcast_around(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """x of B elements along the middle of [A, B, C], and a scalar everywhere."""
    x = tl.load(x_ptr + tl.arange(0, B))
    wide = tl.broadcast_to(x[None, :, None], (A, B, C)) + tl.full((A, 1, C), 2, tl.float32)
    place = (tl.arange(0, A)[:, None, None] * B + tl.arange(0, B)[None, :, None]) * C + tl.arange(0, C)[
        None, None, :
    ]
    tl.store(out_ptr + place, wide)


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 4, 8), (4, 16, 1), (1, 2, 64), (8, 8, 32)], ids=str)
def test_broadcast(run, shape):
    x, out = np.round(numeric.random(shape[1], "f32", low=-9, high=9)), numeric.poisoned(shape, "f32")
    run(broadcast_around, 1, numeric.tensor(x, "f32"), out, *shape)
    numeric.assert_same(out, np.broadcast_to(x[None, :, None] + np.float32(2), shape))


@triton.jit
def fills(out_ptr, value, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.zeros([BLOCK], out_ptr.dtype.element_ty))
    tl.store(out_ptr + BLOCK + i, tl.full([BLOCK], 3, out_ptr.dtype.element_ty))
    tl.store(out_ptr + 2 * BLOCK + i, tl.zeros_like(tl.arange(5, 5 + BLOCK)))
    tl.store(out_ptr + 3 * BLOCK + i, tl.arange(5, 5 + BLOCK))
    tl.store(out_ptr + 4 * BLOCK + i, tl.full([BLOCK], value, out_ptr.dtype.element_ty))


@pytest.mark.parametrize("dtype", ("u8", "i32", "u64", "f16", "f32", "f64"))
@pytest.mark.parametrize("block", (1, 32))
def test_constants_and_ranges(run, dtype, block):
    out = numeric.poisoned((5, block), dtype)
    run(fills, 1, out, 9, block)
    kind, i = numeric.DTYPES[dtype].values, np.arange(block)
    numeric.assert_same(out, np.stack([i * 0, i * 0 + 3, i * 0, i + 5, i * 0 + 9]).astype(kind))


@triton.jit
def chain(x_ptr, out_ptr):
    """A long way round: every step is a view, so only the order of the last store matters."""
    x = tl.reshape(tl.load(x_ptr + tl.arange(0, 256)), [4, 8, 8])
    x = tl.permute(x, 2, 0, 1)
    a, b = tl.split(tl.reshape(x, [8, 4, 4, 2]))
    y = tl.join(b, a)
    y = tl.trans(tl.reshape(y, [16, 16]))
    tl.store(out_ptr + tl.arange(0, 256), tl.reshape(y, [256]))


def test_chain(run):
    x, out = numeric.random(256, "f32"), numeric.poisoned(256, "f32")
    run(chain, 1, numeric.tensor(x, "f32"), out)
    y = x.reshape(4, 8, 8).transpose(2, 0, 1).reshape(8, 4, 4, 2)
    numeric.assert_same(out, y[..., ::-1].reshape(16, 16).T.reshape(256))

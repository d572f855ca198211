"""Triton's sort, topk and flip: no operations of their own, but long chains of reshapes, reductions and
selections."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def sort_rows(
    x_ptr, out_ptr, K: tl.constexpr, DESCENDING: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    r = tl.arange(0, ROWS)[:, None]
    x = tl.load(x_ptr + r * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    if K == 0:
        tl.store(out_ptr + r * COLUMNS + tl.arange(0, COLUMNS)[None, :], tl.sort(x, descending=DESCENDING))
    else:
        tl.store(out_ptr + r * K + tl.arange(0, K)[None, :], tl.topk(x, K, descending=DESCENDING))


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

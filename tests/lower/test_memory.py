"""lower/memory/load.py: loads and stores of every dtype, masked, strided, gathered, misaligned,
overlapping; all exact."""

from __future__ import annotations

import ctypes
import mmap

import numeric
import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from numeric import ALL, FP8


@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def raw(count: int, dtype: str, seed: int = 0) -> torch.Tensor:
    """Any bits (i1: 0 and 1): a copy must keep even the payload of a NaN."""
    if dtype == "i1":
        return numeric.tensor(numeric.random(count, "i1", seed), "i1")
    width = numeric.DTYPES[dtype].bits // 8
    data = np.random.default_rng(seed).integers(0, 256, count * width, dtype=np.uint8)
    return torch.from_numpy(data).view(numeric.DTYPES[dtype].torch)


def same_bytes(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    return torch.equal(actual.contiguous().view(torch.uint8), expected.contiguous().view(torch.uint8))


@pytest.mark.parametrize("dtype", ALL + FP8)
@pytest.mark.parametrize("count, block", [(1, 1), (3, 4), (13, 16), (1000, 128), (5000, 4096)])
def test_copy(run, dtype, count, block):
    x, out = raw(count, dtype), numeric.poisoned(count + 64, dtype)
    expected = out.clone()
    expected[:count] = x
    run(copy, triton.cdiv(count, block), x, out, count, block)
    assert same_bytes(out, expected)  # the 64 elements behind are untouched


@pytest.mark.parametrize("shift", (1, 3, 7))
@pytest.mark.parametrize("dtype", ("i8", "f16", "f32", "i64"))
def test_misaligned(run, dtype, shift):
    """Pointers that are aligned to their element and to nothing more."""
    x, out = raw(1100, dtype), numeric.poisoned(1100, dtype)
    run(copy, 2, x[shift:], out[shift:], 1000, 512)
    assert same_bytes(out[shift : shift + 1000], x[shift : shift + 1000])
    assert same_bytes(out[shift + 1000 :], numeric.poisoned(100 - shift, dtype))


# ---- masks and `other`


@triton.jit
def load_other(x_ptr, mask_ptr, other_ptr, out_ptr, HOW: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = tl.load(mask_ptr + i)
    if HOW == "tensor":
        x = tl.load(x_ptr + i, mask=mask, other=tl.load(other_ptr + i))
    elif HOW == "number":
        x = tl.load(x_ptr + i, mask=mask, other=7)
    else:
        x = tl.load(x_ptr + i, mask=mask, other=0)
    tl.store(out_ptr + i, x)


def masks(count: int) -> dict[str, np.ndarray]:
    i = np.arange(count)
    return {
        "none": i < 0,
        "all": i >= 0,
        "tail": i < count * 2 // 3,
        "head": i > count // 3,
        "thirds": i % 3 == 0,
        "random": numeric.random(count, "i1", 5),
        "one": i == count // 2,
    }


@pytest.mark.parametrize("how", ("zero", "number", "tensor"))
@pytest.mark.parametrize("dtype", ("i1", "i8", "u16", "i32", "i64", "f16", "bf16", "f32", "f64"))
def test_other(run, dtype, how):
    numeric.interpreter_is_wrong("7 becomes the integer 7 in bfloat16", dtype == "bf16" and how == "number")
    for count in (4, 64):
        x, other = numeric.random(count, dtype, 1), numeric.random(count, dtype, 2)
        instead = {"zero": x.dtype.type(0), "number": x.dtype.type(7), "tensor": other}[how]
        for mask in masks(count).values():
            out = numeric.poisoned(count, dtype)
            run(
                load_other,
                1,
                *(numeric.tensor(v, d) for v, d in ((x, dtype), (mask, "i1"), (other, dtype))),
                out,
                how,
                count,
            )
            numeric.assert_same(out, np.where(mask, x, instead))


@triton.jit
def store_masked(x_ptr, mask_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i), mask=tl.load(mask_ptr + i))


@pytest.mark.parametrize("dtype", ("i1", "i8", "i32", "f16", "f32", "f64"))
@pytest.mark.parametrize("pattern", list(masks(8)))
def test_store_masked(run, dtype, pattern):
    for count in (2, 8, 512):
        x, mask, out = raw(count, dtype), masks(count)[pattern], numeric.poisoned(count, dtype)
        expected = torch.where(torch.from_numpy(mask), x, out)
        run(store_masked, 1, x, numeric.tensor(mask, "i1"), out, count)
        assert same_bytes(out, expected)


@triton.jit
def touch_nothing_wild(x_ptr, out_ptr, n, far, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    offsets = tl.where(i < n, i.to(tl.int64), far)
    x = tl.load(x_ptr + offsets, mask=i < n, other=0)
    tl.store(out_ptr + offsets, x + 1, mask=i < n)
    if n < 0:
        tl.store(out_ptr + far, 1)


@pytest.mark.parametrize("count", (0, 1, 9, 63))
def test_masked_lanes_are_not_touched(run, count):
    """Their addresses are nowhere: an access would end the process."""
    x, out = numeric.tensor(numeric.random(64, "i32"), "i32"), numeric.poisoned(64, "i32")
    run(touch_nothing_wild, 1, x, out, count, 1 << 45, 64)
    assert torch.equal(out[:count], x[:count] + 1)
    assert same_bytes(out[count:], numeric.poisoned(64 - count, "i32"))


@triton.jit
def scalars(x_ptr, out_ptr, n):
    i = tl.program_id(0)
    x = tl.load(x_ptr + i, mask=i < n, other=-1)
    tl.store(out_ptr + 2 * i, x)
    tl.store(out_ptr + 2 * i + 1, x, mask=i % 2 == 0)


def test_scalars(run):
    x, out = numeric.random(10, "i32", low=0, high=99), numeric.poisoned(20, "i32")
    expected = out.numpy().copy()
    expected[0::2] = np.where(np.arange(10) < 7, x, -1)
    expected[1::4] = expected[0::4]
    run(scalars, 10, numeric.tensor(x, "i32"), out, 7)
    numeric.assert_same(out, expected)


# ---- strides, transposes, broadcasts


@triton.jit
def strided(x_ptr, out_ptr, stride_x, stride_out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i * stride_out, tl.load(x_ptr + i * stride_x))


@pytest.mark.parametrize(
    "stride_x, stride_out", [(1, 1), (2, 1), (1, 2), (3, 5), (16, 1), (-1, 1), (1, -1), (-2, -3), (0, 1)]
)
@pytest.mark.parametrize("block", (1, 4, 16, 256))
@pytest.mark.parametrize("dtype", ("u8", "f16", "f32", "f64"))
def test_strided(run, dtype, block, stride_x, stride_out):
    room = 5 * block + 16
    x, out = raw(16 * block + 16, dtype), numeric.poisoned(room, dtype)
    start_x, start_out = (block * -s if s < 0 else 0 for s in (stride_x, stride_out))
    expected = out.clone()
    i = torch.arange(block)
    expected[start_out + i * stride_out] = x[start_x + i * stride_x]
    run(strided, 1, x[start_x:], out[start_out:], stride_x, stride_out, block)
    assert same_bytes(out, expected)


@triton.jit
def move2d(x_ptr, out_ptr, rows, columns, x0, x1, out0, out1, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r, c = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    keep = (r < rows) & (c < columns)
    tl.store(out_ptr + r * out0 + c * out1, tl.load(x_ptr + r * x0 + c * x1, mask=keep), mask=keep)


SHAPES = [
    (1, 1, 1, 1),
    (2, 3, 2, 4),
    (5, 1, 8, 1),
    (1, 100, 1, 128),
    (16, 16, 16, 16),
    (7, 33, 8, 64),
    (8, 1000, 8, 1024),
    (100, 70, 128, 128),
    (300, 3, 512, 4),
]


@pytest.mark.parametrize("rows, columns, ROWS, COLUMNS", SHAPES)
@pytest.mark.parametrize("transpose", (False, True), ids=("plain", "transposed"))
@pytest.mark.parametrize("dtype", ("i8", "f16", "f32"))
def test_two_dimensions(run, dtype, transpose, rows, columns, ROWS, COLUMNS):
    x = raw(rows * columns, dtype).reshape(rows, columns)
    source = x.T.contiguous().T if transpose else x
    out = numeric.poisoned((rows, columns), dtype)
    run(move2d, 1, source, out, rows, columns, *source.stride(), *out.stride(), ROWS, COLUMNS)
    assert same_bytes(out, x)


@triton.jit
def fill2d(x_ptr, out_ptr, rows, columns, pitch, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r, c = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + r * pitch + c, mask=(r < rows) & (c < columns), other=1)
    tl.store(out_ptr + r * COLUMNS + c, x)


@pytest.mark.parametrize("ROWS, COLUMNS", [(32, 8), (8, 32), (16, 16), (32, 32)])
@pytest.mark.parametrize("dtype", ALL)
def test_behind_the_bounds_of_a_block(run, dtype, ROWS, COLUMNS):
    """What lies behind a mask's bounds does not show, whatever it is: there are rows and columns there."""
    numeric.interpreter_is_wrong("1 becomes the integer 1 in bfloat16", dtype == "bf16")
    values = numeric.random((40, 64), dtype, 3)
    for rows, columns in ((ROWS - 3, COLUMNS - 5), (ROWS, 3), (3, COLUMNS), (0, 0), (ROWS, COLUMNS)):
        inside = (np.arange(ROWS)[:, None] < rows) & (np.arange(COLUMNS) < columns)
        out = numeric.poisoned((ROWS, COLUMNS), dtype)
        run(fill2d, 1, numeric.tensor(values, dtype), out, rows, columns, 64, ROWS, COLUMNS)
        expected = np.where(inside, values[:ROWS, :COLUMNS], values.dtype.type(1))
        numeric.assert_same(numeric.array(out), expected)


@triton.jit
def move3d(x_ptr, out_ptr, s0, s1, s2, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a, b, c = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    tl.store(out_ptr + (a * B + b) * C + c, tl.load(x_ptr + a * s0 + b * s1 + c * s2))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)], ids=str)
@pytest.mark.parametrize("shape", [(2, 2, 2), (4, 8, 16), (1, 4, 64), (16, 1, 4)], ids=str)
def test_three_dimensions(run, shape, order):
    x = raw(int(np.prod(shape)), "f32").reshape([shape[order.index(d)] for d in range(3)]).permute(order)
    out = numeric.poisoned(shape, "f32")
    run(move3d, 1, x, out, *x.stride(), *shape)
    assert tuple(x.shape) == shape and same_bytes(out, x)


@triton.jit
def broadcasts(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r, c = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    column = tl.load(x_ptr + r)[:, None]
    row = tl.load(x_ptr + c)[None, :]
    place = out_ptr + r[:, None] * COLUMNS + c[None, :]
    tl.store(place, column - row)
    tl.store(place + ROWS * COLUMNS, column)
    tl.store(place + 2 * ROWS * COLUMNS, tl.load(x_ptr + 3))


@pytest.mark.parametrize("shape", [(4, 4), (32, 2), (2, 64), (64, 64)], ids=str)
def test_broadcast_of_values_and_pointers(run, shape):
    x, out = numeric.random(64, "f32"), numeric.poisoned((3, *shape), "f32")
    run(broadcasts, 1, numeric.tensor(x, "f32"), out, *shape)
    column, row = x[: shape[0], None], x[None, : shape[1]]
    numeric.assert_same(out, np.stack([column - row, np.broadcast_to(column, shape), np.full(shape, x[3])]))


# ---- gather and scatter


@triton.jit
def permute(x_ptr, index_ptr, out_ptr, n, GATHER: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = i < n
    index = tl.load(index_ptr + i, mask=keep, other=0)
    if GATHER:
        tl.store(out_ptr + i, tl.load(x_ptr + index, mask=keep), mask=keep)
    else:
        tl.store(out_ptr + index, tl.load(x_ptr + i, mask=keep), mask=keep)


@pytest.mark.parametrize("index_dtype", ("i32", "i64", "u32", "u16"))
@pytest.mark.parametrize("dtype", ("i1", "i8", "f16", "f32", "i64"))
@pytest.mark.parametrize("gather", (True, False), ids=("gather", "scatter"))
def test_gather_and_scatter(run, gather, dtype, index_dtype):
    count = 700
    x, out, index = (
        raw(count, dtype),
        numeric.poisoned(count, dtype),
        np.random.default_rng(1).permutation(count),
    )
    run(
        permute,
        3,
        x,
        numeric.tensor(index.astype(numeric.DTYPES[index_dtype].values), index_dtype),
        out,
        count,
        gather,
        256,
    )
    assert same_bytes(out if gather else out[index], x[index] if gather else x)


# ---- walks of which a part is masked altogether

@triton.jit
def between(x_ptr, out_ptr, low, high, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """The elements of a window are stored, by comparisons from either side."""
    i = tl.arange(0, BLOCK)
    if HOW == "strict":
        inside = (i > low - 1) & (i < high)
    elif HOW == "loose":
        inside = (i >= low) & (high - 1 >= i)
    elif HOW == "falling":
        inside = (-i <= -low) & (BLOCK - i > BLOCK - high)
    else:
        inside = ((i >= low) & (i < high)) & (low < high)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=inside) * 2, mask=inside)


@pytest.mark.parametrize("how", ("strict", "loose", "falling", "uniform"))
@pytest.mark.parametrize("low, high", [(0, 1024), (0, 0), (1024, 1024), (0, 64), (64, 128), (63, 65),
                                       (127, 129), (1000, 1001), (-5, 3000), (700, 200), (2**31 - 1, 5)])
def test_window(run, how, low, high):
    x, out = numeric.random(1024, "f32"), numeric.poisoned(1024, "f32")
    place = np.arange(1024)
    expected = np.where((place >= low) & (place < high), 2 * x, out.numpy())
    run(between, 1, numeric.tensor(x, "f32"), out, low, high, how, 1024)
    numeric.assert_same(out, expected)


@triton.jit
def corner(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    r, c = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + r * BLOCK + c, mask=(r < rows) & (c < columns), other=7.0)
    tl.store(out_ptr + r * BLOCK + c, x, mask=c < columns)
    tl.store(out_ptr + BLOCK * BLOCK + r * BLOCK + c, x + 1, mask=(r < rows) & (c < columns))


@pytest.mark.parametrize("rows, columns", [(0, 0), (1, 128), (128, 1), (40, 70), (128, 128), (200, 16)])
def test_corner_of_a_block(run, rows, columns):
    x, out = numeric.random((128, 128), "f32"), numeric.poisoned((2, 128, 128), "f32")
    expected = out.numpy().copy()
    expected[0, :, :columns] = np.where(np.arange(128)[:, None] < rows, x, 7)[:, :columns]
    expected[1, :rows, :columns] = x[:rows, :columns] + 1
    run(corner, 1, numeric.tensor(x, "f32"), out, rows, columns, 128)
    numeric.assert_same(out, expected)


# ---- loops that fetch ahead

@triton.jit
def rows_apart(x_ptr, out_ptr, rows, columns, stride, direction, BLOCK: tl.constexpr):
    """Every other row, upwards or from the last one down; at the end nothing lies ahead."""
    i = tl.arange(0, BLOCK)
    inside = i < columns
    for turn in range(tl.program_id(0), rows, tl.num_programs(0)):
        row = turn if direction > 0 else rows - 1 - turn
        x = tl.load(x_ptr + row * stride + i, mask=inside, other=0.0)
        tl.store(out_ptr + row * stride + i, x - tl.max(x, axis=0), mask=inside)


@pytest.mark.parametrize("direction", (1, -1))
@pytest.mark.parametrize("rows, columns, stride", [(1, 1000, 1000), (7, 1024, 1024), (5, 300, 1700),
                                                   (0, 9, 9)])
def test_rows_apart(run, rows, columns, stride, direction):
    x, out = numeric.random((rows, stride), "f32"), numeric.poisoned((rows, stride), "f32")
    expected = out.numpy().copy()
    held = np.concatenate([x[:, :columns], np.zeros((rows, 1024 - columns), np.float32)], 1)
    expected[:, :columns] = x[:, :columns] - held.max(1, keepdims=True)
    run(rows_apart, 2, numeric.tensor(x, "f32"), out, rows, columns, stride, direction, 1024)
    numeric.assert_same(out, expected)


@triton.jit
def rows_looked_up(x_ptr, index_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.load(index_ptr + tl.program_id(0))
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns)
    tl.store(out_ptr + tl.program_id(0) * columns + i, x, mask=i < columns)


@pytest.mark.parametrize("dtype", ("i32", "i64"))
def test_rows_looked_up(run, dtype):
    """What the next program will look up is looked up ahead, but nothing behind the last number: that lies at
    the end of a page that another, which may not be read, follows."""
    size = numeric.DTYPES[dtype].bits // 8
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    start = np.frombuffer(pages, np.uint8).ctypes.data
    assert not ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + mmap.PAGESIZE), mmap.PAGESIZE, 0)
    rows = [3, 0, 8, 1, 1, 7]
    held = np.frombuffer(pages, numeric.DTYPES[dtype].values, len(rows), mmap.PAGESIZE - size * len(rows))
    held[:] = rows
    x, out = numeric.random((9, 1000), "f32"), numeric.poisoned((len(rows), 1000), "f32")
    run(rows_looked_up, len(rows), numeric.tensor(x, "f32"), torch.from_numpy(held), out, 1000, 1024)
    numeric.assert_same(out, x[rows])

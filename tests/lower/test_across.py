"""facts/column_accesses.py, layout.squares: tensors that are accessed across their rows."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from triton_spirv.layout import row_major, squares


@triton.jit
def transposing_sum(x_ptr, y_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
                    TURNED: tl.constexpr):
    """out [rows, columns] = x [rows, columns] + y [columns, rows].T, or as its transpose."""
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    column = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS))[None, :]
    inside = (row < rows) & (column < columns)
    x = tl.load(x_ptr + row * columns + column, inside, other=0)
    y = tl.load(y_ptr + column * rows + row, inside)
    place = column * rows + row if TURNED else row * columns + column
    tl.store(out_ptr + place, x + y, inside)


@pytest.mark.parametrize("dtype", ("f32", "f16", "i8", "i64"))
@pytest.mark.parametrize("block", ((16, 64), (64, 16), (32, 32), (64, 128), (16, 16), (8, 64), (2, 512)))
@pytest.mark.parametrize("turned", (False, True))
def test_transposing_sums(run, dtype, block, turned):
    """Whole tiles, and tiles with an end in both dimensions."""
    for rows, columns in (128, 256), (77, 131):
        x, y = numeric.whole((rows, columns), dtype, 1), numeric.whole((columns, rows), dtype, 2)
        out = numeric.poisoned((columns, rows) if turned else (rows, columns), dtype)
        grid = -(-rows // block[0]), -(-columns // block[1])
        run(transposing_sum, grid, numeric.tensor(x, dtype), numeric.tensor(y, dtype), out, rows, columns,
            *block, turned)
        expected = (x + y.T).astype(x.dtype)
        numeric.assert_same(out, expected.T if turned else expected)


@triton.jit
def with_holes(x_ptr, y_ptr, row_ptr, column_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """out = x + y.T where two vectors of flags say so."""
    row, column = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    inside = (tl.load(row_ptr + row) != 0) & (tl.load(column_ptr + column) != 0)
    x = tl.load(x_ptr + row * COLUMNS + column, inside, other=7.0)
    y = tl.load(y_ptr + column * ROWS + row, inside, other=3.0)
    tl.store(out_ptr + row * COLUMNS + column, x + y, inside)


@triton.jit
def with_remainders(x_ptr, y_ptr, out_ptr, divisor, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """out = x + y.T but in each divisor-th row and in the rows of squares' beginnings."""
    row, column = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    inside = (row % divisor != 0) & ((column + row // 16) % 3 != 1)
    x = tl.load(x_ptr + row * COLUMNS + column, inside, other=7.0)
    y = tl.load(y_ptr + column * ROWS + row, inside, other=3.0)
    tl.store(out_ptr + row * COLUMNS + column, x + y, inside)


@pytest.mark.parametrize("rows, columns", ((32, 64), (64, 32)))
def test_masks_with_holes(run, rows, columns):
    """Whole rows of a square may be masked, its first one too; the others are where they are."""
    rng = np.random.default_rng(rows)
    x, y = numeric.whole((rows, columns), "f32", 1), numeric.whole((columns, rows), "f32", 2)
    arguments = numeric.tensor(x, "f32"), numeric.tensor(y, "f32")
    start = numeric.poisoned((rows, columns), "f32")
    before = np.asarray(start).copy()
    for share in 0.0, 0.2, 0.9, 1.0:
        flags = [(rng.random(n) < share).astype(np.int32) for n in (rows, columns)]
        out = numeric.tensor(before, "f32")
        run(with_holes, 1, *arguments, *(numeric.tensor(each, "i32") for each in flags), out, rows, columns)
        numeric.assert_same(out, np.where(np.outer(*flags) != 0, x + y.T, before))
    for divisor in 2, 3, 16:
        out = numeric.tensor(before, "f32")
        run(with_remainders, 1, *arguments, out, divisor, rows, columns)
        row, column = np.ogrid[:rows, :columns]
        inside = (row % divisor != 0) & ((column + row // 16) % 3 != 1)
        numeric.assert_same(out, np.where(inside, x + y.T, before))


@triton.jit
def under_sines(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """out = x.T where a sine that takes a while to compute is small."""
    row, column = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    small = tl.sin((row * 3 + column) * 1.0) < 0.5
    tl.store(out_ptr + column * ROWS + row, tl.load(x_ptr + row * COLUMNS + column, small), small)


def test_costly_masks_are_made_once(run):
    """And transposed, for what goes across the rows."""
    x, before = numeric.whole((64, 32), "f32", 1), np.full((32, 64), 9, np.float32)
    out = numeric.tensor(before, "f32")
    compiled = run(under_sines, 1, numeric.tensor(x, "f32"), out, 64, 32)
    row, column = np.ogrid[:64, :32]
    numeric.assert_same(out, np.where(np.sin((row * 3 + column) * 1.0) < 0.5, x, before.T).T)
    # 16 vectors of a square, and one of the version where the arrays overlap
    assert compiled.asm["spvasm"].count("OpenCL.std sin") == 17


@triton.jit
def in_place(x_ptr, SIZE: tl.constexpr):
    """x [SIZE, SIZE] += its own transpose."""
    row, column = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    x = tl.load(x_ptr + row * SIZE + column)
    tl.store(x_ptr + row * SIZE + column, x + tl.load(x_ptr + column * SIZE + row))


@pytest.mark.parametrize("size", (16, 64, 128))
def test_a_square_and_its_transpose(run, size):
    """All is read before anything is written."""
    x = numeric.whole((size, size), "f32", 1)
    out = numeric.tensor(x, "f32")
    run(in_place, 1, out, size)
    numeric.assert_same(out, x + x.T)


@triton.jit
def planes(x_ptr, scale_ptr, out_ptr, n, PLANE: tl.constexpr, CHANNELS: tl.constexpr, BLOCK: tl.constexpr):
    """[n, CHANNELS] to planes [n // PLANE, CHANNELS, PLANE], scaled by channel; an element is used twice."""
    i = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[:, None]
    channel = tl.arange(0, CHANNELS)[None, :]
    x = tl.load(x_ptr + i * CHANNELS + channel, i < n, other=0.0) * tl.load(scale_ptr + channel)
    tl.store(out_ptr + i % PLANE + channel * PLANE + i // PLANE * (CHANNELS * PLANE), tl.exp(x) * x, i < n)


@pytest.mark.parametrize("channels", (16, 32))
@pytest.mark.parametrize("plane, images", ((784, 2), (48, 5), (49, 3)))
def test_channels_last_to_planes(run, channels, plane, images):
    n = plane * images
    x, scale = numeric.random((n, channels), "f32", low=-2, high=2), numeric.random(channels, "f32")
    x[n // 2, 3], x[n // 3, 5] = np.nan, np.inf
    scale = np.abs(scale)
    out = numeric.poisoned((images, channels, plane), "f32")
    run(planes, -(-n // 256), numeric.tensor(x, "f32"), numeric.tensor(scale, "f32"), out, n, plane, channels,
        256)
    made = x.astype(np.float64) * scale
    expected = (np.exp(made) * made).reshape(images, plane, channels).transpose(0, 2, 1)
    numeric.assert_close(out, expected, 1e-5, 1e-6)


@triton.jit(noinline=True)
def in_rounds(x_ptr, out_ptr, n, SIDE: tl.constexpr):
    """A tile and a row of as many elements go round a loop, and the tile's rows are summed."""
    row, column = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    i = tl.arange(0, SIDE * SIDE)
    tile, line = tl.load(x_ptr + row * SIDE + column), tl.load(x_ptr + i)
    for number in range(n):
        tile = tile * 3 + 1
        line = line * 5 + number
    tl.store(out_ptr + i, line)
    tl.store(out_ptr + SIDE * SIDE + tl.arange(0, SIDE), tl.sum(tile, 1))


@triton.jit
def turned_then_called(x_ptr, y_ptr, out_ptr, n, SIDE: tl.constexpr):
    row, column = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    tl.store(y_ptr + row * SIDE + column, tl.load(x_ptr + column * SIDE + row))
    in_rounds(x_ptr, out_ptr, n, SIDE)


@pytest.mark.parametrize("side", (16, 64))
def test_a_called_function_computes_otherwise(run, side):
    """A kernel that accesses tiles across their rows calls a function that does more than that."""
    x = numeric.random((side, side), "i32", low=-99, high=99)
    y, out = numeric.poisoned(x.shape, "i32"), numeric.poisoned(side * side + side, "i32")
    run(turned_then_called, 1, numeric.tensor(x, "i32"), y, out, 3, side)
    numeric.assert_same(y, x.T)
    tile, line = 27 * x + 13, 125 * x.ravel() + 7
    numeric.assert_same(out, np.concatenate([line, tile.sum(1, dtype=np.int32)]))


def test_squares():
    """Rows of two vectors: a square is half of 16 rows; small tensors are held whole."""
    layout = squares((64, 32), 0, 16, 8)
    assert layout.component == (1, 2, 4, 8) and layout.register == (32, 64, 128, 256)
    assert sorted(layout.step) == [16, 512, 1024]
    assert squares((16, 16), 0, 16, 16) == row_major((16, 16), 16, 16)


@triton.jit
def scaled(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, COLUMNS)[None, :]
    inside = (row < rows) & (column < columns)
    x = tl.load(x_ptr + row * columns + column, inside, other=float("-inf"))
    tl.store(out_ptr + row * columns + column, tl.exp(x - tl.max(x, axis=1)[:, None]), inside)


@pytest.mark.parametrize("rows, columns", ((3, 40), (1, 1), (5, 64), (9, 130)))
def test_rows_behind_a_matrix(run, rows, columns):
    """A vector that is masked altogether is loaded from elsewhere, and gives what masked elements give."""
    x = numeric.random((rows, columns), "f32")
    out = numeric.poisoned((rows, columns), "f32")
    block = 128 if columns <= 128 else 256
    compiled = run(scaled, -(-rows // 8), numeric.tensor(x, "f32"), out, rows, columns, 8, block)
    numeric.assert_close(out, np.exp(x - x.max(1, keepdims=True)), 1e-5, 1e-6)
    listing = compiled.asm["spvasm"]
    assert "OpAny" in listing or "llvm.masked.load" not in listing

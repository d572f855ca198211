"""lower/program/size.py: what accesses many elements one by one is walked sooner than what does not."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def bilinear(x_ptr, rows_ptr, columns_ptr, y_ptr, height, width, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    row, column = tl.load(rows_ptr + i, inside, 0), tl.load(columns_ptr + i, inside, 0)
    right, below = column + 1 < width, row + 1 < height
    at = x_ptr + row * width + column
    a, b = tl.load(at, inside, 0), tl.load(at + 1, inside & right, 0)
    c, d = tl.load(at + width, inside & below, 0), tl.load(at + width + 1, inside & below & right, 0)
    tl.store(y_ptr + i, a + 2 * b + 3 * c + 4 * d, inside)


@triton.jit
def planes(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x_ptr += 3 * i
    a, b, c = tl.load(x_ptr, inside), tl.load(x_ptr + 1, inside), tl.load(x_ptr + 2, inside)
    tl.store(y_ptr + 3 * i, c, inside)
    tl.store(y_ptr + 3 * i + 1, a, inside)
    tl.store(y_ptr + 3 * i + 2, b, inside)


@triton.jit
def chain(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, i < n)
    y = x
    for k in tl.static_range(60):
        y = y * x + k
    tl.store(y_ptr + i, y, i < n)


@triton.jit
def gathered_sum(x_ptr, places_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    place = tl.load(places_ptr + i)
    x = tl.load(x_ptr + place) + tl.load(x_ptr + 255 - place) + tl.load(x_ptr + (place ^ 1))
    tl.store(y_ptr, tl.sum(x))


@pytest.mark.parametrize("block", (16, 64, 128, 256, 512))
@pytest.mark.parametrize("dtype", ("i8", "f16", "f32", "i64"))
def test_gathers(run, dtype, block):
    height, width, n = 19, 23, 3 * 256 + 45
    x = numeric.random((height, width), "i8", low=-9, high=9)
    row = numeric.random(n, "i32", 1, low=0, high=height)
    column = numeric.random(n, "i32", 2, low=0, high=width)
    out = numeric.poisoned(n, dtype)
    run(bilinear, triton.cdiv(n, block), numeric.tensor(x, dtype), numeric.tensor(row, "i32"),
        numeric.tensor(column, "i32"), out, height, width, n, block)
    padded = np.pad(x, ((0, 1), (0, 1)))  # sums of ten are 90 at most
    expected = padded[row, column] + 2 * padded[row, column + 1] + 3 * padded[row + 1, column] \
        + 4 * padded[row + 1, column + 1]
    numeric.assert_same(out, expected.astype(numeric.array(out).dtype), signed_zeros=False)


@pytest.mark.parametrize("block", (64, 128, 256, 512))
def test_every_third_element(run, block):
    n = 700
    x, out = numeric.random((n, 3), "f32"), numeric.poisoned((n, 3), "f32")
    run(planes, triton.cdiv(n, block), numeric.tensor(x, "f32"), out, n, block)
    numeric.assert_same(out, x[:, [2, 0, 1]])


@pytest.mark.parametrize("block", (128, 256, 512))
def test_every_third_element_in_place(run, block):
    """All elements of a block are loaded before one is stored."""
    n = 700
    x = numeric.random((n, 3), "f32")
    out = numeric.tensor(x, "f32")
    run(planes, triton.cdiv(n, block), out, out, n, block)
    numeric.assert_same(out, x[:, [2, 0, 1]])


@pytest.mark.parametrize("block", (256, 512))
def test_a_result_that_overlaps_what_is_loaded(run, block):
    """The same, where elements are stored one further on."""
    x = numeric.random(3 * block + 1, "f32")
    memory = numeric.tensor(x, "f32")
    run(planes, 1, memory, memory[1:], block, block)
    expected = x.copy()
    expected[1:] = x[:-1].reshape(block, 3)[:, [2, 0, 1]].ravel()
    numeric.assert_same(memory, expected)


def turns(kernel) -> int:
    return kernel.asm["plan"].count(" turns")


def test_many_gathers_of_a_block_are_no_more_code_than_those_of_a_large_one(run, mode):
    if mode != "vector":
        pytest.skip("lanes share a block")
    x, places = numeric.tensor(numeric.random(1024, "f32"), "f32"), numeric.tensor(np.zeros(1024), "i32")
    lines = {block: run(bilinear, 2, x, places, places, numeric.poisoned(1024, "f32"), 8, 8, 1000, block)
             .asm["spvasm"].count("\n") for block in (128, 256, 512)}
    assert lines[256] == lines[512] < 1.1 * lines[128]


@pytest.mark.parametrize("block", (64, 128, 256))
def test_a_chain_of_arithmetic_is_written_out(run, mode, block):
    """It waits for itself in a walk of few registers."""
    x, out = numeric.random(1000, "f32") / 8, numeric.poisoned(1000, "f32")
    made = run(chain, triton.cdiv(1000, block), numeric.tensor(x, "f32"), out, 1000, block)
    expected = x.astype(np.float64)
    for k in range(60):
        expected = expected * x + k
    numeric.assert_close(out, expected, relative=1e-4, absolute=1e-4)
    assert mode != "vector" or turns(made) == 0


def test_a_sum_of_gathers_keeps_its_order(run, mode):
    x, places = numeric.random(256, "f32"), np.arange(256)[::-1]
    out = numeric.poisoned(1, "f32")
    made = run(gathered_sum, 1, numeric.tensor(x, "f32"), numeric.tensor(places, "i32"), out, 256)
    expected = 3 * x.astype(np.float64).sum()
    numeric.assert_close(out, [expected], relative=1e-4, absolute=1e-4)
    assert mode != "vector" or turns(made) == 0

"""lower/addresses/intervals.py: loads and stores in one loop where their memory is shown to lie apart.

A block is read before any of it is written, whatever the addresses are made of. So each kernel runs on memory
that overlaps a little, on neighbouring memory, and on memory that lies far apart.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from triton_spirv.compiler import compile
from triton_spirv.target import CPU

BLOCK = 1024

APART = ": from memory that lies apart"


@triton.jit
def by_rows(p, to, n, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(p + to + i, tl.load(p + i // WIDTH * WIDTH + i % WIDTH, i < n, other=0.0) * 2, i < n)


@triton.jit
def by_bits(p, to, n, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK) - 128  # some are negative
    x = tl.load(p + (i >> 6) * 64 + (i & 63) + 128, i < n - 128, other=0.0)
    tl.store(p + to + i + 128, x * 2, i < n - 128)


@triton.jit
def scattered_rows(p, to, n, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(p + to + i % WIDTH + i // WIDTH * WIDTH, tl.load(p + i, i < n, other=0.0) * 2, i < n)


@triton.jit
def backwards(p, to, n, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK) - (BLOCK - n)
    x = tl.load(p - i // WIDTH * WIDTH - i % WIDTH + (n - 1), i >= 0, other=0.0)
    tl.store(p + to + i, x * 2, i >= 0)


@triton.jit
def clamped(p, to, n, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    k = tl.where(i % 2 == 0, tl.minimum(i, n - 3), tl.maximum(i - WIDTH, 1))
    tl.store(p + to + i, tl.load(p + k, i < n, other=0.0) * 2, i < n)


@triton.jit
def wrapping(p, to, n, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    k = (i * 715827883 + 12345) // 1048576 % 64 + 64
    tl.store(p + to + i, tl.load(p + k, i < n, other=0.0) * 2, i < n)


def sources(kernel: object, n: int, width: int) -> np.ndarray:
    """The place of p that each element is of."""
    i = np.arange(n)
    if kernel is backwards:
        return n - 1 - i
    if kernel is clamped:
        return np.where(i % 2 == 0, np.minimum(i, n - 3), np.maximum(i - width, 1))
    if kernel is wrapping:
        with np.errstate(over="ignore"):
            k = i.astype(np.int32) * np.int32(715827883) + np.int32(12345)
        k = k.astype(np.int64)
        quotient = np.sign(k) * (np.abs(k) // 1048576)
        return np.sign(quotient) * (np.abs(quotient) % 64) + 64
    return i


KERNELS = by_rows, by_bits, scattered_rows, backwards, clamped, wrapping


@pytest.mark.parametrize("to", (-1024, -700, -1, 0, 1, 17, 699, 700, 1024, 5000))
@pytest.mark.parametrize("width", (28, 64))
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.fn.__name__)
def test_reads_before_writes(run, kernel, width, to):
    n, start = 700, 2048
    x = numeric.random(8192, "f32")
    x[start + 5] = np.nan
    data = numeric.tensor(x, "f32")
    run(kernel, 1, data[start:], to, n, width, BLOCK)
    expected = x.copy()
    expected[start + to : start + to + n] = x[start + sources(kernel, n, width)] * 2
    numeric.assert_same(data, expected)


@triton.jit
def rows_by_number(p, numbers, to, rows: tl.constexpr, n, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    number = tl.load(numbers + i // WIDTH, i < n, other=0)
    number = tl.where(number < 0, number + rows, number)
    tl.device_assert(((number >= 0) & (number < rows)) | ~(i < n), "no such row")
    tl.store(p + to + i, tl.load(p + i % WIDTH + WIDTH * number, i < n) + 1, i < n)


@triton.jit
def rows_by_number_of_the_launch(p, numbers, to, rows, n, width, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    number = tl.load(numbers + i // width, i < n, other=0)
    number = tl.where(number < 0, number + rows, number)
    tl.device_assert(((number >= 0) & (number < rows)) | ~(i < n), "no such row")
    tl.store(p + to + i, tl.load(p + i % width + width * number, i < n) + 1, i < n)


@pytest.mark.parametrize("to", (-1024, -700, -3, 0, 100, 1279, 1280, 4000))
@pytest.mark.parametrize("known", (True, False))
def test_asserted_numbers(run, known, to):
    """A masked element may have any number. The number of rows, and their length, may be arguments."""
    rows, width, n, start = 20, 64, 700, 2048
    x = numeric.random(8192, "f32")
    numbers = np.resize(np.array([3, -1, 0, 19, -20, 7], np.int64), -(-n // width))
    data = numeric.tensor(x, "f32")
    kernel = rows_by_number if known else rows_by_number_of_the_launch
    run(kernel, 1, data[start:], numeric.tensor(numbers, "i64"), to, rows, n, width, BLOCK,
        debug=True)
    i = np.arange(n)
    expected = x.copy()
    expected[start + to : start + to + n] = x[start + numbers[i // width] % rows * width + i % width] + 1
    numeric.assert_same(data, expected)


@triton.jit
def other_dimension(p, to, n, SIDE: tl.constexpr):
    """The mask limits columns, which count as the rows do that the index is made of."""
    row, column = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    x = tl.load(p + row // 4 * SIDE + column, column < n, other=0)
    tl.store(p + to + row * SIDE + column, x + 1)


@triton.jit
def other_elements(p, to, n, SIDE: tl.constexpr):
    """The mask is turned, the index is not."""
    row, column, i = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :], tl.arange(0, SIDE * SIDE)
    x = tl.load(p + tl.reshape(i // 4, [SIDE, SIDE]), tl.trans(tl.reshape(i < n, [SIDE, SIDE])), other=0)
    tl.store(p + to + row * SIDE + column, x + 1)


@pytest.mark.parametrize("to", (0, 16, 64, 1024, 4096))
@pytest.mark.parametrize("n", (4, 64))
@pytest.mark.parametrize("kernel", (other_dimension, other_elements), ids=lambda kernel: kernel.fn.__name__)
def test_masks_of_other_elements_limit_nothing(run, kernel, n, to):
    side = 64
    x = numeric.random(3 * side * side, "i32", low=0, high=99)
    data = numeric.tensor(x, "i32")
    run(kernel, 1, data, to, n, side)
    i = np.arange(side * side).reshape(side, side)
    place = i // side // 4 * side + i % side if kernel is other_dimension else i // 4
    inside = i % side < n if kernel is other_dimension else (i < n).T
    expected = x.copy()
    expected[to : to + side * side] = np.where(inside, x[place], 0).ravel() + 1
    numeric.assert_same(data, expected)


@triton.jit
def other_numbers(p, numbers, to, n, rows: tl.constexpr, SIDE: tl.constexpr):
    """What is asserted of some rows says nothing of those of some columns."""
    row = tl.arange(0, SIDE)
    number = tl.load(numbers + row)
    inside = row < n
    tl.device_assert(((number >= 0) & (number < rows)) | ~inside, "no such row")
    x = tl.load(p + number[:, None] * SIDE + row[None, :], inside[None, :], other=0)
    tl.store(p + to + row[:, None] * SIDE + row[None, :], x + 1)


@pytest.mark.parametrize("to", (0, 128, 640))
def test_assertions_of_other_elements_say_nothing(run, to):
    side, n, rows = 64, 4, 2
    x = numeric.random(3 * side * side, "i32", low=0, high=99)
    numbers = np.where(np.arange(side) < n, 1, np.arange(side) // 2 + 4).astype(np.int32)
    data = numeric.tensor(x, "i32")
    run(other_numbers, 1, data, numeric.tensor(numbers, "i32"), to, n, rows, side, debug=True,
        sanitize_overflow=False)
    taken = x[numbers[:, None] * side + np.arange(side)]
    expected = x.copy()
    expected[to : to + side * side] = np.where(np.arange(side) < n, taken, 0).ravel() + 1
    numeric.assert_same(data, expected)


def text(body: str, n: int = BLOCK) -> str:
    """A kernel with indices %i of a program, and constants by their values."""
    constants = "".join(f"\n    %c{value} = arith.constant dense<{value}> : INDICES"
                        for value in (0, 1, 28, 100, 784))
    return f"""module {{
  tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %k: !tt.ptr<i32>) {{
    %pid = tt.get_program_id x : i32
    %size = arith.constant {n} : i32
    %start = arith.muli %pid, %size : i32
    %starts = tt.splat %start : i32 -> INDICES
    %range = tt.make_range {{end = {n} : i32, start = 0 : i32}} : INDICES
    %i = arith.addi %starts, %range : INDICES
    %xs = tt.splat %x : !tt.ptr<f32> -> PTRS
    %ys = tt.splat %y : !tt.ptr<f32> -> PTRS
    %ks = tt.splat %k : !tt.ptr<i32> -> tensor<{n}x!tt.ptr<i32>>{constants}
{body}
    %p = tt.addptr %xs, %j : PTRS, INDICES
    %v = tt.load %p : PTRS
    %q = tt.addptr %ys, %i : PTRS, INDICES
    tt.store %q, %v : PTRS
    tt.return
  }}
}}
""".replace("INDICES", f"tensor<{n}xi32>").replace("PTRS", f"tensor<{n}x!tt.ptr<f32>>")


KNOWN = {
    "quotient": "%j = arith.divsi %i, %c28 : INDICES",
    "remainder": "%j = arith.remsi %i, %c784 : INDICES",
    "shift": "%j = arith.shrsi %i, %c1 : INDICES",
    "bits": "%j = arith.andi %c784, %i : INDICES",
    "product": "%a = arith.remsi %i, %c28 : INDICES\n %j = arith.muli %a, %c784 : INDICES",
    "choice": "%a = arith.remsi %i, %c28 : INDICES\n %b = arith.divsi %i, %c28 : INDICES\n"
              " %m = arith.cmpi slt, %a, %b : INDICES\n"
              " %j = arith.select %m, %a, %b : tensor<1024xi1>, INDICES",
}
LOOKED_UP = """%pk = tt.addptr %ks, %i : tensor<1024x!tt.ptr<i32>>, INDICES
    %j = tt.load %pk : tensor<1024x!tt.ptr<i32>>
    %low = arith.cmpi sge, %j, %c0 : INDICES
    %high = arith.cmpi slt, %j, %c100 : INDICES"""
BOTH = "\n    %both = arith.andi %low, %high : tensor<1024xi1>"
ASSERTED = "\n    tt.assert %both, \"\" : tensor<1024xi1>"
UNKNOWN = {
    "data": LOOKED_UP,
    "one-end": LOOKED_UP + "\n    tt.assert %low, \"\" : tensor<1024xi1>",
    "either": LOOKED_UP + "\n    %both = arith.ori %low, %high : tensor<1024xi1>" + ASSERTED,
    "some": LOOKED_UP + BOTH + """
    %t = arith.constant dense<true> : tensor<1024xi1>
    %few = arith.cmpi slt, %i, %c28 : INDICES
    %many = arith.xori %few, %t : tensor<1024xi1>
    %some = arith.ori %both, %many : tensor<1024xi1>
    tt.assert %some, \"\" : tensor<1024xi1>""",
}
KNOWN["asserted"] = LOOKED_UP + BOTH + ASSERTED
KNOWN["asserted-later"] = KNOWN["asserted"].replace("%j, %c100", "%j, %starts")


@pytest.mark.parametrize("name", KNOWN | UNKNOWN)
def test_plans(name: str) -> None:
    """Where the ends of an index are known a test of them chooses the loop that loads and stores."""
    body = (KNOWN | UNKNOWN)[name].replace("INDICES", "tensor<1024xi32>")
    assert (APART in compile(text(body), CPU).plan) == (name in KNOWN)

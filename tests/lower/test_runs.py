"""lower/addresses/runs.py: what neighbours load from one address is loaded once."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def shifted(x_ptr, by_ptr, out_ptr, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    by = tl.load(by_ptr + i // GROUP, inside, other=0)
    tl.store(out_ptr + i, tl.load(x_ptr + i, inside) + (by + by), inside)


@pytest.mark.parametrize("dtype", ("f32", "f16", "bf16", "f64", "i64", "i8"))
@pytest.mark.parametrize("group", (1, 4, 16, 48, 256))
def test_divided_indices(run, dtype, group):
    """Whole programs, one whose end is masked, and one that has no element; NaN, infinities, extremes."""
    for n, programs in (2048, 2), (2048 + 777, 4):
        x, by = numeric.whole(n, dtype, 1), numeric.whole(-(-n // group), dtype, 2)
        if numeric.DTYPES[dtype].values().dtype.kind == "f":
            by[: 5 * len(by) : 5] = np.resize([np.nan, np.inf, -np.inf, -0.0], len(by[: 5 * len(by) : 5]))
        out = numeric.poisoned(n, dtype)
        run(shifted, programs, numeric.tensor(x, dtype), numeric.tensor(by, dtype), out, n, group, 1024)
        with np.errstate(all="ignore"):
            expected = x + 2 * np.repeat(by, group)[:n].astype(x.dtype)
        numeric.assert_same(out, expected.astype(x.dtype))


@triton.jit
def below_zero(x_ptr, out_ptr, start, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + (i - start) // GROUP) * 2)


@pytest.mark.parametrize("group", (4, 16, 64))
@pytest.mark.parametrize("start", (0, 64, 100))
def test_quotients_round_towards_zero(run, group, start):
    """Groups of indices below zero begin elsewhere than at multiples of the group."""
    x, out = numeric.random(200, "f32"), numeric.poisoned(256, "f32")
    run(below_zero, 1, numeric.tensor(x, "f32")[100:], out, start, group, 256)
    numeric.assert_same(out, x[100 + np.trunc((np.arange(256) - start) / group).astype(int)] * 2)


@triton.jit
def rows_by_number(table_ptr, number_ptr, out_ptr, rows, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    number = tl.load(number_ptr + i // WIDTH)
    number = tl.where(number < 0, number + rows, number)
    tl.device_assert((number >= 0) & (number < rows), "no such row")
    tl.store(out_ptr + i, tl.load(table_ptr + i % WIDTH + WIDTH * number) * 2)


@pytest.mark.parametrize("width", (16, 32, 48, 256))
def test_rows_by_number(run, width):
    """Loads behind loads: what is looked up is looked up once for all that lies behind it."""
    numbers = np.random.default_rng(3).integers(-50, 50, 64)
    table = numeric.random((50, width), "f32")
    out = numeric.poisoned((64, width), "f32")
    run(rows_by_number, 64 * width // 1024, numeric.tensor(table, "f32"), numeric.tensor(numbers, "i64"), out,
        50, width, 1024, debug=True)
    numeric.assert_same(out, table[numbers] * 2)


@triton.jit
def sums(x_ptr, mean_ptr, out_ptr, twice_ptr, n, PLANE: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.int32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        inside = i < n
        mean = tl.load(mean_ptr + (i // PLANE + tl.program_id(0)) % 5, inside, other=0)
        total += tl.where(inside, tl.load(x_ptr + i, inside, other=0) - mean, 0)
        tl.store(twice_ptr + tl.program_id(0) * n + i, mean * mean, inside)
    tl.store(out_ptr + tl.program_id(0), tl.sum(total))


@pytest.mark.parametrize("n", (784 * 3, 784 * 2 + 5))
@pytest.mark.parametrize("block", (64, 2048))
def test_in_loops(run, n, block):
    """A mean for each plane of an image, used twice: by a sum that goes round the loop, and by a store."""
    x, mean = numeric.random(n, "i32", low=-99, high=99), numeric.random(5, "i32", low=-9, high=9)
    out, twice = numeric.poisoned(4, "i32"), numeric.poisoned((4, n), "i32")
    run(sums, 4, numeric.tensor(x, "i32"), numeric.tensor(mean, "i32"), out, twice, n, 784, block)
    means = mean[(np.arange(n) // 784 + np.arange(4)[:, None]) % 5]
    numeric.assert_same(out, (x - means).sum(1).astype(np.int32))
    numeric.assert_same(twice, means * means)


@triton.jit
def quotients_as_data(x_ptr, out_ptr, start, BLOCK: tl.constexpr):
    i = start * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + tl.arange(0, BLOCK) // 16) + i // 16)


def test_indices_that_are_data_wrap(run):
    """start * BLOCK is below zero in 32 bits, where quotients round upwards."""
    x, out = numeric.random(64, "i32", low=0, high=99), numeric.poisoned(1024, "i32")
    run(quotients_as_data, 1, numeric.tensor(x, "i32"), out, (1 << 21) + 7, 1024)
    i = (((1 << 21) + 7) * 1024 + np.arange(1024)).astype(np.int64).astype(np.int32)
    numeric.assert_same(out, np.repeat(x, 16) + np.trunc(i / 16).astype(np.int32))


def test_one_access_for_a_run(run, mode):
    """The plan shows it: the 64 elements of a turn come from one address. Lanes load each their own."""
    n = 4096
    x, by, out = numeric.random(n, "f32"), numeric.random(n // 256, "f32"), numeric.poisoned(n, "f32")
    kernel = run(shifted, 4, numeric.tensor(x, "f32"), numeric.tensor(by, "f32"), out, n, 256, 1024)
    if kernel is not None and mode == "vector":
        hot = [line for line in kernel.asm["plan"].splitlines() if "load %by" in line and "proven," in line]
        assert hot and all(", 1 x f32" in line for line in hot), kernel.asm["plan"]
        assert "load %by" in kernel.asm["plan"].partition("cold")[2]
        assert "where a test holds" not in kernel.asm["plan"], "the mask was tested, and does not hold"


@triton.jit
def groups_by_hint(x_ptr, by_ptr, out_ptr, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """What the user says of groups whose length is no power of two."""
    i = tl.arange(0, BLOCK)
    group = tl.max_constancy(i // GROUP, GROUP)
    place = tl.multiple_of(tl.max_contiguous(i // GROUP * (2 * GROUP) + i % GROUP, GROUP), 16)
    tl.store(out_ptr + i, tl.load(x_ptr + place) + tl.load(by_ptr + group))


@pytest.mark.parametrize("dtype", ("i8", "f32"))
@pytest.mark.parametrize("group", (16, 24, 48, 96))
def test_hints_of_any_length(run, dtype, group):
    i = np.arange(256)
    x, by = numeric.whole(512, dtype, 1), numeric.whole(32, dtype, 2)
    out = numeric.poisoned(256, dtype)
    run(groups_by_hint, 1, numeric.tensor(x, dtype), numeric.tensor(by, dtype), out, group, 256)
    expected = x[i // group * (2 * group) + i % group] + by[i // group]
    numeric.assert_same(out, expected.astype(x.dtype))


@triton.jit
def masked_rows(table_ptr, number_ptr, out_ptr, rows, n, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i // WIDTH < n
    number = tl.load(number_ptr + i // WIDTH, inside, other=1)
    tl.device_assert(number < rows, "no such row")
    number = tl.where(number < 0, number + rows, number) * 3 - number * 2
    tl.store(out_ptr + i, tl.load(table_ptr + number * WIDTH + i % WIDTH), inside)


@pytest.mark.parametrize("dtype", ("i32", "i64"))
@pytest.mark.parametrize("width", (16, 48, 64, 256, 1024))
def test_numbers_of_masked_rows(run, width, dtype):
    """Programs of several rows, one row and part of a row; the last one's rows are masked."""
    block, rows, programs = 1024, 7, 3
    held = -(-programs * block // width)
    n = held - max(1, block // width // 2)
    numbers = np.resize(np.array([3, 0, 6, 2]), held).astype(numeric.DTYPES[dtype].values().dtype)
    table, out = numeric.random(rows * width, "f32"), numeric.poisoned(programs * block, "f32")
    expected = numeric.array(out).copy()
    run(masked_rows, programs, numeric.tensor(table, "f32"), numeric.tensor(numbers, dtype), out, rows, n,
        width, block, debug=True)
    i = np.arange(min(programs * block, n * width))
    expected[: len(i)] = table[numbers[i // width] * width + i % width]
    numeric.assert_same(out, expected)


@pytest.mark.parametrize("width", (16, 64, 512))
def test_assertion_of_a_run_names_its_first_element(run, width):
    block, bad = 1024, 1024 + 512
    numbers = np.full(2 * block // width, 3, np.int64)
    numbers[bad // width] = 60
    out = numeric.poisoned(2 * block, "f32")
    with pytest.raises(RuntimeError, match="no such row") as caught:
        run(rows_by_number, 2, numeric.tensor(numeric.random(50 * width, "f32"), "f32"),
            numeric.tensor(numbers, "i64"), out, 50, width, block, debug=True)
    assert str(caught.value).endswith(f"in program (1, 0, 0), element ({bad - block},)")

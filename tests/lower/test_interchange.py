"""lower/control/interchange.py: loops inside walks give what walks inside loops do, bit by bit."""

from __future__ import annotations

import random

import numeric
import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from seed import KERNELS

pytestmark = pytest.mark.cpu_device("lanes have no walks")

ROWS = 32
OFF = "-interchange"


def compared(run, kernel, out, *arguments, interchanged=True, **options):
    """The same numbers in both forms; `out`: tensors that the kernel fills."""
    found, plans = [], []
    for optimise in ("all", OFF):
        for each in out:
            each.copy_(numeric.poisoned(each.shape, "f32").to(each.dtype))
        made = run(kernel, 1, *arguments, optimise=optimise, enable_fp_fusion=False, **options)
        found.append([numeric.array(each).copy() for each in out])
        plans.append(made and made.asm["plan"])
    for one, other in zip(*found, strict=True):
        numeric.assert_same(one, other)
    if plans[0] is not None and interchanged is not None and " for cpu\n" in plans[0]:  # not of lanes
        assert ("goes through all rounds" in plans[0]) == interchanged
        assert "goes through all rounds" not in plans[1]


@triton.jit(do_not_specialize=["n"])
def sum_kernel(x_ptr, out_ptr, wide_ptr, n, R: tl.constexpr, C: tl.constexpr):
    rows, columns = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    total = tl.zeros([R, C], wide_ptr.dtype.element_ty)
    for k in range(0, n, C):
        x = tl.load(x_ptr + rows * n + k + columns, mask=k + columns < n, other=0)
        total += x.to(wide_ptr.dtype.element_ty)
    tl.store(wide_ptr + rows * C + columns, total + 1)
    tl.store(out_ptr + tl.arange(0, R), tl.sum(total, 1))


ACCUMULATED = {"i8": "i32", "f16": "f32", "bf16": "f32"}


@pytest.mark.parametrize("dtype", ("f16", "bf16", "f32", "f64", "i8", "i32", "i64"))
@pytest.mark.parametrize("count", (0, 1, 64, 300, 1025))
@pytest.mark.parametrize("columns", (16, 64, 256, 512))
def test_sums(run, dtype, count, columns):
    x = numeric.whole((ROWS, count), dtype, 1) if count else numeric.array(numeric.poisoned((ROWS, 0), dtype))
    wide = ACCUMULATED.get(dtype, dtype)
    out, window = numeric.poisoned((ROWS,), wide), numeric.poisoned((ROWS, columns), wide)
    compared(run, sum_kernel, (out, window), numeric.tensor(x, dtype), out, window, count, ROWS, columns)
    total = x.sum(1, dtype=numeric.array(out).dtype)
    numeric.assert_same(out, total, signed_zeros=False)
    padded = np.zeros((ROWS, -(-count // columns) * columns), total.dtype)
    padded[:, :count] = x
    expected = padded.reshape(ROWS, -1, columns).sum(1, dtype=total.dtype) + 1
    numeric.assert_same(window, expected.astype(total.dtype), signed_zeros=False)


@triton.jit(do_not_specialize=["n"])
def largest_kernel(x_ptr, value_ptr, place_ptr, n, R: tl.constexpr, C: tl.constexpr):
    rows, columns = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    best = tl.full([R, C], float("-inf"), tl.float32)
    place = tl.full([R, C], 2**40, tl.int64)
    for k in range(0, n, C):
        at = k + columns
        x = tl.load(x_ptr + rows * n + at, mask=at < n, other=float("-inf")).to(tl.float32)
        better = (x > best) | ((x != x) & (best == best)) | ((x == best) & (at < place))
        best, place = tl.where(better, x, best), tl.where(better, at, place)
    top, where = tl.reduce((best, place), 1, larger)
    tl.store(value_ptr + tl.arange(0, R), top)
    tl.store(place_ptr + tl.arange(0, R), where)


@triton.jit
def larger(a, i, b, j):
    first = (a > b) | ((a != a) & (b == b)) | (((a == b) | ((a != a) & (b != b))) & (i < j))
    return tl.where(first, a, b), tl.where(first, i, j)


@pytest.mark.parametrize("columns", (64, 256))
@pytest.mark.parametrize("count", (1, 200, 700))
def test_largest_with_its_place(run, count, columns):
    x = numeric.random((ROWS, count), "f32", low=-9, high=9, seed=count)
    x[3, :] = -np.inf
    x[5, count // 2] = np.nan
    x[7, :] = 4.0
    x[9, :] = np.nan
    value, place = torch.empty(ROWS), torch.empty(ROWS, dtype=torch.int64)
    compared(run, largest_kernel, (value, place), torch.from_numpy(x), value, place, count, ROWS, columns)
    numeric.assert_same(place, x.argmax(1))
    numeric.assert_same(value, x.max(1))


@triton.jit(do_not_specialize=["n"])
def variance_kernel(x_ptr, out_ptr, n, R: tl.constexpr, C: tl.constexpr):
    rows, columns = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    mean = tl.zeros([R, C], tl.float32)
    squares = tl.zeros([R, C], tl.float32)
    weight = tl.zeros([R, C], tl.float32)
    for k in range(0, n, C):
        inside = k + columns < n
        x = tl.load(x_ptr + rows * n + k + columns, mask=inside, other=0)
        apart = x - mean
        next_weight = weight + 1
        next_mean = mean + apart / next_weight
        squares = tl.where(inside, squares + apart * (x - next_mean), squares)
        mean, weight = tl.where(inside, next_mean, mean), tl.where(inside, next_weight, weight)
    mean, squares, weight = tl.reduce((mean, squares, weight), 1, joined)
    tl.store(out_ptr + 3 * tl.arange(0, R), mean)
    tl.store(out_ptr + 3 * tl.arange(0, R) + 1, squares)
    tl.store(out_ptr + 3 * tl.arange(0, R) + 2, weight)


@triton.jit
def joined(mean, squares, weight, other_mean, other_squares, other_weight):
    apart, total = other_mean - mean, weight + other_weight
    share = tl.where(total == 0, 0, other_weight / total)
    return (mean + apart * share, squares + other_squares + apart * apart * weight * share, total)


@pytest.mark.parametrize("columns", (64, 128, 512))
@pytest.mark.parametrize("count", (1, 130, 1000))
def test_variance(run, count, columns):
    x = numeric.random((ROWS, count), "f32", low=-9, high=9, seed=count)
    out = torch.empty((ROWS, 3))
    compared(run, variance_kernel, (out,), torch.from_numpy(x), out, count, ROWS, columns)
    exact = x.astype(np.float64)
    expected = np.stack([exact.mean(1), exact.var(1) * count, np.full(ROWS, count)], 1)
    numeric.assert_close(out, expected, 1e-4, 1e-4)


@triton.jit(do_not_specialize=["n"])
def softmax_kernel(x_ptr, out_ptr, n, R: tl.constexpr, C: tl.constexpr):
    rows, columns = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    largest = tl.full([R, C], float("-inf"), tl.float32)
    total = tl.zeros([R, C], tl.float32)
    for k in range(0, n, C):
        x = tl.load(x_ptr + rows * n + k + columns, mask=k + columns < n, other=float("-inf"))
        now = tl.maximum(largest, x)
        scale = tl.where(now == float("-inf"), 0, tl.exp(largest - now))
        total = total * scale + tl.where(x == float("-inf"), 0, tl.exp(x - now))
        largest = now
    top = tl.max(largest, 1)[:, None]
    total = tl.sum(tl.where(largest == float("-inf"), 0, total * tl.exp(largest - top)), 1)[:, None]
    for k in range(0, n, C):
        x = tl.load(x_ptr + rows * n + k + columns, mask=k + columns < n)
        tl.store(out_ptr + rows * n + k + columns, tl.exp(x - top) / total, mask=k + columns < n)


@pytest.mark.parametrize("columns", (64, 256))
@pytest.mark.parametrize("count", (1, 130, 1000))
def test_softmax_in_passes(run, count, columns):
    x = numeric.random((ROWS, count), "f32", low=-9, high=9, seed=count)
    x[4, 1:] = -np.inf
    out = torch.empty((ROWS, count))
    compared(run, softmax_kernel, (out,), torch.from_numpy(x), out, count, ROWS, columns)
    numeric.assert_close(out, torch.softmax(torch.from_numpy(x), 1).numpy(), 1e-5, 1e-7)


@triton.jit(do_not_specialize=["n"])
def beside_kernel(x_ptr, start_ptr, weight_ptr, out_ptr, rounds_ptr, n, R: tl.constexpr, C: tl.constexpr):
    """Begins with what it loads, moves pointers, and carries scalars; two loops in a row, of rows that have a
    weight each."""
    rows, columns = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    total = tl.load(start_ptr + rows * C + columns)
    weight = tl.load(weight_ptr + rows)
    pointers = x_ptr + rows * n + columns
    rounds, left = 0, n
    for _ in range(0, n, C):
        total += weight * tl.load(pointers, mask=columns < left, other=0)
        pointers += C
        rounds += 2
        left -= C
    last = total
    for k in range(0, n, C):
        at = k + columns
        last = tl.minimum(last, tl.load(x_ptr + rows * n + at, mask=at < n, other=0)) + total
    tl.store(out_ptr + rows * C + columns, last)
    tl.store(rounds_ptr, rounds)
    tl.store(rounds_ptr + 1, left)


@pytest.mark.parametrize("columns", (64, 512))
@pytest.mark.parametrize("count", (0, 5, 700))
def test_what_travels_beside(run, count, columns):
    x, start, weight = (numeric.random(shape, "f32", low=-9, high=9, seed=seed).astype(np.float32).round()
                        for seed, shape in enumerate(((ROWS, count), (ROWS, columns), (ROWS, 1))))
    out, rounds = torch.empty((ROWS, columns)), torch.empty(2, dtype=torch.int32)
    compared(run, beside_kernel, (out, rounds), *map(torch.from_numpy, (x, start, weight)), out, rounds,
             count, ROWS, columns)
    times = -(-count // columns)
    padded = np.zeros((ROWS, times * columns), np.float32)
    padded[:, :count] = x
    total = start.copy()
    for k in range(times):
        total += weight * padded[:, k * columns:(k + 1) * columns]
    last = total
    for k in range(times):
        last = np.minimum(last, padded[:, k * columns:(k + 1) * columns]) + total
    numeric.assert_same(out, last, signed_zeros=False)
    assert rounds.tolist() == [2 * times, count - times * columns]


@triton.jit
def neighbours_kernel(x_ptr, out_ptr, n, R: tl.constexpr, C: tl.constexpr, HOW: tl.constexpr):
    rows, columns = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    total = tl.zeros([R, C], tl.float32)
    for k in range(0, n, C):
        x = tl.load(x_ptr + rows * n + k + columns, mask=k + columns < n, other=0)
        if HOW == "sum":
            total += x + tl.sum(total, 1)[:, None]
        elif HOW == "reshape":
            total = x - tl.reshape(tl.trans(tl.reshape(total, (C, R))), (R, C))
        elif HOW == "store":
            total += x
            tl.store(out_ptr + rows * C + columns, total)
        elif HOW == "index":
            total += tl.load(x_ptr + tl.minimum(tl.abs(total), 1).to(tl.int32)) + x
        elif HOW == "columns":
            total += tl.load(x_ptr + (rows + k) % R * n + columns, mask=columns < n, other=0)
    tl.store(out_ptr + rows * C + columns, total)


@pytest.mark.parametrize("how", ("sum", "reshape", "store", "index", "columns"))
def test_loops_that_stay_as_they_are(run, how):
    """What a round needs of other elements, or does, or reads elsewhere."""
    x = torch.from_numpy(numeric.random((ROWS, 300), "f32", low=-3, high=3, seed=1).round())
    out = torch.empty((ROWS, 64))
    compared(run, neighbours_kernel, (out,), x, out, 300, ROWS, 64, how, interchanged=False)


@pytest.mark.parametrize(("rows", "columns", "interchanged"),
                         ((1, 512, False), (2, 512, True), (8, 64, False), (8, 256, True), (16, 64, True)))
def test_rows_of_a_tile(run, rows, columns, interchanged):
    """One row is read in order anyway, and few short ones are well read at once."""
    x = torch.from_numpy(numeric.whole((rows, 1100), "f32", 2))
    out, window = torch.empty(rows), torch.empty((rows, columns))
    compared(run, sum_kernel, (out, window), x, out, window, 1100, rows, columns, interchanged=interchanged)
    numeric.assert_same(out, x.sum(1).numpy())


@triton.jit(do_not_specialize=["n"])
def formula_kernel(x_ptr, y_ptr, row_ptr, a_ptr, b_ptr, n, R: tl.constexpr, C: tl.constexpr, A: tl.constexpr,
                   B: tl.constexpr, INITIAL: tl.constexpr):
    rows, columns = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    weight = tl.load(row_ptr + rows)
    a = tl.zeros([R, C], tl.float32) if INITIAL else tl.load(y_ptr + rows * C + columns)
    b = tl.full([R, C], 1.5, tl.float32)
    for k in range(0, n, C):
        at = k + columns
        x = tl.load(x_ptr + rows * n + at, mask=at < n, other=0.5)
        shared = tl.load(row_ptr + (at & (R - 1)))
        old = a
        a = formula(a, b, x, shared, weight, A)
        b = formula(b, old, x, weight, shared, B)
    tl.store(a_ptr + rows * C + columns, a)
    tl.store(b_ptr + rows * C + columns, b)


@triton.jit
def formula(a, b, x, y, z, WHICH: tl.constexpr):
    if WHICH == 0:
        return a + x * y
    if WHICH == 1:
        return tl.maximum(a, x - b)
    if WHICH == 2:
        return tl.where(x > b, x, a * 0.5)
    if WHICH == 3:
        return a * tl.exp(tl.minimum(x - a, 1)) + z
    if WHICH == 4:
        return b
    return (a.to(tl.int32, bitcast=True) ^ x.to(tl.int32, bitcast=True)).to(tl.float32, bitcast=True)


@pytest.mark.parametrize("case", range(12))
def test_random_formulas(run, case):
    draw = random.Random(KERNELS + case)
    rows, columns = draw.choice(((16, 32), (16, 64), (32, 128), (16, 256), (16, 512), (64, 16)))
    count = draw.choice((0, 1, columns - 1, columns, 3 * columns, 5 * columns - 7, 1000))
    x, y, row = (torch.from_numpy(numeric.random(shape, "f32", low=-3, high=3, seed=draw.randrange(1 << 20)))
                 for shape in ((rows, count), (rows, columns), (rows,)))
    a, b = torch.empty((rows, columns)), torch.empty((rows, columns))
    compared(run, formula_kernel, (a, b), x, y, row, a, b, count, rows, columns, draw.randrange(6),
             draw.randrange(6), draw.random() < 0.5, interchanged=None)  # two may use nothing that is loaded

"""Rows that are shorter than their block: turns of a walk beyond the end of a row are skipped where that
changes nothing, whatever the elements are; not where anything depends on what masked elements give."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl

SPIRV_MODES = ("vector", "simt")

BLOCK = 1024
LENGTHS = [0, 1, 15, 64, 65, 500, 768, 1000, 1024]
SKIPPED = "is the mask false in all of this window?"


@triton.jit
def chosen(a, b):
    """The greater one, or the one that is no number."""
    return tl.where((a > b) | (a != a), a, b)


@triton.jit
def added(a, b):
    return a + b


@triton.jit
def multiplied(a, b):
    return a * b


@triton.jit
def least(a, b):
    return tl.minimum(a, b)


@triton.jit
def row(x, y, n, OTHER: tl.constexpr, COMBINER: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n, other=7)
    if OTHER == "-0.0":  # as a number it would be equal to 0.0, and Triton take that one's kernel
        v = tl.where(i < n, v * v * v, -0.0)
    else:
        v = tl.where(i < n, v * v * v, OTHER)
    if COMBINER == "added":
        made = tl.reduce(v, 0, added)
    elif COMBINER == "multiplied":
        made = tl.reduce(v, 0, multiplied)
    elif COMBINER == "chosen":
        made = tl.reduce(v, 0, chosen)
    else:
        made = tl.reduce(v, 0, least)
    tl.store(y, made)


def _filled(values, n, other):
    return np.concatenate([values[:n] ** 3, np.full(BLOCK - n, float(other), values.dtype)])


@pytest.mark.parametrize("combine, other, reference", [
    ("added", 0.0, np.sum), ("added", "-0.0", np.sum), ("added", 2.0, np.sum), ("multiplied", 1.0, np.prod),
    ("chosen", float("-inf"), np.max), ("chosen", 3.0, np.max), ("least", float("inf"), np.min),
    ("least", -3.0, np.min)])
@pytest.mark.parametrize("n", LENGTHS)
def test_masked_elements_count_as_they_are_written(run, combine, other, reference, n):
    """Signs with a number, sums of small integers: exact in any order."""
    x = numeric.random(BLOCK, "f32", low=-2, high=3).round()
    if combine == "multiplied":
        x = np.where(x < 0, -1, 1).astype(np.float32)
    y = numeric.poisoned(1, "f32")
    run(row, 1, numeric.tensor(x, "f32"), y, n, other, combine, BLOCK)
    assert y.numpy()[0] == reference(_filled(x, n, other))


@pytest.mark.parametrize("special", [-0.0, float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("combine, other, reference", [
    ("added", 0.0, np.sum), ("added", "-0.0", np.sum), ("multiplied", 1.0, np.prod),
    ("chosen", float("-inf"), np.max)])
@pytest.mark.parametrize("n", [1, 64, 500, 1024])
def test_elements_that_are_no_ordinary_numbers(run, combine, other, reference, special, n):
    """The sign of a zero included: -0.0 and 0.0 are 0.0, -0.0 and -0.0 are not."""
    x = np.full(BLOCK, special, np.float32)
    y = numeric.poisoned(1, "f32")
    run(row, 1, numeric.tensor(x, "f32"), y, n, other, combine, BLOCK)
    expected = np.float32(reference(_filled(x, n, other)))
    if combine == "added" and special == 0:
        expected = np.float32(-0.0 if n == BLOCK or other == "-0.0" else 0.0)
    np.testing.assert_array_equal(y.numpy(), [expected])
    assert np.isnan(expected) or np.signbit(y.numpy()[0]) == np.signbit(expected)


@pytest.mark.parametrize("combine, other, skips", [
    ("added", 0.0, True), ("added", 2.0, False), ("multiplied", 1.0, True), ("multiplied", 0.5, False),
    ("chosen", 3.0, True), ("least", -3.0, True)])
def test_what_is_skipped_stands_in_the_plan(run, combine, other, skips):
    made = run(row, 1, numeric.poisoned(BLOCK, "f32"), numeric.poisoned(1, "f32"), 500, other, combine, BLOCK)
    if "plan" in made.asm and made.metadata.target.backend == "cpu" and "turns" in made.asm["plan"]:
        assert (SKIPPED in made.asm["plan"]) == skips


@triton.jit
def normalised(x, y, n, stride, OTHER: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Walks keep what they load; beyond the end of a row nothing asks for it."""
    r, i = tl.arange(0, ROWS)[:, None], tl.arange(0, BLOCK)[None, :]
    mask = (i < n) & (r < ROWS)
    v = tl.load(x + r * stride + i, mask, other=OTHER)
    mean = tl.sum(tl.where(mask, v, 0.0), 1)[:, None] / n
    e = tl.exp(v - mean)
    total = tl.sum(tl.where(mask, e, 0.0), 1)[:, None]
    tl.store(y + r * stride + i, e / total, mask)


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("other", [0.0, float("nan"), 1e30])
@pytest.mark.parametrize("n", LENGTHS[1:])
def test_rows_are_kept_as_far_as_they_go(run, n, other, rows):
    x = numeric.random((rows, BLOCK), "f32")
    y = numeric.poisoned(x.size, "f32")
    run(normalised, 1, numeric.tensor(x.ravel(), "f32"), y, n, BLOCK, other, rows, BLOCK)
    wide = x[:, :n].astype(np.float64)
    e = np.exp(wide - wide.mean(1, keepdims=True))
    expected = np.array(numeric.poisoned(x.size, "f32").numpy().reshape(rows, BLOCK))
    expected[:, :n] = e / e.sum(1, keepdims=True)
    # a mean, a power and a sum of a thousand terms, each to a few ulp
    np.testing.assert_allclose(y.numpy().reshape(rows, BLOCK), expected, rtol=1e-5)


@triton.jit
def asked_again(x, y, z, n, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    """The sum of the powers takes what masked elements give: the first walk has kept it."""
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n, other=OTHER)
    largest = tl.max(v, 0)
    tl.store(y, tl.sum(tl.exp(v - largest), 0))
    w = tl.exp(v * 0.5)
    tl.store(z, tl.sum(tl.where(i < n, w, 0.0), 0))
    tl.store(z + 1, tl.sum(w, 0))
    tl.store(z + 2, tl.min(w, 0))


@pytest.mark.parametrize("other", [float("-inf"), 0.0, 1.5])
@pytest.mark.parametrize("n", LENGTHS[1:])
def test_what_is_asked_for_beyond_the_end_is_there(run, n, other):
    x = numeric.random(BLOCK, "f32")
    y, z = numeric.poisoned(1, "f32"), numeric.poisoned(3, "f32")
    run(asked_again, 1, numeric.tensor(x, "f32"), y, z, n, other, BLOCK)
    whole = np.concatenate([x[:n], np.full(BLOCK - n, other, np.float32)]).astype(np.float64)
    powers = np.exp(whole * 0.5)
    # powers to 3 ulp, sums of a thousand terms
    np.testing.assert_allclose(y.numpy()[0], np.exp(whole - whole.max()).sum(), rtol=1e-5)
    np.testing.assert_allclose(z.numpy(), [powers[:n].sum(), powers.sum(), powers.min()], rtol=1e-5)


@triton.jit
def places(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.where(i < n, tl.load(x + i, i < n, other=0), -5)
    tl.store(y, tl.argmax(v, 0))
    tl.store(y + 1, tl.argmin(v, 0))
    tl.store(y + 2, tl.xor_sum(tl.where(i < n, v, 1), 0))
    tl.store(y + 3, tl.sum(tl.where(i < n, v, 0), 0))


@pytest.mark.parametrize("dtype", ["i8", "i32", "i64"])
@pytest.mark.parametrize("n", LENGTHS)
def test_places_and_integers(run, n, dtype):
    """Among equals the first place counts, also if all of the row is less than what masked elements give."""
    x = numeric.random(BLOCK, dtype, low=-9, high=9)
    y = numeric.poisoned(4, "i64")
    run(places, 1, numeric.tensor(x, dtype), y, n, BLOCK)
    whole = np.concatenate([x[:n], np.full(BLOCK - n, -5, x.dtype)])
    lengths = np.concatenate([x[:n], np.full(BLOCK - n, 1, x.dtype)])
    expected = [whole.argmax(), whole.argmin(), np.bitwise_xor.reduce(lengths), x[:n].sum(dtype=np.int64)]
    if dtype == "i8":
        expected[3] = np.int32(x[:n].sum(dtype=np.int32))
    np.testing.assert_array_equal(y.numpy(), expected)


@triton.jit
def both_axes(x, y, z, n, m, rounds, R: tl.constexpr, C: tl.constexpr):
    """In a loop: columns are summed, rows are searched; a mask of two parts, of which either ends a tile."""
    r, c = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    mask = (r < n) & (c < m)
    total = tl.zeros([C], tl.float32)
    greatest = tl.full([R], 0, tl.float32)
    for k in range(rounds):
        v = tl.load(x + (r + k) * C + c, mask, other=3)
        e = v * v - tl.sum(tl.where(mask, v, 0.0), 0)[None, :]
        total += tl.sum(tl.where(mask, e, -0.0), 0)
        greatest += tl.max(tl.where(mask, e + v, -1e9), 1)
    tl.store(y + tl.arange(0, C), total)
    tl.store(z + tl.arange(0, R), greatest)


@pytest.mark.parametrize("shape", [(64, 64), (4, 1024), (1024, 4), (16, 256)])
@pytest.mark.parametrize("part", [0.0, 0.02, 0.5, 0.7, 1.0])
def test_either_axis_ends_in_the_tile(run, shape, part):
    rows, columns = shape
    n, m = round(rows * part), max(1, round(columns * part))
    x = numeric.random((rows + 3, columns), "f32", low=-4, high=5).round()  # sums are exact
    y, z = numeric.poisoned(columns, "f32"), numeric.poisoned(rows, "f32")
    run(both_axes, 1, numeric.tensor(x.ravel(), "f32"), y, z, n, m, 3, rows, columns)
    mask = (np.arange(rows)[:, None] < n) & (np.arange(columns) < m)
    total, greatest = np.zeros(columns, np.float32), np.zeros(rows, np.float32)
    for k in range(3):
        v = np.where(mask, x[k:k + rows], 3).astype(np.float32)
        e = v * v - np.where(mask, v, 0).sum(0)
        total += np.where(mask, e, 0).sum(0)
        greatest += np.where(mask, e + v, -1e9).astype(np.float32).max(1)
    np.testing.assert_array_equal(y.numpy(), total)
    np.testing.assert_array_equal(z.numpy(), greatest)


@triton.jit
def in_place(x, n, BLOCK: tl.constexpr):
    """What is stored lies where it was loaded from; beyond the end of the row nothing changes."""
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n, other=0.0)
    w = v * v + 1
    s = tl.sum(tl.where(i < n, w, 0.0), 0)
    tl.store(x + i, w - s, i < n)
    again = tl.load(x + i, i < n, other=0.0)
    tl.store(x + i, again + tl.sum(again, 0), i < n)


@pytest.mark.parametrize("n", LENGTHS)
def test_in_place(run, n):
    x = numeric.random(BLOCK, "f32", low=-4, high=5).round()
    held = numeric.tensor(x, "f32")
    run(in_place, 1, held, n, BLOCK)
    expected = x.copy()
    w = x[:n] * x[:n] + 1
    w -= w.sum()
    expected[:n] = w + w.sum()  # integers below 2 ** 24, but for 1000 elements and more
    np.testing.assert_allclose(held.numpy(), expected, rtol=1e-6)

"""Values that every link of a chain uses twice: computed right, wherever they stand."""

from __future__ import annotations

import chains
import numeric
import numpy as np
import pytest
import triton
import triton.language as tl

#: Links of a chain, elements of its block.
LINKS, BLOCK = 24, chains.BLOCK


def mixed(h: np.ndarray) -> np.ndarray:
    for _ in range(LINKS):
        h = h ^ (h >> 3)
    return h


def chosen(h: np.ndarray) -> np.ndarray:
    for k in range(LINKS):
        h = np.where(h > k * 3, h - k, h + 1).astype(np.int32)
    return h


def conjunction(i: np.ndarray, n: int) -> np.ndarray:
    inside = i < n
    for k in range(LINKS):
        inside = inside & (i < n + k) & (i > k - n)
    return inside


def launched(run, name: str, x: np.ndarray, n: int, size: int, out: str = "i32", grid: int = 1):
    """What a kernel of tests/chains.py writes to y, its second argument."""
    dtype = "f32" if x.dtype == np.float32 else "i32"
    entry = chains.CONTEXTS[name]
    known = {key: value for key, value in entry.constants.items() if key != "LINKS"}
    y = numeric.tensor(np.full(size, 77, np.float32 if out == "f32" else np.int32), out)
    run(entry.function, grid, numeric.tensor(x, dtype), y, n, LINKS=LINKS, **known)
    return y


INDEX = np.arange(BLOCK, dtype=np.int32)


@pytest.mark.parametrize("name", ("value", "gather_index", "scatter_index", "select", "reduction"))
def test_values_and_indices(run, name):
    x = numeric.random(BLOCK, "i32")
    if name == "value":
        expected = mixed(x)
    elif name == "gather_index":
        expected = x[mixed(INDEX) & (BLOCK - 1)]
    elif name == "scatter_index":
        expected = np.full(BLOCK, 77, np.int32)
        expected[mixed(INDEX) & (BLOCK - 1)] = x
    elif name == "select":
        expected = chosen(x)
    else:
        expected = np.sum(mixed(x), dtype=np.int32).reshape(1)
    numeric.assert_same(launched(run, name, x, 0, len(expected)), expected)


@pytest.mark.parametrize("n", (0, 700, 1024))
def test_masks(run, n):
    x = numeric.random(BLOCK, "i32")
    inside = conjunction(INDEX, n)
    made = launched(run, "mask_of_load_and_stores", x, n, 2 * BLOCK)
    expected = np.full(2 * BLOCK, 77, np.int32)
    expected[:BLOCK][inside] = x[inside]
    inside[3] = False
    expected[BLOCK:][inside] = x[inside] + 1
    numeric.assert_same(made, expected)


@pytest.mark.parametrize("n", (0, 20, 70))
def test_masks_of_two_dimensions(run, n):
    x = numeric.random(2048, "i32")
    i, j = np.arange(32), np.arange(64)
    inside = conjunction(i, n)[:, None] & conjunction(j, n)[None, :]
    for k in range(LINKS):
        inside = inside & (i < n + k)[:, None] & (j < n - k)[None, :]
    expected = np.where(inside.reshape(-1), x, 77)
    numeric.assert_same(launched(run, "mask_of_two_dimensions", x, n, 2048), expected)


def test_index_that_is_a_sum_of_many_parts(run):
    """(at + i * k) + (at + n), 24 times: 2**24 times the first index, and more; in 32 bits it wraps."""
    at = INDEX.astype(np.int64)
    for k in range(2):
        at = (at + INDEX * k) + (at + 3)
    x = numeric.random(int(at.max()) + 1, "i32")
    entry = chains.CONTEXTS["gather_index_of_sums"]
    y = numeric.poisoned(BLOCK, "i32")
    run(entry.function, 1, numeric.tensor(x, "i32"), y, 3, LINKS=2, B=BLOCK)
    numeric.assert_same(y, x[at])


@triton.jit
def doubled(x, y, one, LINKS: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    at = tl.load(y + i)
    for _ in tl.static_range(LINKS):
        at = (at + one - 1) + (at + i - i)
    tl.store(y + i, tl.load(x + at))


@pytest.mark.parametrize("links", (3, 6, 7, 9))
def test_sums_of_more_parts_than_are_taken_apart(run, links):
    """Of 2**links parts; the last ones are one part each. Added up they are 2**links times the number."""
    start = np.arange(BLOCK, dtype=np.int32) % 11
    x = numeric.random(11 << links, "i32")
    y = numeric.tensor(start, "i32")
    run(doubled, 1, numeric.tensor(x, "i32"), y, 1, LINKS=links, B=BLOCK)
    numeric.assert_same(y, x[start << links])


def test_argmax_of_many(run):
    """Places of the largest of 25 numbers, and the numbers loaded from there."""
    x = numeric.random(25 * BLOCK, "f32")
    y = launched(run, "argmax_in_a_row", x, 0, 2 * BLOCK)
    rows = x.reshape(25, BLOCK)
    best, at = rows[0].copy(), INDEX.copy()
    for k in range(LINKS):
        better = rows[k] > best
        best, at = np.where(better, rows[k], best), np.where(better, INDEX + k * BLOCK, at)
    numeric.assert_same(y, np.concatenate([at, x[at].astype(np.int32)]))


@triton.jit
def product_of_gathered(x, y, LINKS: tl.constexpr):
    i, j = tl.arange(0, 64)[:, None], tl.arange(0, 64)[None, :]
    at = (chains.mixed(i, LINKS) & 63) * 64 + (chains.chosen(j, LINKS) & 63)
    tl.store(y + i * 64 + j, tl.dot(tl.load(x + at), chains.smooth(tl.load(x + at), 2)))


def test_products_of_what_was_gathered(run):
    x = numeric.random(4096, "i32") & 1
    i = np.arange(64, dtype=np.int32)
    gathered = x[(mixed(i) & 63)[:, None] * 64 + (chosen(i) & 63)[None, :]].astype(np.float32)
    smooth = gathered
    for _ in range(2):
        smooth = smooth * smooth + smooth
    y = numeric.tensor(np.zeros(4096, np.float32), "f32")
    run(product_of_gathered, 1, numeric.tensor(x.astype(np.float32), "f32"), y, LINKS)
    numeric.assert_same(y, (gathered @ smooth).reshape(-1))


@pytest.mark.parametrize("n", (0, 1, 3))
def test_loop_carried(run, n):
    x = numeric.random(2 * BLOCK, "i32")
    v = x[:BLOCK]
    for k in range(n):
        v = mixed(v) + x[mixed(INDEX + k)]
    numeric.assert_same(launched(run, "loop_carried", x, n, BLOCK), v)

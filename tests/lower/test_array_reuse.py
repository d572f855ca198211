"""A value that is computed from another one takes over its array, and a store the memory of its load, where
each element is read in the turn that overwrites it: not where a walk comes to the two in different orders."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl

SPIRV_MODES = ("vector", "simt")


@triton.jit
def turned_softmax(x, y, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """Rows of C elements change places between the maximum and the powers."""
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)[None, None, :]
    v = tl.load(x + (a[:, None, None] * B + b[None, :, None]) * C + c)
    largest = tl.max(tl.max(tl.max(v, 2), 1), 0)
    e = tl.exp(tl.trans(v, 1, 0, 2) - largest)
    total = tl.sum(tl.sum(tl.sum(e, 2), 1), 0)
    tl.store(y + (b[:, None, None] * A + a[None, :, None]) * C + c, e / total)


@pytest.mark.parametrize("shape", [(2, 4, 16), (8, 8, 64), (4, 16, 64), (1, 32, 128)])
def test_rows_change_places(run, shape):
    x = numeric.random(shape, "f32")
    y = numeric.poisoned(x.size, "f32")
    run(turned_softmax, 1, numeric.tensor(x.ravel(), "f32"), y, *shape)
    e = np.exp(x.transpose(1, 0, 2).astype(np.float64) - x.max())
    # exp to 3 ulp, a quotient to 2.5, a sum of thousands
    np.testing.assert_allclose(y.numpy(), (e / e.sum()).ravel(), rtol=1e-5)


@triton.jit
def both_orders(x, y, z, A: tl.constexpr, C: tl.constexpr):
    """One walk comes to a value that is kept in two orders of its rows."""
    a, c = tl.arange(0, A), tl.arange(0, C)[None, None, :]
    i = (a[:, None, None] * A + a[None, :, None]) * C + c
    v = tl.load(x + i)
    summed = tl.sum(tl.trans(v, 1, 0, 2) * 3 - v, 2)
    tl.store(z + i, v)
    tl.store(y + a[:, None] * A + a[None, :], summed)


@pytest.mark.parametrize("size", [4, 8, 16])
def test_a_walk_comes_to_a_value_in_two_orders(run, size):
    x = numeric.random((size, size, 64), "i32", low=-99, high=99)
    y, z = numeric.poisoned(size * size, "i32"), numeric.poisoned(x.size, "i32")
    run(both_orders, 1, numeric.tensor(x.ravel(), "i32"), y, z, size, 64)
    numeric.assert_same(y, (x.transpose(1, 0, 2) * 3 - x).sum(2, dtype=np.int32).ravel())
    numeric.assert_same(z, x.ravel())


@triton.jit
def turned_in_place(x, y, A: tl.constexpr, C: tl.constexpr):
    a, c = tl.arange(0, A), tl.arange(0, C)[None, None, :]
    i = (a[:, None, None] * A + a[None, :, None]) * C + c
    tl.store(y + i, tl.trans(tl.load(x + i), 1, 0, 2) + 1)


@pytest.mark.parametrize("shift", [0, 64])
@pytest.mark.parametrize("size", [4, 8, 16])
def test_rows_change_places_in_memory(run, size, shift):
    """The store overwrites rows that are still to be loaded, in the very memory of the load or in parts of
    it."""
    x = numeric.random(size * size * 64 + shift, "i32", low=-99, high=99)
    held = numeric.tensor(x, "i32")
    run(turned_in_place, 1, held, held[shift:] if shift else held, size, 64)
    rows = x[:size * size * 64].reshape(size, size, 64)
    numeric.assert_same(held, np.concatenate([x[:shift], rows.transpose(1, 0, 2).ravel() + 1]))


@triton.jit
def chosen_rows(x, numbers, y, z, rounds, A: tl.constexpr, B: tl.constexpr):
    """Numbers of rows, and pointers that are made of the next ones, go round a loop together."""
    a, b = tl.arange(0, A), tl.arange(0, B)[None, :]
    number = tl.load(numbers + a)
    place = x + (number[:, None] * B + b)
    total = tl.zeros([A, B], tl.int32)
    for _ in range(rounds):
        total = total * 2 + tl.load(place)
        number = (number + 1) & 31
        place = x + (number[:, None] * B + b)
    tl.store(y + a[:, None] * B + b, total)
    tl.store(z + a, number)


@pytest.mark.parametrize("shape", [(16, 16), (512, 16), (1024, 2)])
def test_pointers_of_the_next_round(run, shape):
    """They are made before the numbers are overwritten."""
    rows, columns = shape
    x = numeric.random((32, columns), "i32", low=0, high=99)
    number = numeric.random(rows, "i32", low=0, high=32)
    y, z = numeric.poisoned(shape, "i32"), numeric.poisoned(rows, "i32")
    run(chosen_rows, 1, numeric.tensor(x, "i32"), numeric.tensor(number, "i32"), y, z, 3, *shape)
    total = np.zeros(shape, np.int32)
    for _ in range(3):
        total, number = total * 2 + x[number], number + 1 & 31
    numeric.assert_same(y, total)
    numeric.assert_same(z, number)

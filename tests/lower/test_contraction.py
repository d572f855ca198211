"""A product and its sum are one operation in the arms of branches, too, where the driver parts them (quirk
"parts_contractions")."""

import handmade
import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from machine import arithmetic
from triton_spirv.target import find_target

SPIRV_MODES = ("vector",)  # one work-item runs the program

ROWS, COLUMNS = 32, 64


@triton.jit
def greatest(x, y, o, n, M: tl.constexpr, N: tl.constexpr):
    """The loads of a mask's two versions stand in two arms, and so does what is computed of them."""
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + i * N + j, mask=i * N + j < n, other=0.0)
    w = tl.load(y + i * N + j, mask=i * N + j < n, other=0.0)
    tl.store(o + tl.arange(0, M), tl.max(v * w - 1.0, 1))


@triton.jit
def added_up(x, y, o, n, M: tl.constexpr, N: tl.constexpr):
    """Products of both arms are added behind them."""
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + i * N + j, mask=i * N + j < n, other=0.0)
    w = tl.load(y + i * N + j, mask=i * N + j < n, other=0.0)
    tl.store(o + tl.arange(0, N), tl.sum(v * w, 0))


@triton.jit
def in_another_block(x, y, o, n):
    """The product is made before the branch and the loop in which it is added."""
    product = tl.load(x) * tl.load(y)
    if n > 0:
        tl.store(o, product - 1.0)
    total = 0.0
    for _ in range(n):
        total = tl.load(x + 1) * tl.load(y + 1) + total
    tl.store(o + 1, total)


@triton.jit
def in_each_arm(x, y, o, n):
    """Arms make a product, and others add it."""
    a, b = tl.load(x), tl.load(y)
    if n > 0:
        if n > 1:
            product = a * b
        else:
            product = b * b
    else:
        product = a * a
    if n > 2:
        tl.store(o, product - 1.0)
    else:
        tl.store(o, 1.0 - product)


@triton.jit
def stored_and_added(x, y, o, p, n, N: tl.constexpr):
    """Each version of a store makes what it stores: of the second, there the sum alone uses the product."""
    i = tl.arange(0, N)
    v, w = tl.load(x + i, mask=i < n, other=0.0), tl.load(y + i, mask=i < n, other=0.0)
    z = tl.load(x + N + i, mask=i < n, other=0.0)
    tl.store(o + i, v * w, mask=i < n)
    tl.store(p + i, v * w + z, mask=i < n)


@triton.jit
def twice_on_a_way(x, y, o, n):
    """Veltkamp's halves of a number rely on a product that is rounded."""
    a = tl.load(x)
    product = 4097.0 * a
    high = product - (product - a)
    tl.store(o, high)
    tl.store(o + 1, a - high)


@triton.jit
def rows_alike(x, y, o, M: tl.constexpr, N: tl.constexpr):
    """All rows of the left operand are one: a driver computes each product once, and no sum takes it in."""
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    one = tl.arange(0, 1)[:, None] + tl.arange(0, 1)[None, :]
    left = tl.broadcast_to(tl.load(x + one), [M, 1])
    right = tl.load(y + tl.arange(0, 1)[:, None] * N + j)
    sums = tl.load(o + i * N + j)
    tl.store(o + i * N + j, tl.dot(left, right, sums, out_dtype=sums.dtype, input_precision="ieee"))


def exact(x, y, z):
    """x * y + z, rounded once."""
    return (x.astype(np.float64) * y.astype(np.float64) + z).astype(np.float32)


def values():
    return numeric.random(ROWS * COLUMNS, "f32"), numeric.random(ROWS * COLUMNS, "f32")[::-1].copy()


def test_one_operation_in_arms(run):
    x, y = values()
    o = numeric.poisoned(ROWS, "f32")
    run(greatest, 1, numeric.tensor(x, "f32"), numeric.tensor(y, "f32"), o, x.size, ROWS, COLUMNS)
    numeric.assert_same(o, exact(x, y, -1.0).reshape(ROWS, COLUMNS).max(1))


def test_products_of_both_arms(run):
    x, y = values()
    o = numeric.poisoned(COLUMNS, "f32")
    run(added_up, 1, numeric.tensor(x, "f32"), numeric.tensor(y, "f32"), o, x.size, ROWS, COLUMNS)
    expected = np.zeros(COLUMNS, np.float32)
    for a, b in zip(x.reshape(ROWS, COLUMNS), y.reshape(ROWS, COLUMNS), strict=True):
        expected = exact(a, b, expected)
    numeric.assert_same(o, expected)


def test_products_of_another_block(run):
    x, y = values()
    o = numeric.poisoned(2, "f32")
    made = run(in_another_block, 1, numeric.tensor(x, "f32"), numeric.tensor(y, "f32"), o, 1)
    assert "OpFMul" not in made.asm["spvasm"]
    numeric.assert_same(o, exact(x[:2], y[:2], np.array([-1, 0], np.float32)))


@pytest.mark.parametrize("n", range(4))
def test_products_that_every_arm_adds(run, n):
    x, y = values()
    o = numeric.poisoned(1, "f32")
    made = run(in_each_arm, 1, numeric.tensor(x, "f32"), numeric.tensor(y, "f32"), o, n)
    assert "OpFMul" not in made.asm["spvasm"]
    left, right = [(x, x), (y, y), (x, y), (x, y)][n]
    expected = exact(left[:1], right[:1], -1.0) if n > 2 else exact(-left[:1], right[:1], 1.0)
    numeric.assert_same(o, expected)


def test_products_that_are_stored_too_are_rounded(run):
    x, y = values()
    o, p = numeric.poisoned(64, "f32"), numeric.poisoned(64, "f32")
    run(stored_and_added, 1, numeric.tensor(x, "f32"), numeric.tensor(y, "f32"), o, p, 64, 64)
    numeric.assert_same(o, x[:64] * y[:64])
    numeric.assert_same(p, x[:64] * y[:64] + x[64:128])


def test_products_that_are_added_twice_are_rounded(run):
    x, y = values()
    o = numeric.poisoned(2, "f32")
    run(twice_on_a_way, 1, numeric.tensor(x, "f32"), numeric.tensor(y, "f32"), o, 1)
    product = np.float32(4097) * x[0]
    high = product - (product - x[0])
    numeric.assert_same(o, np.array([high, x[0] - high]))


@pytest.mark.parametrize("shape", [(4, 64), (4, 16), (16, 16), (64, 64)])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_matrices_of_equal_rows(run, dtype, shape):
    x, y = numeric.random(1, dtype), numeric.random(shape[1], dtype)
    sums = numeric.random(shape, dtype)
    o = numeric.tensor(sums.copy(), dtype)
    run(rows_alike, 1, numeric.tensor(x, dtype), numeric.tensor(y, dtype), o, *shape)
    rows, columns = np.broadcast_to(x, shape), np.broadcast_to(y, shape)
    numeric.assert_same(o, arithmetic.fma(rows, columns, sums))


def test_driver_still_parts_them(run):
    """Once this fails, Intel's CPU runtime leaves a sum with its product, and the quirk may go."""
    x, y = values()
    o = numeric.poisoned(ROWS, "f32")
    made = run(greatest, 1, numeric.tensor(x, "f32"), numeric.tensor(y, "f32"), o, x.size, ROWS, COLUMNS)
    left_alone = find_target("cpu").with_options(parts_contractions=False)
    kernel = handmade.bind(triton_spirv.compile(made.asm["ttir"], left_alone))
    kernel.launch(1, 1, 1, [numeric.tensor(x, "f32"), numeric.tensor(y, "f32"), o, x.size])
    twice_rounded = (x * y - np.float32(1)).reshape(ROWS, COLUMNS).max(1)
    numeric.assert_same(o, twice_rounded)

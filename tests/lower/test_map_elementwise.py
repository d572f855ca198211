"""lower/tensors/map_elementwise.py: scalar functions over blocks, with branches, loops, several results
and packs."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl

pytestmark = pytest.mark.skipif(numeric.INTERPRETED, reason="Triton's interpreter has no map_elementwise")

SIZES = (1, 2, 8, 16, 128, 512, 2048)


@triton.jit
def map1(x_ptr, out_ptr, FUNCTION: tl.constexpr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    tl.store(out_ptr + i, FUNCTION(tl.load(x_ptr + i)))


@triton.jit
def map2(x_ptr, y_ptr, out_ptr, FUNCTION: tl.constexpr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    tl.store(out_ptr + i, FUNCTION(tl.load(x_ptr + i), tl.load(y_ptr + i)))


@triton.jit
def three_way(x, y):
    if x < y:
        return -1
    elif x == y:
        return 0
    else:
        return 1


@triton.jit
def order(x, y):
    return tl.map_elementwise(three_way, x, y)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ("i8", "i32", "f32", "bf16"))
def test_branches(run, dtype, size):
    x, y = (np.round(numeric.random(size, dtype, seed, low=0, high=4)) for seed in (0, 1))
    out = numeric.poisoned(size, "i32")
    run(map2, 1, numeric.tensor(x, dtype), numeric.tensor(y, dtype), out, order, size)
    numeric.assert_same(out, (x > y).astype(np.int32) - (x < y).astype(np.int32))


@triton.jit
def collatz(x):
    """How many steps to 1: every element has its own number of turns."""
    steps = 0
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    return steps


@triton.jit
def all_steps(x):
    return tl.map_elementwise(collatz, x)


@pytest.mark.parametrize("size", SIZES)
def test_loops(run, size):
    x, out = numeric.random(size, "i32", low=1, high=500), numeric.poisoned(size, "i32")
    run(map1, 1, numeric.tensor(x, "i32"), out, all_steps, size)

    def steps(n: int) -> int:
        return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)

    numeric.assert_same(out, np.array([steps(int(n)) for n in x], np.int32))


@triton.jit
def polynomial(x):
    return (x * 3 + 5) * x - 7


@triton.jit
def all_values(x):
    return tl.map_elementwise(polynomial, x)


@pytest.mark.parametrize("size", SIZES)
def test_without_branches(run, size):
    x, out = numeric.random(size, "i32"), numeric.poisoned(size, "i32")
    run(map1, 1, numeric.tensor(x, "i32"), out, all_values, size)
    with np.errstate(over="ignore"):
        numeric.assert_same(out, (x * 3 + 5) * x - 7)


@triton.jit
def quotient_and_rest(x, y):
    return x // y, (x % y).to(tl.int64)


@triton.jit
def two_results(x_ptr, y_ptr, q_ptr, r_ptr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    q, r = tl.map_elementwise(quotient_and_rest, tl.load(x_ptr + i), tl.load(y_ptr + i))
    tl.store(q_ptr + i, q)
    tl.store(r_ptr + i, r)


@pytest.mark.parametrize("size", SIZES)
def test_two_results_of_different_types(run, size):
    x, y = numeric.random(size, "u32", 0), numeric.random(size, "u32", 1, low=1, high=99)
    q, r = numeric.poisoned(size, "u32"), numeric.poisoned(size, "i64")
    run(two_results, 1, numeric.tensor(x, "u32"), numeric.tensor(y, "u32"), q, r, size)
    numeric.assert_same(q, x // y)
    numeric.assert_same(r, (x % y).astype(np.int64))


@triton.jit
def mix2(x0, x1, y0, y1):
    """Not the same for the elements of a pack, so that their order shows."""
    return x0 - y1, x1 * 2 + y0


@triton.jit
def mix2_with_branches(x0, x1, y0, y1):
    if x0 > x1:
        return x0 - y1, x1 * 2 + y0
    return x1 * 3, y0 - x0


@triton.jit
def mix4(x0, x1, x2, x3, y0, y1, y2, y3):
    return x0 - y3, x1 + 2 * y2, x2 - 3 * y1, x3 + 5 * y0


@triton.jit
def pairs(x, y):
    return tl.map_elementwise(mix2, x, y, pack=2)[0]


@triton.jit
def branching_pairs(x, y):
    return tl.map_elementwise(mix2_with_branches, x, y, pack=2)[0]


@triton.jit
def fours(x, y):
    return tl.map_elementwise(mix4, x, y, pack=4)[0]


def mixed(x: np.ndarray, y: np.ndarray, function: object) -> np.ndarray:
    if function is fours:
        a, b = x.reshape(-1, 4), y.reshape(-1, 4)
        return (a + b[:, ::-1] * np.array([-1, 2, -3, 5], np.int32)).reshape(-1)
    a, b = x.reshape(-1, 2).T, y.reshape(-1, 2).T
    plain = np.stack([a[0] - b[1], a[1] * 2 + b[0]], 1)
    if function is branching_pairs:
        plain = np.where((a[0] > a[1])[:, None], plain, np.stack([a[1] * 3, b[0] - a[0]], 1))
    return plain.reshape(-1)


@pytest.mark.parametrize("size", SIZES[2:])
@pytest.mark.parametrize("function", (pairs, branching_pairs, fours), ids=("two", "branches", "four"))
def test_packs_are_neighbours(run, function, size):
    x, y = numeric.random(size, "i32", 0), numeric.random(size, "i32", 1)
    out = numeric.poisoned(size, "i32")
    run(map2, 1, numeric.tensor(x, "i32"), numeric.tensor(y, "i32"), out, function, size)
    with np.errstate(over="ignore"):
        numeric.assert_same(out, mixed(x, y, function))


@triton.jit
def masked_and_summed(x_ptr, out_ptr, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    x = tl.load(x_ptr + i, mask=i < n, other=1)
    tl.store(out_ptr + i, tl.map_elementwise(collatz, x) + x, mask=i < n)


@pytest.mark.parametrize("size", (16, 1024))
def test_between_other_operations(run, size):
    count = 2 * size - 5
    x, out = numeric.random(count, "i32", low=1, high=9), numeric.poisoned(count, "i32")
    run(masked_and_summed, 2, numeric.tensor(x, "i32"), out, count, size)
    steps = np.array([0, 0, 1, 7, 2, 5, 8, 16, 3], np.int32)
    numeric.assert_same(out, steps[x] + x)

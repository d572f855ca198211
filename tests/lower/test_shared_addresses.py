"""lower/addresses/ownership.py: lanes that reach the same addresses, through pointers that repeat, wait
for each other.

Each kernel goes through one tensor of pointers twice. Where elements have addresses of their own the lanes
need not wait; where they share them, what one lane did to an address has to be seen by all.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl

SPIRV_MODES = ("vector", "simt8", "simt", "simt32", "vulkan")
WARPS = (1, 2, 4, 8)
ROUNDS = 5  # launches of a test: who meets whom is chance


@triton.jit
def count_then_load(h, x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    p = h + (tl.load(x + i) & 7)
    tl.atomic_add(p, 1, sem="relaxed")
    tl.store(y + i, tl.load(p))


@pytest.mark.parametrize("size", (16, 64, 512))
@pytest.mark.parametrize("warps", WARPS)
def test_atomic_then_load(run, warps, size):
    x = numeric.random(size, "i32", low=0, high=1000)
    counts = np.bincount(x & 7, minlength=8).astype(np.int32)
    for _ in range(ROUNDS):
        h, y = numeric.tensor(np.zeros(8), "i32"), numeric.poisoned(size, "i32")
        run(count_then_load, 1, h, numeric.tensor(x, "i32"), y, size, num_warps=warps)
        numeric.assert_same(h, counts)
        numeric.assert_same(y, counts[x & 7])


@triton.jit
def store_twice(p, q, out, N: tl.constexpr, EACH: tl.constexpr):
    """Addresses shared by EACH neighbours: the second store is the one that stays, and what is loaded."""
    i = tl.arange(0, N)
    place = p + i // EACH
    tl.store(place, 1)
    tl.store(place, 2)
    tl.store(out + i, tl.load(place))
    tl.store(place, 3)
    folded = q + i % EACH
    tl.store(folded, i)
    tl.store(folded, 5)


@pytest.mark.parametrize("each", (1, 2, 32))
@pytest.mark.parametrize("warps", WARPS)
def test_two_stores(run, warps, each):
    size = 256
    for _ in range(ROUNDS):
        p, out = numeric.tensor(np.zeros(size // each), "i32"), numeric.poisoned(size, "i32")
        q = numeric.tensor(np.zeros(each), "i32")
        run(store_twice, 1, p, q, out, size, each, num_warps=warps)
        numeric.assert_same(p, np.full(size // each, 3, np.int32))
        numeric.assert_same(out, np.full(size, 2, np.int32))
        numeric.assert_same(q, np.full(each, 5, np.int32))


@triton.jit
def by_stride(p, out, stride, N: tl.constexpr):
    """The stride is known when running only; it may be 0."""
    i = tl.arange(0, N)
    place = p + i * stride
    tl.store(place, i * 0 + 1)
    tl.store(out + i, tl.load(place))
    tl.store(place, i * 0 + 2)
    tl.store(out + i, tl.load(place) + tl.load(out + i))


@pytest.mark.parametrize("stride", (0, 1, 3))
@pytest.mark.parametrize("warps", WARPS)
def test_stride_of_the_launch(run, warps, stride):
    size = 128
    for _ in range(ROUNDS):
        p, out = numeric.tensor(np.zeros(3 * size), "i32"), numeric.poisoned(size, "i32")
        run(by_stride, 1, p, out, stride, size, num_warps=warps)
        numeric.assert_same(out, np.full(size, 3, np.int32))


@triton.jit
def in_a_loop(p, out, rounds, N: tl.constexpr):
    """The pointers are one value in every round, and other addresses: each round reads what lanes of the
    round before have stored, one place further on."""
    i = tl.arange(0, N)
    for k in range(rounds):
        place = p + i + k
        x = tl.load(place)
        tl.store(place, x + 1)
    tl.store(out + i, tl.load(p + (N - 1 - i)))


@triton.jit
def moving(p, rounds, N: tl.constexpr):
    """The same with pointers that a loop carries."""
    place = p + tl.arange(0, N)
    for _ in range(rounds):
        tl.store(place, tl.load(place) + 1)
        place += 1


@pytest.mark.parametrize("rounds", (1, 2, 9))
@pytest.mark.parametrize("warps", WARPS)
def test_pointers_of_another_round(run, warps, rounds):
    size = 128
    expected = np.zeros(size + rounds, np.int32)
    for k in range(rounds):
        expected[k:k + size] += 1
    for _ in range(ROUNDS):
        p, out = numeric.tensor(np.zeros(size + rounds), "i32"), numeric.poisoned(size, "i32")
        run(in_a_loop, 1, p, out, rounds, size, num_warps=warps)
        numeric.assert_same(p, expected)
        numeric.assert_same(out, expected[size - 1::-1])
        p = numeric.tensor(np.zeros(size + rounds), "i32")
        run(moving, 1, p, rounds, size, num_warps=warps)
        numeric.assert_same(p, expected)


@triton.jit(noinline=True)
def put(p, first, value, N: tl.constexpr):
    tl.store(p + first + tl.arange(0, N), tl.arange(0, N) + value)


@triton.jit
def called_twice(p, N: tl.constexpr):
    """One store of the function's text is two accesses: the second is the one that stays."""
    put(p, 1, 0, N)
    put(p, 0, 1000, N)


@pytest.mark.parametrize("warps", WARPS)
def test_functions_called_twice(run, mode, warps):
    numeric.interpreter_is_wrong("noinline functions are not interpreted")
    if mode != "vector":
        from versions import needs_triton
        needs_triton((3, 8), "layouts of what a function takes")
    size = 128
    for _ in range(ROUNDS):
        p = numeric.tensor(np.zeros(size + 1), "i32")
        run(called_twice, 1, p, size, num_warps=warps)
        numeric.assert_same(p, np.append(np.arange(size, dtype=np.int32) + 1000, np.int32(size - 1)))


@triton.jit
def exchanged(p, out, N: tl.constexpr, M: tl.constexpr):
    """A block of fewer elements than lanes: several hold one, one of them acts for all."""
    i = tl.arange(0, M)
    tl.atomic_xchg(p + i, i + 1, sem="relaxed")
    x = tl.load(p + i)
    tl.atomic_add(p + i, x, sem="relaxed")
    tl.store(out + i, tl.load(p + i))


@pytest.mark.parametrize("size", (1, 2, 8))
@pytest.mark.parametrize("warps", WARPS)
def test_fewer_elements_than_lanes(run, warps, size):
    for _ in range(ROUNDS):
        p, out = numeric.tensor(np.zeros(size), "i32"), numeric.poisoned(size, "i32")
        run(exchanged, 1, p, out, 64, size, num_warps=warps)
        numeric.assert_same(out, 2 * np.arange(1, size + 1, dtype=np.int32))


@triton.jit
def update_in_place(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i, tl.load(p + i) * 2)
    tl.store(p + i, tl.load(p + i) + 1)


@triton.jit
def update_rows(p, R: tl.constexpr, C: tl.constexpr):
    place = p + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    tl.store(place, tl.load(place) * 2)
    tl.store(place, tl.load(place) + 1)


@pytest.mark.parametrize("warps", WARPS)
def test_own_addresses_need_no_barrier(run, mode, warps):
    x = numeric.random(256, "i32", low=0, high=1000)
    for kernel, sizes in ((update_in_place, (256,)), (update_rows, (8, 32))):
        data = numeric.tensor(x, "i32")
        made = run(kernel, 1, data, *sizes, num_warps=warps)
        numeric.assert_same(data, 2 * x + 1)
        assert made is None or "OpControlBarrier" not in made.asm["spvasm"]

"""Two arguments that overlap in memory: a program's loads and stores take place in the order of its text,
whatever the argument, in lane modes too.

The kernel that is compiled first takes written arguments to lie apart from the others. The launch sees that
they share an allocation, and takes one with more barriers (`Artifact.assumes_disjoint`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numeric
import numpy as np
import pytest
import torch
import triton
import triton.language as tl

SPIRV_MODES = ("vector", "simt8", "simt", "simt32", "vulkan", "machine-vulkan32")

SHIFTS = ((0, 0), (0, 1), (16, 0), (0, 64))
WARPS = (1, 8)
#: Of a single warp, where its compiler takes seconds for 128 elements of a lane: 32 are loaded, exchanged and
#: stored in the same ways, with the same plan but for its numbers.
LARGEST = {("vulkan", 1): 256}


@triton.jit
def load_again(a, b, c, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(a + i)
    tl.store(b + i, x * 3 + 1)
    tl.store(c + i, x + tl.load(a + i) * 7)


@triton.jit
def load_before(a, b, c, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(a + i)
    tl.store(b + i, i)
    tl.store(c + i, x)


@triton.jit
def backwards(a, b, c, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(b + i, i)
    tl.store(c + i, tl.load(a + (BLOCK - 1 - i)))


@triton.jit
def in_a_loop(a, b, c, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.int32)
    for k in range(4):
        total += tl.load(a + i)
        tl.store(b + i, total + k)
    tl.store(c + i, total)


@triton.jit
def masked(a, b, c, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(a + i, mask=i % 3 != 0, other=5)
    tl.store(b + i, x * 3 + 1, mask=i % 5 != 1)
    tl.store(c + i, tl.load(a + i, mask=i % 2 == 0, other=7))


@triton.jit
def counted(a, b, c, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(b + i // 2, 1)
    tl.store(c + i, tl.load(a + i))


@triton.jit
def by_a_scalar(a, b, c, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(a + i)
    tl.store(b, 77)
    tl.store(c + i, x + tl.load(a))


def after_load_again(a: Any, b: Any, c: Any, i: Any) -> None:
    x = a[i].copy()
    b[i] = x * 3 + 1
    c[i] = x + a[i] * 7


def after_load_before(a: Any, b: Any, c: Any, i: Any) -> None:
    x = a[i].copy()
    b[i] = i
    c[i] = x


def after_backwards(a: Any, b: Any, c: Any, i: Any) -> None:
    b[i] = i
    c[i] = a[i][::-1]


def after_in_a_loop(a: Any, b: Any, c: Any, i: Any) -> None:
    total = np.zeros(len(i), np.int32)
    for k in range(4):
        total = total + a[i]
        b[i] = total + k
    c[i] = total


def after_masked(a: Any, b: Any, c: Any, i: Any) -> None:
    x, inside = np.where(i % 3 != 0, a[i], 5), i % 5 != 1
    b[i[inside]] = (x * 3 + 1)[inside]
    c[i] = np.where(i % 2 == 0, a[i], 7)


def after_counted(a: Any, b: Any, c: Any, i: Any) -> None:
    np.add.at(b, i // 2, 1)
    c[i] = a[i]


def after_by_a_scalar(a: Any, b: Any, c: Any, i: Any) -> None:
    x = a[i].copy()
    b[0] = 77
    c[i] = x + a[0]


KERNELS: tuple[tuple[Any, Callable[..., None]], ...] = (
    (load_again, after_load_again), (load_before, after_load_before), (backwards, after_backwards),
    (in_a_loop, after_in_a_loop), (masked, after_masked), (counted, after_counted),
    (by_a_scalar, after_by_a_scalar))


@pytest.mark.parametrize("size", (64, 1024))
@pytest.mark.parametrize("kernel, meaning", KERNELS, ids=[kernel.fn.__name__ for kernel, _ in KERNELS])
def test_views_of_one_tensor(run, mode, kernel, meaning, size):
    numeric.interpreter_is_wrong("a program's order is that of its text there")
    for warps in WARPS if mode != "vector" else (4,):
        block = min(size, LARGEST.get((mode, warps), size))
        for by_load, by_store in SHIFTS:
            data = np.random.default_rng(block).integers(0, 1000, 2 * block + 200).astype(np.int32)
            whole, out = torch.from_numpy(data.copy()), torch.zeros(block, dtype=torch.int32)
            run(kernel, 1, whole[by_load:], whole[by_store:], out, block, num_warps=warps)
            expected = np.zeros(block, np.int32)
            meaning(data[by_load:], data[by_store:], expected, np.arange(block))
            case = f"{warps} warps, shifts {by_load} and {by_store}"
            np.testing.assert_array_equal(whole.numpy(), data, case)
            np.testing.assert_array_equal(out.numpy(), expected, case)


def barriers(kernel: Any) -> int:
    return kernel.asm["spvasm"].count("OpControlBarrier")


def orders_global_memory(kernel: Any) -> bool:
    """Does a barrier, besides memory of the work-group?"""
    found = [line for line in kernel.asm["spvasm"].splitlines() if "OpControlBarrier" in line]
    return any("CrossWorkgroupMemory" in line or "UniformMemory" in line for line in found)


def test_only_arguments_that_share_memory_pay_for_barriers(run, mode):
    whole, out = torch.zeros(4096, dtype=torch.int32), torch.zeros(1024, dtype=torch.int32)
    apart = run(load_before, 1, whole, torch.zeros_like(whole), out, 1024)
    asked = run(load_before, 1, whole, torch.zeros_like(whole), out, 1024, overlapping=True)
    lanes = mode != "vector"
    assert apart.metadata.artifact["assumes_disjoint"] is lanes
    assert asked.metadata.artifact["assumes_disjoint"] is False
    assert barriers(apart) == 0 and (barriers(asked) > 0) is lanes


@triton.jit
def sums(a, b, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(b + i, tl.sum(tl.load(a + i)) + i)


def test_a_barrier_of_shared_memory_orders_none_of_arguments(run, mode):
    """The barrier that a reduction has orders global memory where arguments may overlap, and there alone."""
    if mode == "vector":
        pytest.skip("one work-item runs the program")
    x = torch.arange(2048, dtype=torch.int32)
    apart = run(sums, 1, x, torch.zeros_like(x), 1024, num_warps=8)
    made = run(sums, 1, x, torch.zeros_like(x), 1024, num_warps=8, overlapping=True)
    run(sums, 1, x[1:], x, 1024, num_warps=8)
    np.testing.assert_array_equal(x[:1024].numpy(), np.arange(1, 1025).sum() + np.arange(1024))
    assert apart.metadata.artifact["assumes_disjoint"] and not made.metadata.artifact["assumes_disjoint"]
    assert barriers(apart) == barriers(made) > 0
    assert orders_global_memory(made) and not orders_global_memory(apart)


@triton.jit
def sums_of_neighbours(a, b, c, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(b + i, tl.sum(tl.load(a + i)) + i)
    tl.store(c + i, tl.sum(tl.load(b + (i ^ 64))) + i)


def test_what_has_its_barriers_anyway_serves_all_arguments(run, mode):
    """Stores and loads of `b` make all barriers order global memory; sums have one between all others."""
    if mode == "vector":
        pytest.skip("one work-item runs the program")
    x = torch.arange(1024, dtype=torch.int32)
    b, c = torch.zeros_like(x), torch.zeros_like(x)
    made = run(sums_of_neighbours, 1, x, b, c, 1024, num_warps=8)
    assert made.metadata.artifact["assumes_disjoint"] is False and orders_global_memory(made)
    np.testing.assert_array_equal(c.numpy(), (x.sum() + x).sum().numpy() + np.arange(1024))


@triton.jit
def exchanged(a, b, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, y = tl.split(tl.reshape(tl.load(a + (i ^ 37)), [BLOCK // 2, 2]))
    half = tl.arange(0, BLOCK // 2)
    tl.store(b + half, x - y)
    tl.store(b + half + BLOCK // 2, x + y)


@pytest.mark.parametrize("shift", (0, 1, 64))
def test_an_exchange_between_loads_and_stores(run, mode, shift):
    numeric.interpreter_is_wrong("a program's order is that of its text there")
    data = np.random.default_rng(shift).integers(0, 1000, 1100).astype(np.int32)
    for warps in WARPS if mode != "vector" else (4,):
        whole = torch.from_numpy(data.copy())
        run(exchanged, 1, whole, whole[shift:], 1024, num_warps=warps)
        x, y = data[np.arange(1024) ^ 37].reshape(-1, 2).T
        expected = data.copy()
        expected[shift:shift + 1024] = np.concatenate([x - y, x + y])
        np.testing.assert_array_equal(whole.numpy(), expected, f"{warps} warps")


def test_addresses_say_so_by_an_option(run, mode):
    """Of a bare address nobody knows where its memory ends."""
    if mode == "vulkan":
        pytest.skip("host memory travels, and an address does not say how much")
    block, size = 512, 4
    data = np.random.default_rng(0).integers(0, 1000, 2 * block).astype(np.int32)
    whole, out = torch.from_numpy(data.copy()), torch.zeros(block, dtype=torch.int32)
    wrapped = triton.reinterpret(whole[16:], tl.int32)
    run(load_again, 1, whole, wrapped, out, block, num_warps=8)  # a wrapper's tensor is known
    expected = np.zeros(block, np.int32)
    after_load_again(data, data[16:], expected, np.arange(block))
    np.testing.assert_array_equal(whole.numpy(), data)

    class Address:
        dtype = tl.int32

        def data_ptr(self) -> int:
            return whole.data_ptr() + 16 * size

    run(load_again, 1, whole, Address(), out, block, num_warps=8, overlapping=True)
    after_load_again(data, data[16:], expected, np.arange(block))
    np.testing.assert_array_equal(whole.numpy(), data)
    np.testing.assert_array_equal(out.numpy(), expected)

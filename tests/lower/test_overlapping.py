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

SPIRV_MODES = ("vector", "simt8", "simt", "simt32", "vulkan")

SHIFTS = ((0, 0), (0, 1), (16, 0), (0, 64))
WARPS = (1, 8)


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


@pytest.mark.parametrize("block", (64, 1024))
@pytest.mark.parametrize("kernel, meaning", KERNELS, ids=[kernel.fn.__name__ for kernel, _ in KERNELS])
def test_views_of_one_tensor(run, mode, kernel, meaning, block):
    numeric.interpreter_is_wrong("a program's order is that of its text there")
    for warps in WARPS if mode != "vector" else (4,):
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


def test_what_has_its_barrier_anyway_serves_all_arguments(run, mode):
    if mode == "vector":
        pytest.skip("one work-item runs the program")
    x = torch.arange(2048, dtype=torch.int32)
    made = run(sums, 1, x[1:], x, 1024, num_warps=8)
    assert made.metadata.artifact["assumes_disjoint"] is False
    np.testing.assert_array_equal(x[:1024].numpy(), np.arange(1, 1025).sum() + np.arange(1024))


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

"""Triton's launches on the machine, for targets that nobody here owns: right numbers, nothing found."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton_spirv.runtime.launch import DeviceAssertion

from machine import MachineError, hook, targets


@triton.jit
def normalised(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + i, mask=i < n, other=-float("inf"))
    x = tl.exp(x - tl.max(x))
    tl.store(out_ptr + tl.program_id(0) * n + i, x / tl.sum(x), mask=i < n)


@triton.jit
def multiplied(a_ptr, b_ptr, out_ptr, rounds, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros([M, N], tl.float32)
    for turn in range(rounds):
        a = tl.load(a_ptr + m[:, None] * K * rounds + turn * K + k[None, :])
        b = tl.load(b_ptr + (turn * K + k[:, None]) * N + n[None, :])
        total = tl.dot(a, b, total)
    tl.store(out_ptr + m[:, None] * N + n[None, :], total)


@triton.jit
def sorted_and_counted(x_ptr, out_ptr, counts_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.cumsum(tl.sort(x)))
    tl.atomic_add(counts_ptr + x % 16, 1, mask=x >= 0)


@triton.jit
def too_far(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i + 1))


@triton.jit
def checked(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.device_assert(tl.load(x_ptr + i) < 5, "below five")


MODES = ("machine-pvc", "machine-dg2", "machine-tgl", "machine-vulkan32", "machine-vulkan64-8k",
         "machine-poor32-16k", "machine-simt8", "machine-vector")


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("TRITON_SPIRV_TARGET", "TRITON_SPIRV_DEVICE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in targets.MODES[request.param].items():
        monkeypatch.setenv(name, value)
    kernels = (normalised, multiplied, sorted_and_counted, too_far, checked)
    for kernel in kernels:
        kernel.device_caches.clear()
    with hook.installed():
        yield request.param
    for kernel in kernels:
        kernel.device_caches.clear()


def test_softmax(mode: str) -> None:
    x = torch.randn(2, 250)
    out = torch.empty_like(x)
    normalised[(2,)](x, out, 250, 256, num_warps=4)
    torch.testing.assert_close(out, torch.softmax(x, 1))


def test_product(mode: str) -> None:
    a, b = torch.randn(32, 64).half(), torch.randn(64, 32).half()
    out = torch.empty(32, 32)
    multiplied[(1,)](a, b, out, 2, 32, 32, 32, num_warps=4)
    torch.testing.assert_close(out, a.float() @ b.float(), rtol=1e-4, atol=1e-4)  # f32 sums of another order


def test_sort_scan_atomics(mode: str) -> None:
    x = torch.randint(0, 1000, (128,), dtype=torch.int32)
    out, counts = torch.empty_like(x), torch.zeros(16, dtype=torch.int32)
    sorted_and_counted[(1,)](x, out, counts, 128, num_warps=4)
    assert out.tolist() == np.cumsum(np.sort(x.numpy())).tolist()
    assert counts.tolist() == np.bincount(x.numpy() % 16, minlength=16).tolist()


def test_out_of_bounds(mode: str) -> None:
    x = torch.arange(64)
    with pytest.raises(MachineError, match=r"launches\.py:\d+: out-of-bounds: .* x_ptr, byte \d+ of 512"):
        too_far[(1,)](x, torch.empty_like(x), 64)


def test_assertion(mode: str) -> None:
    checked[(1,)](torch.zeros(16), 16, debug=True)
    with pytest.raises(DeviceAssertion, match="below five"):
        checked[(1,)](torch.arange(16.0), 16, debug=True)

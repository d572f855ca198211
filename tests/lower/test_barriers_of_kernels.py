"""How many barriers kernels get: one where lanes of several warps meet in memory, none elsewhere."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def copied(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i) + 1)


@triton.jit
def summed(x_ptr, out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK))))


@triton.jit
def normalised(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    x -= tl.max(x)
    tl.store(out_ptr + i, x / tl.sum(x))


@triton.jit
def running(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.cumsum(tl.load(x_ptr + i)))


@triton.jit
def rounds(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    total = 0.0
    for k in range(n):
        total += tl.sum(tl.load(x_ptr + k * (BLOCK // 2) + tl.arange(0, BLOCK // 2)))
    tl.store(out_ptr, total)


@triton.jit
def in_place(x_ptr, out_ptr, BLOCK: tl.constexpr):
    """The second load reads what other lanes have stored."""
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i) * 2)
    tl.store(out_ptr + i, tl.load(out_ptr + (BLOCK - 1 - i)) + 1)


X = np.arange(1, 513, dtype=np.float32)
KERNELS = {
    # kernel: (arguments behind the pointers, what it writes, barriers with several warps). A loop needs one
    # more, since its next round writes what others may still read of this one.
    copied: ((), X + 1, 0),
    summed: ((), X.sum(keepdims=True), 1),
    normalised: ((), (X - X.max()) / (X - X.max()).sum(), 2),
    running: ((), np.cumsum(X), 2),
    rounds: ((2,), X.sum(keepdims=True), 2),
    in_place: ((), X[::-1] * 2 + 1, 2),
}


@pytest.fixture(params=[1, 4])
def warps(request, monkeypatch):
    monkeypatch.setenv("TRITON_SPIRV_TARGET", "cpu-simt")
    for kernel in KERNELS:
        kernel.device_caches.clear()
    yield request.param
    for kernel in KERNELS:
        kernel.device_caches.clear()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_barriers(kernel, warps):
    extra, expected, barriers = KERNELS[kernel]
    out = numeric.poisoned(len(expected), "f32")
    made = kernel[(1,)](numeric.tensor(X, "f32"), out, *extra, 512, num_warps=warps)
    numeric.assert_close(out, expected, 1e-5, 0)
    emitted = made.asm["spvasm"].count("OpControlBarrier")
    if kernel is in_place:
        assert emitted == barriers, "lanes of one sub-group must wait for each other's stores too"
    else:
        assert emitted == (barriers if warps > 1 else 0)

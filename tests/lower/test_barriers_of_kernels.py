"""How many barriers kernels get: one where lanes of several warps meet in memory, none elsewhere."""

from __future__ import annotations

import os

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


@pytest.fixture(params=[("simt", 1), ("simt", 4), ("vulkan", 1), ("vulkan", 4)], ids="{0[0]}x{0[1]}".format)
def warps(request, monkeypatch):
    mode, count = request.param
    for name in ("TRITON_SPIRV_TARGET", "TRITON_SPIRV_DEVICE"):
        monkeypatch.delenv(name, raising=False)
    if mode == "vulkan":
        monkeypatch.setenv("TRITON_SPIRV_DEVICE", os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan"))
    else:
        monkeypatch.setenv("TRITON_SPIRV_TARGET", "cpu-simt")
    for kernel in KERNELS:
        kernel.device_caches.clear()
    yield count
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


@triton.jit
def weighted_twice(a_ptr, b_ptr, c_ptr, d_ptr, top_ptr, out_ptr, rounds, M: tl.constexpr, N: tl.constexpr,
                   K: tl.constexpr):
    """Weights P = exp2(A B - top), transposed, times C, plus P * (C D' - top), transposed, times C: as in the
    gradients of attention. P has to change lanes on its way into the product's memory."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a, b = tl.load(a_ptr + m[:, None] * K + k[None, :]), tl.load(b_ptr + k[:, None] * N + n[None, :])
    c, d = tl.load(c_ptr + m[:, None] * K + k[None, :]), tl.load(d_ptr + n[:, None] * K + k[None, :])
    out = tl.zeros([N, K], tl.float32)
    for _ in range(rounds):
        top = tl.load(top_ptr + m)
        p = tl.exp2(tl.dot(a, b, input_precision="ieee") - top[:, None])
        out = tl.dot(tl.trans(p.to(c.dtype)), c, out, input_precision="ieee")
        s = p * (tl.dot(c, tl.trans(d), input_precision="ieee") - top[:, None])
        out = tl.dot(tl.trans(s.to(c.dtype)), c, out, input_precision="ieee")
    tl.store(out_ptr + n[:, None] * K + k[None, :], out)


@pytest.mark.parametrize("dtype, error", (("f32", 1e-5), ("f16", 4e-3)))
@pytest.mark.parametrize("shape", ((32, 32, 16), (64, 32, 16), (32, 32, 32)), ids=str)
def test_operand_that_needs_barriers_itself(run, shape, dtype, error):
    """Its barriers must not pass for the one between its store and the product."""
    m, n, k = shape
    a, b, c, d, top = (numeric.random(size, dtype, i, -0.5, 0.5).astype(np.float64)
                       for i, size in enumerate(((m, k), (k, n), (m, k), (n, k), (m, 1))))
    out = numeric.poisoned((n, k), "f32")
    held = [numeric.tensor(x.astype(numeric.DTYPES[dtype].values), dtype) for x in (a, b, c, d)]
    run(weighted_twice, 1, *held, numeric.tensor(top[:, 0].astype(np.float32), "f32"), out, 1, m, n, k)
    p = np.exp2(a @ b - top)
    expected = p.T @ c + (p * (c @ d.T - top)).T @ c
    assert np.abs(numeric.array(out) - expected).max() <= error * np.abs(expected).max()

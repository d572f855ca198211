"""lower/addresses/remainders.py: blocks whose indices have a remainder, of which nothing begins again."""

from __future__ import annotations

import mmap

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from lower.plans import plan_of
from triton_spirv.lower.plan.text import plan_text
from triton_spirv.target import find_target

SPIRV_MODES = ("vector", "machine-vector-amx")

#: Linux' MAP_NORESERVE, which Python names from 3.13 on.
NO_RESERVE = 0x4000


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, down, across, moved, BM: tl.constexpr, BN: tl.constexpr,
            BK: tl.constexpr, SUM: tl.constexpr, WIDE: tl.constexpr, MOVED: tl.constexpr):
    """c = a b, as Triton's tutorial has it: at its edges a block goes on with the first rows and columns.
    moved: rows and columns behind which a block really begins, below 0 for before it, with MOVED."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    if MOVED:
        rows, columns = rows + moved, columns + moved
    m, n = rows % M, columns % N
    if WIDE:
        m, n = m.to(tl.int64), n.to(tl.int64)
    k = tl.arange(0, BK)
    a_ptrs = a_ptr + m[:, None] * down + k[None, :]
    b_ptrs = b_ptr + k[:, None] * across + n[None, :]
    total = tl.zeros([BM, BN], SUM)
    for done in range(0, K, BK):
        x = tl.load(a_ptrs, mask=k[None, :] < K - done, other=0)
        y = tl.load(b_ptrs, mask=k[:, None] < K - done, other=0)
        total = tl.dot(x, y, total, out_dtype=SUM)
        a_ptrs += BK
        b_ptrs += BK * across
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    if MOVED:
        inside = inside & (rows[:, None] >= 0) & (columns[None, :] >= 0)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total, mask=inside)


def multiplied(run, dtype, sizes, block, moved=0, wide=False, above=0):
    """Of whole numbers. above: rows and columns in front of the operands, as remainders below 0 read them."""
    m, n, k = sizes
    down, across = k + 5, n + 3
    a, b = numeric.whole((m, k), dtype, 0), numeric.whole((k, n), dtype, 1)
    held = np.ones(((m + above) * down + 64,), a.dtype), np.ones((k * across + above + 64,), b.dtype)
    for i in range(m):
        held[0][(above + i) * down:(above + i) * down + k] = a[i]
    for i in range(k):
        held[1][above + i * across:above + i * across + n] = b[i]
    result = "i32" if dtype == "i8" else "f64" if dtype == "f64" else "f32"
    out = numeric.poisoned((m, n), result)
    left, right = (numeric.tensor(x, dtype) for x in held)
    blocks = [triton.cdiv(size - moved, step) for size, step in zip((m, n), block[:2], strict=True)]
    kernel = run(shifted, tuple(blocks), left, right, out, m, n, k, down, across, moved, above * down, above,
                 *block, {"i32": tl.int32, "f64": tl.float64, "f32": tl.float32}[result], wide, moved != 0)
    want = a.astype(np.float64) @ b.astype(np.float64)
    numeric.assert_same(numeric.array(out), want.astype(numeric.array(out).dtype), signed_zeros=False)
    return kernel


@triton.jit
def shifted(a_ptr, b_ptr, c_ptr, M, N, K, down, across, moved, left, right, BM: tl.constexpr,
            BN: tl.constexpr, BK: tl.constexpr, SUM: tl.constexpr, WIDE: tl.constexpr, MOVED: tl.constexpr):
    product(a_ptr + left, b_ptr + right, c_ptr, M, N, K, down, across, moved, BM, BN, BK, SUM, WIDE, MOVED)


@pytest.mark.parametrize("dtype", ("f32", "f64", "bf16", "f16", "i8"))
@pytest.mark.parametrize("sizes", ((128, 128, 96), (100, 150, 70), (10, 7, 33), (65, 129, 160)))
def test_products(run, mode, dtype, sizes) -> None:
    """Blocks that lie in the matrix, those at its edges, and matrices smaller than a block."""
    kernel = multiplied(run, dtype, sizes, (64, 64, 32))
    if mode == "vector" and dtype == "f32":
        plan = plan_text(plan_of(kernel.asm["ttir"], find_target("cpu:sapphirerapids")))
        assert "left in memory" in plan and "up to 16 rounds together" in plan
        assert "is all of the left operand in memory?" in plan


@pytest.mark.parametrize("moved", (-7, -64, 3))
@pytest.mark.parametrize("wide", (False, True))
@pytest.mark.parametrize("dtype", ("f32", "bf16"))
def test_blocks_that_begin_elsewhere(run, dtype, wide, moved) -> None:
    """A remainder of what is below 0 is below 0: such blocks read in front of the operands."""
    sizes = (130, 140, 64)
    if moved < 0:
        multiplied(run, dtype, sizes, (64, 64, 32), moved, wide, above=64)
        return
    m, n, k = sizes
    a, b = numeric.whole((m, k), dtype, 0), numeric.whole((k, n), dtype, 1)
    out = numeric.tensor(np.zeros((m, n), np.float32), "f32")
    run(product, (2, 2), numeric.tensor(a, dtype), numeric.tensor(b, dtype), out, m, n, k, k, n, moved, 64,
        64, 32, tl.float32, wide, True)
    want = a.astype(np.float64) @ b.astype(np.float64)
    want[:moved], want[:, :moved] = 0, 0
    want[128 + moved:], want[:, 128 + moved:] = 0, 0
    numeric.assert_same(numeric.array(out), want.astype(np.float32), signed_zeros=False)


@pytest.mark.parametrize("dtype", ("f32", "f64"))
@pytest.mark.parametrize("sizes", ((1, 300, 130), (3, 256, 64), (16, 130, 100)))
def test_few_rows(run, mode, dtype, sizes) -> None:
    """The right operand is multiplied where it lies."""
    kernel = multiplied(run, dtype, sizes, (16, 128, 32))
    if mode == "vector":
        plan = plan_text(plan_of(kernel.asm["ttir"], find_target("cpu:x86_64-v4")))
        assert "right operand in place" in plan


@triton.jit
def of_wide_indices(a_ptr, b_ptr, c_ptr, M, N, K, down, across, BM: tl.constexpr, BN: tl.constexpr,
                    BK: tl.constexpr):
    """Indices of 64 bits, made anew in each round, and what K leaves over behind the loop."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    m, n = (rows % M).to(tl.int64), (columns % N).to(tl.int64)
    total = tl.zeros([BM, BN], tl.float32)
    whole = K // BK * BK
    for done in range(0, whole, BK):
        k = (done + tl.arange(0, BK)).to(tl.int64)
        x = tl.load(a_ptr + (m[:, None] * down + k[None, :]))
        total += tl.dot(x, tl.load(b_ptr + (k[:, None] * across + n[None, :])))
    k = (whole + tl.arange(0, BK)).to(tl.int64)
    x = tl.load(a_ptr + (m[:, None] * down + k[None, :]), mask=k[None, :] < K, other=0)
    total += tl.dot(x, tl.load(b_ptr + (k[:, None] * across + n[None, :]), mask=k[:, None] < K, other=0))
    tl.store(c_ptr + rows.to(tl.int64)[:, None] * N + columns[None, :], total,
             mask=(rows[:, None] < M) & (columns[None, :] < N))


@pytest.mark.parametrize("dtype", ("f32", "bf16"))
@pytest.mark.parametrize("sizes", ((128, 128, 96), (100, 150, 70), (10, 7, 33)))
def test_wide_indices(run, mode, dtype, sizes) -> None:
    m, n, k = sizes
    a, b = numeric.whole((m, k), dtype, 0), numeric.whole((k, n), dtype, 1)
    out = numeric.poisoned((m, n), "f32")
    kernel = run(of_wide_indices, (triton.cdiv(m, 64), triton.cdiv(n, 64)), numeric.tensor(a, dtype),
                 numeric.tensor(b, dtype), out, m, n, k, k, n, 64, 64, 32)
    if mode == "vector" and dtype == "f32":
        assert "rounds together" in plan_text(plan_of(kernel.asm["ttir"], find_target("cpu:sapphirerapids")))
    want = a.astype(np.float64) @ b.astype(np.float64)
    numeric.assert_same(numeric.array(out), want.astype(np.float32), signed_zeros=False)


@triton.jit
def of_weights(x_ptr, w_ptr, y_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """y = x w^T, w [N, K]."""
    rows, columns = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    m, n, k = rows % M, columns % N, tl.arange(0, BK)
    total = tl.zeros([BM, BN], tl.float32)
    for done in range(0, K, BK):
        x = tl.load(x_ptr + m[:, None] * K + done + k[None, :], mask=k[None, :] < K - done, other=0)
        w = tl.load(w_ptr + n[None, :] * K + done + k[:, None], mask=k[:, None] < K - done, other=0)
        total = tl.dot(x, w, total)
    tl.store(y_ptr + rows[:, None] * N + columns[None, :], total,
             mask=(rows[:, None] < M) & (columns[None, :] < N))


@pytest.mark.parametrize("dtype", ("f32", "f16", "bf16"))
@pytest.mark.parametrize("sizes", ((1, 128, 96), (1, 150, 70), (3, 130, 64), (16, 10, 33)))
def test_weights(run, mode, dtype, sizes) -> None:
    """A row by columns that lie in memory, but where they begin again."""
    m, n, k = sizes
    x, w = numeric.whole((m, k), dtype, 0), numeric.whole((n, k), dtype, 1)
    out = numeric.poisoned((m, n), "f32")
    kernel = run(of_weights, (triton.cdiv(n, 64),), numeric.tensor(x, dtype), numeric.tensor(w, dtype), out,
                 m, n, k, 16, 64, 32)
    if mode == "vector":
        assert "inner products" in plan_text(plan_of(kernel.asm["ttir"], find_target("cpu:x86_64-v4")))
    want = x.astype(np.float64) @ w.astype(np.float64).T
    numeric.assert_same(numeric.array(out), want.astype(np.float32), signed_zeros=False)


@triton.jit
def of_remainders(a_ptr, b_ptr, c_ptr, start, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Every other row, of M and then of N, counted from the row behind a's first N."""
    i, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    m = ((start + i) % M * 2).to(tl.int64) % N
    total = tl.zeros([BM, BN], tl.float32)
    for done in range(0, K, BK):
        x = tl.load(a_ptr + N * K + m[:, None] * K + (done + k)[None, :])
        total = tl.dot(x, tl.load(b_ptr + (done + k)[:, None] * BN + n[None, :]), total)
    tl.store(c_ptr + i[:, None] * BN + n[None, :], total)


@pytest.mark.parametrize("start", (0, -64, -100, -500))
@pytest.mark.parametrize("m, n", ((1000, 1000), (150, 1000), (1000, 90), (100, 64), (40, 300)))
def test_remainders_of_remainders(run, mode, m, n, start) -> None:
    """Each has to lie inside. That of a number below 0 is none above."""
    a, b = numeric.whole((2 * n, 64), "f32", 0), numeric.whole((64, 64), "f32", 1)
    out = numeric.poisoned((192, 64), "f32")
    kernel = run(of_remainders, (3,), numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), out, start, m, n,
                 64, 64, 64, 32)
    if mode == "vector":
        assert "left in memory" in kernel.asm["plan"]
    rows = np.fmod(2 * np.fmod(start + np.arange(192), m), n)
    want = a[n + rows].astype(np.float64) @ b.astype(np.float64)
    numeric.assert_same(numeric.array(out), want.astype(np.float32), signed_zeros=False)


class Address:
    """A pointer into memory of which most is never touched."""

    def __init__(self, memory: mmap.mmap, offset: int) -> None:
        self._memory, self.dtype = np.frombuffer(memory, np.uint8), np.dtype(np.float32)
        self._offset = offset

    def data_ptr(self) -> int:
        return int(self._memory.ctypes.data) + self._offset


@triton.jit(do_not_specialize=["pitch"])
def of_far_rows(a_ptr, b_ptr, c_ptr, start, M, K, pitch, BM: tl.constexpr, BN: tl.constexpr,
                BK: tl.constexpr):
    i, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    m = (start + i) % M
    total = tl.zeros([BM, BN], tl.float32)
    for done in range(0, K, BK):
        x = tl.load(a_ptr + m[:, None] * pitch + (done + k)[None, :])
        total = tl.dot(x, tl.load(b_ptr + (done + k)[:, None] * BN + n[None, :]), total)
    tl.store(c_ptr + i[:, None] * BN + n[None, :], total)


def test_products_that_wrap() -> None:
    """An offset of 32 bits is what is left of it: rows from the 64th on lie in front of the others, and what
    lies behind is something else."""
    start, depth, pitch, half = 32, 64, 1 << 25, 1 << 31
    memory = mmap.mmap(-1, 4 * (3 * half + depth), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
    held = np.frombuffer(memory, np.float32)
    a, b = numeric.whole((64, depth), "f32", 0), numeric.whole((depth, 64), "f32", 1)
    for i in range(64):
        held[half + (start + i) * pitch:][:depth] = 99
    for i in range(64):
        offset = (start + i) * pitch
        held[half + (offset if offset < half else offset - 2 * half):][:depth] = a[i]
    out = numeric.poisoned((64, 64), "f32")
    kernel = of_far_rows[(1,)](Address(memory, 4 * half), numeric.tensor(b, "f32"), out, start, 200, depth,
                               pitch, 64, 64, 32)
    assert "left in memory" in kernel.asm["plan"]
    want = a.astype(np.float64) @ b.astype(np.float64)
    numeric.assert_same(numeric.array(out), want.astype(np.float32), signed_zeros=False)

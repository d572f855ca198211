"""Kernels of benchmarks/checked.py whose programs share memory and order each other by atomic operations:
what the race check costs most for."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def locked_rows(x, total, lock, n, stride, BLOCK: tl.constexpr):
    """Each program adds a row to the only one, under a lock."""
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * stride + i, mask=i < n, other=0.0)
    while tl.atomic_cas(lock, 0, 1, sem="acquire") != 0:
        pass
    tl.store(total + i, tl.load(total + i, mask=i < n, other=0.0) + v, mask=i < n)
    tl.atomic_xchg(lock, 0, sem="release")


@triton.jit
def split_sum(x, parts, o, count, n, BLOCK: tl.constexpr):
    """Each program sums its part of the rows; the last one sums what all have."""
    p, programs, i = tl.program_id(0), tl.num_programs(0), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(p, n, programs):
        total += tl.load(x + row * BLOCK + i)
    tl.store(parts + p * BLOCK + i, total)
    if tl.atomic_add(count, 1) == programs - 1:
        total = tl.zeros((BLOCK,), tl.float32)
        for k in range(programs):
            total += tl.load(parts + k * BLOCK + i)
        tl.store(o + i, total)
        tl.store(count, 0)


@triton.jit
def split_matmul(a, b, c, parts, counts, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A product whose K is split among programs; of each tile the last one sums what all have."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    n = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    splits, k = tl.num_programs(2), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(tl.program_id(2) * BK, K, splits * BK):
        x, y = tl.load(a + m * K + first + k[None, :]), tl.load(b + (first + k[:, None]) * N + n)
        total = tl.dot(x, y, total, input_precision="ieee")
    tl.store(parts + (tl.program_id(2) * M + m) * N + n, total)
    count = counts + tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    if tl.atomic_add(count, 1) == splits - 1:
        total = tl.zeros((BM, BN), tl.float32)
        for split in range(splits):
            total += tl.load(parts + (split * M + m) * N + n)
        tl.store(c + m * N + n, total)
        tl.store(count, 0)


@triton.jit
def shared_row(x, o, count, BLOCK: tl.constexpr):
    """All programs read one row, which the last of them writes."""
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(o + tl.program_id(0), tl.sum(v, 0))
    if tl.atomic_add(count, 1) == tl.num_programs(0) - 1:
        tl.store(x + i, v + 1)
        tl.store(count, 0)


@triton.jit
def shared_table(x, index, o, count, BLOCK: tl.constexpr):
    """All programs read elements of a table, which the last of them writes."""
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.load(index + tl.program_id(0) * BLOCK + i))
    tl.store(o + tl.program_id(0), tl.sum(v, 0))
    if tl.atomic_add(count, 1) == tl.num_programs(0) - 1:
        tl.store(x + i, tl.load(x + i) * 0.5)
        tl.store(count, 0)

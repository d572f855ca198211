"""Kernels whose lanes and warps exchange values, for the mutation run: a name -> kernel, grid, arguments,
constants. Sizes are small: each barrier costs a launch in several orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from .test_launches import multiplied, normalised, sorted_and_counted


@triton.jit
def summed(x_ptr, out_ptr, rounds, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros([M], tl.float32)
    for turn in range(rounds):
        x = tl.load(x_ptr + turn * M * N + m[:, None] * N + n[None, :])
        total += tl.sum(x, 1) + tl.max(tl.sum(x, 0))
    tl.store(out_ptr + m, total)


@triton.jit
def scanned(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.cumsum(tl.load(x_ptr + at), 1)
    tl.store(out_ptr + at, tl.cumsum(x, 0))


@triton.jit
def found(x_ptr, value_ptr, index_ptr, N: tl.constexpr):
    value, index = tl.max(tl.load(x_ptr + tl.arange(0, N)), 0, return_indices=True)
    tl.store(value_ptr, value)
    tl.store(index_ptr, index)


@triton.jit
def transposed(x_ptr, out_ptr, rounds, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    for turn in range(rounds):
        x = tl.load(x_ptr + turn * M * N + m[:, None] * N + n[None, :])
        tl.store(out_ptr + turn * M * N + n[:, None] * M + m[None, :], tl.trans(x))


@triton.jit
def reshaped(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    y = tl.reshape(tl.trans(x), [M * N])
    tl.store(out_ptr + tl.arange(0, M * N), y + tl.sum(y))


@triton.jit
def gathered(x_ptr, index_ptr, out_ptr, N: tl.constexpr):
    n = tl.arange(0, N)
    x, index = tl.load(x_ptr + n), tl.load(index_ptr + n)
    y = tl.gather(x * 2, index, 0)
    tl.store(out_ptr + n, tl.gather(y + 1, index, 0))


@triton.jit
def counted(x_ptr, out_ptr, N: tl.constexpr, BINS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr + tl.arange(0, BINS), tl.histogram(x, BINS) + tl.histogram(x // 2, BINS))


@triton.jit
def sorted_rows(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + at, tl.sort(tl.load(x_ptr + at)))


@triton.jit
def in_place(x_ptr, N: tl.constexpr):
    n = tl.arange(0, N)
    tl.store(x_ptr + n, tl.load(x_ptr + n) * 2)
    tl.store(x_ptr + n, tl.load(x_ptr + (N - 1 - n)) + 1)


@triton.jit
def added(x_ptr, place_ptr, total_ptr, out_ptr, N: tl.constexpr):
    n = tl.arange(0, N)
    old = tl.atomic_add(place_ptr + tl.load(x_ptr + n) % 8, 1)
    ticket = tl.atomic_add(total_ptr, 1)
    tl.store(out_ptr + tl.program_id(0) * N + n, old * 0 + ticket)


@triton.jit
def attended(q_ptr, k_ptr, v_ptr, out_ptr, rounds, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    top, under = tl.full([M], -float("inf"), tl.float32), tl.zeros([M], tl.float32)
    total = tl.zeros([M, D], tl.float32)
    for turn in range(rounds):
        k = tl.load(k_ptr + (turn * N + n[:, None]) * D + d[None, :])
        v = tl.load(v_ptr + (turn * N + n[:, None]) * D + d[None, :])
        s = tl.dot(q, tl.trans(k))
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        under = under * tl.exp(top - new) + tl.sum(p, 1)
        total = tl.dot(p.to(tl.float16), v, total * tl.exp(top - new)[:, None])
        top = new
    tl.store(out_ptr + m[:, None] * D + d[None, :], total / under[:, None])


@triton.jit
def told(flag_ptr, data_ptr, out_ptr, N: tl.constexpr):
    n = tl.arange(0, N)
    if tl.program_id(0) == 0:
        tl.store(data_ptr + n, n + 1)
        tl.atomic_xchg(flag_ptr, 1, sem="release")
    else:
        while tl.atomic_add(flag_ptr, 0, sem="acquire") == 0:
            pass
        tl.store(out_ptr + n, tl.load(data_ptr + N - 1 - n))


def _floats(*shape: int) -> torch.Tensor:
    return torch.rand(shape)


def _halves(*shape: int) -> torch.Tensor:
    return torch.rand(shape).half()


def _numbers(*shape: int, below: int = 64) -> torch.Tensor:
    return torch.randint(0, below, shape, dtype=torch.int32)


Case = tuple[Any, int, Callable[[], tuple[Any, ...]]]
CASES: dict[str, Case] = {
    "softmax": (normalised, 1, lambda: (_floats(200), _floats(200), 200, 256)),
    "sums in a loop": (summed, 1, lambda: (_floats(2, 16, 64), _floats(16), 2, 16, 64)),
    "scans": (scanned, 1, lambda: (_floats(16, 32), _floats(16, 32), 16, 32)),
    "argmax": (found, 1, lambda: (_floats(512), _floats(1), _numbers(1), 512)),
    "transposition in a loop": (transposed, 1, lambda: (_floats(2, 32, 32), _floats(2, 32, 32), 2, 32, 32)),
    "reshape": (reshaped, 1, lambda: (_floats(16, 32), _floats(512), 16, 32)),
    "gather": (gathered, 1, lambda: (_floats(256), _numbers(256, below=256), _floats(256), 256)),
    "histogram": (counted, 1, lambda: (_numbers(256), _numbers(64), 256, 64)),
    "sort": (sorted_rows, 1, lambda: (_floats(2, 256), _floats(2, 256), 2, 256)),
    "sort, scan, atomics": (sorted_and_counted, 1, lambda: (_numbers(256), _numbers(256), _numbers(16), 256)),
    "in place": (in_place, 1, lambda: (_floats(512), 512)),
    "atomics": (added, 2, lambda: (_numbers(256), _numbers(8), _numbers(1), _numbers(512), 256)),
    "product": (multiplied, 1, lambda: (_halves(32, 96), _halves(96, 32), _floats(32, 32), 3, 32, 32, 32)),
    "attention": (attended, 1, lambda: (_halves(32, 32), _halves(64, 32), _halves(64, 32), _floats(32, 32), 2,
                                        32, 32, 32)),
    "flag": (told, 2, lambda: (_numbers(1) * 0, _numbers(256), _numbers(256), 256)),
}

"""Kernels that are compiled ahead of time in tests."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = i < n
    tl.store(out + i, tl.load(x + i, mask=keep) + tl.load(y + i, mask=keep), mask=keep)


@triton.jit
def scaled(x, factor, n, half, flag, BLOCK: tl.constexpr = 64):
    """Scalars of every width in one argument struct."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = i < n
    tl.store(x + i, tl.load(x + i, mask=keep) * factor + half.to(tl.float32) + flag.to(tl.float32), mask=keep)


@triton.jit
def checked(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0)
    tl.device_assert(value >= 0, "negative")
    tl.store(x + i, value + 1, mask=i < n)


@triton.jit
def names_its_target(out, BLOCK: tl.constexpr):
    tl.store(out, tl.program_id(0) + BLOCK)


@triton.autotune([triton.Config({"BLOCK": 64}, num_warps=2)], key=["n"])
@triton.jit
def tuned(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, i, mask=i < n)


@triton.jit
def wrong(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), tl.arange(0, BLOCK) + nosuch)  # noqa: F821


NOT_A_KERNEL = 1


@triton.jit
def product(a, b, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    tl.store(out + at, tl.dot(tl.load(a + at), tl.load(b + at)))

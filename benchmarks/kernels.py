"""The kernels that are measured, each with the call of torch that does the same.

They are written as one would write them for a GPU; nothing in them is made for this backend.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    x = tl.load(x_ptr + index, mask=inside)
    y = tl.load(y_ptr + index, mask=inside)
    tl.store(out_ptr + index, x + y, mask=inside)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, stride, rows, columns, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    inside = index < columns
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * stride + index, mask=inside, other=-float("inf"))
        weight = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * stride + index, weight / tl.sum(weight, axis=0), mask=inside)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, a_row, b_row, c_row,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a = a_ptr + m[:, None] * a_row + k[None, :]
    b = b_ptr + k[:, None] * b_row + n[None, :]
    total = tl.zeros([BM, BN], tl.float32)
    for done in range(0, K, BK):
        x = tl.load(a, mask=(m[:, None] < M) & (k[None, :] < K - done), other=0.0)
        y = tl.load(b, mask=(k[:, None] < K - done) & (n[None, :] < N), other=0.0)
        total = tl.dot(x, y, total, input_precision="ieee")
        a += BK
        b += BK * b_row
    c = c_ptr + m[:, None] * c_row + n[None, :]
    tl.store(c, total.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, stride, columns, eps, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    inside = index < columns
    x = tl.load(x_ptr + tl.program_id(0) * stride + index, mask=inside, other=0.0)
    centred = tl.where(inside, x - tl.sum(x, axis=0) / columns, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    weight = tl.load(weight_ptr + index, mask=inside)
    bias = tl.load(bias_ptr + index, mask=inside)
    tl.store(out_ptr + tl.program_id(0) * stride + index, centred * scale * weight + bias, mask=inside)


@triton.jit
def tile_kernel(x_ptr, out_ptr, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    n = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    inside = (m < rows) & (n < columns)
    x = tl.load(x_ptr + m * columns + n, mask=inside)
    tl.store(out_ptr + m * columns + n, tl.exp(x), mask=inside)


@dataclass(frozen=True)
class Case:
    """One kernel on one shape: our call, torch's, the difference allowed, the work in bytes or operations."""

    name: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    tolerance: float
    work: float
    unit: str

    def error(self) -> float:
        """The largest difference between the two results."""
        return (self.ours().double() - self.theirs().double()).abs().max().item()


def add_case(n: int, block: int = 8192) -> Case:
    """Vector addition in f32, into memory that is there."""
    x, y, out, expected = torch.rand(n), torch.rand(n), torch.empty(n), torch.empty(n)

    def ours() -> torch.Tensor:
        add_kernel[(triton.cdiv(n, block),)](x, y, out, n, block)
        return out
    return Case(f"vector add {n}", ours, lambda: torch.add(x, y, out=expected), 0.0, 12.0 * n, "GB/s")


def softmax_case(rows: int, columns: int) -> Case:
    """Softmax of rows in f32."""
    x, out = torch.randn(rows, columns), torch.empty(rows, columns)
    block = triton.next_power_of_2(columns)

    def ours() -> torch.Tensor:
        softmax_kernel[(min(rows, 64),)](x, out, x.stride(0), rows, columns, block)
        return out
    expected = torch.empty_like(x)
    return Case(f"softmax {rows}x{columns}", ours, lambda: torch.softmax(x, 1, out=expected), 1e-6,
                8.0 * x.numel(), "GB/s")


def matmul_case(size: int, dtype: torch.dtype, block: tuple[int, int, int] = (128, 128, 64)) -> Case:
    """A square product; f16 is summed in f32."""
    a, b = torch.randn(size, size).to(dtype), torch.randn(size, size).to(dtype)
    c, expected = torch.empty_like(a), torch.empty_like(a)
    bm, bn, bk = block

    def ours() -> torch.Tensor:
        grid = (triton.cdiv(size, bm), triton.cdiv(size, bn))
        matmul_kernel[grid](a, b, c, size, size, size, a.stride(0), b.stride(0), c.stride(0), bm, bn, bk)
        return c
    # a sum of `size` products of deviation 1 grows to about 5 sqrt(size), rounded to the type at the end
    tolerance = 5 * size ** 0.5 * (2.0 ** -10 if dtype == torch.float16 else 2.0 ** -18)
    name = f"matmul {str(dtype).removeprefix('torch.')} {size}"
    return Case(name, ours, lambda: torch.mm(a, b, out=expected), tolerance, 2.0 * size ** 3, "GFLOP/s")


def layer_norm_case(rows: int, columns: int) -> Case:
    """Layer norm of rows in f32, forward, with weight and bias."""
    x, weight, bias = torch.randn(rows, columns), torch.rand(columns), torch.rand(columns)
    out = torch.empty_like(x)
    block = triton.next_power_of_2(columns)

    def ours() -> torch.Tensor:
        layer_norm_kernel[(rows,)](x, weight, bias, out, x.stride(0), columns, 1e-5, block)
        return out
    return Case(f"layer norm {rows}x{columns}", ours,
                lambda: torch.nn.functional.layer_norm(x, (columns,), weight, bias, 1e-5), 2e-5,
                8.0 * x.numel(), "GB/s")


def cases(quick: bool) -> list[Case]:
    """Everything that is run against torch."""
    half = torch.float16
    if quick:
        return [add_case(10_001), softmax_case(64, 781), matmul_case(128, torch.float32),
                matmul_case(128, half), layer_norm_case(64, 781)]
    return [*(add_case(n) for n in (1 << 12, 1 << 16, 1 << 20, 1 << 24)),
            *(softmax_case(*shape) for shape in ((4096, 256), (1823, 781), (2048, 4096))),
            *(matmul_case(size, torch.float32) for size in (256, 512, 1024)),
            *(matmul_case(size, half) for size in (256, 512, 1024)),
            *(layer_norm_case(*shape) for shape in ((4096, 256), (1024, 4096)))]

"""Columns reduced, by tiles [X, R] of which memory is contiguous along X, as Inductor writes them."""

from __future__ import annotations

import os

import torch
import triton
import triton.language as tl

from .workload import Workload, size


@triton.jit
def tile(x_ptr, X, R, other, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr):
    """The columns of this program, of a matrix [R, X]: their places, which are inside, and what they are."""
    x = (tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK))[:, None]
    r = tl.arange(0, RBLOCK)[None, :]
    inside = (x < X) & (r < R)
    place = x + X * r
    return place, inside, tl.load(x_ptr + place, mask=inside, other=other)


@triton.jit
def softmax_columns_kernel(x_ptr, out_ptr, X, R, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr):
    place, inside, x = tile(x_ptr, X, R, -float("inf"), XBLOCK, RBLOCK)
    power = tl.exp(x - tl.max(x, axis=1, keep_dims=True))
    tl.store(out_ptr + place, power / tl.sum(power, axis=1, keep_dims=True), mask=inside)


@triton.jit
def layer_norm_columns_kernel(x_ptr, out_ptr, X, R, eps, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr):
    place, inside, x = tile(x_ptr, X, R, 0.0, XBLOCK, RBLOCK)
    centred = tl.where(inside, x - tl.sum(x, axis=1, keep_dims=True) / R, 0.0)
    variance = tl.sum(centred * centred, axis=1, keep_dims=True) / R
    tl.store(out_ptr + place, centred * tl.rsqrt(variance + eps), mask=inside)


@triton.jit
def sum_columns_kernel(x_ptr, out_ptr, X, R, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr):
    x = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    total = tl.zeros([XBLOCK, RBLOCK], tl.float32)
    for start in range(0, R, RBLOCK):
        r = start + tl.arange(0, RBLOCK)[None, :]
        total += tl.load(x_ptr + x[:, None] + X * r, mask=(x[:, None] < X) & (r < R), other=0.0)
    tl.store(out_ptr + x, tl.sum(total, axis=1), mask=x < X)


def softmax_columns(rows: int, columns: int) -> Workload:
    """Softmax over the first dimension in f32."""
    x, out = torch.randn(rows, columns), torch.empty(rows, columns)
    block = triton.next_power_of_2(rows)

    def ours() -> torch.Tensor:
        softmax_columns_kernel[(triton.cdiv(columns, 64),)](x, out, columns, rows, 64, block)
        return out
    return Workload(f"softmax over axis 0 of {rows}x{columns}", ours, lambda x: torch.softmax(x, 0), (x,),
                    2e-6, size(x, out))


def layer_norm_columns(images: int, channels: int, side: int) -> Workload:
    """Layer norm over the channels of an image that has them first, in f32."""
    pixels = side * side
    x, out = torch.randn(images, channels, side, side), torch.empty(images, channels, side, side)
    block = triton.next_power_of_2(channels)

    def ours() -> torch.Tensor:
        for image in range(images):
            layer_norm_columns_kernel[(triton.cdiv(pixels, 64),)](x[image], out[image], pixels, channels,
                                                                  1e-5, 64, block)
        return out

    def theirs(x: torch.Tensor) -> torch.Tensor:
        normal = torch.nn.functional.layer_norm(x.permute(0, 2, 3, 1), (channels,), eps=1e-5)
        return normal.permute(0, 3, 1, 2).contiguous()
    return Workload(f"layer norm of {channels} channels, {side}x{side}", ours, theirs, (x,), 1e-5,
                    size(x, out))


def sum_columns(rows: int, columns: int) -> Workload:
    """Sums over the first dimension in f32."""
    x, out = torch.randn(rows, columns), torch.empty(columns)
    # as many programs as processors, or more: of wide ones each has long rows of memory
    block = max(128, min(2048, triton.next_power_of_2(columns // len(os.sched_getaffinity(0)))))

    def ours() -> torch.Tensor:
        sum_columns_kernel[(triton.cdiv(columns, block),)](x, out, columns, rows, block, 8)
        return out
    array = x.numpy()
    return Workload(f"sum over axis 0 of {rows}x{columns}, tiles [X, R]", ours, lambda x: x.sum(0), (x,),
                    1e-5, size(x), numpy=lambda: array.sum(0))


def workloads(quick: bool) -> list[Workload]:
    """Matrices of 4 MB and more; --quick: small ones."""
    shape = (64, 781) if quick else (1024, 4096)
    return [softmax_columns(*shape), layer_norm_columns(*((1, 33, 9) if quick else (1, 512, 64))),
            sum_columns(*shape)]

"""Kernels as compilers write them for split, chunk, cat and their like: flat indices, by // and %."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def rotary(x_ptr, cos_ptr, sin_ptr, out_ptr, count, D: tl.constexpr, BLOCK: tl.constexpr):
    """x [rows, 2 D]: the halves of each row are turned by the row's angles [rows, D]."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    place = i % D + i // D * (2 * D)
    cos, sin = tl.load(cos_ptr + i, mask), tl.load(sin_ptr + i, mask)
    x, y = tl.load(x_ptr + place, mask), tl.load(x_ptr + D + place, mask)
    tl.store(out_ptr + place, x * cos - y * sin, mask)
    tl.store(out_ptr + D + place, y * cos + x * sin, mask)


@pytest.mark.parametrize("rows, d, block", (
    (3, 16, 16), (5, 64, 512), (33, 64, 1024), (7, 128, 2048), (9, 96, 1024), (40, 512, 8192)))
def test_rotary(run, rows, d, block):
    generator = torch.Generator().manual_seed(d)
    x = torch.randn(rows, 2 * d, generator=generator)
    angles = torch.randn(rows, d, generator=generator)
    cos, sin, out = angles.cos(), angles.sin(), torch.full_like(x, torch.nan)
    run(rotary, triton.cdiv(rows * d, block), x, cos, sin, out, rows * d, d, block)
    left, right = x[:, :d], x[:, d:]
    wanted = torch.cat([left * cos - right * sin, right * cos + left * sin], 1)
    torch.testing.assert_close(out, wanted, rtol=1e-6, atol=1e-6)  # one rounding less, where contracted


@triton.jit
def swiglu_backward(grad_ptr, x_ptr, out_ptr, saved_ptr, count, D: tl.constexpr, BLOCK: tl.constexpr):
    """x [rows, 2 D], the gate in its first half; gradients of both halves, and the product again."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    row, column = i // D, i % D
    gate = tl.load(x_ptr + column + 2 * D * row, mask)
    up = tl.load(x_ptr + D + column + 2 * D * row, mask)
    grad = tl.load(grad_ptr + i, mask)
    sigmoid = tl.sigmoid(gate)
    silu = gate * sigmoid
    tl.store(out_ptr + column + 2 * D * row, grad * up * sigmoid * (1 + gate * (1 - sigmoid)), mask)
    tl.store(out_ptr + D + column + 2 * D * row, grad * silu, mask)
    tl.store(saved_ptr + i, silu * up, mask)


@pytest.mark.parametrize("rows, d, block", (
    (3, 16, 16), (5, 64, 512), (33, 64, 1024), (7, 128, 2048), (9, 96, 1024), (40, 512, 8192)))
def test_swiglu_backward(run, rows, d, block):
    generator = torch.Generator().manual_seed(d)
    x = torch.randn(rows, 2 * d, generator=generator, requires_grad=True)
    grad = torch.randn(rows, d, generator=generator)
    wanted = torch.nn.functional.silu(x[:, :d]) * x[:, d:]
    wanted.backward(grad)
    out, saved = torch.full((rows, 2 * d), torch.nan), torch.full((rows, d), torch.nan)
    run(swiglu_backward, triton.cdiv(rows * d, block), grad, x.detach(), out, saved, rows * d, d, block)
    # exponentials of half an ulp more, in sums that cancel to a tenth of their parts
    torch.testing.assert_close(out, x.grad, rtol=2e-5, atol=2e-6)
    torch.testing.assert_close(saved, wanted.detach(), rtol=2e-6, atol=1e-6)


@triton.jit
def split_three(x_ptr, a_ptr, b_ptr, c_ptr, count, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr,
                BLOCK: tl.constexpr):
    """x [rows, A + B + C] -> three tensors, each element stored by the one that it falls to."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column, row = i % (A + B + C), i // (A + B + C)
    x = tl.load(x_ptr + i, i < count)
    tl.store(a_ptr + column + A * row, x, (i < count) & (column < A))
    tl.store(b_ptr + column - A + B * row, x + 1, (i < count) & (column >= A) & (column < A + B))
    tl.store(c_ptr + column - A - B + C * row, x * 2, (i < count) & (column >= A + B))


@triton.jit
def concatenate_two(a_ptr, b_ptr, out_ptr, sums_ptr, count, A: tl.constexpr, B: tl.constexpr,
                    BLOCK: tl.constexpr):
    """[rows, A], [rows, B] -> [rows, A + B], and the sum of each program's elements."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column, row = i % (A + B), i // (A + B)
    first = (column < A) & (i < count)
    x = tl.load(a_ptr + A * row + column, first, other=0)
    y = tl.load(b_ptr + B * row + column - A, (column >= A) & (i < count), other=0)
    chosen = tl.where(column < A, x, y)
    tl.store(sums_ptr + tl.program_id(0), tl.sum(chosen))
    tl.store(out_ptr + i, chosen, i < count)


@pytest.mark.parametrize("block", (16, 512, 1024, 4096))
@pytest.mark.parametrize("parts", ((16, 16, 32), (64, 64, 128), (5, 7, 4), (128, 256, 128), (48, 16, 33)))
def test_split_and_concatenate(run, parts, block):
    a, b = parts[:2]
    rows = 3000 // sum(parts) + 2
    x = torch.arange(rows * sum(parts), dtype=torch.int32).reshape(rows, -1)
    outs = [torch.full((rows, part), -1, dtype=torch.int32) for part in parts]
    run(split_three, triton.cdiv(x.numel(), block), x, *outs, x.numel(), *parts, block)
    for out, wanted in zip(outs, (x[:, :a], x[:, a:a + b] + 1, x[:, a + b:] * 2), strict=True):
        np.testing.assert_array_equal(out.numpy(), wanted.numpy())

    count = rows * (a + b)
    programs = triton.cdiv(count, block)
    joined, sums = torch.full((rows, a + b), -1, dtype=torch.int32), torch.zeros(programs, dtype=torch.int64)
    run(concatenate_two, programs, outs[0], outs[1], joined, sums, count, a, b, block)
    wanted = torch.cat(outs[:2], 1)
    np.testing.assert_array_equal(joined.numpy(), wanted.numpy())
    padded = np.zeros(programs * block, np.int64)
    padded[:count] = wanted.numpy().ravel()
    np.testing.assert_array_equal(sums.numpy(), padded.reshape(programs, -1).sum(1))

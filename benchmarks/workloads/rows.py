"""Rows and columns reduced: softmax, norms forward and backward, cross entropy, sums over each axis."""

from __future__ import annotations

import os
from collections.abc import Callable

import torch
import triton
import triton.language as tl
from kernels import layer_norm_kernel, softmax_kernel
from triton import next_power_of_2

from . import columns
from .workload import Workload, size


@triton.jit
def rms_norm_kernel(x_ptr, weight_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    inside = index < columns
    x = tl.load(x_ptr + tl.program_id(0) * columns + index, mask=inside, other=0.0)
    weight = tl.load(weight_ptr + index, mask=inside)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / columns + eps)
    tl.store(out_ptr + tl.program_id(0) * columns + index, x * scale * weight, mask=inside)


@triton.jit
def layer_norm_backward_kernel(x_ptr, weight_ptr, dout_ptr, mean_ptr, rstd_ptr, dx_ptr, dweight_ptr,
                               dbias_ptr, rows, columns, BLOCK: tl.constexpr):
    """dx of the rows of this program; its part of dweight and dbias as a row of their own."""
    program = tl.program_id(0)
    index = tl.arange(0, BLOCK)
    inside = index < columns
    weight = tl.load(weight_ptr + index, mask=inside, other=0.0)
    dweight = tl.zeros([BLOCK], tl.float32)
    dbias = tl.zeros([BLOCK], tl.float32)
    for row in range(program, rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * columns + index, mask=inside, other=0.0)
        dout = tl.load(dout_ptr + row * columns + index, mask=inside, other=0.0)
        scale = tl.load(rstd_ptr + row)
        normal = (x - tl.load(mean_ptr + row)) * scale
        weighted = weight * dout
        along = tl.sum(normal * weighted, axis=0) / columns
        average = tl.sum(weighted, axis=0) / columns
        tl.store(dx_ptr + row * columns + index, (weighted - normal * along - average) * scale, mask=inside)
        dweight += dout * normal
        dbias += dout
    tl.store(dweight_ptr + program * columns + index, dweight, mask=inside)
    tl.store(dbias_ptr + program * columns + index, dbias, mask=inside)


@triton.jit
def add_parts_kernel(parts_ptr, out_ptr, programs, columns, BLOCK: tl.constexpr):
    """The sum of the rows that programs have written: of dweight for y = 0, of dbias for y = 1."""
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < columns
    first = tl.program_id(1) * programs
    total = tl.zeros([BLOCK], tl.float32)
    for row in range(first, first + programs):
        total += tl.load(parts_ptr + row * columns + index, mask=inside, other=0.0)
    tl.store(out_ptr + tl.program_id(1) * columns + index, total, mask=inside)


@triton.jit
def cross_entropy_kernel(x_ptr, label_ptr, loss_ptr, columns, BLOCK: tl.constexpr):
    """-log softmax(x)[label] of a row, in one pass over blocks of it."""
    row = tl.program_id(0)
    top = -float("inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        index = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + index, mask=index < columns, other=-float("inf"))
        new_top = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - new_top) + tl.sum(tl.exp(x - new_top), axis=0)
        top = new_top
    chosen = tl.load(x_ptr + row * columns + tl.load(label_ptr + row))
    tl.store(loss_ptr + row, top + tl.log(total) - chosen)


@triton.jit
def sum_kernel(x_ptr, out_ptr, rows, columns, AXIS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Sums over one axis of a matrix; a program has ROWS rows (axis 1) or COLUMNS columns (axis 0), and of
    several matrices one behind the other program_id(1) is the number."""
    first = tl.program_id(0) * (COLUMNS if AXIS == 0 else ROWS)
    x_ptr += tl.program_id(1) * rows * columns
    out_ptr += tl.program_id(1) * (columns if AXIS == 0 else rows)
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for start in range(0, rows if AXIS == 0 else columns, ROWS if AXIS == 0 else COLUMNS):
        row = (start if AXIS == 0 else first) + tl.arange(0, ROWS)
        column = (first if AXIS == 0 else start) + tl.arange(0, COLUMNS)
        inside = (row[:, None] < rows) & (column[None, :] < columns)
        total += tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    sums = tl.sum(total, axis=AXIS)
    kept = first + tl.arange(0, COLUMNS if AXIS == 0 else ROWS)
    tl.store(out_ptr + kept, sums, mask=kept < (columns if AXIS == 0 else rows))


def softmax(rows: int, columns: int) -> Workload:
    """Softmax of rows in f32."""
    x, out = torch.randn(rows, columns), torch.empty(rows, columns)
    block = next_power_of_2(columns)

    def ours() -> torch.Tensor:
        softmax_kernel[(rows,)](x, out, columns, rows, columns, block)
        return out
    return Workload(f"softmax {rows}x{columns}", ours, lambda x: torch.softmax(x, 1), (x,), 2e-6,
                    size(x, out))


def layer_norm(rows: int, columns: int) -> Workload:
    """Layer norm forward in f32."""
    x, weight, bias = torch.randn(rows, columns), torch.rand(columns), torch.rand(columns)
    out, block = torch.empty_like(x), next_power_of_2(columns)

    def ours() -> torch.Tensor:
        layer_norm_kernel[(rows,)](x, weight, bias, out, columns, columns, 1e-5, block)
        return out
    return Workload(f"layer norm {rows}x{columns}", ours,
                    lambda x, w, b: torch.nn.functional.layer_norm(x, (columns,), w, b, 1e-5),
                    (x, weight, bias), 1e-5, size(x, out))


def layer_norm_backward(rows: int, columns: int) -> Workload:
    """dx, dweight and dbias of layer norm in f32.

    The parts are added by a kernel too: after a call of torch one of its threads goes on spinning on the core
    that the next launch wants.
    """
    x, dout, weight = torch.randn(rows, columns), torch.randn(rows, columns), torch.rand(columns)
    bias, dx, block, programs = torch.zeros(columns), torch.empty_like(x), next_power_of_2(columns), 16
    parts, sums = torch.empty(2, programs, columns), torch.empty(2, columns)
    mean = x.mean(1, keepdim=True)
    rstd = 1 / torch.sqrt(x.var(1, unbiased=False, keepdim=True) + 1e-5)

    def ours() -> tuple[torch.Tensor, ...]:
        layer_norm_backward_kernel[(programs,)](x, weight, dout, mean, rstd, dx, parts[0], parts[1], rows,
                                                columns, block)
        add_parts_kernel[(triton.cdiv(columns, 256), 2)](parts, sums, programs, columns, 256)
        return dx, *sums

    def theirs(dout: torch.Tensor, x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.ops.aten.native_layer_norm_backward(dout, x, [columns], mean, rstd, weight, bias,
                                                         [True] * 3)
    return Workload(f"layer norm backward {rows}x{columns}", ours, theirs, (dout, x, weight), 1e-4,
                    size(x, dout, dx))


def rms_norm(rows: int, columns: int) -> Workload:
    """RMS norm in f32: several passes in torch eager."""
    x, weight = torch.randn(rows, columns), torch.rand(columns)
    out, block = torch.empty_like(x), next_power_of_2(columns)

    def ours() -> torch.Tensor:
        rms_norm_kernel[(rows,)](x, weight, out, columns, 1e-5, block)
        return out
    return Workload(f"rms norm {rows}x{columns}", ours,
                    lambda x, w: x * torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-5) * w, (x, weight), 1e-5,
                    size(x, out))


def cross_entropy(rows: int, columns: int) -> Workload:
    """Cross entropy of each row in f32."""
    x, label = torch.randn(rows, columns), torch.randint(0, columns, (rows,))
    loss = torch.empty(rows)

    def ours() -> torch.Tensor:
        cross_entropy_kernel[(rows,)](x, label, loss, columns, min(2048, next_power_of_2(columns)))
        return loss
    return Workload(f"cross entropy {rows}x{columns}", ours,
                    lambda x, label: torch.nn.functional.cross_entropy(x, label, reduction="none"),
                    (x, label), 1e-5, size(x))


def sum_over(axis: int, rows: int, columns: int) -> Workload:
    """Sums over one axis in f32."""
    x = torch.randn(rows, columns)
    out = torch.empty(columns if axis == 0 else rows)
    tile, cores = (16, 1024), len(os.sched_getaffinity(0))
    # rows are shared out, and what each program made of its own is added up: two that read every other part
    # of the same rows wait for each other's lines
    parts = cores if rows % cores == 0 else 1
    sums = torch.empty(parts, columns)

    def ours() -> torch.Tensor:
        if axis:
            sum_kernel[(triton.cdiv(rows, tile[0]),)](x, out, rows, columns, axis, *tile)
            return out
        grid = triton.cdiv(columns, tile[1])
        sum_kernel[(grid, parts)](x, sums, rows // parts, columns, axis, *tile)
        sum_kernel[(grid,)](sums, out, parts, columns, axis, *tile)
        return out
    array = x.numpy()
    return Workload(f"sum over axis {axis} of {rows}x{columns}", ours, lambda x: x.sum(axis), (x,), 1e-5,
                    size(x), numpy=lambda: array.sum(axis))


def workloads(quick: bool) -> list[Workload]:
    """Matrices of 4 MB and more; --quick: small ones."""
    shape = (64, 781) if quick else (4096, 1024)
    wide = (64, 781) if quick else (2048, 4096)
    builders: list[Callable[[int, int], Workload]] = [softmax, layer_norm, rms_norm]
    return [*(build(*each) for build in builders for each in dict.fromkeys((shape, wide))),
            softmax(*((33, 501) if quick else (2048, 4000))),
            layer_norm_backward(*shape), cross_entropy(*((16, 3001) if quick else (1024, 32000))),
            *(sum_over(axis, *shape) for axis in (0, 1)), *columns.workloads(quick)]

"""Data moved more than computed with: transpose, embedding, histogram, sort."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from .workload import Workload, size


@triton.jit
def transpose_kernel(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row[:, None] * columns + column[None, :],
                mask=(row[:, None] < rows) & (column[None, :] < columns))
    tl.store(out_ptr + column[:, None] * rows + row[None, :], tl.trans(x),
             mask=(column[:, None] < columns) & (row[None, :] < rows))


@triton.jit
def transposing_add_kernel(x_ptr, y_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = (tl.program_id(1) * ROWS + tl.arange(0, ROWS))[:, None]
    column = (tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS))[None, :]
    inside = (row < rows) & (column < columns)
    x = tl.load(x_ptr + column * rows + row, mask=inside)
    y = tl.load(y_ptr + row * columns + column, mask=inside)
    tl.store(out_ptr + row * columns + column, x + y, mask=inside)


@triton.jit
def embedding_kernel(table_ptr, index_ptr, out_ptr, width, BLOCK: tl.constexpr):
    chosen = tl.load(index_ptr + tl.program_id(0))
    column = tl.arange(0, BLOCK)
    row = tl.load(table_ptr + chosen * width + column, mask=column < width)
    tl.store(out_ptr + tl.program_id(0) * width + column, row, mask=column < width)


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + place, mask=place < n, other=0)
    tl.store(out_ptr + place, tl.load(x_ptr + index, mask=place < n), mask=place < n)


@triton.jit
def histogram_kernel(x_ptr, out_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    counts = tl.zeros([BINS], tl.int32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        index = start + tl.arange(0, BLOCK)
        counts += tl.histogram(tl.load(x_ptr + index, mask=index < n, other=0), BINS, mask=index < n)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), counts)


@triton.jit
def sort_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + index, tl.sort(tl.load(x_ptr + index)))


def transpose(rows: int, columns: int) -> Workload:
    """A transposed copy, f32."""
    x, out = torch.randn(rows, columns), torch.empty(columns, rows)

    def ours() -> torch.Tensor:
        transpose_kernel[(triton.cdiv(rows, 64), triton.cdiv(columns, 64))](x, out, rows, columns, 64)
        return out
    return Workload(f"transpose {rows}x{columns}", ours, lambda x: x.T.contiguous(), (x,), 0.0, size(x, out))


def transposing_add(rows: int, columns: int) -> Workload:
    """A matrix and another one's transpose, f32."""
    x, y, out = torch.randn(columns, rows), torch.randn(rows, columns), torch.empty(rows, columns)

    def ours() -> torch.Tensor:
        grid = triton.cdiv(columns, 512), triton.cdiv(rows, 16)
        transposing_add_kernel[grid](x, y, out, rows, columns, 16, 512)
        return out
    return Workload(f"transposing add {rows}x{columns}", ours, lambda x, y: x.T + y, (x, y), 0.0,
                    size(x, y, out))


def embedding(count: int, width: int) -> Workload:
    """Rows of a table by index, f32."""
    table, index = torch.randn(50_000, width), torch.randint(0, 50_000, (count,))
    out = torch.empty(count, width)

    def ours() -> torch.Tensor:
        embedding_kernel[(count,)](table, index, out, width, triton.next_power_of_2(width))
        return out
    return Workload(f"embedding {count}x{width}", ours,
                    lambda table, index: torch.nn.functional.embedding(index, table), (table, index), 0.0,
                    2 * size(out))


def gather(n: int) -> Workload:
    """Single elements by index, f32."""
    x, index, out = torch.randn(n), torch.randint(0, n, (n,)), torch.empty(n)

    def ours() -> torch.Tensor:
        gather_kernel[(triton.cdiv(n, 4096),)](x, index, out, n, 4096)
        return out
    return Workload(f"gather {n}", ours, lambda x, index: x[index], (x, index), 0.0, size(x, index, out))


def histogram(n: int, bins: int = 256) -> Workload:
    """How often each of `bins` integers occurs."""
    x, out = torch.randint(0, bins, (n,), dtype=torch.int32), torch.empty(bins, dtype=torch.int32)

    def ours() -> torch.Tensor:
        out.zero_()
        histogram_kernel[(8,)](x, out, n, bins, 4096)
        return out
    return Workload(f"histogram {n}", ours, lambda x: torch.bincount(x, minlength=bins), (x,), 0.0, size(x))


def sort(rows: int, columns: int) -> Workload:
    """Sorted rows, f32."""
    x, out = torch.randn(rows, columns), torch.empty(rows, columns)

    def ours() -> torch.Tensor:
        sort_kernel[(rows,)](x, out, columns)
        return out
    return Workload(f"sort {rows}x{columns}", ours, lambda x: torch.sort(x, 1).values, (x,), 0.0,
                    size(x, out))


def workloads(quick: bool) -> list[Workload]:
    """At sizes that lie in memory; --quick: small ones."""
    if quick:
        return [transpose(70, 90), transposing_add(70, 90), embedding(16, 100), gather(5000),
                histogram(5000), sort(4, 64)]
    return [transpose(2048, 2048), transposing_add(1500, 1500), embedding(8192, 768), gather(1 << 20),
            histogram(1 << 22), sort(1024, 1024)]

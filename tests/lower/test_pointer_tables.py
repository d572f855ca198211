"""Rows whose addresses lie in memory: neighbours in a row move as one vector."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

pytestmark = pytest.mark.cpu_device("addresses of the host's memory")

ROWS, WIDTH = 40, 64


@triton.jit
def load_rows(table, out, n, width, R: tl.constexpr, C: tl.constexpr, STEP: tl.constexpr,
              START: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    row = tl.load(table + r, mask=r < n, other=0).to(tl.pointer_type(out.dtype.element_ty))
    c = tl.arange(0, C)
    inside = (r < n)[:, None] & (c < width)[None, :]
    x = tl.load(row[:, None] + (START + c * STEP)[None, :], mask=inside)
    tl.store(out + r[:, None] * width + c[None, :], x, mask=inside)


@triton.jit
def store_rows(table, x, n, width, R: tl.constexpr, C: tl.constexpr, STEP: tl.constexpr,
               START: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    row = tl.load(table + r, mask=r < n, other=0).to(tl.pointer_type(x.dtype.element_ty))
    c = tl.arange(0, C)
    inside = (r < n)[:, None] & (c < width)[None, :]
    value = tl.load(x + r[:, None] * width + c[None, :], mask=inside)
    tl.store(row[:, None] + (START + c * STEP)[None, :], value, mask=inside)


@triton.jit
def halves_of_words(table, out, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R), tl.arange(0, C)
    words = tl.load(table + r).to(tl.pointer_type(tl.int32))[:, None] + c[None, :]
    low = tl.load(words.to(tl.pointer_type(tl.int16)))  # each second one of the memory's halves
    tl.store(out + r[:, None] * C + c[None, :], low)


@triton.jit
def by_address(first, out, C: tl.constexpr):
    c = tl.arange(0, C)
    x = tl.load((first.to(tl.int64) + c).to(tl.pointer_type(tl.int8)))  # neighbours of one byte
    y = tl.load((first.to(tl.int64) + c.to(tl.int64) * 4).to(tl.pointer_type(tl.float32)))
    tl.store(out + c, x.to(tl.float32) + y)


def lines(kernel, word: str) -> list[str]:
    return [line for line in kernel.asm["plan"].splitlines() if f" {word}" in f" {line.strip()}"]


@pytest.mark.parametrize("dtype", (torch.float32, torch.float16, torch.int8, torch.int64), ids=str)
@pytest.mark.parametrize(("step", "start"), ((1, 0), (1, 3), (2, 0), (-1, WIDTH - 1)))
@pytest.mark.parametrize(("tile", "n", "width"), (((8, 64), ROWS, WIDTH), ((16, 32), 37, 29),
                                                   ((2, 16), 5, 16)))
def test_rows_by_their_addresses(dtype, step, start, tile, n, width) -> None:
    memory = torch.randint(-100, 100, (ROWS, 2 * WIDTH + 3)).to(dtype)
    order = torch.randperm(ROWS)[:n]
    table = torch.tensor([memory[row].data_ptr() for row in order.tolist()])
    columns = start + step * torch.arange(width)
    out = torch.zeros(n, width, dtype=dtype)
    made = load_rows[(triton.cdiv(n, tile[0]),)](table, out, n, width, *tile, step, start)
    assert torch.equal(out, memory[order][:, columns])
    assert any("runs of 16" in line for line in lines(made, "load %x")) == (step == 1)
    x, expected = torch.randint(-100, 100, (n, width)).to(dtype), memory.clone()
    expected[order[:, None], columns] = x
    store_rows[(triton.cdiv(n, tile[0]),)](table, x, n, width, *tile, step, start)
    assert torch.equal(memory, expected)


def test_neighbours_are_those_of_the_type_that_is_accessed() -> None:
    memory = torch.randint(-1 << 30, 1 << 30, (8, 32), dtype=torch.int32)
    table, out = torch.tensor([row.data_ptr() for row in memory]), torch.zeros(8, 32, dtype=torch.int16)
    halves_of_words[(1,)](table, out, 8, 32)
    assert torch.equal(out, memory.view(torch.int16)[:, ::2])
    bits = torch.rand(32)
    sums = torch.zeros(32)
    by_address[(1,)](bits.data_ptr(), sums, 32)
    assert torch.equal(sums, bits.view(torch.int8)[:32].float() + bits)

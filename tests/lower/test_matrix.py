"""Products on a matrix unit: layouts, loads by 2D blocks, masks, what is computed from the results; numbers
against numpy on the CPU device, where the unit is emulated (tests/emulation)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from versions import TRITON

SPIRV_MODES = ["xe", "xe8"]


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    columns = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    a_ptrs = a_ptr + rows[:, None] * stride_am + k[None, :]
    b_ptrs = b_ptr + k[:, None] * stride_bk + columns[None, :]
    acc = tl.zeros((BM, BN), ACC)
    for step in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=k[None, :] < K - step * BK, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < K - step * BK, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="tf32", out_dtype=ACC)
        a_ptrs += BK
        b_ptrs += BK * stride_bk
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * stride_cm + columns[None, :], acc, mask=inside)


def operand(shape: tuple[int, int], dtype: str, seed: int) -> torch.Tensor:
    """Small integers, which every form of operand holds exactly, so that sums are exact too."""
    values = np.random.default_rng(seed).integers(-4, 5, shape)
    return torch.from_numpy(values).to(getattr(torch, dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "float32"])
@pytest.mark.parametrize("m, n, k, block, warps", [
    (64, 128, 128, (64, 64, 64), 4),
    (48, 144, 176, (32, 64, 32), 2),  # the last blocks stick out along every dimension
    (20, 36, 40, (16, 32, 32), 1),    # strides that are no multiple of 16 bytes
])
def test_products(run: Callable[..., Any], mode: str, dtype: str, m: int, n: int, k: int,
                  block: tuple[int, int, int], warps: int) -> None:
    a, b = operand((m, k), dtype, 1), operand((k, n), dtype, 2)
    sums = torch.int32 if dtype == "int8" else torch.float32
    c = torch.full((m, n), 99, dtype=sums)
    grid = (triton.cdiv(m, block[0]), triton.cdiv(n, block[1]))
    made = run(matmul, grid, a, b, c, m, n, k, a.stride(0), b.stride(0), c.stride(0), *block,
               ACC=tl.int32 if dtype == "int8" else tl.float32, num_warps=warps)
    expected = (a.double() @ b.double()).to(sums)
    assert torch.equal(c, expected)
    on_unit = dtype != "float32" or mode == "xe"
    assert ("ts_matrix_" in made.asm["spvasm"]) == on_unit
    assert ("ts_load_" in made.asm["spvasm"]) == (k != 40 and mode == "xe")


@triton.jit
def blocks(a_ptr, b_ptr, c_ptr, M, N, K, a_row, b_row, c_row, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr):
    """Masks on every edge; the counter moves by a block."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a = a_ptr + m[:, None] * a_row + k[None, :]
    b = b_ptr + k[:, None] * b_row + n[None, :]
    acc = tl.zeros([BM, BN], tl.float32)
    for done in range(0, K, BK):
        x = tl.load(a, mask=(m[:, None] < M) & (k[None, :] < K - done), other=0.0)
        y = tl.load(b, mask=(k[:, None] < K - done) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
        a += BK
        b += BK * b_row
    c = c_ptr + m[:, None] * c_row + n[None, :]
    tl.store(c, (acc + 1.0).to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))


@pytest.mark.parametrize("m, n, k, row", [(80, 112, 144, 160), (24, 48, 32, 64)])
def test_edges(run: Callable[..., Any], mode: str, m: int, n: int, k: int, row: int) -> None:
    a, b = operand((m, row), "float16", 3), operand((k, row), "float16", 4)
    c = torch.full((m, n), 99, dtype=torch.float16)
    grid = (triton.cdiv(m, 64), triton.cdiv(n, 32))
    made = run(blocks, grid, a, b, c, m, n, k, row, row, n, BM=64, BN=32, BK=32, num_warps=4, num_stages=3)
    assert ("ts_store_16" in made.asm["spvasm"]) == (mode == "xe")
    assert torch.equal(c, (a[:, :k].double() @ b[:, :n].double() + 1).to(torch.float16))


@triton.jit
def up_to_the_last(a_ptr, b_ptr, c_ptr, last, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=m[:, None] <= last, other=0.0)
    y = tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.dot(x, y), mask=m[:, None] <= last)


@pytest.mark.parametrize("last", [-1, 0, 18, 63, 2 ** 31 - 1])
def test_a_bound_that_is_reached(run: Callable[..., Any], mode: str, last: int) -> None:
    """The greatest number has none behind it."""
    a, b = operand((64, 64), "float16", 5), operand((64, 64), "float16", 6)
    c = torch.full((64, 64), 99, dtype=torch.float32)
    made = run(up_to_the_last, 1, a, b, c, last, 64, 64, 64)
    assert ("ts_store_" in made.asm["spvasm"]) == (mode == "xe")
    rows = min(64, last + 1)
    assert torch.equal(c[:rows], (a.double() @ b.double()).to(torch.float32)[:rows])
    assert (c[rows:] == 99).all()


@triton.jit
def told_by_the_counter(a_ptr, b_ptr, c_ptr, K, a_row, b_row,
                        M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    """The mask's index is a row of numbers, to which the loop's counter is added."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    a = a_ptr + m[:, None] * a_row + k[None, :]
    b = b_ptr + k[:, None] * b_row + n[None, :]
    acc = tl.zeros([M, N], tl.float32)
    for done in range(0, K, BK):
        inside = k + done
        x = tl.load(a, mask=inside[None, :] < K, other=0.0)
        y = tl.load(b, mask=inside[:, None] < K, other=0.0)
        acc = tl.dot(x, y, acc)
        a += BK
        b += BK * b_row
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)


@pytest.mark.parametrize("k", [0, 32, 72, 96])
def test_masks_of_an_index_that_counts(run: Callable[..., Any], mode: str, k: int) -> None:
    a, b = operand((32, 128), "float16", 9), operand((128, 64), "float16", 10)
    c = torch.full((32, 64), 99, dtype=torch.float32)
    made = run(told_by_the_counter, 1, a, b, c, k, 128, 64, M=32, N=64, BK=32)
    assert ("ts_load_" in made.asm["spvasm"]) == (mode == "xe")
    assert torch.equal(c, (a[:, :k].double() @ b[:k].double()).float())


@triton.jit
def counted_up(a_ptr, b_ptr, c_ptr, rounds, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Both operands change in memory: lanes load for a product what other lanes have stored."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a, b = a_ptr + m[:, None] * K + k[None, :], b_ptr + k[:, None] * N + n[None, :]
    x = tl.load(a)
    tl.store(a, x + 1)
    acc = tl.dot(tl.load(a), tl.load(b))
    for i in range(rounds):
        if i % 2 == 0:
            tl.store(b, tl.load(b) + 1)
        acc = tl.dot(x, tl.load(b), acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)


@pytest.mark.parametrize("shape", [(16, 64, 64), (16, 16, 16), (32, 32, 32)])
def test_operands_that_were_just_stored(run: Callable[..., Any], shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    a, b, c = operand((m, k), "float16", 11), operand((k, n), "float16", 12), torch.zeros(m, n)
    x, y = a.double(), b.double()
    run(counted_up, 1, a, b, c, 3, M=m, N=n, K=k, num_warps=4)
    assert torch.equal(c.double(), (x + 1) @ y + 2 * x @ (y + 1) + x @ (y + 2))
    assert torch.equal(a.double(), x + 1) and torch.equal(b.double(), y + 2)


@triton.jit
def attended(q_ptr, k_ptr, v_ptr, out_ptr, count, WIDTH: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr):
    q_rows, columns = tl.program_id(0) * BQ + tl.arange(0, BQ), tl.arange(0, WIDTH)
    q = tl.load(q_ptr + q_rows[:, None] * WIDTH + columns[None, :], mask=q_rows[:, None] < count, other=0.0)
    top, total = tl.full([BQ], -1e30, tl.float32), tl.zeros([BQ], tl.float32)
    acc = tl.zeros([BQ, WIDTH], tl.float32)
    for start in range(0, count, BK):
        rows = start + tl.arange(0, BK)
        place = rows[:, None] * WIDTH + columns[None, :]
        k = tl.load(k_ptr + place, mask=rows[:, None] < count, other=0.0)
        v = tl.load(v_ptr + place, mask=rows[:, None] < count, other=0.0)
        score = tl.where(rows[None, :] < count, tl.dot(q, tl.trans(k)), -float("inf"))
        new = tl.maximum(top, tl.max(score, axis=1))
        p, decay = tl.exp2(score - new[:, None]), tl.exp2(top - new)
        total, acc, top = total * decay + tl.sum(p, axis=1), acc * decay[:, None], new
        acc = tl.dot(p.to(tl.float16), v, acc)
    out = out_ptr + q_rows[:, None] * WIDTH + columns[None, :]
    tl.store(out, (acc / total[:, None]).to(tl.float16), mask=q_rows[:, None] < count)


@pytest.mark.parametrize("warps", [4, 16])
def test_attention(run: Callable[..., Any], mode: str, warps: int) -> None:
    """Two products, the first of a transposed operand, its result reduced along rows and multiplied again;
    with more warps than there are rows for, two share rows."""
    count, width = 80, 64
    random = np.random.default_rng(5)
    q, k, v = (torch.from_numpy(random.normal(0, 0.5, (count, width))).half() for _ in range(3))
    out = torch.zeros(count, width, dtype=torch.float16)
    made = run(attended, 2, q, k, v, out, count, WIDTH=width, BQ=64, BK=32, num_warps=warps)
    expected = torch.softmax(q.double() @ k.double().T * float(np.log(2)), dim=1) @ v.double()
    torch.testing.assert_close(out.double(), expected, atol=2e-3, rtol=2e-3)  # two roundings to f16
    if mode == "xe":
        assert "ts_load_transpose" in made.asm["spvasm"]


@triton.jit
def gradients(q_ptr, k_ptr, dout_ptr, dk_ptr, dv_ptr, count, WIDTH: tl.constexpr, BQ: tl.constexpr,
              BK: tl.constexpr):
    """Every block of queries is an operand of two products, once on each side."""
    columns = tl.arange(0, WIDTH)
    keys = tl.program_id(0) * BK + tl.arange(0, BK)
    k = tl.load(k_ptr + keys[:, None] * WIDTH + columns[None, :])
    dk, dv = tl.zeros([BK, WIDTH], tl.float32), tl.zeros([BK, WIDTH], tl.float32)
    for start in range(0, count, BQ):
        rows = start + tl.arange(0, BQ)
        place = rows[:, None] * WIDTH + columns[None, :]
        q = tl.load(q_ptr + place, mask=rows[:, None] < count, other=0.0)
        dout = tl.load(dout_ptr + place, mask=rows[:, None] < count, other=0.0)
        p = tl.dot(q, tl.trans(k))
        dv = tl.dot(tl.trans(p.to(tl.float16)), dout, dv)
        ds = tl.dot(dout, tl.trans(k)) + p
        dk = tl.dot(tl.trans(ds.to(tl.float16)), q, dk)
    place = keys[:, None] * WIDTH + columns[None, :]
    tl.store(dk_ptr + place, dk)
    tl.store(dv_ptr + place, dv)


def test_gradients(run: Callable[..., Any], mode: str) -> None:
    """Products of what products give, transposed; blocks that several products read are loaded for each."""
    count, width = 48, 64
    q, dout = operand((count, width), "float16", 6), operand((count, width), "float16", 7)
    k = operand((32, width), "float16", 8) / 4
    dk, dv = torch.zeros(32, width), torch.zeros(32, width)
    made = run(gradients, 1, q, k, dout, dk, dv, count, WIDTH=width, BQ=32, BK=32, num_warps=4)
    p = q.double() @ k.double().T
    ds = dout.double() @ k.double().T + p
    assert torch.equal(dv.double(), p.half().double().T @ dout.double())
    assert torch.equal(dk.double(), ds.half().double().T @ q.double())
    text = made.asm["spvasm"]
    if mode == "xe":
        assert all(f"ts_load_{kind}_16" in text for kind in ("plain", "transform", "transpose"))
        assert "OpGroupNonUniform" not in text  # no operand is exchanged between lanes


@triton.jit
def described(a_ptr, b_ptr, c_ptr, M, N, K, row, column, BM: tl.constexpr, BN: tl.constexpr,
              BK: tl.constexpr):
    """The block of C at (row, column), perhaps partly outside; K is walked from a block before it begins."""
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros([BM, BN], tl.float32)
    for start in range(-BK, K, BK):
        acc = tl.dot(a.load([row, start]), b.load([start, column]), acc)
    c.store([row, column], acc)


@pytest.mark.parametrize("row, column", [(0, 0), (32, 32), (-8, -16), (-64, 0), (8, 96)])
def test_descriptors(run: Callable[..., Any], mode: str, row: int, column: int) -> None:
    """A block outside on any side: what it reads there is 0, and it writes nothing there."""
    m, n, k = 48, 64, 80
    a, b = operand((m, k), "float16", 9), operand((k, n), "float16", 10)
    c = torch.full((m, n), 99, dtype=torch.float32)
    made = run(described, 1, a, b, c, m, n, k, row, column, BM=32, BN=32, BK=32, num_warps=2, num_stages=2)
    expected = torch.full((m, n), 99, dtype=torch.float64)
    rows, columns = (slice(max(first, 0), max(first + 32, 0)) for first in (row, column))
    expected[rows, columns] = (a.double() @ b.double())[rows, columns]
    assert torch.equal(c.double(), expected)
    text = made.asm["spvasm"]
    # before Triton 3.9 (tt.expand_dims, not tt.reshape) pointers that a loop moves are found: they travel,
    # but no surface rests under a mask with two edges, and the loads are predicated
    messages = ("ts_load_plain_16", "ts_store_16") if TRITON >= (3, 9) else ("ts_store_16",)
    assert all((name in text) == (mode == "xe") for name in messages)


@triton.jit
def weighted(a_ptr, b_ptr, w_ptr, out_ptr, K, N: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, 32), tl.arange(0, N), tl.arange(0, BK)
    weight = tl.load(w_ptr + m)
    acc = tl.zeros([32, N], tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * N + n[None, :])
        acc += tl.dot(a, b) * weight[:, None]
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc)


def test_a_number_for_each_row(run: Callable[..., Any], mode: str) -> None:
    """Loaded before the loop, and by every lane that needs it."""
    a, b = operand((32, 96), "float16", 11), operand((96, 64), "float16", 12)
    weight, out = torch.arange(32).float(), torch.zeros(32, 64)
    made = run(weighted, 1, a, b, weight, out, 96, N=64, BK=32, num_warps=2)
    assert torch.equal(out.double(), (a.double() @ b.double()) * weight.double()[:, None])
    assert ("OpControlBarrier" in made.asm["spvasm"]) == (mode == "xe8")

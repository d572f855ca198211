"""Kernels that want more shared memory than there is: arrays lie in global memory, and nobody notices."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import scarce
import triton
import triton.language as tl

pytestmark = pytest.mark.filterwarnings("ignore:.*shared memory has no room")

SPIRV_MODES = (scarce.NAME, scarce.VULKAN, scarce.MACHINE)


@triton.jit
def products(a_ptr, b_ptr, out_ptr, rounds, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    program = tl.program_id(0) + tl.program_id(1) * tl.num_programs(0)
    total = tl.zeros([M, N], tl.float32)
    for turn in range(rounds):
        a = tl.load(a_ptr + (program * M + m[:, None]) * K * rounds + turn * K + k[None, :])
        b = tl.load(b_ptr + (turn * K + k[:, None]) * N + n[None, :])
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(out_ptr + program * M * N + m[:, None] * N + n[None, :], total)


@triton.jit
def columns_in_order(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + tl.program_id(0) * ROWS * COLUMNS + i * COLUMNS + j)
    y = tl.cumsum(tl.sort(x.trans(1, 0)), 1)  # [COLUMNS, ROWS]
    y += tl.max(y, 1)[:, None]
    tl.store(out_ptr + tl.program_id(0) * ROWS * COLUMNS + tl.arange(0, COLUMNS)[:, None] * ROWS
             + tl.arange(0, ROWS)[None, :], y)


@triton.jit
def looked_up(x_ptr, index_ptr, out_ptr, counts_ptr, SIZE: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, SIZE)
    index = tl.load(index_ptr + i)
    found = tl.gather(tl.load(x_ptr + i), index, 0)
    tl.store(out_ptr + i, found)
    tl.store(counts_ptr + tl.arange(0, BINS), tl.histogram(index, BINS))


@pytest.mark.parametrize("dtype, shape, rounds", [("f32", (64, 32, 32), 3), ("f16", (32, 64, 32), 2),
                                                  ("bf16", (32, 32, 32), 1)])
def test_products(run, mode, dtype, shape, rounds):
    """A part of global memory for each of the programs, in both dimensions of the grid."""
    rows, columns, depth = shape
    a = numeric.random((6 * rows, rounds * depth), "i8").clip(-8, 8).astype(numeric.DTYPES[dtype].values)
    b = numeric.random((rounds * depth, columns), "i8", 1).clip(-8, 8).astype(a.dtype)
    out = numeric.poisoned((6 * rows, columns), "f32")
    grid = (1, 1) if mode == scarce.MACHINE else (3, 2)
    count = grid[0] * grid[1] * rows
    left, right = numeric.tensor(a[:count], dtype), numeric.tensor(b, dtype)
    made = run(products, grid, left, right, out, rounds, *shape)
    numeric.assert_same(out[:count], a[:count].astype(np.float32) @ b.astype(np.float32))
    assert made.metadata.overflow > 0 and made.metadata.shared <= scarce.BYTES
    assert "shared memory is full" in made.asm["plan"]


@pytest.mark.parametrize("dtype, shape", [("i32", (32, 16)), ("f16", (16, 64))], ids=str)
def test_exchanges(run, mode, dtype, shape):
    """Transposes, sorts, scans and reductions."""
    programs = 1 if mode == scarce.MACHINE else 3
    kind = numeric.DTYPES[dtype].values
    x = numeric.random((programs, *shape), "u8").astype(np.int64) % 16
    out = numeric.poisoned((programs, shape[1], shape[0]), dtype)
    # 32 elements of a lane make a kernel that the Vulkan driver compiles for 20 s
    warps = 16 if (mode, dtype) == (scarce.VULKAN, "f16") else 4
    made = run(columns_in_order, programs, numeric.tensor(x.astype(kind), dtype), out, *shape,
               num_warps=warps)
    assert "shared memory is full" in made.asm["plan"]
    sums = np.cumsum(np.sort(x.transpose(0, 2, 1), 2), 2)
    if dtype == "f16":
        assert sums.max() * 2 < 2048  # whole numbers, exactly
    numeric.assert_same(out, (sums + sums.max(2, keepdims=True)).astype(kind))


def test_lookups(run):
    """Gathers and histograms, which know only at run time where their elements lie."""
    size, bins = 1024, 512
    x = numeric.random(size, "f32")
    index = np.abs(numeric.random(size, "i32").astype(np.int64) % bins).astype(np.int32)
    out, counts = numeric.poisoned(size, "f32"), numeric.poisoned(bins, "i32")
    run(looked_up, 1, numeric.tensor(x, "f32"), numeric.tensor(index, "i32"), out, counts, size, bins)
    numeric.assert_same(out, x[index])
    numeric.assert_same(counts, np.bincount(index, minlength=bins).astype(np.int32))

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

"""lower/control/region.py: sums of bf16 are kept in f32 and rounded once, at the end."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def sums(x_ptr, sum_ptr, scan_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """x [ROWS, COLUMNS] -> its sum over rows [COLUMNS], and its running sum down the rows."""
    row, column = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + row * COLUMNS + column)
    tl.store(sum_ptr + tl.arange(0, COLUMNS), tl.reduce(x, 0, add))
    tl.store(scan_ptr + row * COLUMNS + column, tl.associative_scan(x, 0, add))


@pytest.mark.parametrize("rows, columns", ((1, 16), (8, 4), (64, 16), (256, 32), (1024, 2)))
def test_bf16_sums_are_rounded_once(run, rows, columns):
    torch.manual_seed(rows)
    x = torch.rand(rows, columns).to(torch.bfloat16)
    total, running = torch.empty(columns, dtype=torch.bfloat16), torch.empty_like(x)
    run(sums, (1,), x, total, running, ROWS=rows, COLUMNS=columns)
    exact = x.double().cumsum(0)
    # The f32 sum is off by far less than a bf16 ulp; only a tie may then round the other way: one ulp is
    # 2**-8.
    torch.testing.assert_close(running.double(), exact, rtol=2**-8, atol=0)
    torch.testing.assert_close(total.double(), exact[-1], rtol=2**-8, atol=0)

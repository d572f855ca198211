"""Masked accesses of lanes: one branch for all that is under one mask, vectors where a mask spans them."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from conftest import assert_valid


@triton.jit
def halves(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n, other=-1.0), mask=i < n)


@triton.jit
def rows_below(x_ptr, out_ptr, m, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r = tl.arange(0, ROWS)[:, None]
    i = r * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=r < m, other=5.0), mask=r < m)


@triton.jit
def weighted(x_ptr, y_ptr, z_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n, other=3)
    z = tl.load(z_ptr + i, mask=i < n, other=0.5)
    tl.store(out_ptr + i, x * y + z)


@triton.jit
def chased(x_ptr, i_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """The second load needs the first, the third must come behind the store."""
    i = tl.arange(0, BLOCK)
    index = tl.load(i_ptr + i, mask=i < n, other=0)
    x = tl.load(x_ptr + index, mask=i < n, other=-1)
    tl.store(x_ptr + i, x * 10, mask=i < n)
    y = tl.load(x_ptr + i, mask=i < n, other=-2)
    tl.store(out_ptr + i, x + y)


@triton.jit
def stored_by_one_warp(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """All warps hold the same 16 elements: one of them computes the mask and stores."""
    i = tl.arange(0, BLOCK)
    mask = i + tl.program_id(0) * BLOCK < n
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, x + y, mask=mask)
    tl.store(out_ptr + BLOCK + i, x - y, mask=mask)


@pytest.fixture
def lanes(monkeypatch):
    monkeypatch.setenv("TRITON_SPIRV_TARGET", "cpu-simt")
    monkeypatch.delenv("TRITON_SPIRV_DEVICE", raising=False)  # the OpenCL device, whatever the others run on
    for kernel in (halves, rows_below, weighted, chased, stored_by_one_warp):
        kernel.device_caches.clear()
    yield
    for kernel in (halves, rows_below, weighted, chased, stored_by_one_warp):
        kernel.device_caches.clear()


def branches(made) -> int:
    return made.asm["spvasm"].count("OpBranchConditional")


@pytest.mark.parametrize("n", [0, 3, 16, 63, 64])
def test_one_mask_is_one_branch(lanes, n):
    """Each lane has four neighbours. Where n is known to be a multiple of 16 one comparison is theirs."""
    x, out = np.arange(64, dtype=np.float32), numeric.poisoned(64, "f32")
    expected = numeric.array(numeric.poisoned(64, "f32")).copy()
    expected[:n] = x[:n]
    made = halves[(1,)](numeric.tensor(x, "f32"), out, n, 64, num_warps=1)
    numeric.assert_same(out, expected)
    if n % 16 == 0 and n:
        assert branches(made) == 2, "the load's and the store's"
        assert made.asm["spvasm"].count("OpLoad <2 x f32>") == made.asm["spvasm"].count("OpStore") == 2


@pytest.mark.parametrize("m", [0, 1, 17, 32])
def test_registers_of_one_row_share_its_mask(lanes, m):
    x, out = np.arange(32 * 64, dtype=np.float32), numeric.poisoned((32, 64), "f32")
    expected = numeric.array(numeric.poisoned((32, 64), "f32")).copy()
    expected[:m] = x.reshape(32, 64)[:m]
    made = rows_below[(1,)](numeric.tensor(x, "f32"), out, m, 32, 64, num_warps=8)
    numeric.assert_same(out, expected)
    assert "OpLoad f32" not in made.asm["spvasm"], "whole vectors, behind the mask too"


@pytest.mark.parametrize("n", [0, 16, 50, 64, 100])
def test_loads_under_one_mask_share_a_branch(lanes, n):
    """Of several dtypes, with values of their own where the mask is false."""
    x, y, z = np.arange(64), np.arange(64) * 3, np.arange(64) / 4
    out, inside = numeric.poisoned(64, "f32"), np.arange(64) < n
    inputs = [numeric.tensor(values, dtype) for values, dtype in ((x, "f32"), (y, "i16"), (z, "f64"))]
    made = weighted[(1,)](*inputs, out, n, 64, num_warps=1)
    expected = np.where(inside, x * y + z, 0.5).astype(np.float32)
    numeric.assert_same(out, expected)
    if n % 16 == 0 and n:
        assert branches(made) == 1


@pytest.mark.parametrize("n", [0, 16, 50, 64])
def test_loads_that_need_each_other_keep_their_order(lanes, n):
    inside = np.arange(64) < n
    x, index = np.arange(100, 164, dtype=np.int32), np.arange(64, dtype=np.int32)[::-1].copy()
    out = numeric.poisoned(64, "i32")
    chased[(1,)](numeric.tensor(x, "i32"), numeric.tensor(index, "i32"), out, n, 64, num_warps=2)
    first = np.where(inside, x[::-1], -1)
    numeric.assert_same(out, np.where(inside, first + first * 10, first - 2).astype(np.int32))


@pytest.mark.parametrize("n", [0, 5, 16])
def test_a_mask_of_one_warp_is_computed_again_behind_it(lanes, n):
    """What one warp has computed is not there for the others: Intel's CPU compiler ended the process over a
    mask that the second store took from the first one's branch."""
    x, y = np.arange(16, dtype=np.float32), np.arange(16, dtype=np.float32) ** 2
    out = numeric.poisoned(32, "f32")
    data = [numeric.tensor(z, "f32") for z in (x, y)]
    made = stored_by_one_warp[(1,)](*data, out, n, BLOCK=16, num_warps=4)
    assert_valid(made)
    clean = numeric.array(numeric.poisoned(16, "f32"))
    expected = np.concatenate([np.where(np.arange(16) < n, z, clean) for z in (x + y, x - y)])
    np.testing.assert_array_equal(numeric.array(out), expected)

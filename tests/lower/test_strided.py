"""lower/addresses/strided.py: components a few elements apart are picked from vectors of all that lies
between the first and the last, and stored as parts of such vectors."""

from __future__ import annotations

import ctypes
import mmap

import numeric
import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton_spirv.lower.addresses.strided import Picked


@triton.jit
def spread(x_ptr, keep_ptr, out_ptr, n, start, STRIDE: tl.constexpr, MASK: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = start + STRIDE * i
    if MASK == 0:
        x = tl.load(x_ptr + at)
    elif MASK == 1:
        x = tl.load(x_ptr + at, i < n)
    elif MASK == 2:
        x = tl.load(x_ptr + at, i < n, other=7)
    else:
        x = tl.load(x_ptr + at, (i < n) & (tl.load(keep_ptr + i, i < n, other=0) != 0), other=7)
    tl.store(out_ptr + i, x)


def between(values: np.ndarray) -> torch.Tensor:
    """In memory that ends at a page which may not be read, and begins behind one."""
    size, page = values.nbytes, mmap.PAGESIZE
    count = -(-size // page)
    pages = mmap.mmap(-1, (count + 2) * page)
    start = np.frombuffer(pages, np.uint8).ctypes.data
    for other in (start, start + (count + 1) * page):
        assert not ctypes.CDLL(None).mprotect(ctypes.c_void_p(other), page, 0)
    held = np.frombuffer(pages, values.dtype, len(values), (count + 1) * page - size)
    held[:] = values
    return torch.from_numpy(held)


@pytest.mark.parametrize("dtype", ("f32", "f64", "f16", "i8", "i64"))
@pytest.mark.parametrize("stride", (-4, -3, -2, -1, 2, 3, 4, 5))
@pytest.mark.parametrize("block", (4, 16, 64, 1024))
@pytest.mark.parametrize("mask", range(4))
def test_values(run, stride, block, mask, dtype) -> None:
    """What lies before the first element asked for and behind the last one may not be touched."""
    programs = 1 if block == 1024 else 3
    n = programs * block - (5 if mask and block > 4 else 0)
    at = stride * np.arange(programs * block)
    asked = at[:n]
    x = numeric.whole(asked.max() - asked.min() + 1, dtype, 1)
    keep = np.random.default_rng(3).integers(0, 2, programs * block).astype(np.int8)
    out = numeric.poisoned(programs * block, dtype)
    run(spread, programs, between(x), numeric.tensor(keep, "i8"), out, n, int(-asked.min()), stride,
        mask, block)
    expected = np.full(programs * block, 0 if mask < 2 else 7, x.dtype)
    chosen = np.arange(n) if mask < 3 else np.flatnonzero(keep[:n])
    expected[chosen] = x[asked[chosen] - asked.min()]
    numeric.assert_same(out, expected)


@triton.jit
def scattered(x_ptr, keep_ptr, out_ptr, n, start, STRIDE: tl.constexpr, MASK: tl.constexpr,
              BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    at = out_ptr + start + STRIDE * i
    if MASK == 0:
        tl.store(at, x)
    elif MASK == 1:
        tl.store(at, x, i < n)
    else:
        tl.store(at, x, (i < n) & (tl.load(keep_ptr + i, i < n, other=0) != 0))


@pytest.mark.parametrize("dtype", ("f32", "f64", "f16", "i8", "i64"))
@pytest.mark.parametrize("stride", (-4, -3, -2, -1, 2, 3, 4, 5))
@pytest.mark.parametrize("block", (4, 16, 64, 1024))
@pytest.mark.parametrize("mask", range(3))
def test_stored_values(run, stride, block, mask, dtype) -> None:
    """What lies between two elements keeps its value; what lies before the first one and behind the last one
    may not be touched."""
    programs = 1 if block == 1024 else 3
    n = programs * block - (5 if mask and block > 4 else 0)
    x = numeric.whole(programs * block, dtype, 1)
    keep = np.random.default_rng(3).integers(0, 2, programs * block).astype(np.int8)
    asked = stride * np.arange(n)
    before = numeric.whole(asked.max() - asked.min() + 1, dtype, 2)
    out = between(before)
    run(scattered, programs, numeric.tensor(x, dtype), numeric.tensor(keep, "i8"), out, n,
        int(-asked.min()), stride, mask, block)
    expected = before.copy()
    chosen = np.arange(n) if mask < 2 else np.flatnonzero(keep[:n])
    expected[asked[chosen] - asked.min()] = x[chosen]
    numeric.assert_same(out, expected)


@pytest.mark.parametrize("stride", (-2, -1, 2, 3))
@pytest.mark.parametrize("kernel", (scattered, spread), ids=("stores", "loads"))
def test_parts_behind_an_array(run, kernel, stride) -> None:
    """A part that is masked altogether lies elsewhere: a processor takes long to find that nothing is wanted
    of memory that is not there."""
    n, block = 5, 256
    x = numeric.whole(block * abs(stride), "f32", 1)
    out = numeric.poisoned(block * abs(stride), "f32")
    start = 0 if stride > 0 else block * -stride - 1
    compiled = run(kernel, 1, numeric.tensor(x, "f32"), numeric.tensor(np.ones(block), "i8"), out, n, start,
                   stride, 1, block)
    listing = compiled.asm["spvasm"]
    assert "OpAny" in listing or "llvm.masked" not in listing


@triton.jit
def short_rows(x_ptr, out_ptr, rows, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * 9 + tl.arange(0, COLUMNS)[None, :]
    inside = (tl.arange(0, ROWS)[:, None] < rows) & (tl.arange(0, COLUMNS)[None, :] < 3)
    tl.store(out_ptr + at, tl.load(x_ptr + at, inside, other=1) + 1, inside)


@pytest.mark.parametrize("rows", (1, 3, 16))
def test_short_runs_behind_an_array(run, rows) -> None:
    """So are runs of a few elements."""
    x = numeric.whole(rows * 9, "f32", 1)
    expected = np.zeros((rows, 9), np.float32)
    expected[:, :3] = x.reshape(rows, 9)[:, :3] + 1
    out = between(np.zeros(rows * 9, np.float32))
    compiled = run(short_rows, 1, between(x), out, rows, 16, 4)
    numeric.assert_same(out, expected.reshape(-1))
    listing = compiled.asm["spvasm"]
    assert "OpAny" in listing or "llvm.masked" not in listing


@triton.jit
def interleaved(x_ptr, out_ptr, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[None, :]
    inside = (row < 3) & (i < columns)
    tl.store(out_ptr + 3 * i + row, tl.load(x_ptr + row * columns + i, inside), inside)


@pytest.mark.parametrize("rows", (1, 2, 4))
@pytest.mark.parametrize("columns", (64, 1000, 50625))
def test_channels_of_several_programs(run, rows, columns) -> None:
    """Which write between each other's elements."""
    x, out = numeric.random((3, columns), "f32"), numeric.poisoned((columns, 3), "f32")
    run(interleaved, (-(-columns // 256), -(-3 // rows)), numeric.tensor(x, "f32"), out, columns, rows, 256)
    numeric.assert_same(out, x.T)


@triton.jit
def pooled(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    c = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    inside = (r < rows) & (c < columns)
    here = x_ptr + 2 * c + 4 * columns * r
    x = tl.maximum(tl.load(here, inside), tl.load(here + 1, inside))
    y = tl.maximum(tl.load(here + 2 * columns, inside), tl.load(here + 2 * columns + 1, inside))
    tl.store(out_ptr + c + columns * r, tl.maximum(x, y), inside)


@pytest.mark.parametrize(("rows", "columns"), [(9, 56), (40, 33), (5, 7), (17, 130)])
def test_pooling(run, rows, columns) -> None:
    x, out = numeric.random((2 * rows, 2 * columns), "f32"), numeric.poisoned((rows, columns), "f32")
    x[3, 5], x[0, 0] = np.inf, -np.inf
    tile = 16, 64
    run(pooled, (-(-columns // tile[1]), -(-rows // tile[0])), between(x.reshape(-1)), out, rows,
        columns, *tile)
    numeric.assert_same(out, x.reshape(rows, 2, columns, 2).max((1, 3)))


def test_the_plan_says_so() -> None:
    import triton_spirv
    text = """
    tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
      %two = arith.constant dense<2> : tensor<64xi32>
      %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %at = arith.muli %i, %two : tensor<64xi32>
      %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %px = tt.addptr %p, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %v = tt.load %px : tensor<64x!tt.ptr<f32>>
      %q = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %py = tt.addptr %q, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      tt.store %py, %v : tensor<64x!tt.ptr<f32>>
      tt.return
    }
    """
    def accesses(text: str, target: str) -> list[str]:
        return [line for line in triton_spirv.compile(text, target).plan.splitlines() if " x f32" in line]

    load, store = accesses(text, "cpu")
    assert "load %v: plain, 4 of 16 x f32, each 2 apart" in load and "apart" not in store
    for target, masks in (("cpu:x86_64-v3", False), ("cpu:x86_64-v4", True)):
        load, store = accesses(text, target)
        assert "each 2 apart" in load and ("each 2 apart" in store) is masks
        _, store = accesses(text.replace("<2>", "<-1>"), target)
        assert "each -1 apart" in store
    without = triton_spirv.compile(text, "cpu", optimise="-vectors").plan
    assert "apart" not in without


@pytest.mark.parametrize("width", (4, 8, 16))
@pytest.mark.parametrize("stride", (-4, -3, -2, -1, 2, 3, 4))
def test_each_component_is_picked_once(width: int, stride: int) -> None:
    picked = Picked(width, stride)
    found = {}
    for part, start in enumerate(picked.starts):
        assert 0 <= start and start + width <= 1 + (width - 1) * abs(stride)
        for place, component in enumerate(picked.lanes(part)):
            if component < width:
                assert found.setdefault(component, start + place) == start + place
    assert found == {c: c * stride - picked.before for c in range(width)}

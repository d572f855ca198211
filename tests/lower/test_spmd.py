"""lower/program/program_id.py: program ids, the grid, and what is uniform over a program."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def whole_grid(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    place = out_ptr + ((z * tl.num_programs(1) + y) * tl.num_programs(0) + x) * 6
    tl.store(place, x)
    tl.store(place + 1, y)
    tl.store(place + 2, z)
    tl.store(place + 3, tl.num_programs(0))
    tl.store(place + 4, tl.num_programs(1))
    tl.store(place + 5, tl.num_programs(2))


@pytest.mark.parametrize("grid", [(1,), (7,), (3, 5), (2, 3, 4), (1, 1, 9), (1, 6), (100, 2)], ids=str)
def test_ids_and_sizes(run, grid):
    nx, ny, nz = (*grid, 1, 1)[:3]
    out = numeric.poisoned((nz, ny, nx, 6), "i32")
    run(whole_grid, grid, out)
    z, y, x = np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij")
    sizes = [np.full_like(x, n) for n in (nx, ny, nz)]
    numeric.assert_same(out, np.stack([x, y, z, *sizes], -1).astype(np.int32))


@triton.jit
def one_each(out_ptr):
    tl.store(out_ptr + tl.program_id(0), tl.program_id(0) * 3)


def test_many_programs(run):
    count = 20000 if not numeric.INTERPRETED else 2000
    out = numeric.poisoned(count, "i32")
    run(one_each, count, out)
    numeric.assert_same(out, np.arange(count, dtype=np.int32) * 3)


@triton.jit
def id_as_data(out_ptr, BLOCK: tl.constexpr):
    """A scalar that is an index, a value, an operand of a tensor, and a condition."""
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = (pid.to(tl.float32) + 0.5) * i + (pid % 2 == 0)
    tl.store(out_ptr + pid * BLOCK + i, value)


@pytest.mark.parametrize("block", (1, 16, 128))
def test_id_in_arithmetic(run, block):
    out = numeric.poisoned((5, block), "f32")
    run(id_as_data, 5, out, block)
    pid, i = np.arange(5)[:, None], np.arange(block)[None, :]
    numeric.assert_same(out, ((pid + 0.5) * i + (pid % 2 == 0)).astype(np.float32))


@triton.jit
def persistent(out_ptr, tiles):
    """Fewer programs than tiles: each takes every num_programs-th."""
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        tl.store(out_ptr + tile, tl.program_id(0))


@pytest.mark.parametrize("programs, tiles", [(1, 10), (4, 10), (16, 10)])
def test_persistent_programs(run, programs, tiles):
    out = numeric.poisoned(tiles, "i32")
    run(persistent, programs, out, tiles)
    numeric.assert_same(out, (np.arange(tiles) % programs).astype(np.int32))


@triton.jit
def swizzled(out_ptr, rows, columns, group):
    i, j = tl.program_id(0) // columns, tl.program_id(0) % columns
    new_i, new_j = tl.swizzle2d(i, j, rows, columns, group)
    tl.store(out_ptr + new_i * columns + new_j, tl.program_id(0))


@pytest.mark.parametrize("rows, columns, group", [(4, 4, 2), (5, 3, 2), (7, 4, 8)])
def test_swizzle_visits_every_tile_once(run, rows, columns, group):
    out = numeric.poisoned(rows * columns, "i32")
    run(swizzled, rows * columns, out, rows, columns, group)
    assert sorted(out.tolist()) == list(range(rows * columns))


@triton.jit
def arguments(out_ptr, i8, i32, i64, u32, u64, f, flag, nothing, pair, NAME: tl.constexpr):
    tl.static_assert(nothing is None)
    tl.store(out_ptr, i8)
    tl.store(out_ptr + 1, i32)
    tl.store(out_ptr + 2, i64)
    tl.store(out_ptr + 3, u32)
    tl.store(out_ptr + 4, u64 >> 1)
    tl.store(out_ptr + 5, f * 4)
    tl.store(out_ptr + 6, tl.where(flag, 1, 0))
    tl.store(out_ptr + 7, pair[0] + pair[1])
    if NAME == "seven":
        tl.store(out_ptr + 8, 7)


def test_scalar_arguments(run):
    """Integers take the narrowest type that holds them; 1 and None are specialised; tuples arrive element by
    element."""
    numeric.interpreter_is_wrong("it takes 2**32 - 1 for an i64 of four bytes")
    out = numeric.poisoned(9, "i64")
    lowest = (-3, -(2**31), -(2**63))
    run(arguments, 1, out, *lowest, 2**32 - 1, 2**64 - 1, 0.375, True, None, (5, 2**40), "seven")
    expected = [*lowest, 2**32 - 1, 2**63 - 1, 1, 1, 5 + 2**40, 7]
    numeric.assert_same(out, np.array(expected))


@triton.jit
def float_argument(out_ptr, f):
    tl.store(out_ptr, f)


@pytest.mark.parametrize("value", (0.0, -0.0, 1.0, 0.1, 1e-40, float("inf"), float("nan"), -1e38))
def test_float_arguments_are_f32(run, value):
    out = numeric.poisoned(1, "f32")
    run(float_argument, 1, out, value)
    numeric.assert_same(out, np.float32([value]))

"""lower/memory/load.py: what order the accesses of one program have, pointers as data, hints that change
nothing.

A block is read before any of it is written: `store(p + i, load(p + i + 1))` moves a block by one, however
many registers, loop steps or vectors the block takes.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from versions import needs_triton

BLOCKS = (2, 8, 16, 64, 1024, 8192)


@triton.jit
def shift(p, by_load, by_store, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(p + i + by_store, tl.load(p + i + by_load))


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("by_load, by_store", [(1, 0), (0, 1), (3, 0), (0, 17), (0, 0)])
@pytest.mark.parametrize("dtype", ("i8", "f32"))
def test_overlapping_move(run, dtype, by_load, by_store, block):
    x = numeric.random(block + 32, dtype)
    data = numeric.tensor(x, dtype)
    run(shift, 1, data, by_load, by_store, block)
    expected = x.copy()
    expected[by_store : by_store + block] = x[by_load : by_load + block]
    numeric.assert_same(data, expected)


@triton.jit
def shift_computed(p, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    left = tl.load(p + i, mask=i < n, other=0.0)
    right = tl.load(p + i + 1, mask=i < n, other=0.0)
    tl.store(p + i + 1, left * 2 + right, mask=i < n)


@pytest.mark.parametrize("block", BLOCKS)
def test_overlapping_with_arithmetic(run, block):
    """Two overlapping loads feed one overlapping store: a fused loop over the block must not see its own
    results."""
    x, n = np.round(numeric.random(block + 2, "f32", low=-100, high=100)), block - block // 3
    data = numeric.tensor(x, "f32")
    run(shift_computed, 1, data, n, block)
    expected = x.copy()
    expected[1 : n + 1] = x[:n] * 2 + x[1 : n + 1]
    numeric.assert_same(data, expected)


@triton.jit(noinline=True)
def backwards(p, ROWS: tl.constexpr, COLUMNS: tl.constexpr, VIEW: tl.constexpr):
    x = tl.load(p + ROWS * COLUMNS - 1 - tl.arange(0, ROWS * COLUMNS))
    return x.reshape([ROWS, COLUMNS]) if VIEW else (x + 1).reshape([ROWS, COLUMNS])


@triton.jit
def reverse_by_function(p, ROWS: tl.constexpr, COLUMNS: tl.constexpr, VIEW: tl.constexpr):
    x = backwards(p, ROWS, COLUMNS, VIEW)
    tl.store(p + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :], x)


@pytest.mark.parametrize("view", (True, False))
@pytest.mark.parametrize("shape", [(1, 2), (2, 8), (8, 64), (128, 32)], ids=str)
def test_function_returns_what_it_loaded(run, mode, shape, view):
    """The caller's store comes after the loads of a function that it called."""
    if mode != "vector":
        needs_triton((3, 8), "layouts of what a function returns")
    numeric.interpreter_is_wrong("noinline functions are not interpreted")
    x = numeric.random(shape, "i32", low=-1000, high=1000)
    data = numeric.tensor(x, "i32")
    run(reverse_by_function, 1, data, *shape, view)
    numeric.assert_same(data, x.ravel()[::-1].reshape(shape) + (not view))


@triton.jit
def swap_halves(p, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    low, high = tl.load(p + i), tl.load(p + BLOCK + i)
    tl.store(p + i, high)
    tl.store(p + BLOCK + i, low)


@pytest.mark.parametrize("block", BLOCKS)
def test_swap(run, block):
    x = numeric.random(2 * block, "i32")
    data = numeric.tensor(x, "i32")
    run(swap_halves, 1, data, block)
    numeric.assert_same(data, np.roll(x, block))


@triton.jit
def reverse_in_place(p, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(p + (BLOCK - 1 - i), tl.load(p + i))


@pytest.mark.parametrize("block", BLOCKS)
def test_reverse_in_place(run, block):
    x = numeric.random(block, "f32")
    data = numeric.tensor(x, "f32")
    run(reverse_in_place, 1, data, block)
    numeric.assert_same(data, x[::-1])


@triton.jit
def transpose_in_place(p, SIZE: tl.constexpr):
    r, c = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    tl.store(p + c * SIZE + r, tl.load(p + r * SIZE + c))


@pytest.mark.parametrize("size", (2, 4, 16, 64, 128))
@pytest.mark.parametrize("dtype", ("u8", "f32"))
def test_transpose_in_place(run, dtype, size):
    x = numeric.random((size, size), dtype)
    data = numeric.tensor(x, dtype)
    run(transpose_in_place, 1, data, size)
    numeric.assert_same(data, x.T)


@triton.jit
def twice(p, out, BLOCK: tl.constexpr):
    """Each element is stored, read back and stored again, by the same thread where there are threads."""
    i = tl.arange(0, BLOCK)
    tl.store(p + i, tl.load(p + i) + 1)
    x = tl.load(p + i)
    tl.store(p + i, x * 2)
    tl.store(out + i, x + tl.load(p + i))


@pytest.mark.parametrize("block", BLOCKS)
def test_store_then_load(run, block):
    x = numeric.random(block, "i32", low=0, high=1000)
    data, out = numeric.tensor(x, "i32"), numeric.poisoned(block, "i32")
    run(twice, 1, data, out, block)
    numeric.assert_same(data, (x + 1) * 2)
    numeric.assert_same(out, (x + 1) * 3)


@triton.jit
def behind_a_barrier(p, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(p + i, i * 3)
    tl.debug_barrier()
    tl.store(out + i, tl.load(p + (BLOCK - 1 - i)))


@pytest.mark.parametrize("block", BLOCKS)
def test_barrier_orders_all_elements(run, block):
    data, out = numeric.poisoned(block, "i32"), numeric.poisoned(block, "i32")
    run(behind_a_barrier, 1, data, out, block)
    numeric.assert_same(out, (np.arange(block, dtype=np.int32) * 3)[::-1])


@triton.jit
def many_to_one(p, value, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(p + i // BLOCK, value + i * 0)


def test_every_element_to_one_place(run):
    data = numeric.poisoned(4, "i32")
    expected = data.numpy().copy()
    expected[0] = 77
    run(many_to_one, 1, data, 77, 256)
    numeric.assert_same(data, expected)


# ---- pointers as data


@triton.jit
def sum_of_arrays(table_ptr, out_ptr, count, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for k in range(count):
        x_ptr = tl.load(table_ptr + k).to(tl.pointer_type(tl.float32))
        total += tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, total, mask=i < n)


def test_pointers_from_memory(run, mode):
    arrays = [numeric.resident(numeric.tensor(numeric.random(100, "f32", seed), "f32"), mode)
              for seed in range(5)]
    table = numeric.tensor(np.array([a.data_ptr() for a in arrays]), "i64")
    out = numeric.poisoned(100, "f32")
    run(sum_of_arrays, 1, table, out, 5, 100, 128)
    numeric.assert_same(out, np.sum([a.numpy() for a in arrays], 0, dtype=np.float32))


@triton.jit
def tensor_of_pointers(table_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    pointers = tl.load(table_ptr + i).to(tl.pointer_type(tl.int32))
    tl.store(out_ptr + i, tl.load(pointers) + tl.load(pointers + 1))
    tl.store(pointers, i)


@pytest.mark.parametrize("block", (1, 4, 32))
def test_tensor_of_pointers(run, mode, block):
    x = numeric.random(4 * block, "i32", low=0, high=999)
    data = numeric.resident(numeric.tensor(x, "i32"), mode)
    places = np.random.default_rng(0).permutation(block) * 3
    table = numeric.tensor(data.data_ptr() + 4 * places, "i64")
    out = numeric.poisoned(block, "i32")
    run(tensor_of_pointers, 1, table, out, block)
    numeric.assert_same(out, x[places] + x[places + 1])
    assert np.array_equal(data.numpy()[places], np.arange(block))


@triton.jit
def addresses(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, (x_ptr + i * 2).to(tl.int64))
    tl.store(
        out_ptr + BLOCK + i,
        tl.load(x_ptr.to(tl.int64).to(tl.pointer_type(tl.int16), bitcast=True) + i).to(tl.int64),
    )


def test_pointer_to_integer_and_back(run, mode):
    x = numeric.random(32, "i16")
    data, out = numeric.resident(numeric.tensor(x, "i16"), mode), numeric.poisoned(64, "i64")
    run(addresses, 1, data, out, 32)
    # a GPU has a copy of it
    first = numeric.array(out)[0] if mode.startswith("gpu-") else data.data_ptr()
    expected = np.concatenate([first + 4 * np.arange(32), x.astype(np.int64)])
    numeric.assert_same(out, expected)


@triton.jit
def far_and_back(x_ptr, out_ptr, far, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + far + i - far))
    base = (x_ptr + far) - far
    tl.store(out_ptr + BLOCK + i, tl.load(base + i.to(tl.int64) * 2))


@pytest.mark.parametrize("far", (1 << 33, -(1 << 40), (1 << 31) + 5))
def test_offsets_of_64_bits(run, far):
    x, out = numeric.random(64, "f32"), numeric.poisoned(64, "f32")
    run(far_and_back, 1, numeric.tensor(x, "f32"), out, far, 32)
    numeric.assert_same(out, np.concatenate([x[:32], x[::2]]))


@triton.jit
def reinterpreted(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    low = tl.load(x_ptr.to(tl.pointer_type(tl.uint16), bitcast=True) + 2 * i)
    tl.store(out_ptr + i, low.to(tl.int32))


def test_pointer_of_another_type(run):
    x, out = numeric.random(64, "f32"), numeric.poisoned(64, "i32")
    run(reinterpreted, 1, numeric.tensor(x, "f32"), out, 64)
    numeric.assert_same(out, x.view(np.uint16)[0::2].astype(np.int32))


# ---- hints and modifiers


@triton.jit
def hinted(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    tl.assume(stride > 0)
    start = tl.multiple_of(tl.program_id(0) * BLOCK, BLOCK)
    i = tl.max_contiguous(start + tl.arange(0, BLOCK), BLOCK)
    keep = tl.max_constancy(i < n, 4)
    x = tl.load(
        x_ptr + i * stride, mask=keep, cache_modifier=".cg", eviction_policy="evict_first", volatile=True
    )
    x += tl.load(x_ptr + i * stride, mask=keep, cache_modifier=".ca", eviction_policy="evict_last")
    tl.store(out_ptr + i, x, mask=keep, cache_modifier=".wb", eviction_policy="evict_last")


@pytest.mark.parametrize("stride", (1, 16, 3))
def test_hints(run, stride):
    """A stride of 1 is specialised to a constant, one of 16 is known to be divisible; neither changes a
    value."""
    x, out = numeric.random(200 * stride, "f32"), numeric.poisoned(200, "f32")
    run(hinted, 4, numeric.tensor(x, "f32"), out, 200, stride, 64)
    numeric.assert_same(out, x[::stride] * 2)


@triton.jit
def triple_in_place(p, stride, zero, BY_COLUMN: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
                    MODULUS: tl.constexpr, TWO: tl.constexpr):
    offsets = tl.arange(0, ROWS)[:, None] * stride + tl.arange(0, COLUMNS)[None, :] * BY_COLUMN
    if MODULUS:
        offsets = offsets % MODULUS
    x = tl.load(p + zero + offsets if TWO else p + offsets)
    tl.store(p + offsets, x * 3)


@pytest.mark.parametrize("two", (False, True))
@pytest.mark.parametrize("rows, columns", [(1, 1), (4, 4), (64, 64), (8, 1024), (1024, 8)])
@pytest.mark.parametrize("stride, by_column, modulus", [
    (0, 1, 0), (2, 1, 0), (7, 7, 0), (-3, 2, 0), (1100, 1, 0), (1, 1100, 0), (2, 1, 16)])
def test_elements_that_meet_in_place(run, stride, by_column, modulus, rows, columns, two):
    """Where elements have one address all of them are read before any is written, and write the same."""
    middle = max(0, -stride * (rows - 1))
    x = numeric.random(middle + abs(stride) * rows + by_column * columns, "i32")
    data = numeric.tensor(x, "i32")
    run(triple_in_place, 1, data[middle:], stride, 0, by_column, rows, columns, modulus, two)
    offsets = np.arange(rows)[:, None] * stride + np.arange(columns)[None, :] * by_column
    at = middle + np.unique(offsets % modulus if modulus else offsets)
    expected = x.copy()
    expected[at] = x[at] * 3
    numeric.assert_same(data, expected)


@triton.jit
def looked_at(x, y, z, n, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    v = tl.load(x + i, volatile=True)
    tl.load(y + i, volatile=True)
    tl.store(z + i, v * 2, mask=i < n)
    tl.store(x + i, v + 1)
    tl.store(y + i, v, mask=i < 0)


@pytest.mark.parametrize("size", [1, 16, 1024, 8192])
def test_volatile_loads_are_made_once(run, size):
    """Where they stand: also what nobody asks for, and what two stores ask for, one for some elements."""
    x, n = numeric.random(size, "i32", low=-99, high=99), size // 3
    held, y, z = (numeric.tensor(each, "i32") for each in (x, -x, 0 * x))
    run(looked_at, 1, held, y, z, n, size)
    numeric.assert_same(held, x + 1)
    numeric.assert_same(y, -x)
    numeric.assert_same(z, np.where(np.arange(size) < n, x * 2, 0))

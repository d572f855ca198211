"""Masks, `other` and indices that are loaded themselves, in a walk that stores: each of these loads is made
where the kernel says, before what is stored over it.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl

BLOCKS = (16, 256, 1024, 4096)
DTYPES = ("i8", "i32", "i64", "f16", "f32")


def numbers(size: int, dtype: str, seed: int) -> np.ndarray:
    """Whole numbers of both signs."""
    return np.round(numeric.random(size, "f32", seed, low=-9, high=9)).astype(numeric.DTYPES[dtype].values)


@triton.jit
def store_where_positive(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, 3, mask=tl.load(x_ptr + i) > 0)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_store_under_a_loaded_mask(run, dtype, block):
    x, before = numbers(block, dtype, 0), numbers(block, dtype, 1)
    out = numeric.tensor(before, dtype)
    run(store_where_positive, 1, numeric.tensor(x, dtype), out, block)
    numeric.assert_same(out, np.where(x > 0, np.full_like(before, 3), before))


@triton.jit
def store_where_rows_are_positive(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    tl.store(out_ptr + row * COLUMNS + column, 3, mask=tl.load(x_ptr + row + 0 * column) > 0)


@pytest.mark.parametrize("shape", [(4, 64), (32, 32), (64, 64)], ids=str)
def test_a_store_under_a_mask_that_is_loaded_for_rows(run, shape):
    x, before = numbers(shape[0], "i32", 0), numbers(shape[0] * shape[1], "i32", 1).reshape(shape)
    out = numeric.tensor(before, "i32")
    run(store_where_rows_are_positive, 1, numeric.tensor(x, "i32"), out, *shape)
    numeric.assert_same(out, np.where(x[:, None] > 0, np.int32(3), before))


@triton.jit
def store_in_place_where_it_was_positive(x_ptr, w_ptr, out_ptr, flag, N: tl.constexpr):
    i = tl.arange(0, N)
    y = tl.load(x_ptr + i)
    if flag > 0:
        x = tl.load(w_ptr + i, mask=y > 0, other=1)
        tl.store(w_ptr + i, y, mask=x > 0)
        y = x * x * 3 - y
    tl.store(out_ptr + i, y)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("flag", (0, 1))
def test_what_a_mask_was_made_of_is_used_behind_an_arm(run, flag, block):
    y, w = numbers(block, "i32", 0), numbers(block, "i32", 1)
    there, out = numeric.tensor(w, "i32"), numeric.poisoned(block, "i32")
    run(store_in_place_where_it_was_positive, 1, numeric.tensor(y, "i32"), there, out, flag, block)
    x = np.where(y > 0, w, 1)
    numeric.assert_same(there, np.where(x > 0, y, w) if flag else w)
    numeric.assert_same(out, x * x * 3 - y if flag else y)


@triton.jit
def keep_thirds(x_ptr, other_ptr, N: tl.constexpr):
    """Where no third is, what lies at the other end."""
    i = tl.arange(0, N)
    p = x_ptr + i
    x = tl.load(p, mask=i % 3 == 0, other=tl.load(other_ptr + N - 1 - i))
    tl.store(p, x)


@triton.jit
def keep_where_the_other_end_is_positive(x_ptr, other_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    p = x_ptr + i
    x = tl.load(p, mask=tl.load(other_ptr + N - 1 - i) > 0, other=7)
    tl.store(p, x + 1)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_in_place_beside_the_other_end(run, dtype, block):
    x = numbers(block, dtype, 0)
    for apart in (False, True):
        y = numbers(block, dtype, 1) if apart else x
        there = numeric.tensor(x, dtype)
        run(keep_thirds, 1, there, numeric.tensor(y, dtype) if apart else there, block)
        numeric.assert_same(there, np.where(np.arange(block) % 3 == 0, x, y[::-1]))
        there = numeric.tensor(x, dtype)
        run(keep_where_the_other_end_is_positive, 1, there, numeric.tensor(y, dtype) if apart else there,
            block)
        numeric.assert_same(there, (np.where(y[::-1] > 0, x, x.dtype.type(7)) + 1).astype(x.dtype))


@triton.jit
def gather_rows_of_a_program(table_ptr, index_ptr, out_ptr, turns, N: tl.constexpr):
    """What is gathered lies in an array when it is stored; the next program's lies as far as this one's."""
    i = tl.arange(0, N)
    first = tl.program_id(0) * 2 * N
    x = tl.load(table_ptr + first + tl.load(index_ptr + i // 16) + i % 16)
    for turn in range(turns):
        tl.store(out_ptr + first * 2 + turn * N + i, x)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("turns", (0, 1, 3))
def test_gathered_values_are_stored_in_a_loop(run, turns, block):
    programs = 3
    table, index = numbers(programs * 2 * block, "f32", 0), np.arange(block // 16, dtype=np.int32)[::-1] * 16
    out = numeric.tensor(np.zeros((programs, 4, block), np.float32), "f32")
    run(gather_rows_of_a_program, programs, numeric.tensor(table, "f32"),
        numeric.tensor(index.copy(), "i32"), out, turns, block)
    expected = np.zeros((programs, 4, block), np.float32)
    gathered = table.reshape(programs, 2, block // 16, 16)[:, 0, ::-1].reshape(programs, block)
    expected[:, :turns] = gathered[:, None]
    numeric.assert_same(out, expected)


@triton.jit
def gather_then_choose(x_ptr, w_ptr, z_ptr, index_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    first = tl.program_id(0) * 8 * N
    y = tl.load(z_ptr + first + tl.load(index_ptr + i) * 2, mask=i < N // 2 - 3, other=3)
    x = tl.load(w_ptr + first + (N - 1 - i) // 7, mask=y > 0, other=0)
    tl.store(x_ptr + first + i * 2, tl.maximum(-x, y))


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("dtype", ("f16", "f32", "i32"))
def test_gathered_values_as_a_mask_of_what_is_stored(run, dtype, block):
    z, w, i = numbers(8 * block * 2, dtype, 0), numbers(8 * block * 2, dtype, 1), np.arange(block)
    index = (i * 5 % block).astype(np.int32)
    out = numeric.tensor(np.zeros_like(z), dtype)
    run(gather_then_choose, 2, out, numeric.tensor(w, dtype), numeric.tensor(z, dtype),
        numeric.tensor(index, "i32"), block)
    expected = np.zeros_like(z).reshape(2, -1)
    for program, (z_row, w_row) in enumerate(zip(z.reshape(2, -1), w.reshape(2, -1), strict=True)):
        y = np.where(i < block // 2 - 3, z_row[index * 2], 3)
        x = np.where(y > 0, w_row[(block - 1 - i) // 7], 0)
        expected[program, : 2 * block : 2] = np.maximum(-x, y)
    # of -0 and 0, numpy's maximum is either, by the processor
    numeric.assert_close(out, expected.reshape(-1), relative=0, absolute=0)


@triton.jit
def store_one_of_two(x_ptr, y_ptr, out_ptr, n, KIND: tl.constexpr, N: tl.constexpr):
    """Where the mask holds the second side of the selection is not needed; it may be loaded."""
    i = tl.arange(0, N)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=3)
    if KIND == "constant":
        value = tl.where(mask, 3, x)
    elif KIND == "mask":
        value = tl.where(mask, (i >= 0).to(x.dtype), x)
    else:
        value = tl.where(mask, x, tl.load(y_ptr + i))
    if KIND == "in place":
        tl.store(x_ptr + i, value)
    tl.store(out_ptr + i, value)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("kind", ["constant", "mask", "load", "in place"])
def test_a_selection_of_a_load_by_its_mask(run, kind, block):
    """Numbers 12020157, 12040111 and 12040371 of the random kernels were refused: a load was not made."""
    for n in (0, block // 2 + 1, block):
        x, y = numbers(block, "i32", 0), numbers(block, "i32", 1)
        inside = np.arange(block) < n
        held, out = numeric.tensor(x, "i32"), numeric.poisoned(block, "i32")
        run(store_one_of_two, 1, held, numeric.tensor(y, "i32"), out, n, kind, block)
        one, other = {"constant": (np.full_like(x, 3), np.full_like(x, 3)),
                      "mask": (np.full_like(x, 1), np.full_like(x, 3))}.get(kind, (x, y))
        expected = np.where(inside, one, other)
        numeric.assert_same(out, expected)
        if kind == "in place":
            numeric.assert_same(held, expected)


@triton.jit
def store_runs(counts_ptr, out_ptr, n, RUN: tl.constexpr, N: tl.constexpr):
    """The masks are needed on both sides of the loop that counts: so many are kept on the stack."""
    i = tl.arange(0, N)
    at = tl.max_contiguous(i // RUN * (2 * RUN) + i % RUN + n, RUN)
    place = at & 63
    mask = place.to(tl.uint32) * 80 < 1
    tl.atomic_add(counts_ptr + place, 1.0, mask=mask)
    tl.store(out_ptr + at, at.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def load_runs(counts_ptr, x_ptr, out_ptr, n, RUN: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    at = tl.max_contiguous(i // RUN * (2 * RUN) + i % RUN + n, RUN)
    place = at & 63
    mask = place.to(tl.uint32) * 80 < 1
    tl.atomic_add(counts_ptr + place, 1.0, mask=mask)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask, other=5))


@pytest.mark.parametrize("dtype", ["i8", "i16", "f16", "i32", "i64"])
@pytest.mark.parametrize("length", [2, 4, 8, 16])
def test_many_masks_of_runs_of_eight_bytes(run, length, dtype):
    """Number 13056034 of the random kernels stored also eight bytes before what its mask chose."""
    block, n = 128, 15
    i = np.arange(block)
    at = i // length * (2 * length) + i % length + n
    mask = at % 64 == 0
    x = numbers(4 * block, dtype, 0)
    held = numbers(4 * block, dtype, 1)
    stored, loaded = (numeric.tensor(held, dtype) for _ in range(2))
    counts = numeric.tensor(np.zeros(64, np.float32), "f32")
    run(store_runs, 1, counts, stored, n, length, block, num_warps=1)
    run(load_runs, 1, counts, numeric.tensor(x, dtype), loaded, n, length, block, num_warps=1)
    expected = held.copy()
    expected[at[mask]] = at[mask].astype(held.dtype)
    numeric.assert_same(stored, expected)
    held[at] = np.where(mask, x[at], np.asarray(5, x.dtype))
    numeric.assert_same(loaded, held)
    numeric.assert_same(counts, np.where(np.arange(64) == 0, np.float32(2 * mask.sum()), np.float32(0)))

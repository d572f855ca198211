"""Every family of operations on every dtype, one small shape each; the families' own files have the shapes,
masks and special values.

What only moves elements must keep every bit of every dtype, those of NaN included. What orders or combines
them is compared with numpy.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from numeric import ALL, DTYPES, FP8, INTEGERS, NUMBERS, UNSIGNED
from versions import TRITON

ROWS, COLUMNS = 4, 16
#: one of each that Triton's IR tells apart: signed and unsigned integers are one type there
EVERY = tuple(dtype for dtype in ALL + FP8 if dtype not in UNSIGNED)


def patterns(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Random bits as unsigned integers; i1: 0 and 1."""
    kind = DTYPES[dtype]
    if dtype == "i1":
        return numeric.random(shape, "i1", seed).view(np.uint8)
    generator = np.random.default_rng(seed)
    return generator.integers(0, 1 << kind.bits, shape, dtype=f"u{kind.bits // 8}", endpoint=False)


def held(bits: np.ndarray, dtype: str) -> torch.Tensor:
    """A tensor of `dtype` of these bits."""
    return torch.from_numpy(bits.copy()).view(DTYPES[dtype].torch)


def bits_of(data: torch.Tensor) -> np.ndarray:
    """The bits of a tensor."""
    size = data.dtype.itemsize
    return data.view({1: torch.uint8, 2: torch.uint16, 4: torch.uint32, 8: torch.uint64}[size]).numpy()


@triton.jit
def place(ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    return tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]


@triton.jit(noinline=True)
def called(x, y, first):
    return tl.where(first, y, x)


# ---- moves


@triton.jit
def move(x_ptr, y_ptr, index_ptr, out_ptr, n, HOW: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Several ways from two blocks to one of twice their size, kept flat in out."""
    i = place(ROWS, COLUMNS)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    if HOW == "join":
        z = tl.join(x, y)
    elif HOW == "interleave":
        z = tl.interleave(x, y)
    elif HOW == "cat":
        z = tl.cat(tl.reshape(x, [ROWS * COLUMNS]), tl.reshape(y, [ROWS * COLUMNS]), can_reorder=REORDERS)
    elif HOW == "split":
        even, odd = tl.split(tl.reshape(x, [ROWS, COLUMNS // 2, 2]))
        other_even, other_odd = tl.split(tl.reshape(y, [ROWS, COLUMNS // 2, 2]))
        z = tl.join(tl.join(even, odd), tl.join(other_even, other_odd))
    elif HOW == "trans":
        z = tl.join(tl.trans(x), tl.trans(y))
    elif HOW == "flip":
        z = tl.join(tl.flip(x, 1), tl.flip(y, 0))
    elif HOW == "gather":
        index = tl.load(index_ptr + i)
        z = tl.join(tl.gather(x, index, 1), tl.gather(y, index % ROWS, 0))
    elif HOW == "broadcast":
        row = tl.load(y_ptr + tl.arange(0, COLUMNS))
        z = tl.join(x, tl.broadcast_to(row[None, :], [ROWS, COLUMNS]))
    elif HOW == "where":
        z = tl.join(tl.where(i % 3 == 0, x, y), tl.where(i < n, y, x))
    elif HOW == "masked":
        z = tl.join(tl.load(x_ptr + i, mask=i < n, other=y), tl.load(y_ptr + i, mask=i % 2 == 0, other=x))
    elif HOW == "modifiers":
        z = tl.join(tl.load(x_ptr + i, volatile=True), tl.load(y_ptr + i, cache_modifier=".cg",
                                                               eviction_policy="evict_first"))
    elif HOW == "for":
        for _ in range(n):
            x, y = y, x
        z = tl.join(x, y)
    elif HOW == "while":
        turns = 0
        while turns < n:
            x, y, turns = y, x, turns + 1
        z = tl.join(x, y)
    elif HOW == "if":
        if n > ROWS * COLUMNS:
            z = tl.join(x, y)
        else:
            z = tl.join(y, x)
    tl.store(out_ptr + tl.arange(0, 2 * ROWS * COLUMNS), tl.reshape(z, [2 * ROWS * COLUMNS]))


REORDERS = tl.constexpr(TRITON < (3, 7))  # only so could tl.cat be called
TURNS = 21  # odd: an odd number of exchanges, and in the middle of the block
PLACES = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
MOVES = {
    "join": lambda x, y, index: np.stack([x, y], -1),
    "interleave": lambda x, y, index: np.stack([x, y], -1),
    "cat": lambda x, y, index: np.stack([x, y]),
    "split": lambda x, y, index: np.stack(
        [np.stack([v[:, 0::2], v[:, 1::2]], -1) for v in (x, y)], -1),
    "trans": lambda x, y, index: np.stack([x.T, y.T], -1),
    "flip": lambda x, y, index: np.stack([x[:, ::-1], y[::-1]], -1),
    "gather": lambda x, y, index: np.stack(
        [np.take_along_axis(x, index, 1), np.take_along_axis(y, index % ROWS, 0)], -1),
    "broadcast": lambda x, y, index: np.stack([x, np.broadcast_to(y[0], x.shape)], -1),
    "where": lambda x, y, index: np.stack(
        [np.where(PLACES % 3 == 0, x, y), np.where(PLACES < TURNS, y, x)], -1),
    "masked": lambda x, y, index: np.stack(
        [np.where(PLACES < TURNS, x, y), np.where(PLACES % 2 == 0, y, x)], -1),
    "modifiers": lambda x, y, index: np.stack([x, y], -1),
    "for": lambda x, y, index: np.stack([y, x], -1),
    "while": lambda x, y, index: np.stack([y, x], -1),
    "if": lambda x, y, index: np.stack([y, x], -1),
}


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("how", MOVES)
def test_moves_keep_all_bits(run, how, dtype):
    numeric.interpreter_is_wrong("numpy has no such type", dtype in (*FP8, "bf16"))
    x, y = patterns(dtype, (ROWS, COLUMNS), 0), patterns(dtype, (ROWS, COLUMNS), 1)
    index = np.random.default_rng(2).integers(0, COLUMNS, (ROWS, COLUMNS))
    out = numeric.poisoned(2 * x.size, dtype)
    run(move, 1, held(x, dtype), held(y, dtype), numeric.tensor(index, "i32"), out, TURNS, how, ROWS, COLUMNS)
    made, wanted = bits_of(out), MOVES[how](x, y, index).reshape(-1)
    if how == "cat" and REORDERS.value:
        made, wanted = np.sort(made), np.sort(wanted)
    np.testing.assert_array_equal(made, wanted)


@triton.jit
def move_scalars(x_ptr, out_ptr, n):
    """Scalars: loaded, carried by a loop, chosen, passed to a function, stored."""
    x, y = tl.load(x_ptr), tl.load(x_ptr + 1)
    for _ in range(n):
        x, y = y, x
    tl.store(out_ptr, x)
    tl.store(out_ptr + 1, called(x, y, n < 0))
    tl.store(out_ptr + 2, y if n > 0 else x)
    tl.store(out_ptr + 3, tl.load(x_ptr + 2), mask=n > 0)
    tl.store(out_ptr + 4, tl.load(x_ptr + 3), mask=n < 0)


@pytest.mark.parametrize("dtype", EVERY)
def test_scalars_keep_all_bits(run, dtype):
    numeric.interpreter_is_wrong("noinline functions are not interpreted")
    x, out = patterns(dtype, (4,)), numeric.poisoned(5, dtype)
    untouched = bits_of(out)[4]
    run(move_scalars, 1, held(x, dtype), out, TURNS)
    np.testing.assert_array_equal(bits_of(out), [x[1], x[1], x[0], x[2], untouched])


@triton.jit
def through_descriptors(x_ptr, index_ptr, out_ptr, rows, columns, GATHER: tl.constexpr, SIZE: tl.constexpr,
                        COLUMNS: tl.constexpr):
    """A block with its padding, or some rows, from one matrix into another of the same size."""
    if GATHER:
        index = tl.load(index_ptr + tl.arange(0, SIZE))
        x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [1, COLUMNS])
        out = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [1, COLUMNS])
        out.scatter(x.gather(index, 0), SIZE - 1 - index, 0)
    else:
        x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [SIZE, COLUMNS])
        out = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [SIZE, COLUMNS])
        out.store([0, 0], x.load([1, 0]))


@pytest.mark.parametrize("dtype", [dtype for dtype in EVERY if dtype != "i1"])
@pytest.mark.parametrize("gather", (False, True), ids=("block", "rows"))
def test_descriptors_keep_all_bits(run, gather, dtype):
    numeric.interpreter_is_wrong("numpy has no such type", dtype in (*FP8, "bf16"))
    if gather and DTYPES[dtype].bits == 64:
        pytest.skip("Triton's verifier refuses rows of 64-bit elements")
    size, columns = 8, 32
    x, out = patterns(dtype, (size, columns)), numeric.poisoned((size, columns), dtype)
    index = np.array([3, 0, 7, 5, 1, 2, 6, 4], np.int32)
    rows = numeric.tensor(index, "i32")
    run(through_descriptors, 1, held(x, dtype), rows, out, size, columns, gather, size, columns)
    wanted = x[::-1] if gather else np.concatenate([x[1:], np.zeros_like(x[:1])])
    np.testing.assert_array_equal(bits_of(out), wanted)


@triton.jit
def through_pointers(table_ptr, out_ptr, N: tl.constexpr):
    """Addresses of elements, loaded from a table and followed."""
    i = tl.arange(0, N)
    addresses = tl.load(table_ptr + i)
    x = tl.load(addresses.to(out_ptr.dtype))
    first = tl.load(tl.load(table_ptr).to(out_ptr.dtype))
    tl.store(out_ptr + i, tl.where(i == 0, first, x))


@pytest.mark.parametrize("dtype", EVERY)
def test_pointers_from_memory(run, mode, dtype):
    numeric.interpreter_is_wrong("numpy has no such type", dtype in (*FP8, "bf16"))
    x, order = patterns(dtype, (16,)), np.random.default_rng(0).permutation(16)
    source, out = held(x, dtype), numeric.poisoned(16, dtype)
    known = numeric.resident(source, mode)
    table = torch.from_numpy(known.data_ptr() + order * source.element_size())
    run(through_pointers, 1, table, out, 16)
    np.testing.assert_array_equal(bits_of(out), x[order])


# ---- order


@triton.jit
def order(x_ptr, out_ptr, index_ptr, HOW: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = place(ROWS, COLUMNS)
    x = tl.load(x_ptr + i)
    if HOW == "sort":
        tl.store(out_ptr + i, tl.sort(x))
    elif HOW == "topk":
        tl.store(out_ptr + place(ROWS, 4), tl.topk(x, 4))
    elif HOW == "max":
        value, index = tl.max(x, 1, return_indices=True)
        tl.store(out_ptr + tl.arange(0, ROWS), value)
        tl.store(index_ptr + tl.arange(0, ROWS), index)
    elif HOW == "min":
        value, index = tl.min(x, 1, return_indices=True)
        tl.store(out_ptr + tl.arange(0, ROWS), value)
        tl.store(index_ptr + tl.arange(0, ROWS), index)
    elif HOW == "running":
        tl.store(out_ptr + i, tl.associative_scan(x, 1, larger))
    elif HOW == "backwards":
        tl.store(out_ptr + i, tl.associative_scan(x, 0, larger, reverse=True))
    elif HOW == "clamp":
        tl.store(out_ptr + i, tl.minimum(tl.maximum(x, tl.load(x_ptr)), tl.load(x_ptr + 1)))


@triton.jit
def larger(a, b):
    return tl.maximum(a, b).to(a.dtype)  # Triton before 3.9: f32, of two bf16


ORDERS = {
    "sort": lambda x: np.sort(x, 1), "topk": lambda x: np.sort(x, 1)[:, :-5:-1],
    "max": lambda x: x.max(1), "min": lambda x: x.min(1),
    "running": lambda x: np.maximum.accumulate(x, 1),
    "backwards": lambda x: np.maximum.accumulate(x[::-1], 0)[::-1],
    "clamp": lambda x: np.minimum(np.maximum(x, x[0, 0]), x[0, 1]),
}


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("how", ORDERS)
def test_order(run, how, dtype):
    """Extremes of the type and equal values among them; indices are those of the first."""
    numeric.interpreter_is_wrong_on_bf16(dtype)
    x = numeric.random((ROWS, COLUMNS), dtype)
    top = np.finfo(x.dtype).max if DTYPES[dtype].kind == "float" else np.iinfo(x.dtype).max
    x[1, 3] = x[1, 9] = min(top, DTYPES[dtype].top or top)
    x[2, 0] = -x[1, 3] if DTYPES[dtype].kind == "float" else np.iinfo(x.dtype).min
    x[0, :2] = np.sort(x[0, :2])
    wanted = ORDERS[how](x)
    out, index = numeric.poisoned(wanted.shape, dtype), numeric.poisoned(ROWS, "i32")
    run(order, 1, numeric.tensor(x, dtype), out, index, how, ROWS, COLUMNS)
    numeric.assert_same(out, np.ascontiguousarray(wanted))
    if how in ("max", "min"):
        found = x.argmax(1) if how == "max" else x.argmin(1)
        numeric.assert_same(index, found.astype(np.int32))


# ---- combinations


@triton.jit
def either(a, b):
    return a | b


@triton.jit
def both(a, b):
    return a & b


@triton.jit
def differing(a, b):
    return a ^ b


@triton.jit
def combine(x_ptr, out_ptr, HOW: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    x = tl.load(x_ptr + place(ROWS, COLUMNS))
    i = tl.arange(0, ROWS)
    if HOW == "or":
        tl.store(out_ptr + i, tl.reduce(x, 1, either))
    elif HOW == "and":
        tl.store(out_ptr + i, tl.reduce(x, 1, both))
    elif HOW == "xor":
        tl.store(out_ptr + i, tl.reduce(x, 1, differing))
    elif HOW == "running or":
        tl.store(out_ptr + place(ROWS, COLUMNS), tl.associative_scan(x, 1, either))


BITS = {"or": np.bitwise_or.reduce, "and": np.bitwise_and.reduce, "xor": np.bitwise_xor.reduce,
        "running or": np.bitwise_or.accumulate}


@pytest.mark.parametrize("dtype", ("i1", *INTEGERS))
@pytest.mark.parametrize("how", BITS)
def test_bits(run, how, dtype):
    x = numeric.random((ROWS, COLUMNS), dtype)
    if how == "and":
        x |= numeric.random(x.shape, dtype, 1) | numeric.random(x.shape, dtype, 2)
    elif how != "xor":
        x &= numeric.random(x.shape, dtype, 1) & numeric.random(x.shape, dtype, 2)
    wanted = BITS[how](x, axis=1)
    out = numeric.poisoned(wanted.shape, dtype)
    run(combine, 1, numeric.tensor(x, dtype), out, how, ROWS, COLUMNS)
    numeric.assert_same(out, wanted)

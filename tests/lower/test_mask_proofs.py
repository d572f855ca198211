"""lower/addresses/masks.py: masks of index arithmetic that wraps are proven for a window by both of its
ends only."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

TOP = 2**31 - 1
FILL = -7

#: formulas of an index i, and a number c: as a kernel has them, and in numpy
FORMULAS = {
    "times": lambda i, c: i * np.int32(1103515245),
    "times_plus": lambda i, c: i * np.int32(1103515245) + np.int32(12345),
    "minus_times": lambda i, c: np.int32(7) - i * np.int32(69069 * 4099),
    "plus": lambda i, c: i + c,
    "minus": lambda i, c: c - i,
    "halves": lambda i, c: i * np.int32(-(2**31)),
    "zeros": lambda i, c: i * np.int32(65536) * np.int32(65536),
    "thirds": lambda i, c: i * np.int32(3) - c,
    "bytes": lambda i, c: i.astype(np.int8) * np.int8(37) + np.int8(100),
    "words": lambda i, c: i.astype(np.int16) * np.int16(307) + np.int16(100),
    "widened": lambda i, c: (i + c).astype(np.int64),
    "wide": lambda i, c: i.astype(np.int64) * np.int64(2**62 + 1) + c.astype(np.int64),
}
COMPARISONS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


@triton.jit
def formula(i, c, HOW: tl.constexpr):
    if HOW == "times":
        return i * 1103515245
    elif HOW == "times_plus":
        return i * 1103515245 + 12345
    elif HOW == "minus_times":
        return 7 - i * 283113831
    elif HOW == "plus":
        return i + c
    elif HOW == "minus":
        return c - i
    elif HOW == "halves":
        return i * -2147483648
    elif HOW == "zeros":
        return i * 65536 * 65536
    elif HOW == "thirds":
        return i * 3 - c
    elif HOW == "bytes":
        return i.to(tl.int8) * 37 + tl.full((), 100, tl.int8)
    elif HOW == "words":
        return i.to(tl.int16) * 307 + tl.full((), 100, tl.int16)
    elif HOW == "widened":
        return (i + c).to(tl.int64)
    else:
        return i.to(tl.int64) * 4611686018427387905 + c


@triton.jit
def compared(x, y, HOW: tl.constexpr):
    if HOW == "<":
        return x < y
    elif HOW == "<=":
        return x <= y
    elif HOW == ">":
        return x > y
    else:
        return x >= y


@triton.jit
def masked_copy(x_ptr, out_ptr, sums_ptr, c, n, FORMULA: tl.constexpr, COMPARISON: tl.constexpr,
                SIDE: tl.constexpr, USE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = formula(i, c, FORMULA)
    if SIDE == "number":
        mask = compared(y, n, COMPARISON)
    elif SIDE == "swapped":
        mask = compared(n, y, COMPARISON)
    else:
        mask = compared(y, i * 5 - 1000, COMPARISON)
    if USE == "load":
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=mask))
    elif USE == "other":
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=mask, other=i ^ 3))
    elif USE == "where":
        tl.store(out_ptr + i, tl.where(mask, tl.load(x_ptr + i), i))
    elif USE == "sum":
        tl.store(out_ptr + i, tl.load(x_ptr + i))
        tl.store(sums_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + i, mask=mask, other=1)))
    else:
        tl.store(out_ptr + i, tl.load(x_ptr + i), mask=mask)


def expected(x: np.ndarray, c: int, n: int, formula: str, comparison: str, side: str) -> np.ndarray:
    """The mask."""
    i = np.arange(x.size, dtype=np.int32)
    with np.errstate(over="ignore"):
        y = FORMULAS[formula](i, np.full_like(i, c))
        other = i * np.int32(5) - np.int32(1000) if side == "indices" else np.int64(n)
    compare = COMPARISONS[comparison]
    return compare(other, y) if side == "swapped" else compare(y, other)


#: (comparison, which side the formula is on, c, n): the ends of the type are near, or the other side is wider
CASES = ((">", "number", TOP - 700, 0), ("<", "number", -TOP, 5), (">=", "swapped", TOP - 700, -3),
         ("<=", "indices", 3 - TOP, 0), ("<", "swapped", -TOP, -3), (">=", "number", -TOP, 5),
         ("<", "number", TOP - 1024, 2**40), (">", "number", 5 - TOP, -(2**40)))


@pytest.mark.parametrize("use", ("load", "other", "where", "sum", "store"))
@pytest.mark.parametrize("formula", FORMULAS)
def test_wrapping(run, formula, use):
    block = 1024
    x = torch.arange(5, 5 + 2 * block, dtype=torch.int32)
    i = np.arange(x.numel(), dtype=np.int32)
    for comparison, side, c, n in CASES if formula == "widened" else CASES[:4]:
        out, sums = torch.full_like(x, FILL), torch.zeros(2, dtype=torch.int64)
        run(masked_copy, 2, x, out, sums, c, n, formula, comparison, side, use, block)
        mask = expected(x.numpy(), c, n, formula, comparison, side)
        elsewhere = {"load": 0, "other": i ^ 3, "where": i, "store": FILL, "sum": x.numpy()}[use]
        wanted = np.where(mask, x.numpy(), elsewhere)
        np.testing.assert_array_equal(out.numpy(), wanted, f"{comparison} {side} {c} {n}")
        if use == "sum":
            loaded = np.where(mask, x.numpy(), 1).astype(np.int32)
            assert sums.tolist() == loaded.reshape(2, -1).sum(1).tolist()


@triton.jit
def masked_rows(x_ptr, out_ptr, c, M: tl.constexpr, N: tl.constexpr, USE: tl.constexpr):
    """Two conjuncts, views of indices of one dimension each, that wrap along one or along both."""
    r, k = tl.arange(0, M), tl.arange(0, N)
    place = r[:, None] * N + k[None, :]
    mask = (r * 1103515245 + c > 0)[:, None] & (k * 65537 * 4099 < 5000)[None, :]
    if USE == "load":
        tl.store(out_ptr + place, tl.load(x_ptr + place, mask=mask, other=1))
    elif USE == "dot":
        half = tl.load(x_ptr + place, mask=mask, other=1).to(tl.float32)
        eye = (k[:, None] == k[None, :]).to(tl.float32)
        tl.store(out_ptr + place, tl.dot(half, eye, input_precision="ieee").to(tl.int32))
    else:
        tl.store(out_ptr + place, tl.load(x_ptr + place), mask=mask)


@pytest.mark.parametrize("shape, use", (
    ((16, 16), "load"), ((64, 32), "load"), ((4, 1024), "load"), ((64, 32), "store"), ((4, 1024), "store"),
    ((16, 16), "dot"), ((128, 64), "dot")))
def test_wrapping_rows(run, shape, use):
    x = torch.arange(5, 5 + shape[0] * shape[1], dtype=torch.int32).reshape(shape)
    for c in (0, TOP, -TOP):
        out = torch.full_like(x, FILL)
        run(masked_rows, 1, x, out, c, *shape, use)
        r, k = (np.arange(size, dtype=np.int32) for size in shape)
        with np.errstate(over="ignore"):
            rows = r * np.int32(1103515245) + np.full_like(r, c) > 0
            columns = k * np.int32(65537) * np.int32(4099) < 5000
        wanted = np.where(rows[:, None] & columns[None, :], x.numpy(), FILL if use == "store" else 1)
        np.testing.assert_array_equal(out.numpy(), wanted, str(c))

"""Integers that were widened: compared with constants and with each other, and as the least and the greatest
of two. Compilers compare the narrow numbers instead, which is right for some constants only.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from numeric import DTYPES, INTEGERS

BLOCK = 64
TL = {name: getattr(tl, name.replace("u", "uint") if name[0] == "u" else name.replace("i", "int"))
      for name in INTEGERS}
WIDENINGS = [(narrow, wide) for narrow in INTEGERS for wide in INTEGERS
             if DTYPES[narrow].bits < DTYPES[wide].bits]


def values(dtype: str, seed: int = 0) -> np.ndarray:
    """BLOCK numbers, the limits of the type and of its signed or unsigned twin among them."""
    known = numeric.specials(dtype)
    return np.concatenate([known, numeric.random(BLOCK - len(known), dtype, seed)])


def constants(narrow: str, wide: str) -> list[int]:
    """Numbers of the wide type around every limit of the narrow one, and its own limits."""
    bits, info = DTYPES[narrow].bits, np.iinfo(DTYPES[wide].values)
    near = {limit + step for limit in (0, 1 << (bits - 1), -(1 << (bits - 1)), 1 << bits, -(1 << bits))
            for step in (-1, 0, 1)}
    near |= {int(info.min), int(info.min) + 1, int(info.max) - 1, int(info.max), int(info.max) // 2 + 1, 77}
    return sorted(c for c in near if info.min <= c <= info.max)


@triton.jit
def orders(x, y):
    """The six comparisons, a bit each."""
    bits = (x < y).to(tl.int32) | ((x <= y).to(tl.int32) << 1) | ((x > y).to(tl.int32) << 2)
    return bits | ((x >= y).to(tl.int32) << 3) | ((x == y).to(tl.int32) << 4) | ((x != y).to(tl.int32) << 5)


@triton.jit
def with_constants(x_ptr, out_ptr, least_ptr, CONSTANTS: tl.constexpr, WIDE: tl.constexpr,
                   BLOCK: tl.constexpr):
    """out [2 constants, BLOCK]: x beside the constant, and the constant beside x; least [2 constants, BLOCK]:
    the least and the greatest of both."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i).to(WIDE)
    for c in tl.static_range(len(CONSTANTS)):
        y = tl.full([BLOCK], CONSTANTS[c], WIDE)
        tl.store(out_ptr + 2 * c * BLOCK + i, orders(x, y))
        tl.store(out_ptr + (2 * c + 1) * BLOCK + i, orders(y, x))
        tl.store(least_ptr + 2 * c * BLOCK + i, tl.minimum(x, y))
        tl.store(least_ptr + (2 * c + 1) * BLOCK + i, tl.maximum(y, x))


@triton.jit
def with_each_other(x_ptr, y_ptr, z_ptr, out_ptr, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    """x and y are narrow, z is wide."""
    i = tl.arange(0, BLOCK)
    x, y, z = tl.load(x_ptr + i).to(WIDE), tl.load(y_ptr + i).to(WIDE), tl.load(z_ptr + i)
    tl.store(out_ptr + i, orders(x, y))
    tl.store(out_ptr + BLOCK + i, orders(x, z))
    tl.store(out_ptr + 2 * BLOCK + i, orders(z, x))
    tl.store(out_ptr + 3 * BLOCK + i, orders(x + 1, y - 1))
    tl.store(out_ptr + 4 * BLOCK + i, orders(x * 3, y))


def ordered(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What `orders` computes."""
    bits = (x < y, x <= y, x > y, x >= y, x == y, x != y)
    return sum(bit.astype(np.int32) << k for k, bit in enumerate(bits))


@pytest.mark.parametrize("narrow, wide", WIDENINGS, ids="-".join)
def test_constants(run, narrow, wide):
    x, known = values(narrow), constants(narrow, wide)
    widened = x.astype(DTYPES[wide].values)
    rows = 2 * len(known)
    out, least = numeric.poisoned(rows * BLOCK, "i32"), numeric.poisoned(rows * BLOCK, wide)
    run(with_constants, 1, numeric.tensor(x, narrow), out, least, tuple(known), TL[wide], BLOCK)
    all_of_them = np.array(known, DTYPES[wide].values)[:, None]
    pairs = [(widened, c) for c in all_of_them]
    numeric.assert_same(out, np.concatenate([ordered(a, b) for x, c in pairs for a, b in ((x, c), (c, x))]))
    numeric.assert_same(least, np.concatenate([f(x, c) for x, c in pairs for f in (np.minimum, np.maximum)]))


@pytest.mark.parametrize("narrow, wide", WIDENINGS, ids="-".join)
def test_each_other(run, narrow, wide):
    x, y, z = values(narrow), np.roll(values(narrow), 5), values(wide, 2)
    out = numeric.poisoned(5 * BLOCK, "i32")
    run(with_each_other, 1, numeric.tensor(x, narrow), numeric.tensor(y, narrow), numeric.tensor(z, wide),
        out, TL[wide], BLOCK)
    x, y = x.astype(z.dtype), y.astype(z.dtype)
    one, three = z.dtype.type(1), z.dtype.type(3)
    with np.errstate(over="ignore"):
        expected = [(x, y), (x, z), (z, x), (x + one, y - one), (x * three, y)]
    numeric.assert_same(out, np.concatenate([ordered(a, b) for a, b in expected]))

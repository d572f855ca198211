"""Quotients and remainders by constants, computed with: a driver may take neighbours for each other."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def quotients(x_ptr, out_ptr, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    if KIND == "remainder of a quotient":
        x = x // 3 % 7
    elif KIND == "sum of multiples":
        x = x // 3 * 100 + x // 7 * 10
    elif KIND == "chain":
        x = (x // 3 + x % 7) * 3 // 7 % 11
    elif KIND == "powers of two":
        x = x // 8 * 3 + x % 16
    else:
        x = x // -5 + x % -9
    tl.store(out_ptr + i, x)


def expected(x: np.ndarray, kind: str) -> np.ndarray:
    """C's division: towards zero, the remainder of the sign of the dividend."""
    def quotient(x: np.ndarray, y: int) -> np.ndarray:
        return x // y if x.dtype.kind == "u" else np.sign(x) * np.sign(y) * (abs(x) // abs(y))

    def remainder(x: np.ndarray, y: int) -> np.ndarray:
        return x - quotient(x, y) * x.dtype.type(y)

    if kind == "remainder of a quotient":
        return remainder(quotient(x, 3), 7)
    if kind == "sum of multiples":
        return quotient(x, 3) * 100 + quotient(x, 7) * 10
    if kind == "chain":
        return remainder(quotient((quotient(x, 3) + remainder(x, 7)) * 3, 7), 11)
    if kind == "powers of two":
        return quotient(x, 8) * 3 + remainder(x, 16)
    return quotient(x, -5) + remainder(x, -9)


KINDS = ("remainder of a quotient", "sum of multiples", "chain", "powers of two", "negative")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ("i32", "i64", "u64"))
@pytest.mark.parametrize("size", (8, 512))
def test_quotients_by_constants(run, dtype, size, kind):
    if kind == "negative" and dtype == "u64":
        pytest.skip("Triton divides no unsigned number by a negative one")
    least = 0 if dtype == "u64" else -100_000
    x = np.random.default_rng(0).integers(least, 100_000, size).astype(numeric.DTYPES[dtype].values)
    out = numeric.poisoned(size, dtype)
    run(quotients, 1, numeric.tensor(x, dtype), out, kind, size)
    numeric.assert_same(out, expected(x, kind).astype(x.dtype))


@triton.jit
def differences(x_ptr, y_ptr, out_ptr, KIND: tl.constexpr, BESIDE: tl.constexpr, N: tl.constexpr):
    """What a driver may take for differences that saturate, beside a remainder of others."""
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    if KIND == "x - max(x, 1)":
        z = x - tl.maximum(x, 1)
    elif KIND == "1 - max(x, 1)":
        z = 1 - tl.maximum(x, 1)
    elif KIND == "2 - min(x, 2)":
        z = 2 - tl.minimum(x, 2)
    elif KIND == "max(x, y) - x":
        z = tl.maximum(x, y) - x
    elif KIND == "y - min(x, y)":
        z = y - tl.minimum(x, y)
    elif KIND == "x > y":
        z = tl.where(x > y, x - y, 0)
    elif KIND == "max + ~y + 1":
        z = tl.maximum(x, y) + ~y + 1
    elif KIND == "max + 1 + ~y":
        z = tl.maximum(x, y) + 1 + ~y
    elif KIND == "max + (y ^ -1) + 1":
        z = tl.maximum(x, y) + (y ^ 0xffffffffffffffff) + 1
    elif KIND == "max + y * -1":
        z = tl.maximum(x, y) + y * 0xffffffffffffffff
    elif KIND == "max + chosen ~y + 1":
        z = tl.maximum(x, y) + tl.where(x > 5, ~y, ~y + 0) + 1
    else:
        z = tl.maximum(x, 5) + 0xfffffffffffffffb
    j = tl.arange(0, 64)
    if BESIDE == "fmod":
        a = tl.load(x_ptr + j).to(tl.float32)
        w = (a % 3).to(tl.uint64)
    else:
        a = tl.load(x_ptr + j)
        w = a % (a // 3 + 1)
    tl.store(out_ptr + i, z)
    tl.store(out_ptr + N + j, w)


@pytest.mark.parametrize("kind", ["x - max(x, 1)", "1 - max(x, 1)", "2 - min(x, 2)", "max(x, y) - x",
                                  "y - min(x, y)", "x > y", "max + ~y + 1", "max + 1 + ~y",
                                  "max + (y ^ -1) + 1", "max + y * -1", "max + chosen ~y + 1", "max - 5"])
@pytest.mark.parametrize("beside", ["fmod", "remainder"])
@pytest.mark.parametrize("size", (64, 512))
def test_differences_beside_a_remainder(run, size, beside, kind):
    """Number 12048094 of the random kernels: the upper words were others'."""
    generator = np.random.default_rng(0)
    some = np.array([0, 1, 2, 3, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 63, (1 << 64) - 1], np.uint64)
    x, y = (np.where(generator.random(size) < 0.5, generator.choice(some, size),
                     generator.integers(0, 1 << 64, size, np.uint64)) for _ in range(2))
    one, two = np.uint64(1), np.uint64(2)
    z = {"x - max(x, 1)": lambda: x - np.maximum(x, one), "1 - max(x, 1)": lambda: one - np.maximum(x, one),
         "2 - min(x, 2)": lambda: two - np.minimum(x, two), "max(x, y) - x": lambda: np.maximum(x, y) - x,
         "y - min(x, y)": lambda: y - np.minimum(x, y), "x > y": lambda: np.where(x > y, x - y, 0),
         "max - 5": lambda: np.maximum(x, np.uint64(5)) - np.uint64(5),
         }.get(kind, lambda: np.maximum(x, y) - y)()
    a = x[:64]
    w = np.fmod(a.astype(np.float32), np.float32(3)) if beside == "fmod" else a % (a // np.uint64(3) + one)
    out = numeric.poisoned(size + 64, "u64")
    run(differences, 1, numeric.tensor(x, "u64"), numeric.tensor(y, "u64"), out, kind, beside, size)
    numeric.assert_same(out, np.concatenate([z, w.astype(np.uint64)]).astype(np.uint64))

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

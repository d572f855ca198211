"""lower/products/zeroed_sums.py: sums in arrays that a product begins in the first round of its loop, and
those that it may not. Whole numbers, so that any order of summation is exact."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl

#: The device, and the machine that sees what nobody wrote.
SPIRV_MODES = ("vector", "machine-vector-amx")

BEGINS = "from zero in the first round"


@triton.jit
def product(a_ptr, b_ptr, c_ptr, seen_ptr, first, k, FROM: tl.constexpr, HOW: tl.constexpr, M: tl.constexpr,
            N: tl.constexpr, K: tl.constexpr):
    """c = FROM + a b, two blocks of rows one after the other, from `first` to k."""
    j = tl.arange(0, N)
    for block in range(2):
        i = block * M + tl.arange(0, M)
        total = tl.full([M, N], FROM, tl.float32)
        for start in range(first, k, K):
            deep = start + tl.arange(0, K)
            a = tl.load(a_ptr + i[:, None] * 64 + deep[None, :], mask=deep[None, :] < k, other=0)
            b = tl.load(b_ptr + deep[:, None] * N + j[None, :], mask=deep[:, None] < k, other=0)
            if HOW == "seen before":
                tl.store(seen_ptr + i[:, None] * N + j[None, :], total)
            if HOW == "halved":
                total = total * 0.5
            total = tl.dot(a, b, total, input_precision="ieee")
            if HOW == "twice":
                total = tl.dot(a, b, total, input_precision="ieee")
            if HOW == "sometimes":
                if start == 0:
                    total = tl.full([M, N], 3, tl.float32)
        if HOW == "doubled":
            total = total * 2
        tl.store(c_ptr + i[:, None] * N + j[None, :], total)


@pytest.mark.parametrize("first, k", [(0, 64), (0, 32), (0, 0), (32, 64), (64, 32), (0, 45)])
@pytest.mark.parametrize("start", (0.0, -0.0, 5.0))
@pytest.mark.parametrize("how", ("", "seen before", "halved", "twice", "sometimes", "doubled"))
def test_sums(run, mode, how, start, first, k):
    m, n = 32, 64
    a, b = numeric.whole((2 * m, 64), "f32", 0), numeric.whole((64, n), "f32", 1)
    c, seen = numeric.poisoned((2 * m, n), "f32"), numeric.poisoned((2 * m, n), "f32")
    before = numeric.array(seen).copy()
    kernel = run(product, 1, numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), c, seen, first, k, start,
                 how, m, n, 32)
    expected = np.full((2 * m, n), start, np.float32)
    for at in range(first, k, 32):
        before = expected.copy()
        if how == "halved":
            expected = expected * np.float32(0.5)
        end = min(at + 32, k)
        for _ in range(2 if how == "twice" else 1):
            expected = expected + a[:, at:end] @ b[at:end]
        if how == "sometimes" and at == 0:
            expected = np.full_like(expected, 3)
    numeric.assert_same(c, expected * (2 if how == "doubled" else 1), signed_zeros=first >= k)
    if how == "seen before":
        numeric.assert_same(seen, before, signed_zeros=False)
    if mode == "vector":
        assert (BEGINS in kernel.asm["plan"]) == (str(start) == "0.0" and how in ("", "doubled"))


@triton.jit
def two_sums(a_ptr, b_ptr, c_ptr, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TYPE: tl.constexpr):
    """Two products in a loop, each begins its own."""
    i, j = tl.arange(0, M), tl.arange(0, N)
    one, other = tl.zeros([M, N], TYPE), tl.zeros([M, N], TYPE)
    for start in range(0, k, K):
        deep = start + tl.arange(0, K)
        a = tl.load(a_ptr + i[:, None] * k + deep[None, :])
        b = tl.load(b_ptr + deep[:, None] * N + j[None, :])
        one = tl.dot(a, b, one, input_precision="ieee", out_dtype=TYPE)
        other = tl.dot(-a, b, other, input_precision="ieee", out_dtype=TYPE)
    tl.store(c_ptr + i[:, None] * N + j[None, :], one - other)


@pytest.mark.parametrize("dtype", ("f32", "f64", "f16", "bf16", "i8"))
@pytest.mark.parametrize("k", (64, 32))
def test_two_products(run, mode, dtype, k):
    numeric.interpreter_is_wrong_on_bf16(dtype)
    a, b = numeric.whole((32, k), dtype, 0), numeric.whole((k, 64), dtype, 1)
    kind, name = {"f64": (tl.float64, "f64"), "i8": (tl.int32, "i32")}.get(dtype, (tl.float32, "f32"))
    c = numeric.poisoned((32, 64), name)
    kernel = run(two_sums, 1, numeric.tensor(a, dtype), numeric.tensor(b, dtype), c, k, 32, 64, 32, kind)
    wide = numeric.DTYPES[name].values
    numeric.assert_same(c, 2 * (a.astype(wide) @ b.astype(wide)), signed_zeros=False)
    assert mode != "vector" or kernel.asm["plan"].count(BEGINS) == 2

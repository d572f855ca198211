"""Offsets that are sums: pointers ask for the summands of their offset, whatever becomes of the sum itself. A
value that only a sum uses, which a walk keeps, may be read by pointers all the same.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from triton_spirv import compile
from triton_spirv.errors import InternalError
from triton_spirv.lower.walk.later_uses import LaterUses

SPIRV_MODES = ("vector", "simt")


@triton.jit
def counted(a, mask, out, bits, counts, N: tl.constexpr, SHIFT: tl.constexpr):
    """The sum is kept by the walk of a histogram, behind the pointers of a load that waits."""
    i = tl.arange(0, N)
    j = i // 3 * 6 + i % 3 + SHIFT
    kept = tl.load(mask + j)
    x = tl.load(a + j)
    _even, odd = tl.split(tl.reshape(kept, [N // 2, 2]))
    flipped = tl.flip(odd, 0)
    found = tl.histogram(j & 7, 8, mask=kept)
    tl.store(out + i, x)
    tl.store(bits + tl.arange(0, N // 2), flipped)
    tl.store(counts + tl.arange(0, 8), found)


@pytest.mark.parametrize("shift", (0, 9))
@pytest.mark.parametrize("size", (64, 512, 4096))
def test_a_load_waits_for_a_summand(run, size, shift):
    i = np.arange(size)
    j = i // 3 * 6 + i % 3 + shift
    a, mask = numeric.random(2 * size + 16, "f32"), numeric.random(2 * size + 16, "i32", low=0, high=3) == 0
    out, bits = numeric.poisoned(size, "f32"), numeric.poisoned(size // 2, "i1")
    counts = numeric.poisoned(8, "i32")
    run(counted, 1, numeric.tensor(a, "f32"), numeric.tensor(mask, "i1"), out, bits, counts, size, shift)
    numeric.assert_same(out, a[j])
    numeric.assert_same(bits, mask[j][1::2][::-1])
    numeric.assert_same(counts, np.bincount((j & 7)[mask[j]], minlength=8).astype(np.int32))


@triton.jit
def gathered(table, index, out, total, rows, N: tl.constexpr, SHIFT: tl.constexpr):
    """The sum of a loaded index is kept by the walk of a reduction; the index is overwritten before the load
    through it is asked for."""
    i = tl.arange(0, N)
    j = tl.load(index + i) * 2 + SHIFT
    x = tl.load(table + j)
    summed = tl.sum(j)
    tl.store(index + i, i * 0)
    tl.store(total, summed)
    tl.store(rows + i, j)
    tl.store(out + i, x)


@pytest.mark.parametrize("shift", (0, 5))
@pytest.mark.parametrize("size", (64, 512, 4096))
def test_a_summand_is_overwritten(run, size, shift):
    index = numeric.random(size, "i32", low=0, high=size)
    table, out = numeric.random(2 * size + 16, "f32"), numeric.poisoned(size, "f32")
    held = numeric.tensor(index, "i32")
    total, rows = numeric.poisoned(1, "i32"), numeric.poisoned(size, "i32")
    run(gathered, 1, numeric.tensor(table, "f32"), held, out, total, rows, size, shift)
    j = index * 2 + shift
    numeric.assert_same(out, table[j])
    numeric.assert_same(rows, j)
    numeric.assert_same(total, j.sum(keepdims=True, dtype=np.int32))
    numeric.assert_same(held, np.zeros(size, np.int32))


@triton.jit
def chained(a, b, out, total, N: tl.constexpr):
    """Sums of sums: the pointers of the second load look through both."""
    i = tl.arange(0, N)
    j = i // 3 * 4 + i % 3
    k = j + i
    m = k + 7
    x = tl.load(a + m)
    y = tl.load(b + (m + i))
    summed = tl.sum(k ^ m)
    largest = tl.max(m % 13, 0)
    tl.store(out + i, x)
    tl.store(out + N + i, y)
    tl.store(total, summed)
    tl.store(total + 1, largest)


@pytest.mark.parametrize("size", (64, 512, 4096))
def test_sums_of_sums(run, size):
    i = np.arange(size)
    m = i // 3 * 4 + i % 3 + i + 7
    a, b = numeric.random(4 * size, "f32"), numeric.random(4 * size, "f32")
    out, total = numeric.poisoned(2 * size, "f32"), numeric.poisoned(2, "i32")
    run(chained, 1, numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), out, total, size)
    numeric.assert_same(out, np.concatenate([a[m], b[m + i]]))
    numeric.assert_same(total, np.array([((m - 7) ^ m).sum(), (m % 13).max()], np.int32))


@triton.jit
def overwriting(index, table, out, totals, N: tl.constexpr):
    """The index that the pointers of a load have among their summands is read by one more value only, which
    the walk that loads keeps: not over the index."""
    i = tl.arange(0, N)
    v = tl.max_contiguous(tl.load(index + i), 16)
    s = v + 5
    p = table + s
    total, largest = tl.sum(v, 0), tl.max(s ^ (s * 3), 0)
    y = (((v ^ 77) // 3) ^ 5) % 11
    mixed = tl.sum(y ^ tl.load(p), 0)
    tl.store(out + i, y)
    tl.store(totals, total)
    tl.store(totals + 1, largest)
    tl.store(totals + 2, mixed)


@pytest.mark.parametrize("size", (64, 512, 4096))
def test_a_summand_is_not_taken_over(run, size):
    v = np.arange(size, dtype=np.int32)
    table = numeric.random(size + 16, "i32", low=0, high=1000)
    out, totals = numeric.poisoned(size, "i32"), numeric.poisoned(3, "i32")
    run(overwriting, 1, numeric.tensor(v, "i32"), numeric.tensor(table, "i32"), out, totals, size)
    s, y = v + 5, (((v ^ 77) // 3) ^ 5) % 11
    numeric.assert_same(out, y)
    numeric.assert_same(totals, np.array([v.sum(), (s ^ (s * 3)).max(), (y ^ table[s]).sum()], np.int32))


@pytest.mark.skipif(numeric.INTERPRETED, reason="nothing is compiled")
def test_an_array_overwritten_too_early_is_refused(run, monkeypatch):
    """Not only in tests: the plan is verified at each compilation."""
    size = 512
    index = numeric.tensor(np.arange(size, dtype=np.int32), "i32")
    table, out, totals = (numeric.poisoned(size + 16, "i32") for _ in range(3))
    text = run(overwriting, 1, index, table, out, totals, size).asm["ttir"]
    monkeypatch.delenv("TRITON_SPIRV_DEBUG")
    monkeypatch.setattr(LaterUses, "feeds_only", lambda self, value, node: True)
    with pytest.raises(InternalError, match=r"the plan of overwriting is wrong: array .* is read for"):
        compile(text, "cpu")

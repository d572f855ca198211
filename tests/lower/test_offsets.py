"""lower/addresses/pointer.py: offsets of narrow types and without a sign: what is taken not to wrap, and
what does."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def taken(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + tl.load(index_ptr + i)))


@pytest.mark.parametrize("index_dtype", ("i8", "u8", "i16"))
def test_narrow_offsets_keep_their_sign(run, index_dtype):
    """200 as u8 is 200 elements on, -56 as i8 is 56 back."""
    index = np.array([0, 1, 100, 127] + ([200, 255] if index_dtype == "u8" else [-1, -128]) + [5, 6])
    x, out = numeric.random(512, "i32"), numeric.poisoned(8, "i32")
    values = index.astype(numeric.DTYPES[index_dtype].values)
    run(taken, 1, numeric.tensor(x, "i32")[128:], numeric.tensor(values, index_dtype), out, 8)
    numeric.assert_same(out, x[128 + index])


@triton.jit
def sums_as_offsets(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + (tl.load(index_ptr + i) + 100)))


@pytest.mark.parametrize("index_dtype", ("i8", "u8", "i16"))
def test_sums_of_narrow_offsets_wrap(run, index_dtype):
    """100 + 100 is 56 back as i8; of 8 bits without a sign, 200 + 100 is 44 on."""
    index = np.array([0, 1, 27, 28, 100, 127, 200, 5])
    values = index.astype(numeric.DTYPES[index_dtype].values)
    x, out = numeric.random(512, "i32"), numeric.poisoned(8, "i32")
    run(sums_as_offsets, 1, numeric.tensor(x, "i32")[128:], numeric.tensor(values, index_dtype), out, 8)
    numeric.assert_same(out, x[128 + (values + values.dtype.type(100)).astype(np.int64)])


@triton.jit
def behind(x_ptr, out_ptr, BACK: tl.constexpr, start, HOW: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    back = i - BACK if HOW == "constant" else i - start if HOW == "argument" else i + (i - i - BACK)
    tl.store(out_ptr + i, tl.load(x_ptr + back.to(tl.uint32), mask=i >= BACK, other=-1.0))


@pytest.mark.parametrize("how", ("constant", "argument", "sum"))
@pytest.mark.parametrize("back", (1, 5, 16))
@pytest.mark.parametrize("block", (16, 2048))
def test_offsets_without_a_sign_begin_below_zero(run, how, back, block):
    """What is masked lies 2**32 elements on; what is not begins at 0."""
    x, out = numeric.random(block, "f32"), numeric.poisoned(block, "f32")
    run(behind, 1, numeric.tensor(x, "f32"), out, back, back, how, block)
    numeric.assert_same(out, np.concatenate([np.full(back, -1, np.float32), x[:block - back]]))

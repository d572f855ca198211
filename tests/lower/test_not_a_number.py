"""NaN that a driver may compute while it compiles equals nothing, itself included."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def made(x_ptr, out_ptr, HOW: tl.constexpr, ASKED: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    zero, one = tl.full([N], 0.0, tl.float32), tl.full([N], 1.0, tl.float32)
    huge = tl.exp(one * 1000)
    if HOW == "0 / 0":
        q = tl.div_rn(zero, zero)
    elif HOW == "inf / inf":
        q = tl.div_rn(huge, huge)
    elif HOW == "inf - inf":
        q = huge - huge
    elif HOW == "0 * i / 0":
        q = tl.div_rn((i * 0).to(tl.float32), zero)
    elif HOW == "sqrt(-1)":
        q = tl.sqrt_rn(zero - one)
    else:
        q = tl.div_rn(x, x)
    if ASKED == "==":
        r = q == q
    elif ASKED == "!=":
        r = q != q
    elif ASKED == "chosen":
        r = tl.where(q == q, 0, 1) == 0
    elif ASKED == "== q * 1":
        r = q == q * one
    else:
        r = q < 0
    tl.store(out_ptr + i, r.to(tl.int32))


@pytest.mark.parametrize("asked", ["==", "!=", "chosen", "== q * 1", "<"])
@pytest.mark.parametrize("how", ["0 / 0", "inf / inf", "inf - inf", "0 * i / 0", "sqrt(-1)", "loaded"])
def test_computed_of_constants(run, how, asked):
    x = np.random.default_rng(0).choice(np.array([0, -0.0, 1, np.inf, np.nan, 3e38], np.float32), 64)
    out = numeric.poisoned(64, "i32")
    run(made, 1, numeric.tensor(x, "f32"), out, how, asked, 64)
    with np.errstate(all="ignore"):
        q = x / x if how == "loaded" else np.full_like(x, np.nan)
    r = {"!=": q != q, "<": q < 0}.get(asked, q == q)
    numeric.assert_same(out, r.astype(np.int32))

"""A value that is computed from another one takes over its array where each element is read in the turn that
overwrites it: not where a walk comes to the two in different orders."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl

SPIRV_MODES = ("vector", "simt")


@triton.jit
def turned_softmax(x, y, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """Rows of C elements change places between the maximum and the powers."""
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)[None, None, :]
    v = tl.load(x + (a[:, None, None] * B + b[None, :, None]) * C + c)
    largest = tl.max(tl.max(tl.max(v, 2), 1), 0)
    e = tl.exp(tl.trans(v, 1, 0, 2) - largest)
    total = tl.sum(tl.sum(tl.sum(e, 2), 1), 0)
    tl.store(y + (b[:, None, None] * A + a[None, :, None]) * C + c, e / total)


@pytest.mark.parametrize("shape", [(2, 4, 16), (8, 8, 64), (4, 16, 64), (1, 32, 128)])
def test_rows_change_places(run, shape):
    x = numeric.random(shape, "f32")
    y = numeric.poisoned(x.size, "f32")
    run(turned_softmax, 1, numeric.tensor(x.ravel(), "f32"), y, *shape)
    e = np.exp(x.transpose(1, 0, 2).astype(np.float64) - x.max())
    # exp to 3 ulp, a quotient to 2.5, a sum of thousands
    np.testing.assert_allclose(y.numpy(), (e / e.sum()).ravel(), rtol=1e-5)

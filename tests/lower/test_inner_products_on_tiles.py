"""lower/products/inner_products.py where tile registers multiply what is no row."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
from lower.test_inner_products import begun, linear, once, product
from triton_spirv.runtime.processor import TILES, processor

#: The machine, and the device where it has tile registers.
SPIRV_MODES = ("machine-vector-amx", *(("vector",) if TILES in processor().flags else ()))


def forms(kernel) -> list[bool]:
    return [form in kernel.asm["plan"] for form in ("inner products", "tile registers")]


@pytest.mark.parametrize("rows", (1, 2, 16))
@pytest.mark.parametrize("columns, depth", ((64, 64), (50, 64), (64, 100), (40, 33)))
@pytest.mark.parametrize("flipped", (False, True))
def test_rows(run, rows, columns, depth, flipped) -> None:
    """Whole blocks, and parts of them, which tile registers multiply, along N, K and both."""
    kernel = product(run, (rows, columns, depth), (16, 32, 32), "bf16", flipped=flipped)
    assert forms(kernel) == [True, True]


def test_several_blocks_of_k(run) -> None:
    product(run, (1, 32, 232), (16, 32, 64), "bf16", pad=5)
    product(run, (1, 32, 232), (32, 32, 64), "bf16", pad=5)


@pytest.mark.parametrize("asked", (False, True))
def test_sums_that_are_there(run, asked) -> None:
    n, k = 40, 72
    x, w = numeric.whole((1, k), "bf16", 0), numeric.whole((n, k), "bf16", 1)
    before = numeric.whole((2, n), "f32", 2)
    out = numeric.tensor(before.copy(), "f32")
    kernel = run(begun, 2, numeric.tensor(x, "bf16"), numeric.tensor(w, "bf16"), out, 1, n, k, 16, 32, 32,
                 asked)
    expected = before.copy()
    expected[:1] += x @ w.T
    if asked:
        expected[1] = expected[0] + 15 * w.T.sum(axis=0)
    numeric.assert_same(numeric.array(out), expected, signed_zeros=False)
    assert forms(kernel) == [not asked, True]


@pytest.mark.parametrize("rows", (1, 3))
def test_without_a_loop(run, rows) -> None:
    n, k = 50, 32
    x, w = numeric.whole((rows, k), "bf16", 0), numeric.whole((n, k), "bf16", 1)
    out = numeric.poisoned((rows, n), "f32")
    kernel = run(once, 2, numeric.tensor(x, "bf16"), numeric.tensor(w, "bf16"), out, rows, n, 16, 32, k)
    numeric.assert_same(numeric.array(out), np.maximum(x @ w.T, 0), signed_zeros=False)
    assert forms(kernel) == [True, True]


@pytest.mark.parametrize("least", (2.0 ** -140, 2.0 ** -149))
def test_denormal_sums_stay(run, least) -> None:
    """Those of a round of inner products, behind which others, which would clear them, add zeros."""
    n, k = 32, 40
    x, w = np.zeros((1, k), np.float32), np.zeros((n, k), np.float32)
    x[0, 3], w[:, 3] = 2.0 ** -70, least * 2.0 ** 70
    out = numeric.poisoned((1, n), "f32")
    run(linear, 1, numeric.tensor(x, "bf16"), numeric.tensor(w, "bf16"), out, 1, n, k, k, 16, 32, 32, False,
        0.0)
    numeric.assert_same(numeric.array(out), np.full((1, n), least, np.float32))

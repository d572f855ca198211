"""ts.larger and ts.smaller, as passes/simplify.py makes them of torch's maxima: NaN, zeros, denormals."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from numeric import DTYPES

SPECIAL = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 1.5, -1.5, 3e38], np.float32)


@triton.jit
def larger(a, b):
    return tl.where((a > b) | (a != a), a, b)


@triton.jit
def smaller(a, b):
    return tl.where((a < b) | (a != a), a, b)


@triton.jit
def elementwise(x_ptr, y_ptr, out_ptr, CHOOSE: tl.constexpr, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    tl.store(out_ptr + index, CHOOSE(tl.load(x_ptr + index), tl.load(y_ptr + index)))


@triton.jit
def rows(x_ptr, out_ptr, count, length, LARGEST: tl.constexpr, FIRST: tl.constexpr, ROWS: tl.constexpr,
         COLUMNS: tl.constexpr):
    """As Inductor writes it: what was found is taken again where the mask is false."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    found = tl.full([ROWS, COLUMNS], FIRST, x_ptr.dtype.element_ty)
    for start in tl.range(0, length, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :]
        mask = (column < length) & (row < count)
        x = tl.load(x_ptr + row * length + column, mask, other=0.0)
        found = tl.where(mask, larger(found, x) if LARGEST else smaller(found, x), found)
    if LARGEST:
        made = tl.reduce(found, 1, larger)[:, None]
    else:
        made = tl.reduce(found, 1, smaller)[:, None]
    tl.store(out_ptr + row, made, row < count)


def expected(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where((x > y if name == "larger" else x < y) | (x != x), x, y)


CHOICES = {"larger": larger, "smaller": smaller}


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("dtype", ("f32", "f64", "f16"))
@pytest.mark.parametrize("block", (2, 4, 8, 128))
def test_each_pair_of_special_numbers(run, name, dtype, block):
    with np.errstate(over="ignore"):
        special = SPECIAL.astype(DTYPES[dtype].values)
    left, right = np.stack(np.meshgrid(special, special)).reshape(2, -1)
    more = -len(left) % block
    left, right = np.pad(left, (0, more)), np.pad(right, (0, more))
    for start in range(0, len(left), block):
        x, y = left[start:start + block], right[start:start + block]
        out = numeric.poisoned((block,), dtype)
        run(elementwise, 1, numeric.tensor(x, dtype), numeric.tensor(y, dtype), out, CHOICES[name], block)
        numeric.assert_same(out, expected(name, x, y))


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("length", (1, 3, 16, 33, 100, 128, 200))
@pytest.mark.parametrize("block", ((1, 128), (2, 64), (8, 128), (16, 128), (64, 32), (64, 2), (4, 8)),
                         ids=str)
def test_rows(run, name, length, block):
    random = np.random.default_rng(length)
    count = 2 * block[0] - 1
    x = random.standard_normal((count, length)).astype(np.float32)
    places = random.random(x.shape)
    x[places < 0.02] = np.nan
    x[(places > 0.5) & (places < 0.6)] = -np.inf
    x[places > 0.97] = -0.0
    x[count // 2] = -np.inf if name == "larger" else np.inf
    out = numeric.poisoned((count,), "f32")
    first = -np.inf if name == "larger" else np.inf
    run(rows, 2, numeric.tensor(x, "f32"), out, count, length, name == "larger", float(first), *block)
    numeric.assert_same(out, x.max(1) if name == "larger" else x.min(1), signed_zeros=False)

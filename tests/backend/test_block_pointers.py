"""Block pointers, which Triton had until 3.8: a pass rewrites them, so they need a Triton that has them.

The descriptors that took their place are tested in tests/lower/test_descriptor.py.
"""

from __future__ import annotations

import numpy as np
import pytest
import triton
import triton.language as tl
from triton_spirv import asarray, zeros

pytestmark = pytest.mark.skipif("have been removed" in (getattr(tl.make_block_ptr, "__doc__", "") or ""),
                                reason="this Triton has no block pointers")


@triton.jit
def copy(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr, PAD: tl.constexpr):
    """A block of x with its padding, densely into out."""
    first = tl.program_id(0) * ROWS
    x = tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), (first, 0), (ROWS, COLUMNS), (1, 0))
    out = tl.make_block_ptr(out_ptr + first * COLUMNS, (ROWS, COLUMNS), (COLUMNS, 1), (0, 0), (ROWS, COLUMNS),
                            (1, 0))
    tl.store(out, tl.load(x, boundary_check=(0, 1), padding_option=PAD))


@pytest.mark.parametrize("padding", ("zero", "nan"))
@pytest.mark.parametrize("dtype", ("float16", "float32"))
def test_padding(dtype: str, padding: str) -> None:
    x = np.random.default_rng(0).standard_normal((5, 11)).astype(dtype)
    out = zeros((2, 4, 16), dtype)
    copy[(2,)](asarray(x), out, 5, 11, 4, 16, padding)
    wanted = np.full((8, 16), 0 if padding == "zero" else np.nan, dtype)
    wanted[:5, :11] = x
    np.testing.assert_array_equal(out.numpy().reshape(8, 16), wanted)


@pytest.mark.parametrize("dtype", ("int8", "uint16", "int32", "int64", "float16", "float32", "float64"))
def test_every_size_of_element(dtype: str) -> None:
    x = np.random.default_rng(0).integers(0, 100, (4, 16)).astype(dtype)
    out = zeros((1, 4, 16), dtype)
    copy[(1,)](asarray(x), out, 4, 16, 4, 16, "zero")
    np.testing.assert_array_equal(out.numpy()[0], x)


@triton.jit
def transposed_product(a_ptr, b_ptr, out_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """out = a @ b.T: pointers advanced in a loop, b through swapped strides, out clipped at its edges."""
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    a = tl.make_block_ptr(a_ptr, (m, k), (k, 1), (row, 0), (M, K), (1, 0))
    b = tl.make_block_ptr(b_ptr, (k, n), (1, k), (0, column), (K, N), (0, 1))
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, k, K):
        total += tl.dot(tl.load(a, boundary_check=(0, 1)), tl.load(b, boundary_check=(0, 1)))
        a, b = tl.advance(a, (0, K)), tl.advance(b, (K, 0))
    out = tl.make_block_ptr(out_ptr, (m, n), (n, 1), (row, column), (M, N), (1, 0))
    tl.store(out, total, boundary_check=(0, 1))


def test_advanced_in_a_loop() -> None:
    generator = np.random.default_rng(0)
    a, b = (np.round(generator.uniform(-9, 9, shape)).astype(np.float32) for shape in ((37, 45), (29, 45)))
    out = np.full((37 + 1, 29), np.nan, np.float32)  # the last row is not the kernel's
    transposed_product[(3, 2)](asarray(a), asarray(b), asarray(out), 37, 29, 45, 16, 16, 16)
    np.testing.assert_array_equal(out[:37], a @ b.T)
    assert np.isnan(out[37]).all()

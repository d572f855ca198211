"""The product that is timed beside torch's library: of rows by rows, as in a linear layer."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def product_kernel(left, right, out, TERMS: tl.constexpr, SIZE: tl.constexpr, DEPTH: tl.constexpr):
    m = tl.arange(0, SIZE)[:, None]
    n = tl.arange(0, SIZE)[None, :]
    k = tl.arange(0, DEPTH)
    total = tl.zeros([SIZE, SIZE], tl.float32)
    for done in range(0, TERMS, DEPTH):
        a = tl.load(left + m * TERMS + (k + done)[None, :])
        b = tl.load(right + n * TERMS + (k + done)[:, None])
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(out + m * SIZE + n, total.to(out.dtype.element_ty))

"""Kernels whose programs Python and C++ call as functions: where each program is, and what it is given."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def places_kernel(out, n):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    at = (z * ny + y) * nx + x
    tl.store(out + at, ((x * 100 + y) * 100 + z) * 1000 + nx * 100 + ny * 10 + nz, mask=at < n)


@triton.jit
def scaled_kernel(x, out, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)

"""The kernels that are measured, as one would write them for a GPU; nothing in them is made for a backend."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def empty_kernel(x_ptr, y_ptr, out_ptr, n):
    pass


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    x = tl.load(x_ptr + index, mask=inside)
    y = tl.load(y_ptr + index, mask=inside)
    tl.store(out_ptr + index, x + y, mask=inside)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row, index = tl.program_id(0), tl.arange(0, BLOCK)
    inside = index < columns
    x = tl.load(x_ptr + row * columns + index, mask=inside, other=-float("inf"))
    weight = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * columns + index, weight / tl.sum(weight, axis=0), mask=inside)


@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    row, index = tl.program_id(0), tl.arange(0, BLOCK)
    inside = index < columns
    x = tl.load(x_ptr + row * columns + index, mask=inside, other=0.0).to(tl.float32)
    centred = tl.where(inside, x - tl.sum(x, axis=0) / columns, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    weight = tl.load(weight_ptr + index, mask=inside)
    bias = tl.load(bias_ptr + index, mask=inside)
    tl.store(out_ptr + row * columns + index, centred * scale * weight + bias, mask=inside)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                  GROUP: tl.constexpr):
    """Tiles in groups of GROUP rows, so that programs that run together share operands in the cache."""
    program = tl.program_id(0)
    columns = tl.cdiv(N, BN)
    group = program // (GROUP * columns)
    rows = min(tl.cdiv(M, BM) - group * GROUP, GROUP)
    tile_m = group * GROUP + program % (GROUP * columns) % rows
    tile_n = program % (GROUP * columns) // rows
    m = (tile_m * BM + tl.arange(0, BM)) % M
    n = (tile_n * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    a = a_ptr + m[:, None] * K + k[None, :]
    b = b_ptr + k[:, None] * N + n[None, :]
    total = tl.zeros([BM, BN], tl.int32 if a_ptr.dtype.element_ty == tl.int8 else tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a, mask=k[None, :] < K - start, other=0)
        y = tl.load(b, mask=k[:, None] < K - start, other=0)
        total = tl.dot(x, y, total, input_precision="ieee", out_dtype=total.dtype)
        a += BK
        b += BK * N
    m = tile_m * BM + tl.arange(0, BM)
    n = tile_n * BN + tl.arange(0, BN)
    c = c_ptr + m[:, None] * N + n[None, :]
    tl.store(c, total.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, scale, length, D: tl.constexpr, BM: tl.constexpr,
                     BN: tl.constexpr):
    """Attention without a mask; program (rows, head), q, k, v, out [heads, length, D]; length a multiple of
    both blocks."""
    base = tl.program_id(1).to(tl.int64) * length * D
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d, n = tl.arange(0, D), tl.arange(0, BN)
    q = tl.load(q_ptr + base + m[:, None] * D + d[None, :])
    highest = tl.full([BM], float("-inf"), tl.float32)
    weights = tl.zeros([BM], tl.float32)
    total = tl.zeros([BM, D], tl.float32)
    scale *= 1.4426950408889634  # exp2 instead of exp
    for start in range(0, length, BN):
        k = tl.load(k_ptr + base + (start + n)[None, :] * D + d[:, None])
        scores = tl.dot(q, k) * scale
        new = tl.maximum(highest, tl.max(scores, 1))
        weight = tl.math.exp2(scores - new[:, None])
        fade = tl.math.exp2(highest - new)
        weights = weights * fade + tl.sum(weight, 1)
        v = tl.load(v_ptr + base + (start + n)[:, None] * D + d[None, :])
        total = tl.dot(weight.to(v.dtype), v, total * fade[:, None])
        highest = new
    out = out_ptr + base + m[:, None] * D + d[None, :]
    tl.store(out, (total / weights[:, None]).to(out_ptr.dtype.element_ty))

"""Attention, forward: softmax(q k^T) v without the matrix of scores, against scaled_dot_product_attention."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from .workload import Workload, size

#: (BM, BN) that the best is sought among
BLOCKS = ((64, 64), (128, 64), (128, 128), (256, 128), (256, 256))


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, count, scale, CAUSAL: tl.constexpr, WIDTH: tl.constexpr,
                     BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * count * WIDTH
    column = tl.arange(0, WIDTH)[None, :]
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    q = tl.load(q_ptr + head + m[:, None] * WIDTH + column, mask=m[:, None] < count, other=0.0)
    top = tl.full([BM], -1e30, tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, WIDTH], tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * BM, count) if CAUSAL else count
    for start in range(0, end, BN):
        n = start + tl.arange(0, BN)
        k = tl.load(k_ptr + head + n[:, None] * WIDTH + column, mask=n[:, None] < count, other=0.0)
        score = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        seen = (n[None, :] < count) & (n[None, :] <= m[:, None]) if CAUSAL else n[None, :] < count
        score = tl.where(seen, score, -float("inf"))
        new_top = tl.maximum(top, tl.max(score, 1))
        weight = tl.exp2(score - new_top[:, None])
        shrink = tl.exp2(top - new_top)
        v = tl.load(v_ptr + head + n[:, None] * WIDTH + column, mask=n[:, None] < count, other=0.0)
        total = total * shrink + tl.sum(weight, 1)
        acc = tl.dot(weight.to(v.dtype), v, acc * shrink[:, None], input_precision="ieee")
        top = new_top
    out = (acc / total[:, None]).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + head + m[:, None] * WIDTH + column, out, mask=m[:, None] < count)


tuned_attention_kernel = triton.autotune(
    [triton.Config({"BM": m, "BN": n}) for m, n in BLOCKS], ["count", "CAUSAL"])(attention_kernel)


def attention(count: int, causal: bool, dtype: torch.dtype, heads: int = 8, width: int = 64) -> Workload:
    """`heads` heads of `count` positions, `width` wide."""
    q, k, v = (torch.randn(1, heads, count, width).to(dtype) for _ in range(3))
    out = torch.empty_like(q)
    scale = width ** -0.5 * 1.4426950408889634

    def ours() -> torch.Tensor:
        tuned_attention_kernel[lambda meta: (triton.cdiv(count, meta["BM"]), heads)](
            q, k, v, out, count, scale, causal, width)
        return out

    def theirs(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    tolerance = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}[dtype]
    name = f"attention {str(dtype).removeprefix('torch.')} {count}{' causal' if causal else ''}"
    work = 4.0 * heads * count * count * width / (2 if causal else 1)
    return Workload(name, ours, theirs, (q, k, v), tolerance, size(q, k, v, out), work)


def workloads(quick: bool) -> list[Workload]:
    """Sequences of 1024 to 4096; --quick: short ones."""
    kinds = (torch.float32, torch.float16, torch.bfloat16)
    if quick:
        return [attention(100, causal, kind, heads=2) for causal in (False, True) for kind in kinds]
    return [*(attention(n, causal, torch.float32) for n in (1024, 4096) for causal in (False, True)),
            *(attention(1024, causal, kind) for kind in kinds[1:] for causal in (False, True))]

"""Attention, forward and backward, without ever writing the matrix of scores.

out = softmax(scale * Q K^T) V. For a sequence of N positions the scores are an N x N matrix per head: the
largest thing in the whole computation, needed only on the way. Here a program takes a block of queries, walks
along the keys and values, and carries three things per query:

    top    the largest score so far
    total  the sum of exp(score - top)
    acc    the sum of exp(score - top) * value, a row of V's width

When a new block raises `top`, `total` and `acc` are rescaled by exp(old top - new top); at the end out = acc
/ total (the softmax of tutorial 02, with a second sum). Memory traffic is that of Q, K, V and out.

Backward uses the one number per query that forward keeps, lse = top + log total, to compute any block of the
probabilities P = exp(score - lse) again. With dP = dO V^T and delta = rowsum(dO * O), which equals rowsum(dP
* P):

    dV = P^T dO          dS = P * (dP - delta)          dQ = scale * dS K          dK = scale * dS^T Q

dK and dV are sums over queries, dQ is a sum over keys: two kernels, so that no program needs another's result
and nothing is added atomically.

Causal attention lets position i see positions up to i. Blocks that are wholly in the future are not visited;
the block on the diagonal is masked. Powers of two replace exp: exp(x) = exp2(x * log2 e), and the factor
joins the scale.
"""

# turns the SPIR-V backend on, which must precede `import triton`
from _report import INTERPRETED, Report, median_ms

# isort: split
import math

import torch
import triton
import triton.language as tl


@triton.jit
def load_rows(p, rows, count, WIDTH: tl.constexpr):
    """[rows, WIDTH] of a row-major matrix with `count` rows; zeros beyond the last."""
    place = p + rows[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    return tl.load(place, mask=rows[:, None] < count, other=0.0)


@triton.jit
def store_rows(p, x, rows, count, WIDTH: tl.constexpr):
    place = p + rows[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    tl.store(place, x.to(p.dtype.element_ty), mask=rows[:, None] < count)


@triton.jit
def visible(queries, keys, count, CAUSAL: tl.constexpr):
    """Which of the scores [queries, keys] there are: real keys, and for causal attention none of the
    future."""
    there = keys[None, :] < count
    if CAUSAL:
        there = there & (keys[None, :] <= queries[:, None])
    return there


@triton.jit
def forward_kernel(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, count, scale, CAUSAL: tl.constexpr,
                   WIDTH: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * count
    queries = tl.program_id(0) * BLOCK_Q + tl.arange(0, BLOCK_Q)
    q = load_rows(q_ptr + head * WIDTH, queries, count, WIDTH)
    top = tl.full([BLOCK_Q], -1e30, tl.float32)  # finite, so that exp2(top - top) is 1 and not NaN
    total = tl.zeros([BLOCK_Q], tl.float32)
    acc = tl.zeros([BLOCK_Q, WIDTH], tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * BLOCK_Q, count) if CAUSAL else count
    for start in range(0, end, BLOCK_K):
        keys = start + tl.arange(0, BLOCK_K)
        k = load_rows(k_ptr + head * WIDTH, keys, count, WIDTH)
        v = load_rows(v_ptr + head * WIDTH, keys, count, WIDTH)
        score = tl.dot(q, tl.trans(k), input_precision="ieee") * (scale * 1.4426950408889634)
        score = tl.where(visible(queries, keys, count, CAUSAL), score, -float("inf"))
        new_top = tl.maximum(top, tl.max(score, axis=1))
        weight = tl.exp2(score - new_top[:, None])
        shrink = tl.exp2(top - new_top)
        total = total * shrink + tl.sum(weight, axis=1)
        acc = tl.dot(weight.to(v.dtype), v, acc * shrink[:, None], input_precision="ieee")
        top = new_top
    store_rows(out_ptr + head * WIDTH, acc / total[:, None], queries, count, WIDTH)
    tl.store(lse_ptr + head + queries, top + tl.log2(total), mask=queries < count)


@triton.jit
def delta_kernel(out_ptr, dout_ptr, delta_ptr, count, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """delta = rowsum(out * dout); heads and positions alike are rows here."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    out = load_rows(out_ptr, rows, count, WIDTH).to(tl.float32)
    dout = load_rows(dout_ptr, rows, count, WIDTH).to(tl.float32)
    tl.store(delta_ptr + rows, tl.sum(out * dout, axis=1), mask=rows < count)


@triton.jit
def probabilities(q, k, lse, queries, keys, count, scale, CAUSAL: tl.constexpr):
    score = tl.dot(q, tl.trans(k), input_precision="ieee") * (scale * 1.4426950408889634)
    p = tl.exp2(score - lse[:, None])
    return tl.where(visible(queries, keys, count, CAUSAL) & (queries[:, None] < count), p, 0.0)


@triton.jit
def keys_kernel(q_ptr, k_ptr, v_ptr, dout_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, count, scale,
                CAUSAL: tl.constexpr, WIDTH: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr):
    """dK and dV of one block of keys: a walk over the queries that see it."""
    head = tl.program_id(1).to(tl.int64) * count
    first = tl.program_id(0) * BLOCK_K
    keys = first + tl.arange(0, BLOCK_K)
    k = load_rows(k_ptr + head * WIDTH, keys, count, WIDTH)
    v = load_rows(v_ptr + head * WIDTH, keys, count, WIDTH)
    dk, dv = tl.zeros([BLOCK_K, WIDTH], tl.float32), tl.zeros([BLOCK_K, WIDTH], tl.float32)
    begin = first // BLOCK_Q * BLOCK_Q if CAUSAL else 0
    for start in range(begin, count, BLOCK_Q):
        queries = start + tl.arange(0, BLOCK_Q)
        q = load_rows(q_ptr + head * WIDTH, queries, count, WIDTH)
        dout = load_rows(dout_ptr + head * WIDTH, queries, count, WIDTH)
        lse = tl.load(lse_ptr + head + queries, mask=queries < count, other=0.0)
        delta = tl.load(delta_ptr + head + queries, mask=queries < count, other=0.0)
        p = probabilities(q, k, lse, queries, keys, count, scale, CAUSAL)
        dv = tl.dot(tl.trans(p.to(dout.dtype)), dout, dv, input_precision="ieee")
        ds = p * (tl.dot(dout, tl.trans(v), input_precision="ieee") - delta[:, None])
        dk = tl.dot(tl.trans(ds.to(q.dtype)), q, dk, input_precision="ieee")
    store_rows(dk_ptr + head * WIDTH, dk * scale, keys, count, WIDTH)
    store_rows(dv_ptr + head * WIDTH, dv, keys, count, WIDTH)


@triton.jit
def queries_kernel(q_ptr, k_ptr, v_ptr, dout_ptr, lse_ptr, delta_ptr, dq_ptr, count, scale,
                   CAUSAL: tl.constexpr, WIDTH: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr):
    """dQ of one block of queries: a walk over the keys that it sees."""
    head = tl.program_id(1).to(tl.int64) * count
    queries = tl.program_id(0) * BLOCK_Q + tl.arange(0, BLOCK_Q)
    q = load_rows(q_ptr + head * WIDTH, queries, count, WIDTH)
    dout = load_rows(dout_ptr + head * WIDTH, queries, count, WIDTH)
    lse = tl.load(lse_ptr + head + queries, mask=queries < count, other=0.0)
    delta = tl.load(delta_ptr + head + queries, mask=queries < count, other=0.0)
    dq = tl.zeros([BLOCK_Q, WIDTH], tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * BLOCK_Q, count) if CAUSAL else count
    for start in range(0, end, BLOCK_K):
        keys = start + tl.arange(0, BLOCK_K)
        k = load_rows(k_ptr + head * WIDTH, keys, count, WIDTH)
        v = load_rows(v_ptr + head * WIDTH, keys, count, WIDTH)
        p = probabilities(q, k, lse, queries, keys, count, scale, CAUSAL)
        ds = p * (tl.dot(dout, tl.trans(v), input_precision="ieee") - delta[:, None])
        dq = tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")
    store_rows(dq_ptr + head * WIDTH, dq * scale, queries, count, WIDTH)


class Attention(torch.autograd.Function):
    """q, k, v: [batch, heads, positions, width], contiguous, the width a power of two of at least 16."""

    BLOCK = 64

    @staticmethod
    def forward(context, q, k, v, causal):
        batch, heads, count, width = q.shape
        if width < 16 or width & (width - 1):
            raise ValueError(f"width {width} is no power of two of at least 16")
        out, lse = torch.empty_like(q), torch.empty(batch, heads, count)
        block, scale = Attention.BLOCK, 1 / math.sqrt(width)
        grid = (triton.cdiv(count, block), batch * heads)
        forward_kernel[grid](q, k, v, out, lse, count, scale, causal, width, block, block)
        context.save_for_backward(q, k, v, out, lse)
        context.causal, context.scale = causal, scale
        return out

    @staticmethod
    def backward(context, dout):
        q, k, v, out, lse = context.saved_tensors
        batch, heads, count, width = q.shape
        dout, delta, block = dout.contiguous(), torch.empty_like(lse), Attention.BLOCK
        rows = batch * heads * count
        delta_kernel[(triton.cdiv(rows, block),)](out, dout, delta, rows, width, block)
        dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
        grid = (triton.cdiv(count, block), batch * heads)
        shared = (q, k, v, dout, lse, delta)
        sizes = (count, context.scale, context.causal, width, block, block)
        keys_kernel[grid](*shared, dk, dv, *sizes)
        queries_kernel[grid](*shared, dq, *sizes)
        return dq, dk, dv, None


def torch_attention(q, k, v, causal):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def gradients(function, q, k, v, causal, dout) -> list[torch.Tensor]:
    """[out, dq, dk, dv], by backpropagation of dout."""
    inputs = [t.detach().clone().requires_grad_() for t in (q, k, v)]
    out = function(*inputs, causal)
    out.backward(dout)
    return [out.detach(), *(t.grad for t in inputs)]


def main() -> None:
    report = Report("06 fused attention", rate=("GFLOP/s", 1e9))
    shapes = [(1, 2, 70, 32), (2, 1, 64, 16)]
    if report.quick:
        Attention.BLOCK = 32  # more blocks of fewer positions, and kernels of a fourth of the code
    else:
        shapes = [(2, 4, 512, 64), (1, 4, 1000, 64), (1, 8, 1024, 128)]
    shapes = shapes[:1] if INTERPRETED else shapes
    for dtype in (torch.float32, torch.float16):
        # Relative to the largest value of each result. In f16 the probabilities themselves are rounded, to
        # 2^-11.
        limit = 2e-5 if dtype == torch.float32 else 4e-3
        for batch, heads, count, width in shapes:
            for causal in (False, True):
                torch.manual_seed(0)
                q, k, v, dout = (torch.randn(batch, heads, count, width).to(dtype) for _ in range(4))
                wide = (t.double() for t in (q, k, v))
                expected = gradients(torch_attention, *wide, causal, dout.double())
                actual = gradients(Attention.apply, q, k, v, causal, dout)
                error = max(((a.double() - e).abs().max() / e.abs().max()).item()
                            for a, e in zip(actual, expected, strict=True))
                name = f"{str(dtype).removeprefix('torch.float')} {batch}x{heads}x{count}x{width}"
                name += " causal" if causal else ""
                work = 4 * batch * heads * count * count * width * (0.5 if causal else 1)
                arguments = (q, k, v, causal)
                ours = median_ms(lambda a=arguments: Attention.apply(*a))
                theirs = median_ms(lambda a=arguments: torch_attention(*a))
                report.row(name, ours, theirs, error, limit, work=work)
                arguments = (q, k, v, causal, dout)
                ours = median_ms(lambda a=arguments: gradients(Attention.apply, *a))
                theirs = median_ms(lambda a=arguments: gradients(torch_attention, *a))
                report.row(name + " both", ours, theirs, error, limit, work=3.5 * work)
    report.finish()


if __name__ == "__main__":
    main()

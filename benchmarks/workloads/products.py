"""Matrix products: square, tall, skinny, batched; f32, f16, bf16, int8."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from .workload import Workload, size

#: (BM, BN, BK) that the best is sought among, unless one was found before in this process
BLOCKS = ((256, 128, 64), (128, 128, 64), (128, 128, 128), (64, 128, 64), (64, 64, 64), (32, 64, 64),
          (16, 128, 64))


@triton.autotune([triton.Config({"BM": m, "BN": n, "BK": k}) for m, n, k in BLOCKS], ["M", "N", "K", "batch"])
@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, batch, a_batch, b_batch, c_batch,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a b, row-major; the third axis of the grid is the batch."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    which = tl.program_id(2).to(tl.int64)
    a = a_ptr + which * a_batch + m[:, None] * K + k[None, :]
    b = b_ptr + which * b_batch + k[:, None] * N + n[None, :]
    kind = tl.int32 if c_ptr.dtype.element_ty == tl.int32 else tl.float32
    total = tl.zeros([BM, BN], kind)
    for done in range(0, K, BK):
        x = tl.load(a, mask=(m[:, None] < M) & (k[None, :] < K - done), other=0)
        y = tl.load(b, mask=(k[:, None] < K - done) & (n[None, :] < N), other=0)
        total = tl.dot(x, y, total, input_precision="ieee", out_dtype=kind)
        a += BK
        b += BK * N
    c = c_ptr + which * c_batch + m[:, None] * N + n[None, :]
    tl.store(c, total.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def matmul(m: int, n: int, k: int, dtype: torch.dtype = torch.float32, batch: int = 1,
           fast: bool = False) -> Workload:
    """a [batch, m, k] x b [batch, k, n]; floats are summed in f32, int8 in int32. fast: with fast_math."""
    whole = dtype == torch.int8
    def matrix(*shape: int) -> torch.Tensor:
        return torch.randint(-128, 128, shape, dtype=dtype) if whole else torch.randn(shape).to(dtype)
    a, b = matrix(batch, m, k), matrix(batch, k, n)
    c = torch.empty(batch, m, n, dtype=torch.int32 if whole else dtype)

    def ours() -> torch.Tensor:
        matmul_kernel[lambda meta: (triton.cdiv(m, meta["BM"]), triton.cdiv(n, meta["BN"]), batch)](
            a, b, c, m, n, k, batch, m * k, k * n, m * n, fast_math=fast)
        return c

    def theirs(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if whole:
            return torch.stack([torch._int_mm(x, y) for x, y in zip(a, b, strict=True)])
        return a @ b
    # rounded to the type at the end; before that, a sum in f32 whose terms may cancel
    tolerance = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.int8: 0.0}[dtype]
    shape = f"{m}" if m == n == k else f"{m}x{n}x{k}"
    name = f"matmul {str(dtype).removeprefix('torch.')} {f'{batch} of ' if batch > 1 else ''}{shape}"
    name += " with fast_math" if fast else ""
    return Workload(name, ours, theirs, (a, b), tolerance, size(a, b, c), 2.0 * batch * m * n * k)


def workloads(quick: bool) -> list[Workload]:
    """512 to 2048; --quick: small ones."""
    narrow = (torch.float16, torch.bfloat16, torch.int8)
    if quick:
        return [matmul(70, 90, 100), *(matmul(64, 64, 64, dtype) for dtype in narrow),
                matmul(64, 64, 64, torch.bfloat16, fast=True),
                matmul(33, 65, 40, batch=3)]
    return [*(matmul(n, n, n) for n in (512, 1024, 2048)),
            *(matmul(1024, 1024, 1024, kind) for kind in narrow),
            matmul(1024, 1024, 1024, torch.bfloat16, fast=True),
            matmul(4096, 128, 512), matmul(16, 2048, 2048), matmul(256, 256, 64, batch=32)]

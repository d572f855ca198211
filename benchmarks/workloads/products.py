"""Matrix products: square, tall, skinny, batched; f32, f16, bf16, int8; with what a network does next."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from .workload import Workload, size

#: (BM, BN, BK) that the best is sought among, unless one was found before in this process
BLOCKS = ((256, 512, 512), (256, 512, 128), (256, 512, 64), (128, 512, 128), (256, 256, 256), (256, 256, 128),
          (256, 256, 64), (256, 128, 64), (128, 256, 128), (128, 128, 64), (128, 128, 128), (128, 128, 512),
          (128, 64, 64), (128, 64, 512), (64, 256, 512), (64, 128, 512), (64, 128, 64), (64, 64, 64),
          (32, 64, 64), (16, 128, 64), (16, 512, 64), (16, 64, 64), (16, 512, 16), (16, 1024, 16),
          (16, 2048, 16))

#: the same for kernels with a bias, a gate or remainders
MLP_BLOCKS = triton.autotune(
    [triton.Config({"BM": m, "BN": n, "BK": k}) for m, n, k in (
        (256, 256, 512), (256, 256, 128), (256, 128, 64), (128, 256, 64), (128, 128, 512), (128, 128, 64),
        (128, 64, 64), (64, 128, 512), (64, 128, 64), (64, 64, 64))], ["M", "N", "K"])


def no_larger(configs: list[triton.Config], given: dict[str, Any], **_: Any) -> list[triton.Config]:
    """Those blocks that are no larger than a product of M x N x K, in powers of two, or the least of all."""
    sizes = {f"B{name}": max(least, triton.next_power_of_2(given[name]))
             for name, least in (("M", 16), ("N", 64), ("K", 64))}
    return [config for config in configs if all(config.kwargs[name] <= size for name, size in sizes.items())]


@triton.autotune([triton.Config({"BM": m, "BN": n, "BK": k}) for m, n, k in BLOCKS], ["M", "N", "K", "batch"],
                 prune_configs_by={"early_config_prune": no_larger})
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
        # of seven bits: with AVX2, torch's library sums two products in 16 bits, and saturates
        return torch.randint(-64, 64, shape, dtype=dtype) if whole else torch.randn(shape).to(dtype)
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


@triton.autotune([triton.Config({"BM": 16, "BN": n, "BK": k}) for n, k in (
    (64, 64), (128, 64), (512, 64), (64, 256), (32, 512), (32, 1024), (64, 1024))], ["M", "N", "K"])
@triton.jit
def linear_kernel(x_ptr, weight_ptr, y_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """y = x weight^T, as a linear layer has its weight: [N, K]."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros([BM, BN], tl.float32)
    for done in range(0, K, BK):
        x = tl.load(x_ptr + m[:, None] * K + (done + k)[None, :],
                    mask=(m[:, None] < M) & (k[None, :] < K - done), other=0)
        weight = tl.load(weight_ptr + (done + k)[:, None] + n[None, :] * K,
                         mask=(k[:, None] < K - done) & (n[None, :] < N), other=0)
        total = tl.dot(x, weight, total, input_precision="ieee")
    tl.store(y_ptr + m[:, None] * N + n[None, :], total.to(y_ptr.dtype.element_ty),
             mask=(m[:, None] < M) & (n[None, :] < N))


def linear(m: int, n: int, k: int, dtype: torch.dtype) -> Workload:
    """x [m, k] x weight [n, k]^T, summed in f32: one token of a language model, and the weight of a layer."""
    x, weight, out = (torch.randn(*shape).to(dtype) for shape in ((m, k), (n, k), (m, n)))

    def ours() -> torch.Tensor:
        linear_kernel[lambda meta: (triton.cdiv(m, meta["BM"]), triton.cdiv(n, meta["BN"]))](
            x, weight, out, m, n, k)
        return out
    tolerance = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}[dtype]
    return Workload(f"linear {str(dtype).removeprefix('torch.')} {m}x{n}x{k}", ours,
                    torch.nn.functional.linear, (x, weight), tolerance, size(x, weight, out), 2.0 * m * n * k)


@MLP_BLOCKS
@triton.jit
def wrapped_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a b, row-major, with remainders instead of masks along M and N, and programs in groups of 8 rows of
    blocks: as most public kernels are written."""
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    group = tl.program_id(0) // (8 * across)
    high = min(down - group * 8, 8)
    row = group * 8 + tl.program_id(0) % (8 * across) % high
    column = tl.program_id(0) % (8 * across) // high
    m, n, k = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    a = a_ptr + (m % M)[:, None] * K + k[None, :]
    b = b_ptr + k[:, None] * N + (n % N)[None, :]
    total = tl.zeros([BM, BN], tl.float32)
    for done in range(0, K, BK):
        x = tl.load(a, mask=k[None, :] < K - done, other=0)
        y = tl.load(b, mask=k[:, None] < K - done, other=0)
        total = tl.dot(x, y, total, input_precision="ieee")
        a += BK
        b += BK * N
    tl.store(c_ptr + m[:, None] * N + n[None, :], total.to(c_ptr.dtype.element_ty),
             mask=(m[:, None] < M) & (n[None, :] < N))


def wrapped(m: int, n: int, k: int, dtype: torch.dtype) -> Workload:
    """a [m, k] x b [k, n], summed in f32."""
    a, b, c = (torch.randn(*shape).to(dtype) for shape in ((m, k), (k, n), (m, n)))

    def ours() -> torch.Tensor:
        wrapped_kernel[lambda meta: (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)](
            a, b, c, m, n, k)
        return c
    kind = str(dtype).removeprefix("torch.")
    return Workload(f"matmul {kind} {f'{m}' if m == n == k else f'{m}x{n}x{k}'} with remainders", ours,
                    torch.matmul, (a, b), 1e-5 if dtype == torch.float32 else 1.6e-2, size(a, b, c),
                    2.0 * m * n * k)


@MLP_BLOCKS
@triton.jit
def mlp_gelu_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, M, N, K,
                    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """gelu(x weight + bias), row-major."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros([BM, BN], tl.float32)
    for done in range(0, K, BK):
        x = tl.load(x_ptr + m[:, None] * K + (done + k)[None, :],
                    mask=(m[:, None] < M) & (k[None, :] < K - done), other=0)
        weight = tl.load(weight_ptr + (done + k)[:, None] * N + n[None, :],
                         mask=(k[:, None] < K - done) & (n[None, :] < N), other=0)
        total = tl.dot(x, weight, total, input_precision="ieee")
    total += tl.load(bias_ptr + n, mask=n < N, other=0)[None, :]
    total = 0.5 * total * (1 + tl.erf(total * 0.7071067811865476))
    tl.store(out_ptr + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@MLP_BLOCKS
@triton.jit
def mlp_swiglu_kernel(x_ptr, gate_ptr, up_ptr, out_ptr, M, N, K,
                      BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """silu(x gate) * (x up), row-major: two products over one reading of x."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    gates = tl.zeros([BM, BN], tl.float32)
    ups = tl.zeros([BM, BN], tl.float32)
    for done in range(0, K, BK):
        x = tl.load(x_ptr + m[:, None] * K + (done + k)[None, :],
                    mask=(m[:, None] < M) & (k[None, :] < K - done), other=0)
        inside = (k[:, None] < K - done) & (n[None, :] < N)
        place = (done + k)[:, None] * N + n[None, :]
        gates = tl.dot(x, tl.load(gate_ptr + place, mask=inside, other=0), gates, input_precision="ieee")
        ups = tl.dot(x, tl.load(up_ptr + place, mask=inside, other=0), ups, input_precision="ieee")
    tl.store(out_ptr + m[:, None] * N + n[None, :], gates * tl.sigmoid(gates) * ups,
             mask=(m[:, None] < M) & (n[None, :] < N))


def mlp(kind: str, m: int, n: int, k: int) -> Workload:
    """A layer of a network in f32, its activation in the product's epilogue: gelu with a bias, or swiglu."""
    x, one, out = torch.randn(m, k), torch.randn(k, n) / k ** 0.5, torch.empty(m, n)
    other = torch.randn(n) if kind == "gelu" else torch.randn(k, n) / k ** 0.5
    kernel = mlp_gelu_kernel if kind == "gelu" else mlp_swiglu_kernel

    def ours() -> torch.Tensor:
        kernel[lambda meta: (triton.cdiv(m, meta["BM"]), triton.cdiv(n, meta["BN"]))](
            x, one, other, out, m, n, k)
        return out

    def gelu(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(torch.addmm(bias, x, weight))

    def swiglu(x: torch.Tensor, gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.silu(x @ gate) * (x @ up)
    work = 2.0 * m * n * k * (1 if kind == "gelu" else 2)
    theirs = gelu if kind == "gelu" else swiglu
    return Workload(f"mlp {kind} {m}x{n}x{k}", ours, theirs, (x, one, other), 1e-5, size(x, one, other, out),
                    work)


def workloads(quick: bool) -> list[Workload]:
    """512 to 2048; --quick: small ones."""
    narrow = (torch.float16, torch.bfloat16, torch.int8)
    if quick:
        return [matmul(70, 90, 100), *(matmul(64, 64, 64, dtype) for dtype in narrow),
                matmul(64, 64, 64, torch.bfloat16, fast=True),
                matmul(33, 65, 40, batch=3), linear(1, 65, 40, torch.bfloat16), mlp("gelu", 33, 65, 40),
                mlp("swiglu", 33, 65, 40), wrapped(33, 65, 40, torch.float32)]
    return [*(matmul(n, n, n) for n in (512, 1024, 2048)),
            *(matmul(1024, 1024, 1024, kind) for kind in narrow),
            matmul(1024, 1024, 1024, torch.bfloat16, fast=True),
            matmul(4096, 128, 512), matmul(16, 2048, 2048), matmul(1, 4096, 4096),
            matmul(1, 4096, 4096, torch.bfloat16),
            *(linear(1, 4096, 4096, kind) for kind in (torch.float32, torch.float16, torch.bfloat16)),
            matmul(256, 256, 64, batch=32),
            *(wrapped(1024, 1024, 1024, kind) for kind in (torch.float32, torch.bfloat16)),
            mlp("gelu", 1024, 2048, 512), mlp("swiglu", 1024, 2048, 512)]

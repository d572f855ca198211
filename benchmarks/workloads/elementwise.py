"""One output for each input element: addition, chains, activations, dropout."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from kernels import add_kernel

from .workload import Workload, size

BLOCK = 8192


@triton.jit
def chain_kernel(x_ptr, y_ptr, z_ptr, out_ptr, n, a, b, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    x = tl.load(x_ptr + index, mask=inside)
    y = tl.load(y_ptr + index, mask=inside)
    z = tl.load(z_ptr + index, mask=inside)
    tl.store(out_ptr + index, (a * x + y) * b + z, mask=inside)


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    x = tl.load(x_ptr + index, mask=inside)
    tl.store(out_ptr + index, 0.5 * x * (1 + tl.erf(x * 0.7071067811865476)), mask=inside)


@triton.jit
def swiglu_kernel(gate_ptr, up_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    gate = tl.load(gate_ptr + index, mask=inside)
    up = tl.load(up_ptr + index, mask=inside)
    tl.store(out_ptr + index, gate * tl.sigmoid(gate) * up, mask=inside)


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    x = tl.load(x_ptr + index, mask=inside)
    keep = tl.rand(seed, index) > p
    tl.store(out_ptr + index, tl.where(keep, x / (1 - p), 0.0), mask=inside)


def add(n: int) -> Workload:
    """x + y in f32."""
    x, y, out, expected = torch.rand(n), torch.rand(n), torch.empty(n), torch.empty(n)

    def ours() -> torch.Tensor:
        add_kernel[(triton.cdiv(n, BLOCK),)](x, y, out, n, BLOCK)
        return out
    a, b = x.numpy(), y.numpy()
    return Workload(f"add {n}", ours, lambda x, y: torch.add(x, y, out=expected), (x, y), 0.0,
                    size(x, y, out), numpy=lambda: a + b)


def chain(n: int) -> Workload:
    """(a x + y) b + z in f32: one pass here, three in torch eager."""
    x, y, z, out = torch.rand(n), torch.rand(n), torch.rand(n), torch.empty(n)

    def ours() -> torch.Tensor:
        chain_kernel[(triton.cdiv(n, BLOCK),)](x, y, z, out, n, 1.5, 0.5, BLOCK)
        return out
    return Workload(f"saxpy chain {n}", ours, lambda x, y, z: (1.5 * x + y) * 0.5 + z, (x, y, z), 1e-6,
                    size(x, y, z, out))


def gelu(n: int) -> Workload:
    """GELU by the error function, f32."""
    x, out = torch.randn(n), torch.empty(n)

    def ours() -> torch.Tensor:
        gelu_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK)
        return out
    return Workload(f"gelu {n}", ours, torch.nn.functional.gelu, (x,), 1e-6, size(x, out))


def swiglu(n: int) -> Workload:
    """silu(gate) up in f32: two passes in torch eager."""
    gate, up, out = torch.randn(n), torch.randn(n), torch.empty(n)

    def ours() -> torch.Tensor:
        swiglu_kernel[(triton.cdiv(n, BLOCK),)](gate, up, out, n, BLOCK)
        return out
    return Workload(f"swiglu {n}", ours, lambda gate, up: torch.nn.functional.silu(gate) * up, (gate, up),
                    1e-6, size(gate, up, out))


def dropout(n: int) -> Workload:
    """Dropout with Philox. Other random numbers than torch's: only how many are kept can be compared."""
    x, out = torch.ones(n), torch.empty(n)

    def ours() -> torch.Tensor:
        dropout_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, 0.5, 123, BLOCK)
        return out
    result = Workload(f"dropout {n}", ours, lambda x: torch.nn.functional.dropout(x, 0.5), (x,), 1.0,
                      size(x, out))
    kept = ours().count_nonzero().item() / n
    assert abs(kept - 0.5) < 5 / n ** 0.5, f"{kept} of the elements are kept"
    return result


def workloads(quick: bool) -> list[Workload]:
    """At sizes that lie in memory; --quick: at sizes that show that they work."""
    n = 10_001 if quick else 1 << 24
    return [add(n), chain(n), gelu(n), swiglu(n), dropout(n)]

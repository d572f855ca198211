"""unsloth's kernels against torch, forward and backward: its own tests are functions that a program calls."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional as F
from unsloth.kernels.cross_entropy_loss import fast_cross_entropy_loss
from unsloth.kernels.fp8 import act_quant, w8a8_block_fp8_matmul_triton, weight_dequant
from unsloth.kernels.geglu import (
    geglu_approx_backward_kernel,
    geglu_approx_forward_kernel,
    geglu_exact_backward_kernel,
    geglu_exact_forward_kernel,
)
from unsloth.kernels.layernorm import fast_layernorm
from unsloth.kernels.rms_layernorm import fast_rms_layernorm
from unsloth.kernels.rope_embedding import fast_rope_embedding
from unsloth.kernels.swiglu import swiglu_DWf_DW_dfg_kernel, swiglu_fg_kernel

close = torch.testing.assert_close
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}

GATES = {
    "geglu exact": (F.gelu, geglu_exact_forward_kernel, geglu_exact_backward_kernel),
    "geglu approx": (lambda x: F.gelu(x, approximate="tanh"), geglu_approx_forward_kernel,
                     geglu_approx_backward_kernel),
    "swiglu": (F.silu, swiglu_fg_kernel, swiglu_DWf_DW_dfg_kernel),
}


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


@DTYPES
@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("width", [64, 1000])
def test_gates(name: str, width: int, dtype: torch.dtype) -> None:
    """h = f(e) * g; of a gradient DW of h, with respect to both."""
    function, forward, backward = GATES[name]
    e, g, d = torch.randn(3, 2, 7, width).to(dtype).unbind(0)
    wide, up = e.double().requires_grad_(), g.double().requires_grad_()
    expected = function(wide) * up
    tolerance = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}
    close(forward(e, g), expected.detach().to(dtype), **tolerance)
    expected.backward(d.double())
    found = backward(d.view(14, width).clone(), e.view(14, width).clone(), g.view(14, width).clone())
    for mine, its in zip(found, (expected, up.grad, wide.grad), strict=True):
        assert its is not None
        close(mine.view(2, 7, width), its.detach().to(dtype), **tolerance)


@DTYPES
@pytest.mark.parametrize("norm", ["layer", "rms", "gemma"])
@pytest.mark.parametrize("width", [64, 777, 4096])
def test_norms(norm: str, width: int, dtype: torch.dtype) -> None:
    """Gradients are of the input; weights are frozen there."""
    x, d = torch.randn(2, 2, 5, width).to(dtype).unbind(0)
    module = SimpleNamespace(weight=torch.rand(width).to(dtype), bias=torch.rand(width).to(dtype), eps=1e-5,
                             variance_epsilon=1e-5, elementwise_affine=True)
    mine, its = x.clone().requires_grad_(), x.double().requires_grad_()
    weight = module.weight.double() + (norm == "gemma")
    if norm == "layer":
        expected = F.layer_norm(its, (width,), weight, module.bias.double(), 1e-5)
        found = fast_layernorm(module, mine)
    else:
        expected = its * torch.rsqrt(its.square().mean(-1, keepdim=True) + 1e-5) * weight
        found = fast_rms_layernorm(module, mine, gemma=norm == "gemma")
    tolerance = {"rtol": TOLERANCE[dtype], "atol": 4 * TOLERANCE[dtype]}
    close(found, expected.detach().to(dtype), **tolerance)
    expected.backward(d.double())
    found.backward(d.clone())
    assert mine.grad is not None and its.grad is not None
    close(mine.grad, its.grad.to(dtype), **tolerance)


@DTYPES
@pytest.mark.parametrize("indices", [False, True])
def test_rope(indices: bool, dtype: torch.dtype) -> None:
    length, width = 9, 64
    q, k = torch.randn(2, 4, length, width).to(dtype), torch.randn(2, 2, length, width).to(dtype)
    angles = torch.outer(torch.arange(32.0), 1e4 ** (-torch.arange(0, width, 2) / width)).repeat(1, 2)
    where = torch.randint(32, (2, length)) if indices else torch.arange(length).expand(2, length)

    def turned(x: torch.Tensor) -> torch.Tensor:
        one, other = x.double().chunk(2, -1)
        cos, sin = (each.double()[where][:, None] for each in (angles.cos(), angles.sin()))
        return x.double() * cos + torch.cat((-other, one), -1) * sin

    cos, sin = angles.cos().to(dtype), angles.sin().to(dtype)
    found = fast_rope_embedding(q.clone(), k.clone(), cos, sin, where.reshape(-1) if indices else None)
    for mine, its in zip(found, (q, k), strict=True):
        close(mine, turned(its).to(dtype), rtol=TOLERANCE[dtype], atol=4 * TOLERANCE[dtype])


@pytest.mark.parametrize("words", [1000, 32000, 128256])
@pytest.mark.parametrize(("cap", "scale"), [(0, 0), (30.0, 0), (0, 0.5)])
def test_cross_entropy(words: int, cap: float, scale: float) -> None:
    """A vocabulary of more than 65,536 words goes in pieces."""
    logits, labels = torch.randn(1, 6, words) * 4, torch.randint(words, (1, 6))
    labels[0, 2] = -100
    mine, its = logits.clone().requires_grad_(), logits.double().requires_grad_()
    shown = its * (scale or 1)
    shown = cap * torch.tanh(shown / cap) if cap else shown
    expected = F.cross_entropy(shown[0], labels[0])
    found = fast_cross_entropy_loss(mine.clone(), labels, cap, scale)
    close(found.double(), expected, rtol=1e-5, atol=1e-5)
    found.backward()
    expected.backward()
    assert mine.grad is not None and its.grad is not None
    close(mine.grad.double(), its.grad, rtol=1e-4, atol=1e-6)


def test_eight_bits() -> None:
    """Activations in blocks of 128, weights in squares of 128, and their product."""
    x, weight = torch.randn(33, 256), torch.randn(384, 256)
    small, scales = act_quant(x)
    blocks = weight.view(3, 128, 2, 128)
    of_blocks = blocks.abs().amax((1, 3)) / 448
    narrow = (blocks / of_blocks[:, None, :, None]).view(384, 256).to(torch.float8_e4m3fn)
    wide = weight_dequant(narrow, of_blocks, dtype=torch.float32)
    close(wide, (narrow.float().view(3, 128, 2, 128) * of_blocks[:, None, :, None]).view(384, 256))
    rows = small.float() * scales.repeat_interleave(128, -1)
    assert (rows - x).abs().max() < 0.2
    found = w8a8_block_fp8_matmul_triton(small, narrow, scales, of_blocks, [128, 128])
    close(found, rows @ wide.T, rtol=1e-4, atol=1e-3)

"""The models of `benchmarks/inductor.py --dynamic`: kernels of rows whose length only the call knows.

Name -> a function that makes (program, arguments), as in inductor_models.py. Each has a million elements or
so; the numbers in the names are lengths of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.nn import functional as F

Made = tuple[Callable[..., Any], tuple[Any, ...]]

ELEMENTS = 1 << 20


def _rows(row: int, dtype: torch.dtype = torch.float32, count: int = 1) -> tuple[torch.Tensor, ...]:
    return tuple(torch.randn(ELEMENTS // row, row).to(dtype) for _ in range(count))


def softmax(row: int) -> Made:
    return lambda x: torch.softmax(x, -1), _rows(row)


def log_softmax(row: int) -> Made:
    return lambda x: torch.log_softmax(x, -1), _rows(row)


def layer_norm(row: int) -> Made:
    return (lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b),
            (*_rows(row), torch.randn(row), torch.randn(row)))


def layer_norm_of_a_residual_bf16(row: int) -> Made:
    weights = torch.randn(2, row).bfloat16().unbind()
    return (lambda x, y, w, b: F.layer_norm(x + y, x.shape[-1:], w, b),
            (*_rows(row, torch.bfloat16, 2), *weights))


def rms_norm(row: int) -> Made:
    return (lambda x, w: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w,
            (*_rows(row), torch.randn(row)))


def bias_gelu(row: int) -> Made:
    return lambda x, b: F.gelu(x + b), (*_rows(row), torch.randn(row))


def reduced(name: str, axis: int, *shape: int) -> Made:
    function = getattr(torch, name)
    return lambda x: function(x, axis), (torch.randn(*shape),)


def trained(loss: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> Made:
    """Forward and backward, by all inputs of floating point."""
    leaves = [x.requires_grad_() for x in inputs if x.is_floating_point()]

    def step(*given: torch.Tensor) -> torch.Tensor:
        for leaf in leaves:
            leaf.grad = None
        value = loss(*given)
        value.backward()
        return value
    return step, inputs


def group_norm() -> Made:
    return (lambda x, w, b: F.group_norm(x, 8, w, b),
            (torch.randn(4, 64, 28, 28), torch.randn(64), torch.randn(64)))


def cross_entropy() -> Made:
    return F.cross_entropy, (torch.randn(256, 4099), torch.randint(0, 4099, (256,)))


def scales_of_planes_and_rows() -> Made:
    return (lambda x, s, b: torch.relu(x * s[:, None, None] + b[None, :, None]),
            (torch.randn(20, 60, 500), torch.randn(20), torch.randn(60)))


def transposing_add() -> Made:
    return lambda x, y: x + y.t(), (torch.randn(1000, 1024), torch.randn(1024, 1000))


def concatenation() -> Made:
    return lambda x, y: torch.cat([x, y], -1) * 2, (torch.randn(1000, 500), torch.randn(1000, 530))


def padding() -> Made:
    return lambda x: F.pad(x, (1, 2, 3, 4)) + 1, (torch.randn(20, 200, 201),)


def embedding() -> Made:
    return lambda w, i: F.embedding(i, w) * 2, (torch.randn(5000, 256), torch.randint(0, 5000, (16, 128)))


def embedding_and_norm() -> Made:
    return (lambda w, i, p, g, b: F.layer_norm(F.embedding(i, w) + p, w.shape[-1:], g, b),
            (torch.randn(5000, 256), torch.randint(0, 5000, (16, 128)), torch.randn(128, 256),
             torch.randn(256), torch.randn(256)))


def layer_norm_training() -> Made:
    return trained(lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b).square().sum(), *_rows(768),
                   torch.randn(768), torch.randn(768))


MODELS: dict[str, Callable[[], Made]] = {
    f"{function.__name__.replace('_', ' ')} {row}": partial(function, row)
    for function, lengths in ((softmax, (10, 100, 768, 1000, 1024, 1030, 4096, 20000)),
                              (log_softmax, (1000,)), (layer_norm, (100, 768, 1024, 1030, 4096, 20000)),
                              (layer_norm_of_a_residual_bf16, (768,)), (rms_norm, (768, 4096)),
                              (bias_gelu, (768, 1030)))
    for row in lengths}
MODELS |= {f"{name} {where}": partial(reduced, name, axis, *shape)
           for name in ("sum", "var", "amax", "argmax")
           for where, axis, shape in (("100", -1, (10485, 100)), ("1030", -1, (1018, 1030)),
                                      ("over rows", 0, (1030, 1000)),
                                      ("over a middle axis", 1, (20, 100, 501)))}
MODELS |= {function.__name__.replace("_", " "): function
           for function in (group_norm, cross_entropy, scales_of_planes_and_rows, transposing_add,
                            concatenation, padding, embedding, embedding_and_norm, layer_norm_training)}

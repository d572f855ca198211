"""The models of benchmarks/inductor.py: name -> a function that makes (program, arguments).

A program is called with the arguments again and again; one that trains ends with `backward()` and leaves the
gradients where they are overwritten. Sizes are those of small models, so that each takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

Made = tuple[Callable[..., Any], tuple[Any, ...]]

MODELS: dict[str, Callable[[], Made]] = {}


def model(function: Callable[[], Made]) -> Callable[[], Made]:
    """Under the function's name, with spaces."""
    MODELS[function.__name__.replace("_", " ")] = function
    return function


def training(module: nn.Module, loss: Callable[..., torch.Tensor], *arguments: Any) -> Made:
    """Forward and backward of a module."""
    parameters = list(module.parameters())

    def step(*inputs: Any) -> torch.Tensor:
        for parameter in parameters:
            parameter.grad = None
        value = loss(module, *inputs)
        value.backward()
        return value
    return step, arguments


# ---- elementwise


@model
def pointwise_chain_of_4M() -> Made:
    return lambda x, y: (torch.sin(x) * y + torch.exp(-x * x)).clamp(-1, 1), (torch.randn(4 << 20),) * 2


@model
def pointwise_chain_of_64k() -> Made:
    return lambda x, y: (torch.sin(x) * y + torch.exp(-x * x)).clamp(-1, 1), (torch.randn(64 << 10),) * 2


@model
def bias_gelu_residual_bf16() -> Made:
    x, bias = torch.randn(2048, 1024, dtype=torch.bfloat16), torch.randn(1024, dtype=torch.bfloat16)
    return lambda x, bias, r: F.gelu(x + bias) + r, (x, bias, x.clone())


@model
def transposing_add() -> Made:
    return lambda x, y: x.t() + y, (torch.randn(1500, 1500), torch.randn(1500, 1500))


@model
def rotary_embedding() -> Made:
    def rotate(x: Any, cos: Any, sin: Any) -> Any:
        one, other = x.chunk(2, -1)
        return x * cos + torch.cat((-other, one), -1) * sin
    return rotate, (torch.randn(4, 12, 256, 64), torch.randn(256, 64), torch.randn(256, 64))


@model
def swiglu() -> Made:
    return lambda x: F.silu(x[..., :1024]) * x[..., 1024:], (torch.randn(1024, 2048),)


@model
def upsample_bilinear() -> Made:
    return lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), (torch.randn(2, 16, 64, 64),)


@model
def max_pool() -> Made:
    return lambda x: F.max_pool2d(x, 3, 2, 1), (torch.randn(4, 32, 64, 64),)


# ---- reductions, norms, losses


@model
def sum_of_all() -> Made:
    return lambda x: (x * x).sum(), (torch.randn(2048, 2048),)


@model
def sum_over_rows() -> Made:
    return lambda x: x.sum(1), (torch.randn(2048, 2048),)


@model
def sum_over_columns() -> Made:
    return lambda x: x.sum(0), (torch.randn(2048, 2048),)


@model
def variance_over_columns() -> Made:
    return lambda x: x.var(0), (torch.randn(1024, 512),)


@model
def softmax() -> Made:
    return lambda x: torch.softmax(x, -1), (torch.randn(2048, 1024),)


@model
def softmax_of_20000_columns() -> Made:
    return lambda x: torch.softmax(x, -1), (torch.randn(256, 20000),)


@model
def logsumexp() -> Made:
    return lambda x: torch.logsumexp(x, -1), (torch.randn(1024, 4000),)


@model
def argmax() -> Made:
    return lambda x: x.argmax(-1), (torch.randn(1024, 4000),)


@model
def cumulative_sum() -> Made:
    return lambda x: x.cumsum(-1), (torch.randn(512, 4096),)


@model
def layer_norm() -> Made:
    return lambda x, w, b: F.layer_norm(x, (768,), w, b), (torch.randn(2048, 768), *torch.randn(2, 768))


@model
def layer_norm_training() -> Made:
    return training(nn.LayerNorm(768), lambda m, x: (m(x) * x).sum(),
                    torch.randn(2048, 768, requires_grad=True))


@model
def rms_norm_bf16() -> Made:
    x, w = torch.randn(2048, 1024, dtype=torch.bfloat16), torch.randn(1024, dtype=torch.bfloat16)


    def norm(x: Any, w: Any) -> Any:
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, True) + 1e-6)).bfloat16() * w
    return norm, (x, w)


@model
def group_norm() -> Made:
    return lambda x: F.group_norm(x, 8).relu(), (torch.randn(4, 64, 32, 32),)


@model
def batch_norm_training() -> Made:
    return training(nn.BatchNorm2d(64), lambda m, x: m(x).relu().sum(), torch.randn(8, 64, 28, 28))


@model
def cross_entropy_training() -> Made:
    labels, logits = torch.randint(8000, (256,)), torch.randn(256, 8000, requires_grad=True)
    return training(nn.Identity(), lambda m, x: F.cross_entropy(x * 2, labels), logits)


# ---- gathers


@model
def embedding_and_norm() -> Made:
    words, tokens = torch.randn(30000, 512), torch.randint(30000, (4, 512))
    return lambda tokens, words: F.layer_norm(F.embedding(tokens, words), (512,)), (tokens, words)


@model
def gather_rows() -> Made:
    return lambda x, i: x[i] * 2, (torch.randn(10000, 256), torch.randint(10000, (4000,)))


# ---- optimisers


def _parameters() -> list[torch.Tensor]:
    shapes = (768, 3072), (3072, 768), (768,), (768, 768)
    made = [torch.randn(shape, requires_grad=True) for shape in shapes]
    for parameter in made:
        parameter.grad = torch.randn_like(parameter)
    return made


@model
def adam_step() -> Made:
    optimiser = torch.optim.Adam(_parameters(), lr=1e-3)
    return lambda: optimiser.step(), ()


@model
def sgd_with_momentum() -> Made:
    optimiser = torch.optim.SGD(_parameters(), lr=1e-3, momentum=0.9)
    return lambda: optimiser.step(), ()


# ---- blocks of models


@model
def MLP_training() -> Made:
    module = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256))
    return training(module, lambda m, x: F.mse_loss(m(x), x), torch.randn(256, 256))


@model
def convolution_block() -> Made:
    module = nn.Sequential(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.SiLU(), nn.AvgPool2d(2))
    return module.eval(), (torch.randn(4, 16, 56, 56),)


class _Residual(nn.Module):

    def __init__(self, width: int) -> None:
        super().__init__()
        self.one, self.two = (nn.Conv2d(width, width, 3, padding=1, bias=False) for _ in range(2))
        self.first, self.second = nn.BatchNorm2d(width), nn.BatchNorm2d(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.second(self.two(F.relu(self.first(self.one(x))))) + x)


@model
def ResNet_block_training() -> Made:
    return training(_Residual(32), lambda m, x: m(x).mean(), torch.randn(4, 32, 28, 28))


class _Block(nn.Module):
    """A transformer's, attention written out."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.first, self.second = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for part in self.qkv(self.first(x)).chunk(3, -1))
        weights = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1)
        x = x + self.out((weights @ v).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.second(x)), approximate="tanh"))


def _transformer(width: int, heads: int, length: int) -> tuple[nn.Module, torch.Tensor]:
    return _Block(width, heads), torch.randn(2, length, width)


@model
def transformer_block_of_128() -> Made:
    module, x = _transformer(128, 4, 64)
    return module.requires_grad_(False), (x,)


@model
def transformer_block_of_384() -> Made:
    module, x = _transformer(384, 6, 128)
    return module.requires_grad_(False), (x,)


@model
def transformer_block_of_768() -> Made:
    module, x = _transformer(768, 12, 256)
    return module.requires_grad_(False), (x,)


@model
def transformer_training_of_128() -> Made:
    module, x = _transformer(128, 4, 64)
    return training(module, lambda m, x: m(x).square().mean(), x)


@model
def transformer_training_of_384() -> Made:
    module, x = _transformer(384, 6, 128)
    return training(module, lambda m, x: m(x).square().mean(), x)


@model
def masked_attention_weights() -> Made:
    mask = torch.ones(256, 256, dtype=torch.bool).tril()
    return lambda s: torch.softmax(torch.where(mask, s * 0.125, -1e9), -1), (torch.randn(2, 12, 256, 256),)


@model
def LSTM_cell() -> Made:
    def cell(x: Any, h: Any, c: Any, w: Any, u: Any, b: Any) -> Any:
        i, f, g, o = (x @ w + h @ u + b).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c
    x, h, c = torch.randn(3, 64, 256)
    return cell, (x, h, c, torch.randn(256, 1024), torch.randn(256, 1024), torch.randn(1024))


@model
def vision_transformer() -> Made:
    class Vision(nn.Module):

        def __init__(self) -> None:
            super().__init__()
            self.patches, self.places = nn.Conv2d(3, 192, 16, 16), nn.Parameter(torch.randn(1, 196, 192))
            self.block, self.norm, self.head = _Block(192, 3), nn.LayerNorm(192), nn.Linear(192, 100)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.patches(x).flatten(2).transpose(1, 2) + self.places
            return self.head(self.norm(self.block(x)).mean(1))
    return Vision().requires_grad_(False), (torch.randn(1, 3, 224, 224),)


@model
def quantised_linear() -> Made:
    weights = torch.randint(-128, 128, (1024, 512), dtype=torch.int8)
    return (lambda x, w, s: F.linear(x, w.float() * s[:, None]).relu(),
            (torch.randn(64, 512), weights, torch.rand(1024)))

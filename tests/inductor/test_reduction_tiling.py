"""Reductions with rows of memory that are no multiple of a vector long have an axis for those rows."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

pytest.importorskip("triton_spirv_inductor")

Script = Callable[..., "subprocess.CompletedProcess[str]"]

BEGIN = '''
import torch
import triton_spirv
from counting import blocks, count
triton_spirv.inductor.enable()
count()
torch.manual_seed(0)

def same(model, *arguments, dynamic=False, **tolerance):
    """As eager mode; the blocks of what was launched."""
    torch._dynamo.reset()
    blocks.clear()
    torch.testing.assert_close(torch.compile(model, dynamic=dynamic)(*arguments), model(*arguments),
                               equal_nan=True, **tolerance)
    return [set(each) for each in blocks]

PLANES, COLUMNS = {"XBLOCK", "R0_BLOCK", "R1_BLOCK"}, {"XBLOCK", "YBLOCK", "R0_BLOCK"}
'''


def test_which_kernels(script: Script) -> None:
    """Rows that are reduced in several planes, columns that are kept of several; not where rows are whole
    vectors or shorter than one, where there is one loop, and where a place is found."""
    done = script(BEGIN + '''
def channels(x):
    return x.sum((0, 2, 3))

for plane in ((7, 7), (14, 14), (35, 35), (5, 5)):
    assert same(channels, torch.randn(6, 50, *plane), atol=1e-4, rtol=1e-5) == [PLANES]
for plane in ((8, 8), (3, 3)):
    assert PLANES not in same(channels, torch.randn(6, 50, *plane))
for shape in ((5, 9, 99), (5, 9, 501), (70, 9, 17)):
    assert same(lambda x: x.sum(1), torch.randn(shape)) == [COLUMNS]
for shape in ((5, 9, 64), (70, 9, 5)):
    assert COLUMNS not in same(lambda x: x.sum(1), torch.randn(shape))
flat = same(lambda x: (x.sum(1), x.sum(0).sum()), torch.randn(99, 77), atol=1e-4, rtol=1e-5)
assert not {"YBLOCK", "R1_BLOCK"} & set().union(*flat)
assert PLANES not in same(lambda x: x.transpose(0, 1).flatten(1).argmax(1), torch.randn(6, 50, 35))
''')
    assert done.returncode == 0, done.stderr


@pytest.mark.takes_turns(2)
def test_values(script: Script) -> None:
    """Types, NaN and infinity; statistics, several sums at once, gradients; slices and permuted axes; rows of
    a vector and one, many small planes, and shapes that are not known when compiling."""
    done = script(BEGIN + '''
from torch import bfloat16, bool, float16, float32, float64, int8, int32, int64

def sums(x):
    return x.sum((0, 2)), x.amax((0, 2)), x.sum(1), x.amax(1)

for dtype in (bfloat16, float16, float32, float64, int8, int32, int64):
    x = torch.randn(7, 11, 77).mul(9).to(dtype)
    if dtype.is_floating_point:
        x[3, 5, 0], x[4, 9, 76], x[5, 1, 64], x[6, 10, 5] = float("nan"), float("inf"), -float("inf"), -0.0
    assert {*map(frozenset, same(sums, x))} == {frozenset(PLANES), frozenset(COLUMNS)}, dtype
same(lambda x: (x.any(1), x.all(1)), torch.randn(7, 11, 77) > 1)

def statistics(x):
    variance, mean = torch.var_mean(x, (0, 2), keepdim=True)
    column = torch.var_mean(x, 1, keepdim=True)
    normalized = (x - mean) * torch.rsqrt(variance + 1e-5)
    return variance, mean, normalized, *column, (x - column[1]) * torch.rsqrt(column[0] + 0.1)

for shape in ((40, 3, 49), (2, 100, 1225), (3, 5, 17), (9, 70, 33), (1, 70, 31), (70, 2, 65), (2000, 2, 17)):
    x = 100 + torch.randn(shape)
    same(statistics, x, atol=1e-4, rtol=1e-4)
    same(statistics, x[:, :, 1:], atol=1e-4, rtol=1e-4)
    same(lambda x: (x.softmax(1), x.logsumexp((0, 2)), x.mean((0, 2)) * 2), x,
         atol=1e-4, rtol=1e-4)
x = torch.randn(9, 33, 5, 21)
for order in ((0, 1, 2, 3), (1, 0, 2, 3), (2, 1, 0, 3), (1, 2, 0, 3), (3, 1, 2, 0), (0, 3, 1, 2)):
    for axes in ((0, 2, 3), (0, 2), (1, 2), (1,), (0, 3)):
        same(lambda x: (x * 2 + 1).sum(axes), x.permute(order), atol=1e-4, rtol=1e-4)
same(statistics, torch.randn(7, 11, 77), dynamic=True, atol=1e-4, rtol=1e-4)
same(lambda x: x[:, ::2].softmax(1), torch.randn(20, 99, 101), dynamic=True)

def gradients(x, w):
    y = torch.nn.functional.batch_norm(x, None, None, w, w, True).square().sum()
    return torch.autograd.grad(y, (x, w))

same(gradients, torch.randn(10, 20, 7, 7, requires_grad=True), torch.randn(20, requires_grad=True),
     atol=1e-3, rtol=1e-3)
''')
    assert done.returncode == 0, done.stderr

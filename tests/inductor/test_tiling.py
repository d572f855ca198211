"""Elementwise kernels whose rows are no multiple of a vector long are written in blocks of rows."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

pytest.importorskip("triton_spirv_inductor")

Script = Callable[..., "subprocess.CompletedProcess[str]"]

BEGIN = '''
import torch, torch.nn.functional as F
import triton_spirv
from counting import blocks, count, launched
triton_spirv.inductor.enable()
count()
torch.manual_seed(0)

def same(model, *arguments, dynamic=False, **tolerance):
    """As eager mode; the blocks of what was launched."""
    torch._dynamo.reset()
    blocks.clear()
    launched.clear()
    torch.testing.assert_close(torch.compile(model, dynamic=dynamic)(*arguments), model(*arguments),
                               equal_nan=True, **tolerance)
    return [set(each) for each in blocks]

ROWS, FLAT = [{"XBLOCK", "YBLOCK"}], [{"XBLOCK"}]
'''


def test_which_kernels(script: Script) -> None:
    """Where vectors would lie in two rows, where rows are looked up or found by several quotients; not where
    all is one loop, where rows are whole vectors or shorter than one. What is fused stays fused."""
    done = script(BEGIN + '''
def biased(x, bias):
    return (x + bias).relu()

for columns in (197, 33, 17, 100, 1500):
    assert same(biased, torch.randn(30, columns), torch.randn(columns)) == ROWS
assert same(biased, torch.randn(30, 99), torch.randn(99), dynamic=True) == ROWS
assert same(biased, torch.randn(30, 64), torch.randn(64)) == FLAT
assert same(lambda x: x.transpose(1, 2).contiguous() + 1, torch.randn(2, 19, 12, 64)) == ROWS
assert same(biased, torch.randn(300, 3), torch.randn(3)) == FLAT
assert same(biased, torch.randn(30, 197), torch.randn(30, 197)) == FLAT
assert same(biased, torch.randn(8, 12, 7, 7), torch.randn(12, 1, 1)) == ROWS

def looked_up(x, i):
    return x[i] * 2

assert same(looked_up, torch.randn(50, 64), torch.randint(-50, 50, (70,))) == ROWS

# the second one reads what the first one has written, counted otherwise
def views(x, bias):
    y = x.view(-1, 99) + bias
    return y, y.view(-1) * 2, y.view(-1, 11).exp()

assert same(views, torch.randn(99 * 40), torch.randn(99)) == ROWS and len(launched) == 1
''')
    assert done.returncode == 0, done.stderr


@pytest.mark.takes_turns(2)
def test_values(script: Script) -> None:
    """Types, NaN and infinity; slices, padding, concatenation, masks; what is changed in place and added by
    index; few long rows and many short ones."""
    done = script(BEGIN + '''
from torch import bfloat16, bool, float16, float32, float64, int8, int16, int32, int64, uint8

def biased(x, bias):
    return torch.where(x > bias, x, bias + 1), x == bias

for dtype in (bfloat16, float16, float32, float64, int8, int16, int32, int64, uint8, bool):
    x, bias = (torch.randn(shape).mul(50).to(dtype) for shape in ((41, 77), (77,)))
    if dtype.is_floating_point:
        x[3, 5], x[4, 76], x[5, 0], bias[9] = float("nan"), float("inf"), -float("inf"), float("nan")
    assert same(biased, x, bias) == ROWS, dtype

x, y = torch.randn(2, 41, 77)
assert same(lambda x: x[:, 1:] - x[:, :-1], x) == ROWS
assert same(lambda x: F.pad(x, (1, 4, 3, 4), value=float("inf")) * 2, x) == ROWS
assert same(lambda x, y: torch.cat((x * 2, y[:, 3:]), 1), x, y) == 2 * ROWS
assert same(lambda x: x.flip(1) + x.roll(5, 0), x) == ROWS
assert same(lambda x: torch.where(torch.ones(41, 77, dtype=bool).tril(), x, -1e9), x) == ROWS
same(lambda x: x.view(41, 7, 11).transpose(0, 1).contiguous() + 1, x)
same(lambda x: F.avg_pool2d(x[None], 2) + F.max_pool2d(x[None], 2), x)
same(lambda x: x.expand(20, 41, 77) * x[:, :1], x)

# few rows, for several cores, and so many that their number takes a grid of three dimensions
for shape in ((2, 100_003), (3, 5, 1001), (1_200_000, 17)):
    assert same(lambda x, b: x + b, torch.ones(shape, dtype=int8), torch.ones(shape[-1], dtype=int8)) == ROWS

def in_place(x, bias):
    x.add_(bias).mul_(2)
    return x[1:] + 1

def steps():
    for model in (in_place, torch.compile(in_place, dynamic=False)):
        x = torch.arange(41. * 77).view(41, 77).clone()
        yield model(x, torch.arange(77.)), x

torch.testing.assert_close(*steps())

i = torch.tensor([3, 3, -1, 0, 7, 40])
for accumulate in (False, True):
    kept = i.unique() if not accumulate else i
    same(lambda x, i, v: x.index_put((i,), v[:len(i)] + 1, accumulate=accumulate), x, kept, y)
same(lambda x, i, v: x.index_add(0, i % 41, v[:6] * 2), x, i, y)
try:
    torch.compile(lambda x, i: x[i] * 2)(x, torch.tensor([3, 41]))
except RuntimeError as error:
    assert "out of bounds" in str(error)
else:
    raise AssertionError("row 41 of 41")
''')
    assert done.returncode == 0, done.stderr

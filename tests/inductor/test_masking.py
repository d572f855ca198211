"""Values that a kernel computes and then masks: by pads, pools and shifts of what it has summed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

Script = Callable[..., "subprocess.CompletedProcess[str]"]


def test_a_mask_stays(script: Script) -> None:
    """With torch 2.13's own functions these are wrong: pooled, flag_of_memory, added, added_to_each,
    added_by_rows."""
    done = script("""
import torch, torch.nn.functional as F
from counting import count, launched as used
count()
torch.manual_seed(0)

def lengths(x):
    return F.pad(x.sum(1, dtype=torch.int32), (1, 0))

def pooled(x):
    y = (x[:, None] @ x[:, :, None]) / 8
    return F.avg_pool2d(y.reshape(1, -1, 1, 1), 3, 1, 1), y

def both_sides(x):
    y = x.to(torch.float32).amax(1)
    return F.pad(y, (2, 3), value=7.5), y

def flags(x):
    return F.pad((x > 0).any(1), (1, 2), value=True)

def one_flag(x):
    return F.pad(x[:1, 0] > 0, (1, 2)), F.pad(x[:1, 0] > 0, (1, 2), value=True)

def flag_of_memory(x):
    return F.pad(x[0, :1], (1, 2)), F.pad(x[0, :1], (1, 2), value=True)

def added(x):
    y = x.to(torch.float32)
    at = torch.zeros(x.numel(), dtype=torch.int64)
    one = torch.zeros(1).index_put((at,), y.exp().reshape(-1), accumulate=True)
    return one, (y * 2).sum(), torch.ones(1).index_add(0, at.new_zeros(x.shape[1]), y[0].cos()), y[0].amax()

def added_long(x):
    return added((x.repeat(1, 300) % 5) - 2)

def added_sums(x):
    y = x.to(torch.float32)
    return torch.zeros(1).index_add(0, torch.zeros(x.shape[0], dtype=torch.int64), y.cos().sum(1) + 1)

def added_to_each(x):
    y = x.to(torch.float32)
    at = torch.zeros(x.numel(), dtype=torch.int64)
    mean = (y.reshape(-1).exp().sum() / 7).expand(x.numel())
    return torch.zeros(1).index_put((at,), mean, accumulate=True)

def added_by_rows(x):
    y = x.to(torch.float32)
    mean = (y.exp().sum(1, keepdim=True) / 7).expand(y.shape)
    return torch.zeros(1).index_put((torch.zeros(y.shape, dtype=torch.int64),), mean, accumulate=True)

def rows(x):
    return F.pad(x * 2, (1, 0, 0, 1), value=-1)

types = {pooled: torch.float32, flag_of_memory: torch.bool}
for function in (lengths, pooled, both_sides, flags, one_flag, flag_of_memory, rows, added,
                 added_long, added_sums, added_to_each, added_by_rows):
    for number in (1, 2, 7):
        x = torch.randint(-9, 9, (number, 33)).to(types.get(function, torch.int32))
        torch._dynamo.reset()
        found = torch.compile(function, backend="triton-spirv", dynamic=False)(x)
        torch.testing.assert_close(found, function(x), rtol=1e-4, atol=1e-4)
assert len(used) >= 36
""")
    assert done.returncode == 0, done.stderr


def test_a_sum_into_one_element_in_a_kernel_of_two_axes(script: Script) -> None:
    """With torch 2.13's own functions such a kernel adds a row's value once, or is not compiled."""
    done = script("""
import torch

def f(x, y, row, column):
    at = torch.zeros(x.shape, dtype=torch.int64)
    return x + y.t() + row + column, *(torch.zeros(1).index_put((at,), part.expand(x.shape), accumulate=True)
                                       for part in (row, column))

for rows, columns in ((33, 40), (1024, 4096)):  # no mask is needed: such sizes are multiples of any block's
    # integers whose sums are exact in whatever order: four million of at most 3
    inputs = [torch.randint(4, shape).float() for shape in ((rows, columns), (columns, rows), (rows, 1),
                                                            (1, columns))]
    found = torch.compile(f, backend="triton-spirv", dynamic=False)(*inputs)
    torch.testing.assert_close(found, f(*inputs), rtol=0, atol=0)
""")
    assert done.returncode == 0, done.stderr

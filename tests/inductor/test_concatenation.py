"""Which concatenations are computed where they are used, and that what is computed with them is right."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

Script = Callable[..., "subprocess.CompletedProcess[str]"]


def test_values(script: Script) -> None:
    """Along either dimension, parts of other sizes, parts that nothing is computed of, NaN; written where a
    product reads it, where it is a result, where parts are many, and by Inductor's C++ backend."""
    done = script("""
import torch
from counting import count, launched as used
count()
torch.manual_seed(0)

def rotated(x, cos):
    one, other = x[:, :12], x[:, 12:]
    return x * cos + torch.cat((-other, one), -1) * cos.sin()

def down(x, cos):
    return torch.cat((x, cos[:5] * 2, x[3:]), 0) + 1

def returned(x, cos):
    return torch.cat((-x, cos), 1)

def multiplied(x, cos):
    return torch.cat((-x, cos), 1) @ torch.cat((x, -cos), 1).T

def of_many(x, cos):
    return torch.cat([x * i for i in range(1, 10)], 1) + 1

def dear(x, cos):
    y = x
    for _ in range(12):
        y = y.sin() + y
    return torch.cat((y, cos), 1) + 1

def kernels(function, rows, backend="triton-spirv"):
    used.clear()
    torch._dynamo.reset()
    x, cos = torch.randn(rows, 33), torch.randn(rows, 33)
    x[2, 5] = float("nan")
    found = torch.compile(function, backend=backend, dynamic=False)(x, cos)
    # sums of 66 products in another order, and other functions for sines
    torch.testing.assert_close(found, function(x, cos), equal_nan=True, rtol=1e-4, atol=1e-4)
    return len(used)

def odd(x, cos):
    return rotated(x[:, :24], cos[:, :24])

assert kernels(odd, 7) == 1
assert kernels(down, 100) == 1
kernels(returned, 7), kernels(multiplied, 7)
assert kernels(of_many, 7) > 1
assert kernels(dear, 7) > 1
""")
    assert done.returncode == 0, done.stderr

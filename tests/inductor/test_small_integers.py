"""Sums by index of 8- and 16-bit integers, of which Triton has no atomic ones."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

Script = Callable[..., "subprocess.CompletedProcess[str]"]


def test_sums_by_index(script: Script) -> None:
    done = script("""
import torch
at = torch.arange(33) % 5

def f(x):
    zeros = x.new_zeros(5)
    return (zeros.scatter_add(0, at, x * 2), zeros.index_put((at,), x, accumulate=True),
            zeros.index_add(0, at, x), zeros.scatter_reduce(0, at, x, "sum"),
            zeros.scatter(0, at[:5], x[:5], reduce="add"), x.sum())

def of_truths(x):
    return torch.zeros(5, dtype=torch.bool).index_put((at,), x, accumulate=True)

for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32):
    x = torch.arange(33).to(dtype)
    found = torch.compile(f, backend="triton-spirv", dynamic=False)(x)
    torch.testing.assert_close(found, f(x), rtol=0, atol=0)
x = torch.arange(33) % 5 == 2
assert torch.equal(torch.compile(of_truths, backend="triton-spirv")(x), of_truths(x))
""")
    assert done.returncode == 0, done.stderr

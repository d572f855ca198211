"""A backward kernel that compares with the maximum of what it computes again finds the same numbers as the
forward kernel: the gradient of a maximum is divided by how many elements are equal to it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

Script = Callable[..., "subprocess.CompletedProcess[str]"]

GRADIENTS = """
import torch
F = torch.nn.functional
torch.manual_seed(0)

def exponential_and_sine(x, b, c):
    y = x.exp() + b.sin()
    return y - y.amax(2, keepdim=True)

def centred_products(x, b, c):
    y = torch.maximum(b, x - b) * c.softmax(2) ** 2
    y = y - y.mean(2, keepdim=True)
    return y - y.amin(2, keepdim=True)

def norms(x, b, c):
    y = F.layer_norm(F.silu(F.layer_norm(b, (8,)) + c.abs().sqrt()), (8,)) + x * c
    return (y - y.amin(2, keepdim=True)).exp()

for function in (exponential_and_sine, centred_products, norms):
    made = torch.compile(function, backend="triton-spirv")
    for _ in range(4):
        given = [torch.randn(3, 7, 8, requires_grad=True) for _ in range(3)]
        weight = torch.randn(3, 7, 8)
        expected, found = (torch.autograd.grad((each(*given) * weight).sum(), given, allow_unused=True)
                           for each in (function, made))
        for one, other in zip(expected, found, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                torch.testing.assert_close(other, one, rtol=1e-4, atol=1e-4, msg=lambda text:
                                           f"{function.__name__}: {text}")
print("done")
"""


def test_gradients_of_maxima(script: Script) -> None:
    done = script(GRADIENTS)
    assert done.returncode == 0 and "done" in done.stdout, done.stderr[-3000:]

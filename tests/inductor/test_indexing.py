"""Indices in Inductor's kernels: quotients and remainders by powers of two are shifts and masks."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

sympy = pytest.importorskip("sympy")
indexing = pytest.importorskip("triton_spirv_inductor.indexing")

Script = Callable[..., "subprocess.CompletedProcess[str]"]


def test_powers_of_two() -> None:
    numbers = [sympy.Integer(number) for number in (1, 2, 64, 0, -4, 3, 96)]
    assert [indexing.exponent(number) for number in numbers] == [0, 1, 6, None, None, None, None]
    assert indexing.exponent(sympy.Symbol("s0", integer=True, positive=True)) is None


def test_models_with_such_indices(script: Script) -> None:
    """Views of 8 and 32 columns, gathered rows with negative numbers, what is shifted to negative indices,
    and sizes that are known at the call only."""
    done = script('''
import torch, torch.nn.functional as F
from torch._inductor.codegen import triton
import triton_spirv
triton_spirv.inductor.enable()
texts = []
written = triton.TritonKernel.codegen_kernel

def noted(self, *arguments, **named):
    texts.append(written(self, *arguments, **named))
    return texts[-1]

triton.TritonKernel.codegen_kernel = noted
torch.manual_seed(0)
numbers = torch.tensor([0, -1, 7, -8, 3])

def heads(x):
    return x.view(-1, 4, 8, 32).transpose(1, 2).contiguous() + 1, x.view(-1, 32).sum(1)

def rows(x):
    return x.view(8, -1)[numbers] * 2, x.roll(5, 0), x.flip(0)

def padded(x):
    y = x.view(-1, 16)
    return F.pad(y, (3, 5, 1, 2)) + 1, F.avg_pool1d(y[None], 4, 2, 1)

for model in (heads, rows, padded):
    for dynamic in (False, True):
        torch._dynamo.reset()
        compiled = torch.compile(model, dynamic=dynamic)
        for size in (3 * 1024, 1024):
            x = torch.randn(size)
            torch.testing.assert_close(compiled(x), model(x))
code = "".join(texts)
assert " >> " in code and " & " in code
assert "% 32" not in code and "// 32" not in code, code
''')
    assert done.returncode == 0, done.stderr

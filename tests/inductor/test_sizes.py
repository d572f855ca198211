"""Sizes that only the call knows, in indices of Inductor's kernels and as values."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

sympy = pytest.importorskip("sympy")
functions = pytest.importorskip("torch.utils._sympy.functions")
sizes = pytest.importorskip("triton_spirv_inductor.sizes")

Script = Callable[..., "subprocess.CompletedProcess[str]"]


def test_parts_of_an_index_that_are_sizes() -> None:
    s, t, x, y = sympy.symbols("s t x y", integer=True, positive=True)

    def parts(index: object) -> set[object]:
        return set(sizes.of_sizes(index, {s, t}))

    assert parts(x + y) == set()
    assert parts(s * t) == {s * t, s, t}
    assert parts(x + s * y) == {s}
    assert parts(x + s * t * y) == {s, t, s * t}
    assert parts(x - 3 * s + 7 * t) == {-3 * s + 7 * t, -3 * s, 7 * t, s, t}
    assert parts(functions.FloorDiv(x, s * t)) == {s, t, s * t}


def test_multiples_of_sums() -> None:
    s, t, u = sympy.symbols("s t u", integer=True, positive=True)
    half = functions.FloorDiv(s, 2) + 1
    for number, size in ((s * (t + 7), s), (s * (t + 7) * (u + 1), u + 1), (2 * s + 2 * t, s + t),
                         ((2 * s + 3) * (3 * t + 5), 3 * t + 5), ((t + 1) * half, half), (s * u + t * u, u)):
        assert sizes.is_multiple(sympy.expand(number), size), (number, size)
    real = sympy.Symbol("r")
    for number, size in ((s * (t + 7) + 1, s), (s + t, 2 * s + 2 * t), (3 * s + 2 * t, s), (1 + t / s, 1 / s),
                         (s / 2 + t / 2, s + t), (real * s + real * t, real), ((t + 1) * half + s, half)):
        assert not sizes.is_multiple(sympy.expand(number), size), (number, size)


MODELS = '''
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
'''


def test_indices_have_32_bits(script: Script) -> None:
    """Also for sizes that were not compiled for: odd ones, one row, none."""
    done = script(MODELS + '''
def biased(x):
    return x + x[0]

def padded(x):
    return F.pad(x, (1, 2)) + 1

def joined(x):
    return torch.cat([x, x[:, 1:]], -1) * 2

def means(x):
    return x.mean(0), x.var(-1), x.softmax(-1)

def turned(x):
    return x.t() + x.t().flip(0), x.repeat(2, 3).sum(1)

for model in (biased, padded, joined, means, turned):
    texts.clear()
    compiled = torch.compile(model, dynamic=True)
    for rows, columns in ((33, 100), (7, 1030), (2, 16), (101, 3), (1, 100), (33, 1), (40, 2049)):
        x = torch.randn(rows, columns)
        torch.testing.assert_close(compiled(x), model(x), equal_nan=True, msg=f"{model.__name__} {x.shape}")
    if model in (padded, joined):
        x = torch.randn(0, 100)
        torch.testing.assert_close(compiled(x), model(x))
    assert any("ks0.to(tl.int32)" in text for text in texts), texts
''')
    assert done.returncode == 0, done.stderr


def test_padded_planes_are_rows(script: Script) -> None:
    """Their number of elements is a product of sums. Also for other sizes than were compiled for: pads of
    less than nothing, rows shorter than a vector, one plane, none."""
    done = script(MODELS + '''
def padded(x):
    return F.pad(x, (1, 2, 3, 4)) + 1

def cut(x):
    return F.pad(x, (-1, 2, 3, -2)).exp()

def joined(x):
    return torch.cat([F.pad(x, (0, 3, 1, 0)), x.new_ones(x.shape[0], x.shape[1] + 1, 5)], 2) * 2

for model in (padded, cut, joined):
    texts.clear()
    compiled = torch.compile(model, dynamic=True)
    for shape in ((3, 20, 33), (2, 7, 130), (5, 3, 4), (1, 100, 19), (2, 3, 1025), (9, 11, 64), (0, 5, 40)):
        x = torch.randn(shape)
        torch.testing.assert_close(compiled(x), model(x), msg=f"{model.__name__} {shape}")
    assert model is joined or all("YBLOCK" in text for text in texts), model
''')
    assert done.returncode == 0, done.stderr


def test_values_are_whole(script: Script) -> None:
    """A mean divides by a product of sizes that is beyond 32 bits, where every index is small."""
    done = script(MODELS + '''
def counted(x, y):
    return x * (y.shape[0] * y.shape[0] * y.shape[1]), torch.arange(4) + y.shape[0] ** 4 * y.shape[1]

compiled = torch.compile(counted, dynamic=True)
for rows, columns in ((3000, 2001), (50, 77), (30000, 3)):
    x, y = torch.ones(8), torch.empty(rows, columns)
    torch.testing.assert_close(compiled(x, y), counted(x, y))

def broadcast(x, y):
    return (x[None, :] + y[:, None]).amax(1), x.expand(y.shape[0], -1).sum() / (x.shape[0] * y.shape[0])

compiled = torch.compile(broadcast, dynamic=True)
for rows, columns in ((70, 90), (5, 3000)):
    x, y = torch.randn(columns), torch.randn(rows)
    torch.testing.assert_close(compiled(x, y), broadcast(x, y), rtol=1e-4, atol=1e-4)
''')
    assert done.returncode == 0, done.stderr

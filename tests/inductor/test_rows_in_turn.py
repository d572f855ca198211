"""Rows that are summed by index are added one after the other, where each program has columns of its own."""

from __future__ import annotations

import itertools
import random
import subprocess
from collections.abc import Callable

import pytest

pytest.importorskip("triton_spirv_inductor")

Script = Callable[..., "subprocess.CompletedProcess[str]"]

BEGIN = '''
import torch
import triton_spirv
from torch._inductor.utils import run_and_get_code
triton_spirv.inductor.enable()
torch.manual_seed(0)

def same(model, *arguments, dynamic=False, **tolerance):
    """As eager mode; are rows added in turn, are elements added atomically?"""
    torch._dynamo.reset()
    result, code = run_and_get_code(torch.compile(model, dynamic=dynamic), *arguments)
    torch.testing.assert_close(result, model(*arguments), equal_nan=True, **tolerance)
    return "rows_in_turn" in "".join(code), "tl.atomic_add" in "".join(code)

IN_TURN, ATOMIC = (True, False), (False, True)

def add(x, i, v):
    return x.index_add(0, i, v * 2)
'''


def test_which_kernels(script: Script) -> None:
    """Rows along memory, of at least a vector; not short rows, columns, nor elements."""
    done = script(BEGIN + '''
i = torch.randint(0, 50, (300,))
for columns in (16, 33, 100, 128, 1500):
    assert same(add, torch.zeros(50, columns), i, torch.randn(300, columns), atol=1e-4, rtol=1e-4) == IN_TURN
assert same(add, torch.zeros(50, 3), i, torch.randn(300, 3), atol=1e-4, rtol=1e-4) == ATOMIC
assert same(add, torch.zeros(50), i, torch.randn(300), atol=1e-4, rtol=1e-4) == ATOMIC
assert same(lambda x, i, v: x.index_add(1, i, v), torch.zeros(20, 50), i, torch.randn(20, 300),
            atol=1e-4, rtol=1e-4) == ATOMIC
assert same(lambda x, i, v: x.index_put((i, torch.arange(40)), v, accumulate=True), torch.zeros(50, 40),
            torch.randint(0, 50, (300, 40)), torch.randn(300, 40), atol=1e-4, rtol=1e-4) == ATOMIC
assert same(lambda x, i, v: x.index_add(1, i, v), torch.zeros(5, 50, 100), i, torch.randn(5, 300, 100),
            atol=1e-4, rtol=1e-4) == IN_TURN
''')
    assert done.returncode == 0, done.stderr


@pytest.mark.takes_turns(2)
def test_values(script: Script) -> None:
    """Types, NaN, negative indices, two of them, no rows, one row for all; what is fused; gradients of
    embeddings; more rows than an axis of a grid is long; shapes not known when compiling; a row beyond the
    end."""
    done = script(BEGIN + '''
i = torch.randint(-50, 50, (300,))

def put(x, i, v):
    return x.index_put((i,), v, accumulate=True)

from torch import bfloat16, float16, float32, float64, int8, int32, int64

for dtype in (bfloat16, float16, float32, float64, int8, int32, int64):
    # few enough terms for halves: none is rounded
    x, v = (torch.randint(-2, 3, (rows, 77)).to(dtype) for rows in (50, 300))
    if dtype.is_floating_point:
        v[3, 5], v[4, 76], x[7, 0] = float("nan"), float("inf"), -float("inf")
    same(put, x, i, v)
x, v = torch.randn(50, 77), torch.randn(300, 77)
close = {"atol": 1e-4, "rtol": 1e-4}
assert same(put, x, i, v, **close) == IN_TURN
assert same(put, x, i * 0 - 3, v, **close) == IN_TURN
assert same(lambda x, i, v: put(x, i, v.exp() * v[:, :1]) + x, x, i, v, **close) == IN_TURN
same(put, x, i[:0], v[:0])
same(lambda x, i, v: x.view(5, 10, 77).index_put((i % 5, i % 10), v, accumulate=True), x, i, v, **close)
same(lambda x, i, v: put(x, i, v[:, :1].expand(300, 77)), x, i, v, **close)
same(lambda x, i, v: put(put(x, i, v), i.flip(0), v * 2), x, i, v, **close)
same(lambda x, i, v: put(x.t().contiguous().t(), i, v), x, i, v, **close)
same(lambda x, i, v: put(x[:, 3:40], i, v[:, 3:40]), x, i, v, **close)
same(put, x, i, v, dynamic=True, **close)
same(put, torch.zeros(3, 16), torch.randint(0, 3, (70_000,)), torch.ones(70_000, 16))
same(put, torch.zeros(3, 16, dtype=torch.int8), torch.randint(0, 3, (1_100_000,)),
     torch.ones(1_100_000, 16, dtype=torch.int8))

def gradient(w, i, g):
    return torch.autograd.grad((torch.nn.functional.embedding(i, w) * g).sum(), w)

w, g = torch.randn(50, 100, requires_grad=True), torch.randn(300, 100)
assert same(gradient, w, i % 50, g, **close) == IN_TURN
try:
    torch.compile(put, dynamic=False)(x, torch.tensor([3, 50]), v[:2])
except RuntimeError as error:
    assert "out of bounds" in str(error)
else:
    raise AssertionError("row 50 of 50")
''')
    assert done.returncode == 0, done.stderr


def test_sums_into_one_buffer_that_meet() -> None:
    """Columns of two sums may lie in the same places only where they are the same columns."""
    from triton_spirv_inductor.rows_in_turn import are_apart

    rng, said = random.Random(1), set()
    for _ in range(3000):
        columns, sums, apart = rng.randint(2, 6), list[tuple[list[int], int]](), True
        for _ in range(rng.randint(1, 3)):
            steps, start = [rng.randint(1, 12) for _ in range(rng.randint(0, 2))], rng.choice((0, 1, 6, 12))
            apart = are_apart(sums, steps, start, columns) and apart
        owners: dict[int, set[int]] = {}
        for steps, start in sums:
            for rows in itertools.product(range(-12, 13), repeat=len(steps)):
                first = start + sum(row * step for row, step in zip(rows, steps, strict=True))
                for column in range(columns):
                    owners.setdefault(first + column, set()).add(column)
        meets = any(len(found) > 1 for found in owners.values())
        assert not (apart and meets), (columns, sums)
        said.add((apart, meets))
    assert said >= {(True, False), (False, True)}

"""What launches Inductor's kernels after the first time: counts of ordinary launches, and results."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

Script = Callable[..., "subprocess.CompletedProcess[str]"]

#: counts what the runtime launches the ordinary way, and compiles a function of two kernels' worth
PREPARED = '''
import torch, triton, triton_spirv
from triton_spirv.runtime import quick
from triton_spirv_inductor import launching

ordinary, made = [], []
written = launching.written

def noted(launcher, facts):
    def counted(*arguments, **named):
        ordinary.append(launcher)
        return launcher(*arguments, **named)
    counted.__dict__.update(launcher.__dict__)
    found = written(launcher, facts)
    if found is not None:
        found.__globals__["_spirv_ordinary"] = counted
    made.append(found)
    return found

launching.written = noted
torch.manual_seed(0)

def check(compiled, model, *arguments):
    torch.testing.assert_close(compiled(*arguments), model(*arguments))
'''


def ran(script: Script, text: str) -> None:
    done = script(PREPARED + text)
    assert done.returncode == 0, done.stderr


def test_launches_after_the_first_are_quick(script: Script) -> None:
    """Also those of other sizes, with dynamic shapes, and of parameters in another thread, the backward's."""
    ran(script, '''
model = lambda x, y: torch.softmax((x * 2 + y).sin(), -1)
compiled = torch.compile(model, backend="triton-spirv", dynamic=True)
for rows in (5, 6, 70, 3000):
    check(compiled, model, torch.randn(rows, 40), torch.randn(40))
assert made and all(made), made
layer = torch.nn.LayerNorm(33)
step = torch.compile(lambda x: layer(x).square().sum(), backend="triton-spirv")
for _ in range(3):
    layer.zero_grad()
    x = torch.randn(9, 33)
    step(x).backward()
    mine = layer.weight.grad.clone()
    layer.zero_grad()
    layer(x).square().sum().backward()
    torch.testing.assert_close(mine, layer.weight.grad)
assert len(made) > 2 and all(made), made
assert not ordinary
''')


def test_who_watches_launches_sees_them(script: Script) -> None:
    ran(script, '''
seen = []
model = lambda x: x.cos() * 3
compiled = torch.compile(model, backend="triton-spirv")
x = torch.randn(1000)
for _ in range(3):
    check(compiled, model, x)
hook = lambda metadata: seen.append(metadata.get()["name"])
triton.knobs.runtime.launch_enter_hook.add(hook)
check(compiled, model, x)
assert len(seen) == len(ordinary) == 1, (seen, ordinary)
triton.knobs.runtime.launch_enter_hook.remove(hook)
check(compiled, model, x)
assert len(seen) == len(ordinary) == 1, (seen, ordinary)
''')


def test_what_does_not_fit_is_said_by_the_ordinary_launch(script: Script) -> None:
    ran(script, '''
from torch._inductor.runtime.triton_heuristics import CachingAutotuner
kept, run = [], CachingAutotuner.run
CachingAutotuner.run = lambda self, *a, **k: (kept.append((self, a, k)), run(self, *a, **k))[1]
compiled = torch.compile(lambda x: x.cos() * 3, backend="triton-spirv")
x = torch.randn(1000)
compiled(x), compiled(x)
kernel, (given, taken, count), named = kept[-1]
for wrong in ("x", 7.5, torch.randn(1000, device="meta"), torch.randn(500, dtype=torch.cfloat).conj().imag):
    before = len(ordinary)
    try:
        run(kernel, wrong, taken, count, **named)
    except Exception as error:
        print(type(error), error)
    assert len(ordinary) == before + 1, wrong
run(kernel, given, taken, 0, **named)
before = len(ordinary)
run(kernel, given, taken, count, **named)
torch.testing.assert_close(taken, given.cos() * 3)
assert len(ordinary) == before
''')

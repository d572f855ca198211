"""Ordinary launches, bound ones and graphs on torch's own threads, in a process without a crew."""

from __future__ import annotations

import dataclasses
import functools
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from random import Random

import pytest
import triton
import triton_spirv

torch = pytest.importorskip("torch")

from team_kernels import add_kernel, awake, checked_kernel, fresh, places_kernel

Script = Callable[..., "subprocess.CompletedProcess[str]"]

pytestmark = pytest.mark.cpu_device("torch's threads launch its kernels")


@pytest.fixture(autouse=True)
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRITON_SPIRV_CREW", "0")
    with fresh():
        yield


SWITCH = """
import torch, triton, triton.language as tl, triton_spirv
from triton_spirv.runtime.teams import Sharing
torch.set_num_threads(2)
made, run = [], Sharing.run
Sharing.run = lambda self, *a: (made.append(1), run(self, *a))[1]

@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

x, y, out = torch.randn(1_000_001), torch.randn(1_000_001), torch.zeros(1_000_001)
for turn in range(TURNS):
    add_kernel[(977,)](x, y, out, x.numel(), BLOCK=1024)
    assert torch.equal(out, x + y)
    x += 1
    if made:
        break
print(len(made))
"""


@pytest.mark.parametrize("variables", ({}, {"TRITON_SPIRV_OPENMP": "0"}, {"OMP_STACKSIZE": "4M"}),
                         ids=("default", "off", "stacks"))
def test_the_switch(script: Script, variables: dict[str, str]) -> None:
    """After a launch of the driver that took little: on a busy machine that is not one of the first few."""
    used = not variables and len(os.sched_getaffinity(0)) > 1
    done = script(SWITCH.replace("TURNS", "200" if used else "5"), TRITON_SPIRV_BACKEND="1",
                  TRITON_SPIRV_CREW="0", **variables)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(int(used))]


def test_without_torch(script: Script) -> None:
    done = script("""
import sys, numpy, triton, triton.language as tl, triton_spirv

@triton.jit
def twice_kernel(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i))

x, out = numpy.arange(64000, dtype="f4"), numpy.zeros(64000, "f4")
for _ in range(9):
    compiled = twice_kernel[(1000,)](triton_spirv.asarray(x), triton_spirv.asarray(out), BLOCK=64)
print((out == 2 * x).all(), compiled.function._kernel.sharing, "torch" in sys.modules)
""", TRITON_SPIRV_BACKEND="1", TRITON_SPIRV_CREW="0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "None", "False"]


def test_every_way_of_launching(monkeypatch: pytest.MonkeyPatch) -> None:
    made, n = awake(monkeypatch), 100_003
    x, y, out = torch.randn(n), torch.randn(n), torch.zeros(n)
    grid = (triton.cdiv(n, 256),)
    ordinary = functools.partial(add_kernel[grid], x, y, out, n, BLOCK=256)
    ordinary()
    bound = triton_spirv.bind(add_kernel, grid, x, y, out, n, BLOCK=256)
    with triton_spirv.graph() as graph:
        ordinary()
    for launch in (ordinary, functools.partial(bound, x, y, out, n), graph.replay):
        made.clear()
        for _ in range(3):
            x += 1
            launch()
            assert torch.equal(out, x + y)
        assert made == [True] * 3
    assert not bound.why_ordinary


@pytest.mark.parametrize("count", (1, 2, 3, 8))
def test_grids_from_threads(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """With teams of so many, led by four threads at once."""
    made, wrong = awake(monkeypatch), []
    torch.set_num_threads(count)

    def work(seed: int) -> None:
        torch.set_num_threads(count)
        random = Random(seed)
        counts, places = torch.zeros(70_000, dtype=torch.int32), torch.zeros(70_000, dtype=torch.int64)
        for _ in range(25):
            x, y = random.choice((1, 2, 7, 33, 600)), random.choice((1, 1, 3, 10))
            z = random.choice((1, 1, 2, 11))
            counts.zero_()
            places_kernel[x, y, z](counts, places)
            programs = torch.arange(x * y * z)
            expected = programs % x + 10000 * (programs // x % y) + 100000000 * (programs // x // y)
            expected += x + y + z
            if not (counts[:x * y * z].eq(1).all() and not counts[x * y * z:].any()
                    and torch.equal(places[:x * y * z], expected)):
                wrong.append((x, y, z))

    work(0)
    assert bool(made) == (count > 1) and all(made)
    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert not wrong


def test_inside_of_backward(monkeypatch: pytest.MonkeyPatch) -> None:
    made = awake(monkeypatch)

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return added(x, x)

        @staticmethod
        def backward(ctx, gradient):
            return added(gradient, gradient)

    def added(x, y):
        out = torch.empty_like(x)
        add_kernel[(triton.cdiv(x.numel(), 128),)](x.contiguous(), y.contiguous(), out, x.numel(), BLOCK=128)
        return out

    x = torch.randn(7, 1001, requires_grad=True)
    for _ in range(3):
        x.grad = None
        (Doubled.apply(Doubled.apply(x.sin())) * 3).sum().backward()
        torch.testing.assert_close(x.grad, 12 * x.cos())
    assert made and all(made)


def test_assertions_of_ordinary_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    made = awake(monkeypatch)
    x, out = torch.arange(400, dtype=torch.int32), torch.zeros(400, dtype=torch.int32)
    checked_kernel[(400,)](x, out, debug=True)
    x[371] = -1
    for _ in range(3):
        with pytest.raises(RuntimeError, match="negative"):
            checked_kernel[(400,)](x, out, debug=True)
    x[371] = 371
    checked_kernel[(400,)](x, out, debug=True)
    assert torch.equal(x, out) and made and all(made)


def test_a_crash_in_a_member_names_the_kernel(script: Script) -> None:
    done = script("""
import torch, triton, triton.language as tl

@triton.jit
def reader_kernel(x, out, step):
    at = tl.program_id(0).to(tl.int64)
    tl.store(out + at, tl.load(x + at * step))

torch.set_num_threads(2)
x, out = torch.ones(64), torch.zeros(64)
compiled = reader_kernel[(1,)](x, out, 7)
quick = compiled.run.quick(compiled.function, None, {0: 1, 1: 1}, True)
quick.members.team(quick.pack(64, 1, 1, x.data_ptr(), out.data_ptr(), 0))
print(out.sum().item(), flush=True)
quick.members.team(quick.pack(64, 1, 1, x.data_ptr(), out.data_ptr(), 1 << 30))
""", TRITON_SPIRV_BACKEND="1")
    assert done.returncode < 0 and "64.0" in done.stdout and "reader_kernel" in done.stderr


def test_fewer_threads_than_the_driver_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are for models of torch.compile only."""
    made = awake(monkeypatch)
    x, out = torch.randn(1000), torch.zeros(1000)
    compiled = add_kernel[(10,)](x, x, out, 1000, BLOCK=128)
    context = compiled.function.context
    monkeypatch.setattr(context, "device", dataclasses.replace(context.device, compute_units=64))
    add_kernel.device_caches.clear()
    made.clear()
    for _ in range(5):
        compiled = add_kernel[(10,)](x, x, out, 1000, BLOCK=128)
    assert torch.equal(out, x + x) and not made and compiled.function._kernel.sharing.members is None


def test_a_forked_child_can_use_torchs_threads(script: Script) -> None:
    done = script("""
import os, signal, torch, triton, triton.language as tl

@triton.jit
def twice_kernel(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i))

torch.set_num_threads(2)
x, out = torch.ones(1 << 20), torch.zeros(1 << 20)
compiled = twice_kernel[(1,)](x, out, BLOCK=1024)
sharing = compiled.function._kernel.sharing
if sharing is not None:
    from triton_spirv.runtime.pool import pool
    quick = compiled.run.quick(compiled.function, None, {0: 1, 1: 1})
    for _ in range(2):
        quick.sharing.run(1024, quick.members, quick.pack(1024, 1, 1, x.data_ptr(), out.data_ptr()))
    print(pool.worker > 0, out.unique().tolist(), flush=True)
child = os.fork()
if not child:
    signal.alarm(60)
    print(x.sin().sum().item() > 0, flush=True)
    twice_kernel[(1024,)](out, x, BLOCK=1024)
    os._exit(x.unique().tolist() != [4.0])
print(os.waitpid(child, 0)[1], flush=True)
for _ in range(5):
    x += 1
    twice_kernel[(1024,)](x, out, BLOCK=1024)
    assert torch.equal(out, 2 * x)
""", TRITON_SPIRV_BACKEND="1")
    assert done.returncode == 0, done.stderr
    team = ["True", "[2.0]"] if len(os.sched_getaffinity(0)) > 1 else []
    assert done.stdout.split() == [*team, "True", "0"]


def test_operators_of_torchs_in_forked_children(script: Script) -> None:
    """Of many children, each of whose threads begin at once: without a thread pool of torch's one in five
    failed."""
    done = script("""
import os, torch
from triton_spirv.runtime import teams
torch.set_num_threads(4)
x = torch.randn(4000, 300)
for _ in range(25):
    x.sum(1)
    teams.pool.worker = 1  # as after a launch that a team has made
    child = os.fork()
    if not child:
        try:
            x.sum(1)
        except RuntimeError as error:
            print(error, flush=True)
        os._exit(torch.get_num_threads() != 4)
    assert os.waitpid(child, 0)[1] == 0
""", TRITON_SPIRV_BACKEND="1", OMP_WAIT_POLICY="passive")
    assert done.returncode == 0 and not done.stdout, done.stdout + done.stderr

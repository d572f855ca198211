"""For tests of launches by a team of torch's OpenMP threads: kernels, and teams that make launches in any
case."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
import triton
import triton.language as tl
from triton_spirv.runtime import teams
from triton_spirv.runtime.pool import pool
from triton_spirv.runtime.quick import Quick
from triton_spirv.runtime.teams import Sharing

#: of the team; more than most machines have cores
THREADS = 3


@triton.jit
def places_kernel(counts, places):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    at = (z * ny + y) * nx + x
    tl.atomic_add(counts + at, 1)
    tl.store(places + at, x + 10000 * y + 100000000 * z.to(tl.int64) + (nx + ny + nz))


@triton.jit
def uneven_kernel(out, rounds, BLOCK: tl.constexpr):
    x = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.zeros((BLOCK,), tl.float32)
    for turn in range(tl.where(x % 7 == 0, rounds, 1)):
        value += tl.sin(i * 0.5 + turn)
    tl.store(out + x * BLOCK + i, value)


@triton.jit
def one_long_kernel(out, slow, rounds, BLOCK: tl.constexpr):
    x = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.zeros((BLOCK,), tl.float32)
    for turn in range(tl.where(x == slow, rounds, rounds // 4)):  # who is done sooner takes others' programs
        value += tl.sin(i * 0.5 + turn)
    tl.store(out + x * BLOCK + i, value)


@triton.jit
def waiting_kernel(word, out):
    if tl.program_id(0) == 0:
        tl.atomic_xchg(word, 1)
    else:
        while tl.atomic_add(word, 0) == 0:
            pass
    tl.store(out + tl.program_id(0), 1)


@triton.jit
def checked_kernel(x, out):
    value = tl.load(x + tl.program_id(0))
    tl.device_assert(value >= 0, "negative")
    tl.store(out + tl.program_id(0), value)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


class Led:
    """A kernel compiled for these arguments, and launches of it that a team makes in any case."""

    def __init__(self, kernel, *arguments, **named) -> None:
        places = [at for at, argument in enumerate(arguments) if isinstance(argument, torch.Tensor)]
        compiled = kernel[(1,)](*arguments, **named)
        quick = compiled.run.quick(compiled.function, None, dict.fromkeys(places, 1), True)
        assert isinstance(quick, Quick) and isinstance(quick.sharing, Sharing) and quick.members is not None
        self.quick, self.sharing, self.members = quick, quick.sharing, quick.members
        self.team(1, 1, 1, *arguments)
        assert self.members.count == THREADS

    def data(self, x, y, z, *arguments) -> bytes:
        return self.quick.pack(x, y, z, *values(*arguments), *self.quick.threads.hidden)

    def check_assertions(self, x, out) -> None:
        """Of checked_kernel, whose programs all hold at first, and then one does not."""
        data = self.data(len(x), 1, 1, x, out)
        assert self.quick.asserts
        assert self.members.team(data) >= 0 and torch.equal(x, out) and not self.quick.threads.error[0]
        x[31] = -1
        assert self.members.team(data) >= 0 and self.quick.threads.error[0]
        with pytest.raises(RuntimeError, match="negative"):
            self.quick.failed_assertion()
        assert not self.quick.threads.error[0]

    def team(self, x, y, z, *arguments) -> int:
        return self.members.team(self.data(x, y, z, *arguments))


@contextmanager
def fresh() -> Iterator[None]:
    """Nothing is known of kernels and threads, and torch has THREADS."""
    before = torch.get_num_threads()
    torch.set_num_threads(THREADS)
    for kernel in (places_kernel, uneven_kernel, one_long_kernel, waiting_kernel, checked_kernel, add_kernel):
        kernel.device_caches.clear()
    pool.worker = pool.alone = 0
    teams._last[:] = teams._lost[:] = 0, 0
    yield
    teams.resting[0] = pool.worker = pool.alone = 0
    torch.set_num_threads(before)


def values(*arguments) -> list[int]:
    return [one.data_ptr() if isinstance(one, torch.Tensor) else one for one in arguments]


def awake(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whatever the machine does besides, a team makes each launch that may be one; those that were made."""
    made: list[bool] = []
    run = Sharing.run

    def always(self, programs: int, members, data: bytes) -> bool:
        teams.resting[0], pool.ended = 0, time.perf_counter_ns()
        made.append(run(self, programs, members, data))
        return made[-1]

    monkeypatch.setattr(Sharing, "run", always)
    for name, constant in (("most", 0), ("shared", 1 << 30)):
        found = property(lambda self, constant=constant: constant, lambda self, value: None)
        monkeypatch.setattr(Sharing, name, found, raising=False)
    return made

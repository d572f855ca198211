"""Launches that torch's own threads share: each program runs once, whoever runs it, and knows where it is."""

from __future__ import annotations

import itertools
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator

import pytest
import torch
import triton
import triton.language as tl
from triton_spirv.errors import LaunchError
from triton_spirv.runtime import launch_code, teams, waiting
from triton_spirv.runtime.quick import Quick
from triton_spirv.runtime.teams import Shared
from triton_spirv_inductor.openmp import openmp

Script = Callable[..., "subprocess.CompletedProcess[str]"]

#: a setting that is the default; a script with one is no child of a fork
FRESH = {"TRITON_SPIRV_INDUCTOR_OPENMP": "1"}

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
    for turn in range(tl.where(x == slow, rounds, 1)):
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


def quick_of(kernel, *arguments, **named) -> Quick:
    """Quick launches of a kernel compiled for these arguments."""
    library = openmp()
    assert library is not None
    compiled = kernel[(1,)](*arguments, **named)
    places = [at for at, argument in enumerate(arguments) if isinstance(argument, torch.Tensor)]
    found = compiled.run.quick(compiled.function, None, dict.fromkeys(places, 1),
                               teams.OpenMP(library.parallel, library.number, lambda: THREADS))
    assert isinstance(found, Quick)
    return found


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(THREADS)
    yield
    teams.resting[0] = 0
    torch.set_num_threads(before)


def values(*arguments) -> list[int]:
    return [one.data_ptr() if isinstance(one, torch.Tensor) else one for one in arguments]


GRIDS = [(1, 1, 1), (2, 1, 1), (3, 1, 1), (7, 1, 1), (12, 1, 1), (1000, 1, 1), (1, 9, 1), (3, 5, 1),
         (40, 2, 1), (2, 40, 1), (2, 3, 4), (1, 1, 17), (13, 1, 2), (5, 11, 13), (1, 600, 1)]


@pytest.mark.parametrize("members", (1, 2, THREADS, 2 * THREADS))
def test_every_program_runs_once(members: int) -> None:
    """With the threads of the team, and with fewer or more, which OpenMP may give at any time."""
    counts, places = torch.zeros(5000, dtype=torch.int32), torch.zeros(5000, dtype=torch.int64)
    quick = quick_of(places_kernel, counts, places)
    torch.set_num_threads(members)
    for nx, ny, nz in GRIDS:
        programs = nx * ny * nz
        for _ in range(4):  # the last launch's time decides into how many pieces the next is made
            counts.zero_(), places.zero_()
            assert quick.threads.team(quick.pack(nx, ny, nz, *values(counts, places))) >= 0
            assert counts[:programs].eq(1).all() and not counts[programs:].any(), (nx, ny, nz)
            expected = [x + 10000 * y + 100000000 * z + nx + ny + nz
                        for z, y, x in itertools.product(range(nz), range(ny), range(nx))]
            assert places[:programs].tolist() == expected


def test_who_is_done_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    out = torch.zeros(100 * 16)
    quick = quick_of(uneven_kernel, out, 2000, BLOCK=16)
    i = torch.arange(16) * 0.5
    short = i.sin()
    for count in (21, 50, 100):
        out.zero_()
        assert quick.threads.team(quick.pack(count, 1, 1, out.data_ptr(), 2000)) >= 0
        rows = out.view(100, 16)
        long = sum((i + turn).sin() for turn in range(2000))
        for row in range(count):
            torch.testing.assert_close(rows[row], short if row % 7 else long, rtol=1e-3, atol=1e-2)
        assert not rows[count:].any()


def test_threads_lead_teams_of_their_own() -> None:
    counts, places = torch.zeros(4, 500, dtype=torch.int32), torch.zeros(4, 500, dtype=torch.int64)
    quick, codes = quick_of(places_kernel, counts[0], places[0]), []
    counts.zero_()

    def work(mine: int) -> None:
        torch.set_num_threads(2)
        for _ in range(200):
            codes.append(quick.threads.team(quick.pack(500, 1, 1, *values(counts[mine], places[mine]))))

    workers = [threading.Thread(target=work, args=(mine,)) for mine in range(4)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert min(codes) >= 0 and counts.eq(200).all()


def test_an_address_that_cannot_be_launches_nothing() -> None:
    counts, places = torch.zeros(9, dtype=torch.int32), torch.zeros(9, dtype=torch.int64)
    quick = quick_of(places_kernel, counts, places)
    counts.zero_()
    code = quick.threads.team(quick.pack(9, 1, 1, 64, places.data_ptr()))
    assert code == launch_code.MISFIT and not quick.said_team(9, code) and not counts.any()


def test_programs_that_wait_for_each_other_have_no_team() -> None:
    word, out = torch.ones(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    compiled = waiting_kernel[(1,)](word, out)
    assert compiled.run.quick(compiled.function, None, {0: 1, 1: 1}, openmp()) is None


def test_assertions() -> None:
    x, out = torch.arange(40, dtype=torch.int32), torch.zeros(40, dtype=torch.int32)
    quick = quick_of(checked_kernel, x, out, debug=True)
    assert quick.asserts
    data = quick.pack(40, 1, 1, *values(x, out), *quick.threads.hidden)
    assert quick.threads.team(data) >= 0 and torch.equal(x, out) and not quick.threads.error[0]
    x[31] = -1
    assert quick.threads.team(data) >= 0 and quick.threads.error[0]
    with pytest.raises(RuntimeError, match="negative"):
        quick.failed_assertion()
    assert not quick.threads.error[0]


def test_pace() -> None:
    """Brief launches are the calling thread's, long ones the team's, and what cannot be interrupted in time
    the driver's for a while."""
    counts, places = torch.zeros(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int64)
    quick = quick_of(places_kernel, counts, places)
    assert isinstance(quick, Shared)
    quick.shared = 64
    assert quick.most <= 1
    for _ in range(teams.TIMES):
        assert quick.said_team(32, teams.BRIEF - 1)
    quick.shared = 64
    assert quick._brief == 32
    for _ in range(2):
        quick.said(32, teams.ALONE + 1)
    assert quick.most == quick._brief == 31
    for _ in range(teams.TIMES):
        quick.said_team(32, teams.BRIEF - 1)
    assert quick._brief == 31  # known better
    late = waiting.SHORT + 1
    quick.said_team(64, late), quick.said_team(64, late - 2), quick.said_team(64, late)
    assert quick.shared == 64  # not two in a row
    quick.said_team(64, late)
    assert not quick.shared
    for _ in range(teams.PATIENCE):
        assert not quick.shared
        assert quick.launch(64, 1, 1, values(counts, places))
    assert quick.launch(64, 1, 1, values(counts, places)) and quick.shared >= 64
    with pytest.raises(LaunchError):
        quick.said_team(64, -5)


def test_who_waits_for_others_leaves_it_to_the_driver() -> None:
    """For a time that is long beside the wait, and all kernels; the driver's own time is found out first."""
    counts, places = torch.zeros(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int64)
    quick, asked = quick_of(places_kernel, counts, places), [0]
    assert isinstance(quick, Shared)
    quick.threads.waited = lambda: asked[0]
    quick.shared, asked[0] = 64, teams.LONG + 1
    assert quick.said_team(64, 2 * teams.LONG) and not quick.shared and not teams.resting[0]
    while not quick.shared:
        assert quick.launch(64, 1, 1, values(counts, places))
    quick._driver[(64).bit_length()] = 3 * teams.LONG
    assert quick.said_team(64, 8 * teams.LONG) and not teams.resting[0]  # as long as a whole launch: uneven
    start, asked[0] = time.perf_counter_ns(), 6 * teams.LONG
    assert quick.said_team(64, 8 * teams.LONG) and quick.shared
    assert teams.resting[0] >= start + teams.REST * asked[0]
    teams.resting[0] = start + 10**12
    assert quick.launch(64, 1, 1, values(counts, places)) and teams.resting[0]
    teams.resting[0] = start
    assert quick.launch(64, 1, 1, values(counts, places)) and not teams.resting[0]


@pytest.mark.parametrize("slow", (0, 1))
def test_how_long_the_leader_waited(slow: int) -> None:
    """Nothing, where it has the long program itself; else as long as the other one takes."""
    out = torch.zeros(2 * 16)
    quick = quick_of(one_long_kernel, out, 0, 10, BLOCK=16)
    torch.set_num_threads(2)
    took, waited = [], []
    for _ in range(200):  # others at work can keep a member from coming to its program before the leader does
        took.append(quick.threads.team(quick.pack(2, 1, 1, out.data_ptr(), slow, 200_000)))
        waited.append(quick.threads.waited())
        if len(took) > 8 and (min(waited) < min(took) / 2 if slow == 0 else max(waited) > min(took) / 2):
            break
    else:
        pytest.fail(f"waited {waited} of {took}")
    assert min(took) > teams.LONG and min(waited) >= 0
    assert all(lost < whole for lost, whole in zip(waited, took, strict=True))


def test_a_child_of_a_fork_has_no_team() -> None:
    counts, places = torch.zeros(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int64)
    quick = quick_of(places_kernel, counts, places)
    quick.shared = 64
    assert quick.threads.team(quick.pack(64, 1, 1, *values(counts, places))) >= 0
    child = os.fork()
    if not child:
        code = 1
        try:
            counts.zero_()
            quick.ask_pace()
            assert not quick.shared
            assert quick.launch(64, 1, 1, values(counts, places)) and counts.tolist() == [1] * 64
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_crash_in_a_member_names_the_kernel(script: Script) -> None:
    done = script('''
import torch, triton, triton.language as tl
from triton_spirv_inductor.openmp import openmp

@triton.jit
def reader_kernel(x, out, step):
    at = tl.program_id(0).to(tl.int64)
    tl.store(out + at, tl.load(x + at * step))

torch.set_num_threads(2)
x, out = torch.ones(64), torch.zeros(64)
compiled = reader_kernel[(1,)](x, out, 7)
quick = compiled.run.quick(compiled.function, None, {0: 1, 1: 1}, openmp())
quick.threads.team(quick.pack(64, 1, 1, x.data_ptr(), out.data_ptr(), 0))
print(out.sum().item(), flush=True)
quick.threads.team(quick.pack(64, 1, 1, x.data_ptr(), out.data_ptr(), 1 << 30))
''', **FRESH)
    assert done.returncode < 0 and "64.0" in done.stdout and "reader_kernel" in done.stderr


MODEL = '''
import torch, triton_spirv
from triton_spirv.runtime.teams import Shared, TeamCalls
used = []
first = TeamCalls._first
TeamCalls._first = lambda self, data: (used.append(1), first(self, data))[1]
torch.manual_seed(0)
torch.set_num_threads(2)
model = lambda x, y: torch.softmax((x * 2 + y).sin(), -1)
compiled = torch.compile(model, backend="triton-spirv")
x, y = torch.randn(3000, 400), torch.randn(400)
for turn in range(LAUNCHES):
    x += 1
    torch.testing.assert_close(compiled(x, y), model(x, y))
    if used and turn >= 4:
        break
print(len(used))
'''


@pytest.mark.parametrize("setting", ("1", "0"))
def test_models_use_it(script: Script, setting: str) -> None:
    """After a launch of the driver that took little: on a busy machine that is not one of the first few."""
    launches = 200 if setting == "1" else 5
    done = script(f"LAUNCHES = {launches}{MODEL}", TRITON_SPIRV_INDUCTOR_OPENMP=setting)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [setting if len(os.sched_getaffinity(0)) > 1 else "0"]


def test_an_index_out_of_range_is_still_an_error(script: Script) -> None:
    done = script('''
import torch, triton_spirv
torch.set_num_threads(2)
compiled = torch.compile(lambda x, at: x[at] * 2, backend="triton-spirv")
x, at = torch.randn(100, 256), torch.randint(0, 100, (2000,))
for _ in range(6):
    torch.testing.assert_close(compiled(x, at), x[at] * 2)
at[1700] = 100
for _ in range(3):
    try:
        compiled(x, at)
    except RuntimeError as error:
        print("refused", "index" in str(error))
at[1700] = 99
torch.testing.assert_close(compiled(x, at), x[at] * 2)
''', **FRESH)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["refused True"] * 3

"""Launches that a crew shares: each program runs once, whoever comes, however late; which launches these
are."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
from triton_spirv.runtime import launch_code, teams, waiting
from triton_spirv.runtime.crew import NAME, Crew, crew
from triton_spirv.runtime.openmp import openmp
from triton_spirv.runtime.teams import Members

torch = pytest.importorskip("torch")

from team_kernels import Led, awake, checked_kernel, fresh, places_kernel, uneven_kernel, values

pytestmark = pytest.mark.cpu_device("a crew's threads launch its kernels")

COUNT = 5
GRIDS = [(1, 1, 1), (2, 1, 1), (7, 1, 1), (12, 1, 1), (1000, 1, 1), (1, 9, 1), (3, 5, 1), (40, 2, 1),
         (2, 3, 4), (1, 1, 17), (5, 11, 13), (1, 600, 1)]


@pytest.fixture(scope="module")
def many() -> Crew:
    """Of more members than most machines have cores."""
    made = Crew(COUNT)
    assert made.begin() and made.count == COUNT
    return made


class Crewed(Led):
    """Its launches are a crew's, all of them."""

    def __init__(self, whose: Crew, kernel, *arguments, **named) -> None:
        with fresh():
            super().__init__(kernel, *arguments, **named)
        self.members = Members(self.sharing._kernel, (), whose)
        self.sharing.crew = self.members


@pytest.mark.parametrize("calls", ("1", "0"), ids=("called", "launched"))
def test_every_program_runs_once(many: Crew, calls: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By members that are awake, and by such that sleep when the launch begins."""
    monkeypatch.setenv("TRITON_SPIRV_CALLS", calls)
    counts, places = torch.zeros(1000, dtype=torch.int32), torch.zeros(1000, dtype=torch.int64)
    led, came = Crewed(many, places_kernel, counts, places), 0
    for pause, (nx, ny, nz) in itertools.product((0, 0.003), GRIDS):
        programs = nx * ny * nz
        for _ in range(4):
            time.sleep(pause)
            counts.zero_(), places.zero_()
            assert led.team(nx, ny, nz, counts, places) >= 0
            assert counts[:programs].eq(1).all() and not counts[programs:].any(), (nx, ny, nz)
            assert places[:programs].tolist() == [
                x + 10000 * y + 100000000 * z + nx + ny + nz
                for z, y, x in itertools.product(range(nz), range(ny), range(nx))]
            came = max(came, led.members.came())
    assert 1 <= came <= COUNT


def test_members_come_and_help(many: Crew) -> None:
    out = torch.zeros(100 * 16)
    led, came = Crewed(many, uneven_kernel, out, 2000, BLOCK=16), set()
    i = torch.arange(16) * 0.5
    for count in (21, 50, 100) * 5:
        out.zero_()
        assert led.team(count, 1, 1, out, 2000) >= 0
        came.add(led.members.came())
        rows, long = out.view(100, 16), sum((i + turn).sin() for turn in range(2000))
        for row in range(count):
            torch.testing.assert_close(rows[row], i.sin() if row % 7 else long, rtol=1e-3, atol=1e-2)
        assert not rows[count:].any()
    assert max(came) > 1


def test_who_comes_late_has_no_part_in_the_next_launch(many: Crew) -> None:
    """Launches one behind the other, short ones and long ones, of two kernels and different memory."""
    counts, places = torch.zeros(2, 64, dtype=torch.int32), torch.zeros(2, 64, dtype=torch.int64)
    one, out = Crewed(many, places_kernel, counts[0], places[0]), torch.zeros(64 * 16)
    other = Crewed(many, uneven_kernel, out, 300, BLOCK=16)
    counts.zero_()
    for turn in range(3000):
        assert one.team(1 + turn % 64, 1, 1, counts[turn % 2], places[turn % 2]) >= 0
        if turn % 5 == 0:
            assert other.team(1 + turn % 64, 1, 1, out, 1 + turn % 300) >= 0
    for half in range(2):
        expected = [sum(1 for turn in range(half, 3000, 2) if turn % 64 >= at) for at in range(64)]
        assert counts[half].tolist() == expected


def test_threads_that_launch_at_once_have_it_one_at_a_time(many: Crew) -> None:
    counts, places = torch.zeros(3, 300, dtype=torch.int32), torch.zeros(3, 300, dtype=torch.int64)
    led, made = Crewed(many, places_kernel, counts[0], places[0]), [0, 0, 0]
    counts.zero_()

    def work(mine: int) -> None:
        data = led.data(300, 1, 1, counts[mine], places[mine])
        for _ in range(400):
            made[mine] += led.sharing.run(300, led.members, data)

    workers = [threading.Thread(target=work, args=(mine,)) for mine in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sum(made) and all(counts[mine].eq(made[mine]).all() for mine in range(3))
    with many.leads:
        assert not led.sharing.run(300, led.members, led.data(300, 1, 1, counts[0], places[0]))


def test_ordinary_launches_from_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the process' own crew, which has one at a time; the driver makes others meanwhile."""
    monkeypatch.setenv("TRITON_SPIRV_OPENMP", "0")
    wrong: list[tuple[int, ...]] = []

    def work(seed: int) -> None:
        random = Random(seed)
        counts, places = torch.zeros(70_000, dtype=torch.int32), torch.zeros(70_000, dtype=torch.int64)
        for _ in range(40):
            grid = random.choice((1, 2, 7, 33, 600)), random.choice((1, 3, 10)), random.choice((1, 2, 11))
            counts.zero_()
            places_kernel[grid](counts, places)
            programs, (x, y, _) = torch.arange(math.prod(grid)), grid
            expected = programs % x + 10000 * (programs // x % y) + 100000000 * (programs // x // y)
            ran = counts[:len(programs)].eq(1).all() and not counts[len(programs):].any()
            if not ran or not torch.equal(places[:len(programs)], expected + sum(grid)):
                wrong.append(grid)

    with fresh():
        made = awake(monkeypatch)
        workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert not wrong and any(made) == (crew() is not None)


def test_assertions_and_addresses(many: Crew) -> None:
    x, out = torch.arange(40, dtype=torch.int32), torch.zeros(40, dtype=torch.int32)
    led = Crewed(many, checked_kernel, x, out, debug=True)
    led.check_assertions(x, out)
    pointers = Members(led.sharing._kernel, [(0, 3), (8, 3)], many)
    assert pointers.team(led.data(40, 1, 1, 6, out)) == launch_code.MISFIT
    assert not led.sharing.run(40, pointers, led.data(40, 1, 1, 6, out))


@pytest.fixture
def placed(many: Crew) -> Crewed:
    counts, places = torch.zeros(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int64)
    led = Crewed(many, places_kernel, counts, places)
    led.sharing.shared, led.sharing._rests = 64, 0
    led.sharing._kernel.pace.was_short(1)
    return led


def said(led: Crewed, code: int, came: int) -> None:
    """A launch of 64 programs that gave back so much."""
    others = SimpleNamespace(leads=threading.Lock())
    members = SimpleNamespace(may_run=True, team=lambda data: code, came=lambda: came, crew=others)
    assert led.sharing.run(64, members, b"")  # type: ignore[arg-type]


def test_brief_launches_are_the_calling_threads(placed: Crewed) -> None:
    """By the time that all of them together have worked."""
    for _ in range(2 * teams.TIMES):
        said(placed, teams.BRIEF // 2, 2)
    assert placed.sharing.most <= 1
    for _ in range(teams.TIMES):
        said(placed, teams.BRIEF // 2, 1)
    assert placed.sharing.most == 64


def test_what_cannot_be_interrupted_in_time_is_the_drivers_for_a_while(placed: Crewed) -> None:
    said(placed, waiting.SHORT + 1, 5)
    said(placed, 0, 5)
    said(placed, waiting.SHORT + 1, 5)
    assert placed.sharing.shared == 64
    said(placed, waiting.SHORT + 1, 5)
    assert not placed.sharing.shared


@pytest.mark.parametrize("ordinary", (True, False), ids=("ordinary", "torch.compile's"))
def test_it_is_asked_where_no_team_is_awake(placed: Crewed, ordinary: bool,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    counts, places = torch.zeros(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int64)
    data, asked, sharing = placed.data(64, 1, 1, counts, places), [], placed.sharing
    library = openmp()
    assert library is not None
    members = Members(sharing._kernel, (), library, placed.members)
    monkeypatch.setattr(sharing, "members", members if ordinary else None)
    monkeypatch.setattr(teams.pool, "is_warm", lambda now: asked.append(now))
    assert sharing.run(64, members, data) and counts.eq(1).all() and len(asked) == 1
    assert members.count == 1  # it has never been asked
    teams.resting[0] = time.perf_counter_ns() + 10**10
    assert sharing.run(64, members, data) and counts.eq(2).all()
    teams.resting[0] = 0
    monkeypatch.setattr(teams.pool, "is_warm", lambda now: True)
    with teams._leads:
        assert sharing.run(64, members, data) and counts.eq(3).all() and members.count == 1
    teams.resting[0] = 0
    if ordinary:
        sharing.most = 0  # they were brief
        assert sharing.takes(64, data) and counts.eq(4).all()
        assert not sharing.takes(65, data)


def test_a_child_of_a_fork_has_no_crew(placed: Crewed) -> None:
    counts, places = torch.zeros(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int64)
    assert placed.team(64, 1, 1, counts, places) >= 0
    child = os.fork()
    if not child:
        code = 1
        try:
            counts.zero_()
            assert not placed.sharing.takes(64, placed.data(64, 1, 1, counts, places))
            assert placed.quick.launch(64, 1, 1, values(counts, places)) and counts.eq(1).all()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_signals_are_for_other_threads(many: Crew) -> None:
    blocked = []
    for task in Path("/proc/self/task").iterdir():
        if (task / "comm").read_bytes().strip() == NAME:
            line, = (one for one in (task / "status").read_text().splitlines() if one.startswith("SigBlk"))
            blocked.append(int(line.split()[1], 16))
    assert len(blocked) >= COUNT - 1
    for mask in blocked:
        assert mask >> 2 - 1 & 1 and mask >> 15 - 1 & 1  # SIGINT, SIGTERM
        assert not any(mask >> signal - 1 & 1 for signal in (4, 7, 8, 11))


def test_members_sleep_before_the_first_launch_and_after_it(many: Crew) -> None:
    """Who has not seen one does not look for it for ever."""
    made = Crew(3)
    assert made.begin()
    counts, places = torch.zeros(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int64)
    led = Crewed(many, places_kernel, counts, places)
    for launches in (0, 1, 20):
        for _ in range(launches):
            assert led.team(64, 1, 1, counts, places) >= 0
        for _ in range(20):  # others at work, they come to sleep late
            time.sleep(0.1)
            before = time.process_time()
            time.sleep(0.1)
            if time.process_time() - before < 0.01:
                break
        else:
            pytest.fail(f"members are at work after {launches} launches")


ALONE = """
import ctypes, sys, time
import numpy as np, triton, triton.language as tl, triton_spirv
from triton_spirv.runtime import crew

@triton.jit
def turns(x, out, rounds, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i)
    for _ in range(rounds):
        value = value * 0.5 + 1
    if BAD:
        tl.store(out + i + tl.where(tl.program_id(0) == 700, 1 << 46, 0), value)
    tl.store(out + i, value)

x, out = (triton_spirv.asarray(np.full(1 << 17, value, np.float32)) for value in (1, 0))
def launch():
    turns[(1024,)](x, out, 500, BLOCK=128)

for _ in range(40):
    launch()
assert (np.asarray(out) == 2 - 0.5 ** 24).sum() or np.allclose(np.asarray(out), 2)
assert "torch" not in sys.modules
whose = crew.crew()
print("none" if whose is None else ctypes.c_uint32.from_address(whose.place + 64).value)
"""


def run(text: str, **variables: str) -> subprocess.CompletedProcess[str]:
    source = Path(os.environ["PYTEST_TMP"]) / "alone.py"
    source.write_text(text)
    return subprocess.run([sys.executable, str(source)], text=True, capture_output=True, timeout=300,
                          env={**os.environ, "TRITON_SPIRV_DEVICE": "cpu", **variables})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_TMP", str(tmp_path))


@pytest.mark.skipif(crew() is None, reason="one processor: nobody to share launches with")
def test_without_torch() -> None:
    done = run(ALONE.replace("BAD", "False"))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 30
    done = run(ALONE.replace("BAD", "False"), TRITON_SPIRV_CREW="0")
    assert (done.returncode, done.stdout.strip()) == (0, "none"), done.stderr


def test_a_fault_names_the_kernel() -> None:
    """Of a program that a member may run."""
    done = run(ALONE.replace("BAD", "True"))
    assert done.returncode < 0 and "turns" in done.stderr and "the process crashes" in done.stderr

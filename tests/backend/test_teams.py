"""Launches that torch's own threads share: each program runs once, whoever runs it, and knows where it is;
which launches these are."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from triton_spirv.errors import LaunchError
from triton_spirv.runtime import launch_code, teams, waiting
from triton_spirv.runtime.pool import MANY, RECENT, pool

torch = pytest.importorskip("torch")

from team_kernels import (
    THREADS,
    Led,
    checked_kernel,
    fresh,
    one_long_kernel,
    places_kernel,
    uneven_kernel,
    values,
    waiting_kernel,
)

pytestmark = pytest.mark.cpu_device("torch's threads launch its kernels")


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    with fresh():
        yield


GRIDS = [(1, 1, 1), (2, 1, 1), (3, 1, 1), (7, 1, 1), (12, 1, 1), (1000, 1, 1), (1, 9, 1), (3, 5, 1),
         (40, 2, 1), (2, 40, 1), (2, 3, 4), (1, 1, 17), (13, 1, 2), (5, 11, 13), (1, 600, 1)]


@pytest.mark.parametrize("calls", ("1", "0"), ids=("called", "launched"))
@pytest.mark.parametrize("members", (1, 2, THREADS, 2 * THREADS))
def test_every_program_runs_once(members: int, calls: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the threads of the team, and with fewer or more, which OpenMP may give at any time. They call
    programs, or launch them through the driver."""
    monkeypatch.setenv("TRITON_SPIRV_CALLS", calls)
    counts, places = torch.zeros(5000, dtype=torch.int32), torch.zeros(5000, dtype=torch.int64)
    led = Led(places_kernel, counts, places)
    torch.set_num_threads(members)
    for nx, ny, nz in GRIDS:
        programs = nx * ny * nz
        for _ in range(4):  # the last launch's time decides into how many pieces the next is made
            counts.zero_(), places.zero_()
            assert led.team(nx, ny, nz, counts, places) >= 0
            assert counts[:programs].eq(1).all() and not counts[programs:].any(), (nx, ny, nz)
            expected = [x + 10000 * y + 100000000 * z + nx + ny + nz
                        for z, y, x in itertools.product(range(nz), range(ny), range(nx))]
            assert places[:programs].tolist() == expected


def test_who_is_done_helps() -> None:
    out = torch.zeros(100 * 16)
    led = Led(uneven_kernel, out, 2000, BLOCK=16)
    i = torch.arange(16) * 0.5
    short = i.sin()
    for count in (21, 50, 100):
        out.zero_()
        assert led.team(count, 1, 1, out, 2000) >= 0
        rows = out.view(100, 16)
        long = sum((i + turn).sin() for turn in range(2000))
        for row in range(count):
            torch.testing.assert_close(rows[row], short if row % 7 else long, rtol=1e-3, atol=1e-2)
        assert not rows[count:].any()


def test_threads_lead_teams_of_their_own() -> None:
    counts, places = torch.zeros(4, 500, dtype=torch.int32), torch.zeros(4, 500, dtype=torch.int64)
    led, codes = Led(places_kernel, counts[0], places[0]), []
    counts.zero_()

    def work(mine: int) -> None:
        torch.set_num_threads(2)
        for _ in range(200):
            codes.append(led.team(500, 1, 1, counts[mine], places[mine]))

    workers = [threading.Thread(target=work, args=(mine,)) for mine in range(4)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert min(codes) >= 0 and counts.eq(200).all()


def test_an_address_that_cannot_be_launches_nothing() -> None:
    counts, places = torch.zeros(9, dtype=torch.int32), torch.zeros(9, dtype=torch.int64)
    led = Led(places_kernel, counts, places)
    counts.zero_()
    data = led.data(9, 1, 1, 64, places)
    assert led.members.team(data) == launch_code.MISFIT
    assert not led.sharing.run(9, led.members, data) and not counts.any()


def test_programs_that_wait_for_each_other_have_no_team() -> None:
    word, out = torch.ones(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    compiled = waiting_kernel[(1,)](word, out)
    assert compiled.function._kernel.sharing is None


def test_assertions() -> None:
    x, out = torch.arange(40, dtype=torch.int32), torch.zeros(40, dtype=torch.int32)
    Led(checked_kernel, x, out, debug=True).check_assertions(x, out)


@pytest.fixture
def placed() -> tuple[Led, torch.Tensor, torch.Tensor]:
    """With a team that is said to be awake, a launch by the driver that has been, and no crew."""
    counts, places = torch.zeros(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int64)
    led = Led(places_kernel, counts, places)
    led.sharing.shared, led.sharing._rests = 64, 0
    led.sharing.crew = led.members.instead = None
    if led.sharing.members is not None:
        led.sharing.members.instead = None
    return led, counts, places


def took(led: Led, *nanoseconds: int, waited: int = 0, ordinary: bool = True) -> None:
    """Launches of 64 programs that said so; ordinary: not torch.compile's."""
    for code in nanoseconds:
        members = SimpleNamespace(may_run=True, ordinary=ordinary, team=lambda data, code=code: code,
                                  waited=lambda: waited, worker=lambda: 1, count=3, crew=None, instead=None)
        pool.ended = time.perf_counter_ns()
        assert led.sharing.run(64, members, b"")  # type: ignore[arg-type]


def test_brief_launches_are_the_calling_threads(placed) -> None:
    led, _, _ = placed
    sharing = led.sharing
    sharing._kernel.pace.was_short(64)
    assert sharing.most <= 1
    took(led, teams.BRIEF - 1, teams.BRIEF - 1, 0, teams.BRIEF - 1)
    assert sharing.most <= 1  # not three in a row
    took(led, *[teams.BRIEF - 1] * teams.TIMES)
    assert sharing.most == 64
    pace = sharing._kernel.pace
    sharing._slow_at = 0
    pace.too_long(64, teams.SLOW + 1)
    assert sharing.most == 64  # the first of its kind, long ago
    pace.too_long(64, teams.SLOW + 1)
    assert sharing.most == 63
    took(led, *[teams.BRIEF - 1] * teams.TIMES)
    assert sharing.most == 63  # known better
    with pytest.raises(LaunchError):
        took(led, -5)


def test_brief_launches_without_a_team(placed) -> None:
    """They are found out where no team is awake."""
    led, _, _ = placed
    led.sharing._kernel.pace.was_short(64)
    for is_brief in (True, True, False, True, True):
        led.sharing.took_alone(64, is_brief)
    assert led.sharing.most <= 1
    led.sharing.took_alone(64, True)
    assert led.sharing.most == 64


def test_what_cannot_be_interrupted_in_time_is_the_drivers_for_a_while(placed) -> None:
    led, _, _ = placed
    late = waiting.SHORT + 1
    led.sharing._driver[(64).bit_length()] = late
    took(led, late, late - 2, late)
    assert led.sharing.shared == 64  # not two in a row
    took(led, late)
    for _ in range(teams.PATIENCE):
        assert not led.sharing.shared
        led.sharing.driver_took(64, late)
    led.sharing._kernel._known = 64
    led.sharing.driver_took(64, late)
    assert led.sharing.shared >= 64


@pytest.mark.parametrize("waits", (True, False), ids=("waits", "does not come to run"))
def test_who_waits_for_others_leaves_it_to_the_driver(placed, waits: bool) -> None:
    """For a time that is long beside the wait, and all kernels; the driver's own time is found out first."""
    led, _, _ = placed
    sharing, bits = led.sharing, (64).bit_length()
    sharing._kernel._known = 64
    code, waited = (8 * teams.LONG, 6 * teams.LONG) if waits else (12 * teams.LONG, 0)
    sharing._driver.clear()
    took(led, code, waited=waited)
    assert not sharing.shared and not teams.resting[0]
    for _ in range(teams.TRIALS + 1):
        assert not sharing.shared
        sharing.driver_took(64, 3 * teams.LONG)
    assert sharing.shared
    took(led, 8 * teams.LONG, waited=2)
    assert not teams.resting[0]  # uneven programs take as long
    start = time.perf_counter_ns()
    took(led, code, waited=waited)
    assert not teams.resting[0]  # once may happen
    teams._lost[0] = start - 2 * teams.REST * 6 * teams.LONG
    took(led, code, waited=waited)
    assert not teams.resting[0]  # and again after a long time
    took(led, code, waited=waited)
    assert sharing.shared and teams.resting[0] >= start + teams.REST * 6 * teams.LONG
    first = teams._last[1]
    assert first == teams.REST * 6 * teams.LONG
    for end, length in ((0, 2 * first), (-7 * first, 4 * first), (-4 * teams.SOON * first, first)):
        teams._last[0] = time.perf_counter_ns() + end  # just now, and long ago
        teams._lost[0] = time.perf_counter_ns() - (teams.REST * teams.LONG if end < -7 * first else 1 << 60)
        teams.rest(6 * teams.LONG, True)
        assert teams._last[1] == length
    teams.resting[0] = 0
    took(led, 12 * teams.LONG, ordinary=False)
    assert not teams.resting[0]  # where the driver's take long, too
    teams.resting[0] = start + 10**12
    assert not sharing.run(64, led.members, b"") and teams.resting[0]
    teams.resting[0] = start
    took(led, 0)
    assert not teams.resting[0]
    for _ in range(30):
        sharing.driver_took(64, 100 * teams.LONG)
    assert sharing._driver[bits] == 100 * teams.LONG  # the kernel has more to do than it had


def test_a_team_that_sleeps_is_left_alone(placed, monkeypatch: pytest.MonkeyPatch) -> None:
    led, counts, places = placed
    monkeypatch.setattr(led.members, "ordinary", True)
    torch.ones(1 << 20).sin()
    pool.ended = time.perf_counter_ns()
    data, worker = led.data(64, 1, 1, counts, places), led.members.worker()
    assert led.sharing.run(64, led.members, data) and pool.worker == worker > 0
    assert os.path.exists(f"/proc/self/task/{worker}")
    counts.zero_()
    asleep = [5, 5]
    monkeypatch.setattr(pool, "_worked", lambda: asleep.pop())
    pool.ended = time.perf_counter_ns() - 2 * RECENT
    assert not led.sharing.run(64, led.members, data) and not asleep and not counts.any()
    asleep[:] = [5]  # it has not worked since it was last asked
    assert not led.sharing.run(64, led.members, data) and not asleep and not counts.any()
    with monkeypatch.context() as compiled:  # by torch.compile
        compiled.setattr(led.members, "ordinary", False)
        asleep[:] = [5, 5]
        assert led.sharing.run(64, led.members, data) and len(asleep) == 2 and counts.eq(1).all()
        counts.zero_()
        pool.ended = time.perf_counter_ns() - 2 * RECENT
    asleep[:] = [7, 6]
    assert led.sharing.run(64, led.members, data) and counts.eq(1).all()
    pool.ended = time.perf_counter_ns() - 2 * RECENT
    asleep[:] = [-1]  # the thread is no more
    assert led.sharing.run(64, led.members, data) and pool.worker == led.members.worker()
    monkeypatch.undo()
    assert pool._worked() > 0
    pool.worker = 1  # of another process
    assert pool._worked() < 0 and pool.is_warm(pool.ended + 2 * RECENT) and not pool.worker


def test_two_threads_that_launch_at_once_leave_it_to_the_driver(placed) -> None:
    led, counts, places = placed
    pool.ended, data = time.perf_counter_ns(), led.data(64, 1, 1, counts, places)
    counts.zero_()
    with teams._leads:
        for _ in range(2):
            assert not led.sharing.run(64, led.members, data) and not counts.any()
    assert teams.resting[0] and teams._last[1] == teams.REST * teams.LONG
    teams.resting[0], pool.ended = 0, time.perf_counter_ns()
    assert led.sharing.run(64, led.members, data) and counts.eq(1).all()


def test_inside_of_a_parallel_region_there_is_no_team(placed, monkeypatch: pytest.MonkeyPatch) -> None:
    led, _, _ = placed
    monkeypatch.setattr(pool, "worker", 0)
    members = SimpleNamespace(may_run=True, ordinary=True, team=lambda data: 0, worker=lambda: 0, count=3,
                              crew=None, instead=None)
    pool.ended = time.perf_counter_ns()
    assert led.sharing.run(64, members, b"") and not led.sharing.shared


def test_long_launches_of_the_calling_thread_bring_the_driver_and_then_a_team(
        placed, monkeypatch: pytest.MonkeyPatch) -> None:
    led, counts, places = placed
    kernel, made = led.sharing._kernel, []
    kernel.pace.was_short(64)
    monkeypatch.setattr(led.sharing, "driver_took", lambda programs, _: made.append("driver"))
    monkeypatch.setattr(led.sharing, "took_alone", lambda programs, _: made.append("alone"))
    monkeypatch.setattr(pool, "is_warm", lambda now: False)
    monkeypatch.setattr(pool, "alone", MANY - 1)
    kernel.launch(64, 1, 1, values(counts, places))
    pool.was_alone()
    pool.alone_ended = time.perf_counter_ns()
    pool.was_alone()
    assert pool.alone >= 2
    pool.alone = MANY
    kernel.launch(64, 1, 1, values(counts, places))
    assert made == ["alone", "driver"] and counts[1:].eq(2).all()


@pytest.mark.parametrize("slow", (0, 1))
def test_how_long_the_leader_waited(slow: int) -> None:
    """Nothing, where it has the long program itself; else as long as the other one takes."""
    out = torch.zeros(2 * 16)
    led = Led(one_long_kernel, out, 0, 10, BLOCK=16)
    torch.set_num_threads(2)
    for doubled in range(10):  # others at work can keep a member from coming to its program in time
        took, waited = [], []
        for _ in range(8):
            took.append(led.team(2, 1, 1, out, slow, 200_000 << doubled))
            waited.append(led.members.waited())
        assert min(took) > teams.LONG and min(waited) >= 0
        assert all(lost < whole for lost, whole in zip(waited, took, strict=True))
        if min(waited) < min(took) / 2 if slow == 0 else max(waited) > min(took) / 2:
            break
    else:
        pytest.fail(f"waited {waited} of {took}")


def test_a_child_of_a_fork_has_no_team(placed) -> None:
    led, counts, places = placed
    assert led.team(64, 1, 1, counts, places) >= 0
    child = os.fork()
    if not child:
        code = 1
        try:
            counts.zero_()
            led.sharing.driver_took(64, 1)
            assert not led.sharing.shared
            assert led.quick.launch(64, 1, 1, values(counts, places)) and counts.tolist() == [1] * 64
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

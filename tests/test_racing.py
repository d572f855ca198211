"""racing.py: the fastest candidate is found on a machine that others use, in little time."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

import pytest
from triton_spirv import racing


class Machine:
    """Candidates of known speed. Now and then another process takes the processor, for longer than a short
    run lasts, and for some time everything is slower."""

    def __init__(self, milliseconds: Sequence[float], seed: int, busy: float = 0.3) -> None:
        self.milliseconds, self.busy, self.now = milliseconds, busy, 0.0
        self.random = random.Random(seed)
        self.runs = [0] * len(milliseconds)

    def sample(self, index: int, count: int) -> float:
        """Milliseconds of a run, as the machine is busy."""
        slow = 1.6 if int(self.now * 1000 / 40) % 3 == 1 else 1.0  # 40 of 120 ms
        taken = self.milliseconds[index] * count * slow * self.random.uniform(1, 1.04)
        if self.random.random() < self.busy:
            taken += self.random.expovariate(1 / 3.0)
        self.runs[index] += count
        self.now += taken / 1000
        return taken / count

    def race(self) -> list[list[float]]:
        """All of them."""
        samples = [lambda count, index=index: self.sample(index, count)
                   for index in range(len(self.milliseconds))]
        return racing.race(samples, clock=lambda: self.now)


CASES = ([1.0, 1.03, 1.1, 1.3, 3.0], [0.02, 0.021, 0.025, 0.04], [8.0, 7.0, 7.2, 30.0], [0.3, 0.3, 0.3, 0.33],
         [2.0, 9.0, 9.0, 9.0, 2.3, 2.1, 5.6, 7.0])


@pytest.mark.parametrize("milliseconds", CASES)
def test_winner_is_within_five_percent(milliseconds: list[float]) -> None:
    right = 0
    for seed in range(200):
        medians = [statistics.median(times) for times in Machine(milliseconds, seed).race()]
        right += milliseconds[medians.index(min(medians))] <= 1.05 * min(milliseconds)
    assert right >= 190


@pytest.mark.parametrize("milliseconds", CASES)
def test_order_of_medians_is_that_of_the_candidates(milliseconds: list[float]) -> None:
    """Who left early, in a quiet moment, does not look faster than who ran on in a busy one."""
    for seed in range(50):
        machine = Machine(milliseconds, seed)
        medians = [statistics.median(times) for times in machine.race()]
        best = min(milliseconds)
        for taken, median in zip(milliseconds, medians, strict=True):
            assert taken < 1.5 * best or median > 1.15 * min(medians)


def test_time_is_bounded() -> None:
    machine = Machine([1.0, 1.02, 1.1, 1.3, 3.0], 0)
    machine.race()
    assert machine.now < 5 * 0.1
    long = Machine([200.0, 210.0, 400.0, 1000.0], 0)
    long.race()
    assert sum(long.runs) <= 4 * 5


def test_who_loses_clearly_runs_little() -> None:
    machine = Machine([1.0, 1.01, 50.0], 0, busy=0)
    times = machine.race()
    assert machine.runs[2] <= 3 and len(times[0]) >= racing.ROUNDS >= 10


def test_short_runs_are_timed_in_a_row() -> None:
    machine = Machine([0.005, 0.006], 0, busy=0)
    times = machine.race()
    assert machine.runs[0] >= 50 * len(times[0])


def test_one_candidate_and_no_time_at_all() -> None:
    assert statistics.median(Machine([1.0], 0, busy=0).race()[0]) < 1.7
    assert racing.race([lambda count: 0.0, lambda count: 0.0], clock=lambda: 0.0)[0][0] < 1e-3

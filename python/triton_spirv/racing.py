"""Which of several candidates is fastest: all of them are timed in turns, and who loses clearly leaves early.

Candidates that are timed one after the other are compared at different times of a machine that other
processes use, too. In turns, a busy moment meets all of them. Noise only ever adds time, so a candidate is
judged by the fastest quarter of its samples: measured on two processors with a load of 14, the mean of the
fastest quarter of 20 samples told 10 % in 99 of 100 races, that of the faster half in 97, the median in 83
(docs/notes/runtime.md). All samples of a race are of equally many runs: the first of several in a row pays
for the others, so four runs in a row are slower than eight, each.

A run of many milliseconds never has a busy machine for itself. What such a run works, in processor time, does
not depend on the others: where it is known and the samples scatter, it decides, unless the samples say that
candidates use processors differently.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import field

from .dataclass import dataclass

#: runs the candidate so many times; milliseconds of one run
Sample = Callable[[int], float]
#: seconds
Clock = Callable[[], float]

#: rounds of candidates that stay to the end: at least, and where others stay that may be as fast
ROUNDS, MOST_ROUNDS = 20, 60

#: milliseconds of a sample: shorter runs are timed in a row
SAMPLE = 0.5
MOST_IN_A_ROW = 200

#: milliseconds of a run that is not tried three times before the race, and of the samples of a slow candidate
LONG_RUN = 5.0

#: after so many rounds a candidate leaves that is slower than the fastest by more than this factor, and by
#: the milliseconds for which another process may have held up all samples till then: it holds up a sixth of
#: them by 8 to 25, at a load of 10 on two processors
LEAVES = {1: (8.0, 50.0), 2: (4.0, 25.0), 4: (2.5, 0.0), 6: (1.8, 0.0), 8: (1.4, 0.0), 12: (1.2, 0.0),
          20: (1.1, 0.0), 30: (1.06, 0.0), 40: (1.04, 0.0)}
#: the same where the work is known, for both work and time: the work is nearly the same each time
WORKS_MORE = {1: 1.5, 2: 1.3, 4: 1.2}

#: seconds for each candidate of the race, after which it ends: behind all rounds that there must be, or, with
#: long runs, behind the first six
TIME, LONG = 0.05, 0.2
LEAST_ROUNDS = 6


#: milliseconds that a clock tells apart
RESOLUTION = 1e-6

#: samples scatter where their third quarter is longer than their first by this factor
SCATTER = 1.1
#: the work of two candidates does not decide where the medians of their times differ otherwise, by more than
#: this factor and by more than two standard errors (of a median, 1.25 of a mean's; a normal distribution's
#: quarters are 1.35 standard deviations apart)
OTHERWISE, ERRORS = 1.2, 2 * 1.25 / 1.35 * math.sqrt(2)


@dataclass(eq=False)
class Candidate:
    """What is known of one: samples are milliseconds of a run, one a round, and works what it took of the
    processors."""

    sample: Sample
    in_a_row: int = 1
    samples: list[float] = field(default_factory=list)
    works: list[float] = field(default_factory=list)

    def take(self, work: Clock) -> None:
        """One more sample."""
        begin = work()
        self.samples.append(max(self.sample(self.in_a_row), RESOLUTION))
        self.works.append(max((work() - begin) * 1e3 / self.in_a_row, RESOLUTION))

    def forget(self) -> None:
        """All samples."""
        self.samples.clear()
        self.works.clear()

    def typical(self, rounds: int) -> float:
        """The mean of the fastest quarter of the first so many samples."""
        return _fastest(self.samples[:rounds])

    def work(self, rounds: int) -> float:
        """The same of what it takes of the processors."""
        return _fastest(self.works[:rounds])

    def scatter(self) -> float:
        """How much longer the third quarter of the samples is than the first; of one sample nobody knows."""
        if len(self.samples) < 2:
            return math.inf
        quarters = statistics.quantiles(self.samples, n=4, method="inclusive")
        return quarters[2] / quarters[0]


def race(candidates: Sequence[Sample], clock: Clock = time.perf_counter,
         work: Clock | None = None) -> list[list[float]]:
    """Samples of each candidate, in milliseconds, all as if taken at the same time: where one left early, its
    samples are scaled by how the fastest ran then and later. The fastest has the least median. work: the
    processor time of what runs, where it is known."""
    racers = [Candidate(sample) for sample in candidates]
    common = _set_in_a_row(racers, work or clock)
    works = work is not None and min(min(racer.samples, default=0) for racer in racers) > LONG_RUN
    left, begin, order = list(racers), clock(), random.Random(0)
    for count in range(1, MOST_ROUNDS + 1):
        order.shuffle(left)
        for racer in left:
            if len(racer.samples) < count:
                racer.take(work or clock)
        typical = {id(racer): racer.typical(count) for racer in left}
        best = min(typical.values())
        if works:
            factor = min(WORKS_MORE[known] for known in WORKS_MORE if known <= count)
            least = min(racer.work(count) for racer in left)
            left = [racer for racer in left
                    if typical[id(racer)] <= best * factor or racer.work(count) <= least * factor]
        else:
            factor, held_up = min(LEAVES[known] for known in LEAVES if known <= count)
            left = [racer for racer in left
                    if typical[id(racer)] <= best * factor + held_up / racer.in_a_row]
        for racer in left:  # one that seemed slow before the race
            racer.in_a_row = common
        spent = (clock() - begin) / len(racers)
        if (count >= ROUNDS and (len(left) == 1 or spent > TIME)) or (count >= LEAST_ROUNDS and spent > LONG):
            break
    by_work = works and statistics.median(racer.scatter() for racer in left) > SCATTER
    rounds = len(left[0].samples)
    reference = min(left, key=lambda racer: racer.work(rounds) if by_work else racer.typical(rounds))
    winner = min(left, key=lambda racer: _slower(racer, reference, by_work))
    found = []
    for racer in racers:
        # who left was slower than another, perhaps while the winner was held up
        least = 1.0 if racer in left else min(factor for factor, _ in LEAVES.values())
        found.append(_comparable(racer, winner, max(_slower(racer, winner, by_work), least)))
    return found


def _slower(racer: Candidate, other: Candidate, by_work: bool) -> float:
    """By which factor one is slower than another, by the rounds that both ran."""
    rounds = min(len(racer.samples), len(other.samples))
    if not by_work:
        return racer.typical(rounds) / other.typical(rounds)
    work = racer.work(rounds) / other.work(rounds)
    taken = statistics.median(racer.samples[:rounds]) / statistics.median(other.samples[:rounds])
    chance = max(racer.scatter(), other.scatter()) ** (ERRORS / math.sqrt(rounds))
    return work if abs(math.log(taken / work)) < math.log(max(OTHERWISE, chance)) else taken


def _fastest(values: Sequence[float]) -> float:
    """The mean of the least quarter."""
    return statistics.fmean(sorted(values)[:(len(values) + 3) // 4])


def _set_in_a_row(racers: Sequence[Candidate], work: Clock) -> int:
    """How many runs make a sample: of all candidates as many as of the fastest, but for those that are slower
    by far. Where each sample is one run, there are samples already."""
    for racer in racers:
        racer.take(work)  # may be the first round
    if min(racer.samples[0] for racer in racers) > LONG_RUN:
        return 1
    for racer in racers:
        if racer.samples[0] <= LONG_RUN:  # the first run found caches empty
            racer.forget()
            racer.take(work)
            racer.take(work)
    estimates = [min(racer.samples) for racer in racers]
    fastest = min(estimates)
    common = _runs(SAMPLE, fastest)
    if common > 1:  # a run alone takes longer than one of several
        common = _runs(SAMPLE, min(fastest, racers[estimates.index(fastest)].sample(common)))
    for racer, estimate in zip(racers, estimates, strict=True):
        if common > 1:
            racer.forget()
        racer.in_a_row = min(common, _runs(LONG_RUN, estimate))
    return common


def _runs(milliseconds: float, estimate: float) -> int:
    """How many runs take so long."""
    return max(1, min(MOST_IN_A_ROW, round(milliseconds / estimate))) if estimate > 0 else MOST_IN_A_ROW


def _comparable(racer: Candidate, winner: Candidate, slower: float) -> list[float]:
    """The samples, scaled so that their median is the winner's, times how much slower this one is."""
    if racer is winner:
        return racer.samples
    factor = statistics.median(winner.samples) * slower / statistics.median(racer.samples)
    return [value * factor for value in racer.samples]

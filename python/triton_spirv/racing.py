"""Which of several candidates is fastest: all of them are timed in turns, and who loses clearly leaves early.

Candidates that are timed one after the other are compared at different times of a machine that other
processes use, too. In turns, a busy moment meets all of them. Noise only ever adds time, so a candidate is
judged by the faster half of its samples.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

#: runs the candidate so many times; milliseconds of one run
Sample = Callable[[int], float]

#: rounds of candidates that stay to the end: at least, and where others stay that may be as fast
ROUNDS, MOST_ROUNDS = 20, 100

#: milliseconds of a sample: shorter runs are timed in a row
SAMPLE = 0.5
MOST_IN_A_ROW = 200

#: after so many rounds a candidate leaves that is slower than the fastest by more than this factor. The first
#: samples may be those of a busy moment.
LEAVES = {1: 5.0, 2: 3.0, 3: 2.0, 5: 1.5, 8: 1.3, 12: 1.2, 20: 1.08, 30: 1.05, 50: 1.03}

#: seconds for each candidate of the race, after which it ends: behind all rounds that there must be, or, with
#: long runs, behind the first three
TIME, LONG = 0.04, 0.15
LEAST_ROUNDS = 3


#: milliseconds that a clock tells apart
RESOLUTION = 1e-6


@dataclass
class Candidate:
    """What is known of one: samples are milliseconds of a run, one a round."""

    sample: Sample
    in_a_row: int = 1
    samples: list[float] = field(default_factory=list)

    def typical(self, rounds: int) -> float:
        """The mean of the faster half of the first so many samples."""
        fastest = sorted(self.samples[:rounds])[:(rounds + 1) // 2]
        return statistics.fmean(fastest)


def race(candidates: Sequence[Sample], clock: Callable[[], float] = time.perf_counter) -> list[list[float]]:
    """Samples of each candidate, in milliseconds, all as if taken at the same time: where one left early, its
    samples are scaled by how the fastest ran then and later. The fastest has the least median."""
    racers = [Candidate(sample) for sample in candidates]
    for racer in racers:
        racer.in_a_row = _in_a_row(racer.sample)
    left, begin, order = list(racers), clock(), random.Random(0)
    for count in range(1, MOST_ROUNDS + 1):
        order.shuffle(left)
        for racer in left:
            racer.samples.append(max(racer.sample(racer.in_a_row), RESOLUTION))
        typical = {id(racer): racer.typical(count) for racer in left}
        best = min(typical.values())
        factor = min(LEAVES[known] for known in LEAVES if known <= count)
        left = [racer for racer in left if typical[id(racer)] <= best * factor]
        spent = (clock() - begin) / len(racers)
        if (count >= ROUNDS and (len(left) == 1 or spent > TIME)) or (count >= LEAST_ROUNDS and spent > LONG):
            break
    rounds = len(left[0].samples)
    winner = min(left, key=lambda racer: racer.typical(rounds))
    return [_comparable(racer, winner) for racer in racers]


def _in_a_row(sample: Sample) -> int:
    """How many runs make a sample. The first run finds caches empty."""
    first = sample(1)
    if first > 10 * SAMPLE:
        return 1
    estimate = min(sample(1), sample(1))
    return max(1, min(MOST_IN_A_ROW, round(SAMPLE / estimate))) if estimate > 0 else MOST_IN_A_ROW


def _comparable(racer: Candidate, winner: Candidate) -> list[float]:
    """The samples, scaled so that their median is the winner's, times how much slower this one was in the
    rounds that both ran."""
    if racer is winner:
        return racer.samples
    rounds = len(racer.samples)
    slower = max(racer.typical(rounds) / winner.typical(rounds), 1.0)
    factor = statistics.median(winner.samples) * slower / statistics.median(racer.samples)
    return [value * factor for value in racer.samples]

"""Quick launches that the threads of an OpenMP team share (team_code.py).

Between kernels of a model torch computes with OpenMP's threads. They wait for more by spinning, for some
milliseconds, and the driver's own threads do not come to the cores meanwhile. OpenMP's threads are awake
then, and begin sooner. If other processes want the cores, too, it is the other way round: a region of OpenMP
ends when all threads have come to its end, even those that found nothing to do, and the driver's launches do
not wait for them. So the thread that launches looks how long it waited for others with nothing left to do. If
that is more than the driver takes for the whole launch, the driver makes all kernels' launches for a time
that is long beside the wait: the waits then are a small part of the process' time.
"""

from __future__ import annotations

import functools
import os
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import launch_code, waiting
from .quick import Calls, Quick, call_of, is_plain
from .team_code import Team, waited

if TYPE_CHECKING:
    from .launch import Kernel

#: nanoseconds: a team's launch that takes less, some times in a row, is one for the calling thread, and one
#: there that takes more is the team's
BRIEF, TIMES, ALONE = 10_000, 3, 30_000
#: nanoseconds of a team's launch, or of its waiting, from which on it is asked whether that was too long
LONG = 200_000
#: after a wait that was too long the driver makes launches for so many times as long, in nanoseconds at most
REST, LONGEST_REST = 20, 2_000_000_000
#: launches by the driver that tell how long it takes, and after two of a team in a row that cannot be
#: interrupted in time (waiting.SHORT)
TRIALS, PATIENCE = 2, 16


@dataclass(frozen=True)
class OpenMP:
    """A library: the addresses of GOMP_parallel and omp_get_thread_num, and how many threads it uses."""

    parallel: int
    number: int
    threads: Callable[[], int]


class Shared(Quick):
    """A kernel's quick launches, those of which that are long enough are a team's.

    most: up to so many programs the calling thread takes them all: `threads.call`
    shared: up to so many a team does: `threads.team`, which gives back what `call` does, for `said_team`
    """

    def __init__(self, kernel: Kernel, alignments: Mapping[int, int], openmp: OpenMP) -> None:
        self._openmp, self.shared = openmp, 0
        #: most programs that are known to be brief, that may be so, and launches in a row that were
        self._brief, self._ceiling, self._times = 1, sys.maxsize, 0
        #: the least time of a driver's launch, by the bits of how many programs there were; team's launches
        #: in a row that took too long to be interrupted; launches by the driver to come
        self._driver: dict[int, int] = {}
        self._late, self._rests = 0, 0
        super().__init__(kernel, None, alignments)
        self.direct = None
        self.ask_pace()
        _all.add(self)

    def _calls(self, sizes: tuple[int, int, int] | None, pointers: Sequence[tuple[int, int]]) -> Calls:
        return TeamCalls(self._kernel, pointers, self._openmp)

    def launch(self, x: int, y: int, z: int, values: Sequence[int]) -> bool:
        start = time.perf_counter_ns()
        done = super().launch(x, y, z, values)
        end, bits = time.perf_counter_ns(), (x * y * z).bit_length()
        self._driver[bits] = min(self._driver.get(bits, sys.maxsize), end - start)
        if end > resting[0]:
            resting[0] = 0
        return done

    def ask_pace(self) -> None:
        self.most = min(self._kernel.pace.short(), self._brief)
        if self._rests:
            self._rests -= 1
        else:
            self.shared = 0 if _forked else self._kernel.pace.patient()

    def said(self, programs: int, code: int) -> bool:
        if code <= 0 or code == launch_code.MISFIT or programs == 1:
            return super().said(programs, code)
        self.slow += 1
        if self.slow > 1:
            self._ceiling = self._brief = self.most = programs - 1
        return True

    def said_team(self, programs: int, code: int) -> bool:
        """As `said`, of a team's launch: it has failed, or was brief or long."""
        if code == launch_code.MISFIT:
            return False
        if code < 0:
            self._kernel.failed(code)
        if code < BRIEF:
            self._times += 1
            if self._times >= TIMES and programs <= self._ceiling:
                self._brief = max(self._brief, programs)
                self.ask_pace()
            return True
        self._times = 0
        if code > waiting.SHORT:
            self._late += 1
            if self._late > 1:
                self.shared, self._late, self._rests = 0, 0, PATIENCE
        else:
            self._late = 0
        lost = self.threads.waited()
        if lost > LONG:
            driver = self._driver.get(programs.bit_length())
            if driver is None:
                self.shared, self._rests = 0, max(self._rests, TRIALS)
            elif lost > driver:
                resting[0] = time.perf_counter_ns() + min(REST * lost, LONGEST_REST)
        return True


class TeamCalls(Calls):
    """`team`: the launch that a team shares, each thread's own. Its members' kernel objects and queues are
    made when it is first wanted."""

    def __init__(self, kernel: Kernel, pointers: Sequence[tuple[int, int]], openmp: OpenMP) -> None:
        super().__init__(kernel, None, pointers, ALONE)
        self._kernel, self._pointers, self._openmp = kernel, pointers, openmp
        self.team: launch_code.Call = self._first
        #: nanoseconds that the last launch of a team waited for others with nothing left to do
        self.waited: Callable[[], int] = lambda: 0

    def _first(self, data: bytes) -> int:
        kernel = self._kernel
        self._owners = [kernel.program.clone_kernel() for _ in range(self._openmp.threads())]
        queues = kernel.context.team_queues(len(self._owners))
        members = [(owner.handle, queue) for owner, queue in zip(self._owners, queues, strict=True)]
        team = Team(self._openmp.parallel, self._openmp.number, BRIEF, members)
        call = call_of(kernel, self.owner, LONG, None, self._pointers, team=team)
        assert call is not None  # is_plain has asked
        self.team, self.waited = call, functools.partial(waited, call)
        return call(data)


def shared_of(kernel: Kernel, sizes: tuple[int, int, int] | None, alignments: Mapping[int, int],
              openmp: OpenMP) -> Quick | None:
    """As quick_of, with a team where one is of use."""
    if not is_plain(kernel):
        return None
    artifact = kernel.artifact
    alone = (sizes is not None or openmp.threads() < 2 or kernel.context.device.compute_units == 1
             or not artifact.in_parts or artifact.waits or _forked)
    return Quick(kernel, sizes, alignments) if alone else Shared(kernel, alignments, openmp)


#: 0, or the nanosecond of time.perf_counter_ns() until which the driver makes the launches of all kernels
resting = [0]
_all: weakref.WeakSet[Shared] = weakref.WeakSet()
#: is this process the child of a fork? OpenMP's threads are not in it, and its library counts on them
_forked = False


def _after_fork() -> None:
    global _forked
    _forked = True
    for one in list(_all):
        one.shared = 0


os.register_at_fork(after_in_child=_after_fork)

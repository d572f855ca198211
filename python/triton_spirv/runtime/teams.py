"""Which launches the threads of an OpenMP team share (team_code.py), and which others make.

Between kernels torch computes with OpenMP's threads. They wait for more by spinning, for some milliseconds,
and the driver's own threads do not come to the cores meanwhile. OpenMP's threads are awake then, and begin
sooner. A thread of OpenMP that sleeps is another matter: who leads a team spins until it has come, on the
core that it is to be woken on, at times for milliseconds. So a team is asked only where it is awake
(pool.py).

If other processes want the cores, too, it is the other way round: a region of OpenMP ends when all threads
have come to its end, even those that found nothing to do, and the driver's launches do not wait for them. So
the thread that launches looks how long it waited for others with nothing left to do. If that is more than the
driver takes for the whole launch, twice in a time that is long beside the wait, the driver makes all kernels'
launches for such a time: the waits then are a small part of the process' time. Once may happen on any
machine. So it is if two threads launch at once, each of which would lead a team of its own.

torch.compile's kernels are launched between torch's own operators, by the threads that run those: teams are
awake there as a rule, and when a model is trained two threads have one each. That a launch took long says
little then: the driver's takes long, too. So only ordinary launches ask what they lost by their time.

Where no team is awake, or there is no OpenMP, a crew shares launches (crew.py): threads that are nobody
else's, and for which nobody waits who has not come. Where there is no crew either, the driver makes ordinary
launches, and teams torch.compile's, whether they are awake or not.
"""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import forks
from . import launch_code, stacks, team_code, waiting
from .crew import Crew, crew
from .openmp import OpenMP, openmp
from .pool import MANY, RECENT, pool
from .quick import call_of, is_plain, may_run
from .team_code import Team

if TYPE_CHECKING:
    from .launch import Kernel

#: nanoseconds: launches that take less, some times in a row, by a team or by the calling thread alone, are
#: for the calling thread; those there that take more are a team's again
BRIEF, ALONE, TIMES, SLOW = 10_000, 20_000, 3, 60_000
#: nanoseconds of all of a team's threads together: what takes less is launched by the calling thread sooner
#: than by a team or a driver whose threads sleep
LIGHT = 100_000
#: nanoseconds of a team's launch, or of its waiting, from which on it is asked whether that was too long
LONG = 200_000
#: after two waits that were too long, in less than so many times as long, the driver makes launches for that
#: time, in nanoseconds at most
REST, LONGEST_REST = 20, 2_000_000_000
#: and after one, and for twice as long as the last time, if there were not so many times that between them
SOON = 8
#: launches by the driver that tell how long it takes, and after two of a team in a row that cannot be
#: interrupted in time (waiting.SHORT)
TRIALS, PATIENCE = 2, 16


class Sharing:
    """What a kernel knows of launches that a team may share.

    most: up to so many programs the calling thread takes them all
    shared: up to so many a team does, where it is awake
    members: the team's, for ordinary launches; None where it has fewer threads than the driver
    crew: the same of a crew; None where there is none
    """

    def __init__(self, kernel: Kernel, library: OpenMP | None, others: Crew | None) -> None:
        self._kernel, self._library, self._others = kernel, library, others
        self.most = self.shared = 0
        #: most programs that are known to be brief, that may be so, and launches in a row that were
        self._brief, self._ceiling, self._times = 1, sys.maxsize, 0
        #: most programs that the calling thread makes where no team is awake, as far as teams know
        self._light = 1
        #: the least time of a driver's launch, by the bits of how many programs there were; team's launches
        #: in a row that took too long to be interrupted; launches by the driver to come
        self._driver: dict[int, int] = {}
        self._late, self._rests = 0, 0
        #: when the calling thread was too slow, of time.perf_counter_ns()
        self._slow_at = 0
        whole = library is not None and library.threads() >= kernel.context.device.compute_units
        self.crew = Members(kernel, (), others) if others else None
        self.members = Members(kernel, (), library, self.crew, True) if library and whole else None
        _all.add(self)

    def takes(self, programs: int, data: bytes) -> bool:
        """An ordinary launch: has a team made it, or a crew?"""
        members = self.members or self.crew
        return members is not None and self.most < programs <= self.shared \
            and self.run(programs, members, data)

    def leaves_to_one(self, programs: int) -> bool:
        """One that is short enough for the calling thread: shall it be there, rather than wake the driver's
        threads and then a team?"""
        return pool.alone < MANY or programs <= self.most or self.members is None

    def run(self, programs: int, members: Members, data: bytes) -> bool:
        """Launch; False, and nothing is launched, where the driver is to do it, or an address is not as the
        members' block says. LaunchError where it has failed."""
        if not members.may_run:
            return False
        if members.crew:
            return self._by_crew(programs, members, members.crew, data)
        begin = time.perf_counter_ns()
        if not self._may_lead(members, begin):
            return members.instead is not None and self.run(programs, members.instead, data)
        try:
            code = members.team(data)
        finally:
            _leads.release()
        pool.ended = time.perf_counter_ns()
        if programs > self._light and (pool.ended - begin) * min(members.count, programs) < LIGHT:
            self._light = programs
            self._kernel.pace.was_short(programs)
        if code or not pool.worker:
            return self._said(programs, members, code)
        self._times = 0
        return True

    def _may_lead(self, members: Members, now: int) -> bool:
        """May this thread lead its team? Then it holds `_leads`."""
        if resting[0]:
            if now < resting[0]:
                return False
            resting[0] = 0
        ordinary = members.ordinary
        if (ordinary or members.instead is not None) and not pool.is_warm(now):
            return False
        if not _leads.acquire(blocking=False):  # two teams for the same cores
            rest(LONG, ordinary)
            return False
        return True

    def _by_crew(self, programs: int, members: Members, others: Crew, data: bytes) -> bool:
        """As run()."""
        if not others.leads.acquire(blocking=False):
            return False
        try:
            code = members.team(data)
        finally:
            others.leads.release()
        if code == launch_code.MISFIT:
            return False
        if code < 0:
            self._kernel.failed(code)
        if not code:
            self._times = self._late = 0
        elif code > BRIEF:
            self._was_late(code)
        elif code * members.came() < BRIEF:
            self._kernel.pace.was_short(programs)
            self._was_brief(programs)
        return True

    def _said(self, programs: int, members: Members, code: int) -> bool:
        """The launch of a team has failed, or was brief or long."""
        if code == launch_code.MISFIT:
            return False
        if code < 0:
            self._kernel.failed(code)
        if not pool.worker:
            pool.worker = members.worker()
            if not pool.worker:  # there is no team, as inside of a parallel region
                self.shared, self._rests = 0, PATIENCE
        if 0 < code < BRIEF:
            self._was_brief(programs)
        elif code:
            self._was_long(programs, members, code)
        return True

    def _was_brief(self, programs: int) -> None:
        self._times += 1
        if self._times >= TIMES and programs <= self._ceiling:
            self._brief = max(self._brief, programs)
            self._ask_pace()

    def _was_long(self, programs: int, members: Members, code: int) -> None:
        self._was_late(code)
        driver, ordinary = self._driver.get(programs.bit_length(), 0), members.ordinary
        lost = max(members.waited(), code - 2 * driver if ordinary else 0)
        if lost <= LONG:
            return
        if not driver:
            self.shared, self._rests = 0, max(self._rests, TRIALS)
        elif lost > driver:
            rest(lost, ordinary)

    def _was_late(self, code: int) -> None:
        """A launch that was not brief: could it be interrupted in time?"""
        self._times = 0
        self._late = self._late + 1 if code > waiting.SHORT else 0
        if self._late > 1:
            self.shared, self._late, self._rests = 0, 0, PATIENCE

    def _ask_pace(self) -> None:
        self.most = min(self._kernel.pace.short(), self._brief)

    def driver_took(self, programs: int, nanoseconds: int) -> None:
        """For a launch, from its beginning to its end, which is now."""
        pool.ended, pool.alone = time.perf_counter_ns(), 0
        bits = programs.bit_length()
        known = self._driver.get(bits, sys.maxsize)
        self._driver[bits] = min(known + (known >> 3), nanoseconds)  # what a kernel does may become more
        self._ask_pace()
        if self._rests:
            self._rests -= 1
        else:
            self.shared = 0 if _forked else self._kernel.pace.patient()

    def took_alone(self, programs: int, is_brief: bool) -> None:
        """The calling thread has made a launch of more than `most` programs."""
        if is_brief:
            return self._was_brief(programs)
        self._times = 0
        return pool.was_alone()

    def too_slow(self, programs: int, nanoseconds: int) -> None:
        """The calling thread's last two launches were slow. If they were in quick succession they are not
        brief after all; else the caches were somebody else's."""
        now = time.perf_counter_ns()
        if programs > 1 and now - self._slow_at < nanoseconds + RECENT:
            self._ceiling = programs - 1
            self._brief = min(self._brief, self._ceiling)
        self._slow_at = now
        self._ask_pace()

    def members_of(self, pointers: Sequence[tuple[int, int]], ordinary: bool = False) -> Members | None:
        """Others, which look at addresses; None: there is nobody for ordinary launches."""
        instead = Members(self._kernel, pointers, self._others) if self._others else None
        library = self._library if self.members or not ordinary else None
        return Members(self._kernel, pointers, library, instead, ordinary) if library else instead


def rest(lost: int, ordinary: bool) -> None:
    """The driver makes launches for a while, if the last loss is not long ago; twice the last while if that
    is not long ago."""
    now, (end, length), (before, loss) = time.perf_counter_ns(), _last, _lost
    is_soon = now - end < SOON * length
    _lost[:] = now, lost
    if not is_soon and now - before > REST * max(lost, loss):
        return
    again = 2 * length if ordinary and is_soon else 0
    length = min(max(REST * lost, again), LONGEST_REST)
    resting[0], _last[:] = now + length, (now + length, length)


class Members(threading.local):
    """`team`: a launch that a team shares, each thread's own. Its kernel object and its members' queues are
    made when it is first wanted.

    pointers: as call_of takes them
    count: how many there are
    came: how many of a crew had a part in the last launch
    may_run: may this thread lead them, which runs programs, too?
    waited: nanoseconds that the last launch waited for others with nothing left to do
    worker: the thread that the second member is, by the system's number; 0 where there is none
    crew: whose threads they are, if not OpenMP's
    instead: a crew's, for launches of which OpenMP's have no part
    ordinary: for the launches of a user, not those that torch makes between its operators?
    """

    def __init__(self, kernel: Kernel, pointers: Sequence[tuple[int, int]], library: OpenMP | Crew,
                 instead: Members | None = None, ordinary: bool = False) -> None:
        self._kernel, self._pointers, self._library, self.instead = kernel, pointers, library, instead
        self.ordinary = ordinary
        self.crew = library if isinstance(library, Crew) else None
        self.team: launch_code.Call = self._first
        self.count, self.may_run = 1, may_run(kernel)

    def _first(self, data: bytes) -> int:
        kernel, library = self._kernel, self._library
        if self.crew and not self.crew.begin():
            return launch_code.MISFIT
        owner, queues = kernel.program.clone_kernel(), kernel.context.team_queues(max(2, library.threads()))
        team = Team(library.parallel, library.number, BRIEF, queues, self.crew.place if self.crew else 0)
        call = call_of(kernel, owner, LONG, None, self._pointers, team=team)
        assert call is not None  # is_plain has asked
        self._owner, self.team, self.count = owner, call, len(queues)
        return call(data)

    def waited(self) -> int:
        return team_code.waited(self.team)

    def came(self) -> int:
        return team_code.came(self.team)

    def worker(self) -> int:
        return team_code.worker(self.team)


def sharing_of(kernel: Kernel) -> Sharing | None:
    """None where a team is of no use, or not to be had."""
    artifact = kernel.artifact
    if _forked or kernel.context.device.compute_units == 1 or not artifact.in_parts \
            or artifact.waits or artifact.is_checked or not is_plain(kernel):
        return None
    library, others = openmp(), crew()
    if library is not None and (library.threads() < 2 or not stacks.team_may_run(artifact.private_bytes)):
        library = None
    return Sharing(kernel, library, others) if library or others else None


#: 0, or the nanosecond of time.perf_counter_ns() until which the driver makes the launches of all kernels
resting = [0]
#: when the last such time ended, or will, and how long it was
_last = [0, 0]
#: when a launch last waited too long, and how long
_lost = [0, 0]
#: held by who leads a team
_leads = threading.Lock()
_all: weakref.WeakSet[Sharing] = weakref.WeakSet()
#: is this process the child of a fork? OpenMP's threads are not in it, and its library counts on them
_forked = False


#: has this thread ended its team in front of a fork?
_ended = False


def _before_fork() -> None:
    """A child would wait for ever for threads that are not in it, in an operator of torch's."""
    global _ended
    _ended = False
    if pool.worker:
        library = openmp()
        if library is not None:
            library.end_threads()
            _ended = True
        pool.worker = pool.ended = 0


def _after_fork() -> None:
    """In the child torch makes a new pool of threads, beside OpenMP's, when it is next told how many there
    are. Each new thread of OpenMP tells it that in its first operator: of those that do so at once one may
    find no pool at all, and the operator fails ("Invalid thread pool!"). So this thread is the first."""
    global _forked
    _forked = True
    for one in list(_all):
        one.shared = 0
    library = openmp() if _ended else None
    if library is not None:
        library.set_threads(library.threads())


forks.register(before=_before_fork, after_in_child=_after_fork)

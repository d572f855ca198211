"""Is the team awake that a thread would lead? OpenMP keeps a pool of threads for each thread that leads.

They are awake for some milliseconds after any region, torch's own, too, of which nobody tells. The clock of a
thread's work tells: it goes on while the thread spins. So do they come at once where the leader has been at
work for a while, as behind a launch of the driver: measured, a team that slept then takes 100 us instead of
40, and 8 ms at times where the leader itself has just been woken (docs/notes/performance.md).
"""

from __future__ import annotations

import threading
import time

#: nanoseconds after a launch of the team or of the driver for which nobody asks whether the team is awake
RECENT = 500_000
#: long launches by the calling thread alone, in quick succession, after which the driver makes one, so that a
#: team can make the next
MANY = 8
#: bits of the number of a clock (Linux: posix-timers.h): a thread's, of the time that it worked
THREADS_CLOCK = 4 | 2


class Pool(threading.local):
    """This thread's. ended: when such a launch did, of time.perf_counter_ns(); worker: the number of another
    thread of the team, 0: not known; alone: long launches in quick succession, the last of which ended at
    alone_ended."""

    def __init__(self) -> None:
        self.ended, self.worker, self.alone, self.alone_ended = 0, 0, 0, 0
        self._last = -1  # what the member had worked when that was last asked

    def is_warm(self, now: int) -> bool:
        """May this thread lead its team? Where no member is known yet, it is found out."""
        return now - self.ended < RECENT or not self.worker or self._is_awake()

    def _is_awake(self) -> bool:
        first = self._worked()
        if first < 0:  # it has ended
            self.worker = 0
            return True
        if first == self._last:
            return False
        self._last = self._worked()
        return self._last > first

    def _worked(self) -> int:
        """The nanoseconds that the member has worked; below 0: there is no such thread in this process."""
        try:
            return time.clock_gettime_ns(~self.worker << 3 | THREADS_CLOCK)
        except OSError:
            return -1

    def was_alone(self) -> None:
        """A long launch by the calling thread alone has ended."""
        now = time.perf_counter_ns()
        self.alone = self.alone + 1 if now - self.alone_ended < RECENT else 1
        self.alone_ended = now


pool = Pool()

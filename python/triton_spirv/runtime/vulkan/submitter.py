"""The thread that submits what is recorded, and submitted by nobody else: a launch that is not waited for.

To wake it costs the launching thread 5 microseconds (a launch that is waited for has 50), so it looks by
itself as long as something happens: every PACE, and less often where others go on.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .stream import Stream

#: an idle device is given work at most this often, in nanoseconds: launches that come faster than a
#: submission takes go together
PACE = 250_000
#: the thread looks at least this often while others submit, in nanoseconds; not more often than it must, for
#: a look takes Python's lock from who launches
LONGEST_PAUSE = 1_000_000
#: what the first of two timestamps is recorded with waits so long for the second one, in nanoseconds
HELD = 5_000_000


class Submitter:
    """The helping thread of a stream, from the first `start` on."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        #: it looks by itself what is left to submit
        self.watches = False
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Something is recorded, and it does not look by itself; with the stream's lock held."""
        if self._thread is None:
            thread = threading.Thread(target=self._run, daemon=True, name="triton-spirv submissions")
            thread.start()
            self._thread = thread
        self.watches = True
        self._wake.set()

    def _run(self) -> None:
        while self._wake.wait() and not sys.is_finalizing():
            self._wake.clear()
            pause, seen = PACE, self._stream.submitted
            try:
                while self.watches:
                    time.sleep(pause * 1e-9)
                    pause, seen = self.look(pause, seen)
            except BaseException as error:
                self._stream.failure, self.watches = error, False

    def look(self, pause: int, seen: int) -> tuple[int, int]:
        """Submit what nobody has added to for PACE; when to look again, and the last submission. The lock,
        for which the launching thread would wait, is taken only where there is something to do."""
        stream = self._stream
        last, is_left = stream.submitted, stream.recording is not None
        if is_left and time.perf_counter_ns() - stream.added_at > PACE and not self._is_held():
            with stream.lock:
                if stream.idle():
                    return PACE, stream.flush()
            stream.sleep_for(last)
            return 0, last
        if is_left or last != seen:
            return min(max(2 * pause, PACE), LONGEST_PAUSE), last
        with stream.lock:
            self.watches = stream.recording is not None
        return pause, last

    def _is_held(self) -> bool:
        """Does what is recorded wait for the second of two timestamps?"""
        timed = self._stream.timed
        return timed != 0 and time.perf_counter_ns() - timed < HELD

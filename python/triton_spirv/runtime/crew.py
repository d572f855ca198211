"""A crew: threads of this package's own that share launches where no team of OpenMP's is awake (teams.py,
crew_code.py). TRITON_SPIRV_CREW=0 leaves such launches to the driver.

The driver's threads are asked under locks, and who launches waits for one of them to come. The members of a
crew look for work for a while after a launch, some hundred microseconds where launches come in quick
succession, and sleep then. There is one crew in a process, begun when it is first wanted; one launch at a
time has it.
"""

from __future__ import annotations

import ctypes
import mmap
import signal
import struct
import threading

from ..once import Once
from ..settings import flag
from . import crew_code, machine_code, running_kernels, stacks
from .processor import cores, processor

VARIABLE = "TRITON_SPIRV_CREW"

#: how often a member looks for work before it sleeps: at every 40 to 140 cycles, then between calls of the
#: system that let others have the processor, 200 to 500 ns each
LOOKS, YIELDS = 1000, 1000
#: nanoseconds of work from which on members that sleep are woken, as it takes so long until they come; and
#: where the launch before ended less than so many ticks ago, some hundred microseconds
WORTH, WORTH_SOON, SOON = 60_000, 15_000, 1_000_000
#: the instruction that tells the time and the processor, which not every virtual machine has
COUNTER = "rdtscp"
#: C's PTHREAD_CREATE_DETACHED
DETACHED = 1
#: what systems call the threads
NAME = b"triton-spirv"


class Crew:
    """Threads that begin when they are first asked for.

    count: its members, with the thread that launches
    leads: held by who launches
    parallel, number: addresses of the two functions that a team is asked by, when it has begun
    place: of its words
    """

    def __init__(self, count: int) -> None:
        self.count, self.leads = count, threading.Lock()
        self.parallel = self.number = self.place = 0
        self.begin = Once(self._begin)

    def threads(self) -> int:
        """As OpenMP.threads()."""
        return self.count

    def _begin(self) -> bool:
        """Is there a crew?"""
        code, labels = machine_code.assembled(crew_code.LISTING)
        start = machine_code.executable(code)
        if start is None:
            return False
        try:
            words = mmap.mmap(-1, crew_code.SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except OSError:
            return False
        self.place = ctypes.addressof(ctypes.c_char.from_buffer(words))
        machine_code.keep_for_good(words)
        struct.pack_into("<II", words, crew_code.FIRST, 1, crew_code.NOWHERE)
        struct.pack_into("<IIQQQQ", words, crew_code.TOLD, LOOKS, YIELDS, WORTH, 0, SOON, WORTH_SOON)
        self.parallel, self.number = start + labels["begin"], start + labels["number"]
        self.count = 1 + _begun(start + labels["member"], self.place, self.count - 1)
        return self.count > 1


def crew() -> Crew | None:
    """The process' own, of as many members as it has processors; None where there is none."""
    return _crew() if flag(VARIABLE, True) else None


@Once
def _crew() -> Crew | None:
    count = cores()
    has_code = machine_code.has_code() and COUNTER in processor().flags
    return Crew(count) if count > 1 and has_code else None


def _begun(member: int, place: int, count: int) -> int:
    """How many threads have begun. Signals are for others, but for those that a kernel itself raises."""
    library, thread = ctypes.CDLL(None), ctypes.c_ulong()
    attributes = ctypes.create_string_buffer(stacks.ATTRIBUTES)
    library.pthread_attr_init(attributes)
    library.pthread_attr_setstacksize(attributes, ctypes.c_size_t(stacks.ROOMY))
    library.pthread_attr_setdetachstate(attributes, DETACHED)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - set(running_kernels.FAULTS))
    try:
        for begun in range(count):
            if library.pthread_create(ctypes.byref(thread), attributes, ctypes.c_void_p(member),
                                      ctypes.c_void_p(place)):
                return begun
            library.pthread_setname_np(thread, NAME)
        return count
    finally:
        library.pthread_attr_destroy(attributes)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

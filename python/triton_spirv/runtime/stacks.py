"""Is there room for a kernel's private arrays on the stack of the thread that would run it?

Intel's CPU driver has a kernel's arrays in memory of its own where they take more than 7.3 MB (measured), and
else on the stack of the thread that runs the program, however large that is. Its own threads have 8 MB. It
runs programs in these, in the thread that launches into a queue for that, and in each thread that waits for
another queue: programs of any kernel, those that other threads have launched, too. A thread of Python's may
have any stack: 8 MB where `ulimit -s` says nothing else, 2 MB where that is "unlimited", or what
threading.stack_size() has been told. Where there is no room the process ends, and at times without a word: a
signal's handler needs some of the stack, too.
"""

from __future__ import annotations

import ctypes
import threading

from .openmp import openmp

#: bytes of arrays that the driver has on a stack, at most; and of its own threads' stacks
MOST_ON_STACKS = 8 << 20
#: bytes that the C library may take of a stack for itself
FOR_THE_LIBRARY = 256 << 10
#: bytes of a thread that launches whatever there is: such arrays, and what a thread needs besides
ROOMY = 16 << 20
#: bytes of a thread's stack that others leave free for a kernel: of the Python interpreter and what it has
#: called, and what a kernel needs besides its arrays; of a small stack it is a half
SPARE = 2 << 20
#: bytes of a stack, at most: of a main thread's without a limit; of the threads of other OpenMPs than GNU's,
#: at least
MOST_FREE, OTHER_TEAMS = 64 << 20, 4 << 20
#: bytes of C's pthread_attr_t, at most
ATTRIBUTES = 256


def may_run(arrays: int) -> bool:
    """May the driver run a kernel with arrays of so many bytes in this thread? True where the C library does
    not tell."""
    size = _own()
    return size is None or min(arrays, MOST_ON_STACKS) <= _room(size)


def may_wait() -> bool:
    """May this thread wait for a queue of which the driver's threads run the kernels?"""
    size = _own()
    return size is None or size >= MOST_ON_STACKS - FOR_THE_LIBRARY


def may_call(arrays: int) -> bool:
    """May this thread call its programs? They have all of their arrays on the stack."""
    size = _own()
    return size is not None and arrays <= _room(size)


def team_may_run(arrays: int) -> bool:
    """may_run, of the threads that a team has besides the one that leads it."""
    return not arrays or min(arrays, MOST_ON_STACKS) <= _room_of_teams()


def team_may_call(arrays: int) -> bool:
    """may_call, of these."""
    return arrays <= _room_of_teams()


def crew_may_call(arrays: int) -> bool:
    """May the threads of a crew call its programs? They have ROOMY stacks, on which they run any kernel."""
    return arrays <= _room(ROOMY)


def _room_of_teams() -> int:
    library, size = openmp(), _default()
    if library is None or size is None:
        return -1
    return _room(size if library.is_gnu else min(size, OTHER_TEAMS))


def _room(size: int) -> int:
    size = min(size, MOST_FREE)
    return size - min(SPARE, size // 2)


_threads = threading.local()


def _own() -> int | None:
    """The bytes of this thread's stack; None where the C library does not tell."""
    try:
        known: int | None = _threads.size
    except AttributeError:
        known = _threads.size = _asked()
    return known


def _asked() -> int | None:
    library, attributes = ctypes.CDLL(None), ctypes.create_string_buffer(ATTRIBUTES)
    low, size = ctypes.c_void_p(), ctypes.c_size_t()
    try:
        if library.pthread_getattr_np(ctypes.c_void_p(threading.get_ident()), attributes):
            return None
        library.pthread_attr_getstack(attributes, ctypes.byref(low), ctypes.byref(size))
        library.pthread_attr_destroy(attributes)
    except AttributeError:  # of another C library
        return None
    return size.value


def _default() -> int | None:
    """The bytes of the stack of a thread for which nobody says another size."""
    library, attributes = ctypes.CDLL(None), ctypes.create_string_buffer(ATTRIBUTES)
    size = ctypes.c_size_t()
    try:
        if library.pthread_getattr_default_np(attributes):
            return None
        library.pthread_attr_getstacksize(attributes, ctypes.byref(size))
        library.pthread_attr_destroy(attributes)
    except AttributeError:
        return None
    return size.value

"""Which kernel runs in which thread: a word of memory for each thread, written by launches, read by signal
handlers and by a fork.

A wild access of a kernel on a CPU device is one of this process. Without a word it would end by SIGSEGV; here
it says first which kernel ran, and where that is written:

    TRITON_SPIRV_FAULT_MESSAGE=0    leaves all signals alone

Handlers that were there before run afterwards, as if there were none of ours: Python's faulthandler, torch's.
"""

from __future__ import annotations

import array
import ctypes
import os
import threading
import time

from ..settings import flag
from . import machine_code
from .fault_code import assembled

VARIABLE = "TRITON_SPIRV_FAULT_MESSAGE"
#: threads that have a word of their own; later ones share the last. The main thread's is the first
THREADS = 256
#: signal -> what the processor means by it
FAULTS = {4: "SIGILL", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV"}
INTERRUPTION = 2  # SIGINT
#: flags of an action
SIGNAL_INFORMATION, ALTERNATE_STACK, HAS_RESTORER = 0x4, 0x0800_0000, 0x0400_0000
RT_SIGACTION = 13  # the system call

HEAD = "\ntriton-spirv: the process crashes (often because of a wrong address) while this kernel runs:\n"
FOOT = """\
The usual cause is a kernel that accesses memory outside its arguments: check its masks, and the sizes and
strides that you passed. TRITON_SPIRV_CHECK=bounds runs the program in checked mode, which names the access.
"""
AGAIN = "\ntriton-spirv: interrupted twice while a kernel ran; the process ends.\n"

FORKED = ("this process was forked after kernels had been launched, and it lacks the driver's threads: "
          "fork earlier, or start processes with multiprocessing's \"spawn\" or \"forkserver\"")

#: one word for each thread: 0, or the address of the text of the kernel that it runs
table = array.array("Q", bytes(8 * THREADS))
#: has a kernel been given to the driver's own threads? After it they look for more work for a while, each of
#: them with a lock of the driver's in its hand at times
driver_has_threads = False
#: is this the child of a fork in a process in which the driver had threads, other threads launched, or a
#: kernel ran on? The driver's threads are not in the child, and its scheduler counts on them for ever
lost_driver_threads = False
#: has a wait been interrupted, whose kernel runs on?
abandoned = False
_free = list(range(THREADS - 1, 0, -1))
_threads = threading.local()


class _Place:
    """A thread's word; another thread gets it when this one ends."""

    def __init__(self) -> None:
        self.index = 0
        if threading.current_thread() is not threading.main_thread():
            self.index = _free.pop() if _free else THREADS - 1

    def __del__(self) -> None:
        if 0 < self.index < THREADS - 1:
            table[self.index] = 0
            _free.append(self.index)


def place() -> int:
    """The index of this thread's word."""
    try:
        return _threads.place.index
    except AttributeError:
        _threads.place = _Place()
        return _threads.place.index


def elsewhere() -> bool:
    """Does a kernel run in another thread?"""
    return any(table[index] for index in range(THREADS) if index != place())


def text(name: str, source: str) -> ctypes.Array[ctypes.c_char]:
    """What the handlers say of a kernel; its address is what a launch writes down."""
    return _text(f"    {name}{f', {source}' if source else ''}\n")


def _text(words: str) -> ctypes.Array[ctypes.c_char]:
    data = words.encode()
    return ctypes.create_string_buffer(len(data).to_bytes(8, "little") + data)


# ---- the handlers

_lock = threading.RLock()
_kept: list[object] = []  # what the handlers use


def install() -> bool:
    """Put the handlers in force, once for a process; False where that cannot be."""
    with _lock:
        if not _kept:
            _kept.append(None)
            if flag(VARIABLE, True) and machine_code.has_code():
                _install()
        return len(_kept) > 1


def _install() -> None:
    library, word, pointer = ctypes.CDLL(None), ctypes.c_long, ctypes.c_void_p

    def action(signal: int, new: int, old: int) -> bool:
        return not library.syscall(word(RT_SIGACTION), word(signal), pointer(new), pointer(old), word(8))

    data = (ctypes.c_uint64 * (8 + 4 * 32))()
    block = ctypes.addressof(data)
    texts = [_text(words) for words in (HEAD, FOOT, AGAIN)]
    data[0], data[1] = table.buffer_info()[0], THREADS
    data[2:5] = [ctypes.addressof(each) for each in texts]
    code, labels = assembled(block)
    place = machine_code.executable(code)
    if place is None:
        return
    start, pages = place
    _kept.extend([pages, data, *texts])
    new = (ctypes.c_uint64 * 4)()
    for signal in (*FAULTS, INTERRUPTION):
        old = block + 64 + 32 * signal
        if not action(signal, 0, old):
            continue
        _, flags, restorer, mask = data[8 + 4 * signal:12 + 4 * signal]
        if signal == INTERRUPTION:  # as it was, but for who is asked first
            new[:] = [start + labels["interrupt"], flags, restorer, mask]
        else:
            new[:] = [start + labels["fault"], SIGNAL_INFORMATION | ALTERNATE_STACK, 0, 0]
        if not new[1] & HAS_RESTORER:
            new[1], new[2] = new[1] | HAS_RESTORER, start + labels["restorer"]
        action(signal, ctypes.addressof(new), 0)


_will_be_lost = False


def _look_around() -> None:
    """Just before a fork; in the child it is too late, the other threads' places are given up. A thread that
    launches may have left something in the driver's scheduler although no kernel runs. A moment without a
    launch is waited for, a short while: a thread inside of the driver may hold one of its locks."""
    global _will_be_lost
    _will_be_lost = driver_has_threads or abandoned or len(_free) < THREADS - 1 or place() != 0
    for _ in range(1000):  # often: the moment is short where several threads launch small kernels
        if not elsewhere():
            return
        time.sleep(0.0001)


def _forget_other_threads() -> None:
    """In the child of a fork there are none; what they were doing for a kernel is never done."""
    global _lock, lost_driver_threads
    _lock = threading.RLock()
    lost_driver_threads = lost_driver_threads or _will_be_lost
    mine = place()
    for index in range(THREADS):
        if index != mine:
            table[index] = 0


os.register_at_fork(before=_look_around, after_in_child=_forget_other_threads)

"""Which kernel runs in which thread: a word of memory for each thread, written by launches, read by signal
handlers and by a fork.

A wild access of a kernel on a CPU device is one of this process. Without a word it would end by SIGSEGV; here
it says first which kernel ran, and where that is written:

    TRITON_SPIRV_FAULT_MESSAGE=0    leaves all signals alone

Handlers that were there before run afterwards, as if there were none of ours: Python's faulthandler, torch's.
Drivers bring handlers of their own. LLVM's, which Intel's CPU driver has, are reset to the default action
when they are entered, before they put back what they found: of two threads that fault at the same time the
second would end the process there, without a word. Ours come before such a handler.
"""

from __future__ import annotations

import array
import ctypes
import os
import signal as signals
import threading
import time
from collections.abc import Callable
from pathlib import Path

from .. import forks
from ..settings import flag
from . import machine_code
from .fault_code import assembled

VARIABLE = "TRITON_SPIRV_FAULT_MESSAGE"
#: threads that have a word of their own; later ones share the last. The main thread's is the first
THREADS = 256
#: signal -> what the processor means by it
FAULTS = {4: "SIGILL", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV"}
INTERRUPTION = 2  # SIGINT
#: a fork waits for other threads' launches: so many looks, so far apart
LOOKS, LOOK_SECONDS = 3000, 0.0001
#: and for the driver's threads to fall asleep, which they do 1.1 ms after a launch
LOOKS_FOR_SLEEP = 100
#: flags of an action
SIGNAL_INFORMATION, ALTERNATE_STACK, HAS_RESTORER, RESET = 0x4, 0x0800_0000, 0x0400_0000, 0x8000_0000
RT_SIGACTION = 13  # the system call
THREADS_OF_LINUX = "/proc/self/task"

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
#: one word: 0, or, while a fork is about to happen, the address of the forking thread's word: launches of
#: other threads wait
gate = array.array("Q", [0])
machine_code.keep_for_good((table, gate))  # threads may end launches when the interpreter has ended
#: held around calls of the driver that are no launches: a fork waits for them
calls = threading.RLock()
#: has a driver been opened, which may start threads of its own? When they have started, and after each
#: launch, they look for work for a while, with a lock of the driver's in their hands at times
driver_is_open = False
#: has a kernel been given to them?
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
            try:
                self.index = _free.pop()
            except IndexError:  # asked for first, another thread may take the last one in between
                self.index = THREADS - 1

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


def address(index: int) -> int:
    """Where a word is."""
    return table.buffer_info()[0] + table.itemsize * index


def enter(index: int, kernel: int) -> None:
    """This thread, whose word has that index, is about to launch a kernel, of which `kernel` is the text's
    address; not while another one forks."""
    table[index] = kernel  # first: who shuts the gate looks at the words afterwards
    while gate[0] not in (0, address(index)):
        table[index] = 0
        time.sleep(0.001)
        table[index] = kernel


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
_handlers: _Handlers | None = None
_tried = False


class _Handlers:
    """The code of the handlers, and the block that it works on (fault_code.py)."""

    def __init__(self) -> None:
        self._call = ctypes.CDLL(None).syscall
        self._data = (ctypes.c_uint64 * (8 + 2 * 4 * 32))()
        self._block = ctypes.addressof(self._data)
        self._texts = [_text(words) for words in (HEAD, FOOT, AGAIN)]
        self._data[0], self._data[1] = table.buffer_info()[0], THREADS
        self._data[2:5] = [ctypes.addressof(each) for each in self._texts]
        code, self._labels = assembled(self._block)
        self._code = machine_code.executable(code)
        machine_code.keep_for_good((self._data, self._texts))

    def put(self) -> bool:
        """Ours in force, for the first time; False where no code can be made."""
        if self._code is None:
            return False
        for signal in FAULTS:
            if self._action(signal, 0, self._first(signal)):
                self._put_fault(signal)
        if self._action(INTERRUPTION, 0, self._next(INTERRUPTION)):
            if self._read(self._next(INTERRUPTION))[1] & RESET:
                self._put_python()
            self._put_interruption()
        return True

    def put_over_reset(self) -> None:
        """Ours in force again over handlers which are reset when they are entered."""
        found = (ctypes.c_uint64 * 4)()
        for signal in (*FAULTS, INTERRUPTION):
            if self._action(signal, 0, ctypes.addressof(found)) and found[1] & RESET:
                if signal != INTERRUPTION:
                    self._put_fault(signal)
                elif self._put_python():
                    self._put_interruption()

    def _put_interruption(self) -> None:
        """As it was, but for who is asked first."""
        _, flags, restorer, mask = self._read(self._next(INTERRUPTION))
        self._put(INTERRUPTION, "interrupt", flags, restorer, mask)

    def _put_python(self) -> bool:
        """Python's own handler of SIGINT comes next, in place of a compiler's: that one is reset when it is
        entered, puts back what it found, and asks again, so that ours would be gone at the second time, or
        be asked twice at the first. False where that cannot be: only the main thread may."""
        python = signals.getsignal(INTERRUPTION)
        if python is None or threading.current_thread() is not threading.main_thread():
            return False
        signals.signal(INTERRUPTION, python)
        return self._action(INTERRUPTION, 0, self._next(INTERRUPTION))

    def _put_fault(self, signal: int) -> None:
        self._action(signal, 0, self._next(signal))
        self._put(signal, "fault", SIGNAL_INFORMATION | ALTERNATE_STACK, 0, sum(1 << n - 1 for n in FAULTS))

    def _put(self, signal: int, label: str, flags: int, restorer: int, mask: int) -> None:
        start = self._code or 0
        if not flags & HAS_RESTORER:
            flags, restorer = flags | HAS_RESTORER, start + self._labels["restorer"]
        new = (ctypes.c_uint64 * 4)(start + self._labels[label], flags, restorer, mask)
        self._action(signal, ctypes.addressof(new), 0)

    def _action(self, signal: int, new: int, old: int) -> bool:
        word, pointer = ctypes.c_long, ctypes.c_void_p
        return not self._call(word(RT_SIGACTION), word(signal), pointer(new), pointer(old), word(8))

    def _next(self, signal: int) -> int:
        return self._block + 64 + 32 * signal

    def _first(self, signal: int) -> int:
        return self._next(signal) + 32 * 32

    def _read(self, action: int) -> list[int]:
        return list((ctypes.c_uint64 * 4).from_address(action))


def install() -> bool:
    """Put the handlers in force, once for a process; False where that cannot be. Where a driver has put one
    of its own in force since, which is reset when it is entered, ours come first again."""
    global _handlers, _tried
    with _lock:
        if _handlers:
            _handlers.put_over_reset()
        elif not _tried:
            _tried = True
            if flag(VARIABLE, True) and machine_code.has_code():
                handlers = _Handlers()
                _handlers = handlers if handlers.put() else None
        return _handlers is not None


_will_be_lost = False


def _look_around() -> None:
    """Just before a fork; in the child it is too late, the other threads' places are given up. A thread that
    launches may have left something in the driver's scheduler although no kernel runs. No other thread may
    be inside of the driver, it holds its locks at times: none launches from now on, and those that do have a
    short while to end."""
    global _will_be_lost
    calls.acquire()
    gate[0] = address(place())
    _will_be_lost = driver_has_threads or abandoned or len(_free) < THREADS - 1 or place() != 0
    _until(lambda: not elsewhere(), LOOKS)
    if driver_is_open:
        _until(_others_sleep, LOOKS_FOR_SLEEP)


def _until(condition: Callable[[], bool], looks: int) -> None:
    for _ in range(looks):
        if condition():
            return
        time.sleep(LOOK_SECONDS)


def _others_sleep() -> bool:
    """Do all other threads sleep, as far as Linux tells? The driver's cannot be told from others."""
    mine = str(threading.get_native_id())
    try:
        return all(_sleeps(thread) for thread in os.listdir(THREADS_OF_LINUX) if thread != mine)
    except OSError:
        return True


def _sleeps(thread: str) -> bool:
    try:
        stat = Path(THREADS_OF_LINUX, thread, "stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        return True
    return stat.rpartition(b") ")[2][:1] != b"R"


def _forget_other_threads() -> None:
    """In the child of a fork there are none; what they were doing for a kernel is never done."""
    global _lock, calls, lost_driver_threads
    _lock, calls, gate[0] = threading.RLock(), threading.RLock(), 0
    lost_driver_threads = lost_driver_threads or _will_be_lost
    mine = place()
    for index in range(THREADS):
        if index != mine:
            table[index] = 0


def _go_on() -> None:
    """After a fork, in the parent."""
    gate[0] = 0
    calls.release()


forks.register(before=_look_around, after_in_parent=_go_on, after_in_child=_forget_other_threads)

"""Mistakes planted in the emitter, to see that generated kernels find them: `python -m
tests.property.planted` prints after how many kernels each is found, and by which mode.

A mistake is one that a person could make (bugs.py, bugs_of_walks.py), or one that was made: a mend taken
back. None stands in the repository: they are put in place in a process that looks for them. Kernels that
cannot show a mistake, by their source, count and are not run.

Measured, by the number of kernels begun until one showed the mistake (69 of 73 were found; numbers of
different days, kernels from different numbers on). simt8: no barriers 1, the first barrier missing 1, a
scan without other lanes 2, a reduction without the last lanes 4, a scalar atomic by every lane 7, accesses
of global memory that never meet 8, conversions 10, a scan without other warps 25, every second barrier
missing 25, a reduction without other warps 33, one lane's knowledge 50. simt32: the lanes of a gather 2.
The machine: what is published need not be written 31. vector: a run of two elements 1, a product's stride
1, unsigned integers as floats 1, how far pointers have moved 1, signed >= 1, a gather takes the neighbour
2, an array that is needed later is taken over 2, a subtraction of integers 3, a left shift 3, carried
arrays one by one 4, a window one element too far 5, masked-off elements are 0 6, loads beyond a store 8,
loads of a loop in place 8, floor 9, a scan's other registers 16, the smaller float 16, |x| 16, programs
along y 17, unsigned integers widen 18, the high half of a product 19, loads and a store are apart 25, an
atomic's mask 29, join 30, a join's halves 30, a split's halves 31, a xor of flags 33, unsigned // 36, a
histogram's mask 37, signed integers widen 40, the sign of a remainder 42, a mask proven by one end 45,
walks alike whatever their strides 45, block scales 50, a by-product that a path does not ask for 53, the
identity of a product 60, the remainder of floats 62, a subtraction of floats 65, loads beyond an atomic 68,
a broadcast's bit 89, a signed right shift 94, a mask proven where another is 105, signed <= 109, the
smaller integer 111, an array taken over while something reads it 114, by-products that are not written 131
(with the compiler before their mend), rounding toward zero 168, != of NaN 169, unsigned < 206, the identity
of & 221, a square transposition 241, < of NaN 248, 8-bit floats 249, f32 to bf16 512, what an arm has kept
534 (kernels were only compiled), the unsigned maximum 538.

Not found: the identity of the maximum in 1,000 (it changes the words of 2 kernels of 400), a value that
dies with its first reader in 1,000 (1 of 400), values in the order of another's walk in 1,014 (1 of 400),
both by-products of one path in 1,013 (3 of 400: since a plan promises only what every turn asks for, no
kernel is known that they make wrong).
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conftest import machine_hook

from property import bugs, bugs_of_walks
from property.modes import environment
from property.planting import Bug, planted
from property.worker import outcome, program_of

BUGS = (*bugs.BUGS, *bugs_of_walks.BUGS)
NONE = Bug("nothing", lambda put: None)
HANGS = 120  # seconds; a kernel that needs more has shown the bug
FOUND, BROKEN, LATE = 3, 4, 5  # exit statuses of a process that looks for a bug


def search(bug: Bug, most: int, first: int, deadline: float, tell: Callable[[], None]) -> int:
    """In this process: an exit status, FOUND where one of the kernels from `first` on showed the bug."""
    with machine_hook(bug.mode), planted(bug), tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + most):
            if time.time() > deadline:
                return LATE
            tell()
            program = program_of(number, mode=bug.mode)[0]
            if not bug.may_show(program):
                continue
            signal.alarm(HANGS)
            if outcome(number, bug.mode, Path(folder) / "current.py")["result"] in ("disagreed", "failed"):
                return FOUND
            signal.alarm(0)
    return 0


def in_child(bug: Bug, most: int, first: int, deadline: float = float("inf")) -> tuple[int, int]:
    """(kernels begun, how the process ended) of looking for the bug in a process of its own, which it may
    kill."""
    os.environ.update(environment(bug.mode))
    import property.launch  # noqa: F401  once, not in each process

    reading, writing = os.pipe()
    child = os.fork()  # nothing has opened a device yet, and a fork has imported everything
    if not child:
        sys.stderr = open(os.devnull, "w")
        os.dup2(sys.stderr.fileno(), 2)
        try:
            os._exit(search(bug, most, first, deadline, lambda: os.write(writing, b".") and None))
        except BaseException:
            os._exit(BROKEN)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        begun = len(pipe.read())
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code != BROKEN, f"{bug.name}: cannot be planted any more"
    return begun, code


def found_after(bug: Bug, most: int, first: int, seconds: float) -> tuple[bool, int, int]:
    """(found, kernels, how the last process ended). What kernels show without the bug does not count."""
    count, deadline = 0, time.time() + seconds
    while count < most:
        begun, code = in_child(bug, most - count, first + count, deadline)
        count += begun
        if code in (0, LATE):
            return False, count, code
        if in_child(replace(NONE, mode=bug.mode), 1, first + count - 1)[1] == 0:
            return True, count, code
    return False, count, 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", default="", help="only the bugs of this mode")
    parser.add_argument("--most", type=int, default=1000, help="kernels for one bug")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for one bug")
    parser.add_argument("--first", type=int, default=0, help="number of the first kernel")
    parser.add_argument("--only", default="", help="bugs with this in their name")
    parser.add_argument("--none", action="store_true", help="plant nothing, which must not be found")
    arguments = parser.parse_args()
    missed = 0
    for bug in (NONE,) if arguments.none else BUGS:
        if arguments.mode not in ("", bug.mode) or arguments.only not in bug.name:
            continue
        before = dict(os.environ)
        found, count, code = found_after(bug, arguments.most, arguments.first, arguments.seconds)
        os.environ.clear()
        os.environ.update(before)
        missed += not found
        how = "" if code in (0, FOUND, LATE) else f" (the process ended with {code})"
        print(f"{bug.mode:7} {'' if found else 'not '}found in {count:4}: {bug.name}{how}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

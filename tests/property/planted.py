"""Mistakes planted in the emitter, to see that generated kernels find them: `python -m
tests.property.planted` prints after how many kernels each is found, and by which mode.

A mistake is one that a person could make (bugs.py, bugs_of_walks.py), or one that was made: a mend taken
back. None stands in the repository: they are put in place in a process that looks for them. Kernels that
cannot show a mistake, by their source, count and are not run.

Measured so far (27 mistakes of the table; 45 to 240 seconds each on a processor that many others used, in
which a few kernels to some tens were executed; the number is that of kernels begun). Found, 25: simt8: no
barriers 1, the first barrier missing 1, a scan without other lanes 2, a reduction without the last lanes 4,
a scalar atomic by every lane 7, accesses of global memory that never meet 8, conversions 10, a scan without
other warps 25, every second barrier missing 25, a reduction without other warps 33, one lane's knowledge 50.
vector: signed >= 1, a subtraction of integers 3, the high half of a product 19, an atomic's mask 29, unsigned
// 36, the sign of a remainder 42, a mask proven by one end 45, a subtraction of floats 65, a signed right
shift 94, signed <= 109, by-products that are not written 131 (with the compiler before their mend), unsigned
< 206, what an arm has kept 534 (kernels were only compiled), the unsigned maximum 538.

Measured later (26 more, at most 75 seconds each on a processor that others used). Found, 18: a loop
forgets how far its pointers have moved 1, a gather takes the neighbour 2, an array that is needed later
is taken over 2, a window inside one element too far 5, masked-off elements are 0 6, loads wait beyond a
store 8, every load of a loop counts as in place 8, a scan forgets other registers 16, join 30, both
halves of a split 31, a histogram's mask 37, signed integers widen with zeros 40, the remainder of floats
62, rounding toward zero 168, the identity of & 221, < holds for NaN 248, 8-bit floats are cut off 249,
f32 becomes bf16 by cutting bits off 512. Not found in as many kernels: values in the order of another's
walk 49, a mask proven where another is 49, an array taken over while something reads it 37, carried
arrays one by one 24, an array that a loop overwrites 23, a value dies with its first reader 14, a
broadcast drops one bit 85, != does not hold for NaN 174: too few to say.

Not found: both by-products of one path: since a plan promises only what every turn asks for, no kernel is
known that they make wrong. The others were not measured.
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
from property.planting import Bug, planted
from property.worker import environment, outcome, program_of

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

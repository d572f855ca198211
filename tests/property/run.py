"""The long run: `python -m tests.property.run --count 2000` prints counts and saves what fails, shrunk.

Kernels run in child processes, a batch in each, so that one that crashes costs its batch alone.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


class Choices:
    """The draws of one program: given ones first, then new ones; what was drawn is in `made`."""

    def __init__(self, given: Sequence[int], more: random.Random | None = None) -> None:
        self.given, self.more = given, more
        self.made: list[int] = []

    def __call__(self, low: int, high: int) -> int:
        at = len(self.made)
        if at < len(self.given):
            value = min(max(self.given[at], low), high)
        else:
            value = self.more.randint(low, high) if self.more else low
        self.made.append(value)
        return value


def shrunk(made: list[int], fails: Callable[[list[int]], bool], seconds: float) -> list[int]:
    """Shorter and smaller draws that still fail: pieces are left out, then set to zero, then lowered."""
    deadline = time.monotonic() + seconds
    better = True
    while better:
        better = False
        for change in ("drop", "zero", "halve"):
            size = max(1, len(made) // 2) if change != "halve" else 1
            while size:
                at = len(made) - size
                while at >= 0:
                    if time.monotonic() > deadline:
                        return made
                    piece = made[at : at + size]
                    new = {"drop": [], "zero": [0] * size, "halve": [x // 2 for x in piece]}[change]
                    if new != piece and fails(made[:at] + new + made[at + size :]):
                        made, better = made[:at] + new + made[at + size :], True
                    at -= size
                size //= 2
    return made


def batch(arguments: argparse.Namespace) -> int:
    """Run one batch in this process; the kernel being run is always in `current`."""
    os.environ.setdefault("TRITON_SPIRV_BACKEND", "1")
    from property.launch import check
    from property.strategy import Programs

    folder = Path(arguments.out)
    current = folder / f"current-{arguments.seed}.py"
    generator = random.Random(arguments.seed)
    failed = 0

    def failure(choices: Choices, number: int) -> tuple[Exception, str] | None:
        program = Programs(choices, arguments.largest).build(arguments.steps)
        text = describe(program)
        current.write_text(text)
        try:
            check(program, more_warps=number % 8 == 0)
        except Exception as error:
            return error, text
        return None

    for number in range(arguments.batch):
        choices = Choices([], random.Random(generator.random()))
        found = failure(choices, number)
        if not found:
            continue
        failed += 1
        known = signature(found[0])
        smallest = [found]

        def fails(
            made: list[int], number: int = number, known: str = known, smallest: Any = smallest
        ) -> bool:
            again = failure(Choices(made), number)
            if again and signature(again[0]) == known:
                smallest[0] = again
                return True
            return False

        made = shrunk(choices.made, fails, arguments.shrink_seconds)
        error, text = smallest[0]
        reason = "".join(f"# {line}\n" for line in str(error).splitlines()[-30:])
        (folder / f"failing-{arguments.seed}-{number}.py").write_text(
            f"{text}# draws: {made}\n# {type(error).__name__}\n{reason}"
        )
        print(f"  failing-{arguments.seed}-{number}.py {signature(error)}", flush=True)
    current.unlink(missing_ok=True)
    print(f"ran {arguments.batch} failed {failed}")
    return 1 if failed else 0


def signature(error: Exception) -> str:
    """What kind of failure it is; a smaller kernel must fail in the same way."""
    lines = str(error).splitlines() or [""]
    return type(error).__name__ + ("" if type(error).__name__ == "Disagreement" else ": " + lines[-1][:120])


def describe(program: Any) -> str:
    buffers = "".join(f"# {b}\n" for b in program.buffers)
    return f"{program.source()}\n\n{buffers}# {program.scalars} num_warps={program.warps}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="kernels to run")
    parser.add_argument("--batch", type=int, default=50, help="kernels in one process")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=9, help="steps of a kernel, at most")
    parser.add_argument("--largest", type=int, default=4096, help="elements of a tensor, at most")
    parser.add_argument("--out", default="generated-failures")
    parser.add_argument("--shrink-seconds", type=float, default=60)
    parser.add_argument("--one-batch", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    Path(arguments.out).mkdir(parents=True, exist_ok=True)
    if arguments.one_batch:
        return batch(arguments)
    ran = failed = crashed = 0
    seed, start = arguments.seed, time.monotonic()
    while ran < arguments.count:
        cache = tempfile.mkdtemp(prefix="generated-cache-")
        command = [
            sys.executable,
            __file__,
            "--one-batch",
            "--seed",
            str(seed),
            "--batch",
            str(arguments.batch),
            "--steps",
            str(arguments.steps),
            "--largest",
            str(arguments.largest),
            "--out",
            arguments.out,
            "--shrink-seconds",
            str(arguments.shrink_seconds),
        ]
        child = subprocess.run(
            command, env={**os.environ, "TRITON_CACHE_DIR": cache}, capture_output=True, text=True
        )
        shutil.rmtree(cache, ignore_errors=True)
        *shown, last = child.stdout.strip().splitlines() or [""]
        print("\n".join(shown), end="\n" if shown else "", flush=True)
        ran += int(last.split()[1]) if last.startswith("ran ") else 1
        if last.startswith("ran "):
            failed += int(last.split()[3])
        elif child.returncode:
            crashed += 1
            print(
                f"seed {seed}: the process ended with {child.returncode}; {arguments.out}/current-{seed}.py\n"
                f"{child.stderr[-800:]}",
                flush=True,
            )
        seed += 1
    print(f"{ran} kernels in {time.monotonic() - start:.0f} s: {failed} disagreed, {crashed} crashed")
    return 1 if failed or crashed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The long run: `python -m tests.property.run --modes vector,simt8 --count 5000 --jobs 8`.

Kernel number n of a mode is the same in every run of this version; a run begins at a random number, which
it prints, or at --first. Kernels run in child processes, a batch in each, --jobs of them at a time; one that
crashes or hangs is a finding and costs itself alone. Every result is a line of `log.jsonl` in the folder of
the run, and a run goes on with what the log lacks. `report.md` beside it says what was found so far: counts
by mode, refusals, and each failure with its kernel. What fails is shrunk and saved, as a Python file with a
kernel, arguments and expected numbers. `--summary` prints the counts of a log; `--only 17` runs one kernel
again, and shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from children import End, reports
from triton_spirv.tools import process, spirv_tools

from property.modes import environment
from property.report import FAILURES, counts, page

MODES = "vector"
WORKER = Path(__file__).with_name("worker.py")
#: of the warning that a compilation is slow
NEVER_ENDS = "Triton's passes on layouts have worked"


def batch(mode: str, first: int, count: int, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Results of one child process; of a child that dies, a result for the kernel that it died of, and no
    more."""
    cache = tempfile.mkdtemp(prefix="generated-cache-")
    current = arguments.out / f"current-{mode}-{first}.py"
    command = [
        sys.executable, str(arguments.worker), "--mode", mode, "--first", str(first), "--count", str(count),
        "--out", str(arguments.out), "--current", str(current),
        "--shrink-seconds", str(arguments.shrink_seconds), "--deadline", str(arguments.deadline),
    ]
    ours = ("TRITON_SPIRV_", "TRITON_INTERPRET")
    variables = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    variables["TRITON_SPIRV_COMPILE_SECONDS"] = str(arguments.timeout / 2)  # is said before the end
    running, found = None, None
    try:
        for report in reports(command, arguments.timeout,
                              {**variables, **environment(mode), "TRITON_CACHE_DIR": cache}):
            if isinstance(report, End):
                if running is not None and found:  # it ended while a smaller one was looked for
                    yield found
                elif running is not None or report.code:
                    yield _death(mode, first if running is None else running, report, current)
            elif "begin" in report:
                running, found = report["begin"], None
            elif "found" in report:
                found = report["found"]
            else:
                yield report
                running = None
    finally:
        shutil.rmtree(cache, ignore_errors=True)
        current.unlink(missing_ok=True)


def _death(mode: str, kernel: int, end: End, current: Path) -> dict[str, Any]:
    """The result of a kernel that ended its process, which is kept; but for one that Triton's own passes
    never end with, which the warning of slow.py says."""
    if end.hung and NEVER_ENDS in end.complaints:
        return {"kernel": kernel, "mode": mode, "result": "refused", "why": f"{NEVER_ENDS}, and do not end"}
    result = "hung" if end.hung else "crashed"
    path = current.with_name(f"{result}-{mode}-{kernel}.py")
    if current.exists():
        current.replace(path)
    why = f"the process ended with {end.code}: {end.complaints}"
    return {"kernel": kernel, "mode": mode, "result": result, "why": why, "file": path.name}


def current_revision() -> str:
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    return found.stdout.strip() or "unknown"


def read(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


class Run:
    """What the log of a folder lacks of a number of kernels in each mode, a batch at a time for each job."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments, self.log = arguments, arguments.out / "log.jsonl"
        self.entries = read(self.log)
        if arguments.first is None:
            arguments.first = min((e["kernel"] for e in self.entries), default=random.randrange(1 << 31))
        self.weight = Counter(arguments.modes)
        every = range(arguments.first, arguments.first + arguments.count)
        done = {(entry["mode"], entry["kernel"]) for entry in self.entries}
        self.done = {mode: sum((mode, n) in done for n in every) for mode in self.weight}
        self.pending = {mode: [n for n in every if (mode, n) not in done][::-1] for mode in self.weight}
        self.handed = Counter(self.done)
        self.failures, self.start, self.revision = 0, time.monotonic(), ""
        self.lock = threading.Lock()

    def next(self) -> tuple[str, int, int] | None:
        """Mode, first kernel and number of kernels of another batch; the mode that is furthest behind."""
        with self.lock:
            modes = [mode for mode in self.weight if self.pending[mode]]
            stops = time.time() > self.arguments.deadline or (self.failures and self.arguments.stop)
            if not modes or stops:
                return None
            if (found := current_revision()) != self.revision:
                self.revision = found
                print(f"at {found}", flush=True)
            mode = min(modes, key=lambda m: self.handed[m] / self.weight[m])
            left = self.pending[mode]
            first, count = left.pop(), 1
            while count < self.arguments.batch and left and left[-1] == first + count:
                left.pop()
                count += 1
            self.handed[mode] += count
            return mode, first, count

    def work(self) -> None:
        """A job: batches until none is left. Behind a kernel that ended its process a batch goes on, unless
        the time is over: each process runs its first kernel however late it is."""
        while (given := self.next()) is not None:
            mode, first, count = given
            left, last = range(first, first + count), -1
            while left and left[0] != last and not (self.failures and self.arguments.stop):
                last = left[0]
                for entry in batch(mode, left[0], len(left), self.arguments):
                    self.note(entry)
                    left = range(entry["kernel"] + 1, first + count)
                if time.time() > self.arguments.deadline:
                    break
            self.show()

    def note(self, entry: dict[str, Any]) -> None:
        with self.lock, self.log.open("a") as file:
            entry = {**entry, "revision": self.revision}
            file.write(json.dumps(entry) + "\n")
            self.entries.append(entry)
            self.done[entry["mode"]] += 1
            if entry["result"] in FAILURES:
                self.failures += 1
                print(f"  {entry.get('file')}: {entry['why'].splitlines()[0][:150]}", flush=True)

    def show(self) -> None:
        """A line of the terminal, and the report."""
        with self.lock:
            shown = ", ".join(f"{m} {self.done[m]}" for m in self.weight)
            taken = time.monotonic() - self.start
            print(f"{taken:.0f} s: {shown}; {self.failures} failed", flush=True)
            heading = (f"Asked for: {self.arguments.count} kernels in each mode, from --first "
                       f"{self.arguments.first}; {self.arguments.jobs} processes, {taken:.0f} s.")
            written = self.arguments.out / "report.new"
            written.write_text(page(self.entries, self.arguments.out, heading))
            written.replace(self.arguments.out / "report.md")


def run(arguments: argparse.Namespace) -> int:
    """Run what the log lacks; the number of failures."""
    arguments.deadline = time.time() + arguments.seconds
    made = Run(arguments)
    print(f"kernels from --first {arguments.first}", flush=True)
    others = [threading.Thread(target=made.work, daemon=True) for _ in range(arguments.jobs)]
    for thread in others:
        thread.start()
    for thread in others:
        thread.join()
    made.show()
    return made.failures


def only(arguments: argparse.Namespace) -> int:
    """One kernel again, in each mode, in processes of its own."""
    arguments.shrink_seconds, arguments.deadline, failures = 0.0, float("inf"), 0
    for mode in arguments.modes:
        for entry in batch(mode, arguments.only, 1, arguments):
            print(f"{mode}: {entry['result']} {entry.get('why', '')}")
            failures += entry["result"] in FAILURES
            if "file" in entry:
                print((arguments.out / entry["file"]).read_text())
    return failures


def main() -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument(
        "--modes", default=MODES, type=lambda text: text.split(","),
        help="vector, simt, simt8, simt32, vulkan, machine-pvc (names of tests/conftest.py; the machine "
        "executes SPIR-V and watches it), interpreter (Triton's own); compiler- in front of one: under "
        "check=compiler; one named twice has twice the turns",
    )
    parser.add_argument("--count", type=int, default=2000, help="kernels to run in each mode")
    parser.add_argument("--first", type=int, help="number of the first kernel; without it, any")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no kernel after so long")
    parser.add_argument("--stop", action="store_true", help="end with the batch of the first failure")
    parser.add_argument("--batch", type=int, default=50, help="kernels in one process")
    parser.add_argument("--out", type=Path, default=Path("generated"), help="folder of log and failures")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for a kernel")
    parser.add_argument("--shrink-seconds", type=float, default=60)
    parser.add_argument("--worker", type=Path, default=WORKER, help=argparse.SUPPRESS)
    parser.add_argument("--only", type=int, help="run this kernel again, and show it if it fails")
    parser.add_argument("--summary", action="store_true", help="print the counts of a log, run nothing")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.summary:
        print(counts(read(arguments.out / "log.jsonl")))
        return 0
    process.find("spirv-val", spirv_tools.HINT)  # each kernel's module must pass it
    if arguments.only is not None:
        return 1 if only(arguments) else 0
    failures = run(arguments)
    print(counts(read(arguments.out / "log.jsonl")))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

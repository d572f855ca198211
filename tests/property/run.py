"""The long run: `python -m tests.property.run --modes vector,simt8 --count 5000`.

Kernel number n of a mode is the same in every run of this version; a run begins at a random number, which
it prints, or at --first. Kernels run in child processes, a batch in each; one that crashes or hangs is a
finding and costs itself alone. Every result is a line of `log.jsonl` in the folder of the run, and a run
goes on where the log ends. What fails is shrunk and saved beside it, as a Python file with a kernel,
arguments and expected numbers. `--summary` prints the counts of a log; `--only 17` runs one kernel again,
and shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
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

from property.worker import environment

MODES = "vector"
WORKER = Path(__file__).with_name("worker.py")
DEATHS = ("crashed", "hung")  # the process ends with them
FAILURES = ("disagreed", "failed", *DEATHS)


def queued_lines(child: subprocess.Popen[str]) -> queue.Queue[str | None]:
    """Lines of a child's output as they come, then None. (A file's own buffer can hold lines that `select` on
    its descriptor does not know of, so that a child would seem to hang.)"""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert child.stdout
        for line in child.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def batch(mode: str, first: int, count: int, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Results of one child process; of a child that dies, a result for the kernel that it died of."""
    cache = tempfile.mkdtemp(prefix="generated-cache-")
    command = [
        sys.executable, str(arguments.worker), "--mode", mode, "--first", str(first),
        "--count", str(count), "--out", str(arguments.out), "--shrink-seconds", str(arguments.shrink_seconds),
        "--deadline", str(arguments.deadline),
    ]
    ours = ("TRITON_SPIRV_", "TRITON_INTERPRET")
    variables = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    errors = arguments.out / f"stderr-{mode}.txt"
    with errors.open("w") as kept:
        child = subprocess.Popen(
            command, env={**variables, **environment(mode), "TRITON_CACHE_DIR": cache}, text=True,
            stdout=subprocess.PIPE, stderr=kept,
        )
    running, found, hung = None, None, False
    lines = queued_lines(child)
    try:
        while True:
            try:
                line = lines.get(timeout=arguments.timeout)
            except queue.Empty:
                hung = child.poll() is None
                break
            if line is None:
                break
            if not line.startswith("{"):
                continue
            report = json.loads(line)
            if "begin" in report:
                running, found = report["begin"], None
            elif "found" in report:
                found = report["found"]
            else:
                yield report
                running = None
        if hung:
            child.kill()
        code = child.wait()
        if running is not None and found:  # it ended while a smaller one was looked for
            yield found
        elif running is not None or code:
            number = first if running is None else running
            result = "hung" if hung else "crashed"
            path = arguments.out / f"{result}-{mode}-{number}.py"
            current = arguments.out / f"current-{mode}.py"
            if current.exists():
                current.replace(path)
            why = f"the process ended with {code}: {errors.read_text()[-600:]}"
            yield {"kernel": number, "mode": mode, "result": result, "why": why, "file": path.name}
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        shutil.rmtree(cache, ignore_errors=True)


def current_revision() -> str:
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    return found.stdout.strip() or "unknown"


def read(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def run(arguments: argparse.Namespace) -> int:
    """Run what the log lacks; the number of failures."""
    log = arguments.out / "log.jsonl"
    entries = read(log)
    if arguments.first is None:
        arguments.first = min((e["kernel"] for e in entries), default=random.randrange(1 << 31))
        print(f"kernels from --first {arguments.first}", flush=True)
    done = Counter(dict.fromkeys(arguments.modes, arguments.first))
    for entry in entries:
        done[entry["mode"]] = max(done[entry["mode"]], entry["kernel"] + 1)
    failures, last = 0, arguments.first + arguments.count
    start, arguments.deadline = time.monotonic(), time.time() + arguments.seconds
    weight, revision = Counter(arguments.modes), ""
    while pending := [mode for mode in weight if done[mode] < last]:
        if time.time() > arguments.deadline or (failures and arguments.stop):
            break
        mode = min(pending, key=lambda m: (done[m] - arguments.first) / weight[m])
        if (found := current_revision()) != revision:
            revision = found
            print(f"at {revision}", flush=True)
        count = min(arguments.batch, last - done[mode])
        with log.open("a") as file:
            for entry in batch(mode, done[mode], count, arguments):
                file.write(json.dumps({**entry, "revision": revision}) + "\n")
                file.flush()
                done[mode] = entry["kernel"] + 1
                if entry["result"] in FAILURES:
                    failures += 1
                    print(f"  {entry.get('file')}: {entry['why'].splitlines()[0][:150]}", flush=True)
        shown = ", ".join(f"{m} {done[m] - arguments.first}" for m in weight)
        print(f"{time.monotonic() - start:.0f} s: {shown}; {failures} failed", flush=True)
    return failures


def summary(log: Path) -> str:
    """A line for each mode: kernels by result, comparisons by oracle."""
    results: dict[str, Counter[str]] = {}
    oracles: dict[str, Counter[str]] = {}
    for entry in read(log):
        results.setdefault(entry["mode"], Counter())[entry["result"]] += 1
        oracles.setdefault(entry["mode"], Counter()).update(entry.get("checks", ()))
    lines = []
    for mode, counts in results.items():
        shown = ", ".join(f"{n} {name}" for name, n in counts.most_common())
        agreed = ", ".join(f"{name} {n}" for name, n in oracles[mode].most_common())
        lines.append(f"{mode}: {sum(counts.values())} kernels: {shown}. Comparisons that agreed: {agreed}")
    return "\n".join(lines)


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
        "executes SPIR-V and watches it), interpreter (Triton's own); one named twice has twice the turns",
    )
    parser.add_argument("--count", type=int, default=2000, help="kernels to run in each mode")
    parser.add_argument("--first", type=int, help="number of the first kernel; without it, any")
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
        print(summary(arguments.out / "log.jsonl"))
        return 0
    if arguments.only is not None:
        return 1 if only(arguments) else 0
    failures = run(arguments)
    print(summary(arguments.out / "log.jsonl"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""What checked mode costs: kernels with each check, times the kernel without, in one run and in turns, the
fastest launch of each (others may use the machine); and what other tools take for the same launches.

    python benchmarks/checked.py [--quick] [--markdown] [--processor-time] [--viz PYTHON]

`uninit` is run twice: on memory that is all written, and ("new") with an output that nobody has written, as
the first launch after torch.empty has it; filling that is not counted. "proven" says at how many of the
kernel's accesses `bounds` compares two addresses for a whole block, and looks at single elements only where
one of these lies outside. `--viz`: the Python of an environment that has triton-viz, and a Triton that it
takes. `--processor-time`: the time that one core worked, and the median of all launches, for a machine that
others use.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import triton_spirv
from checked_cases import Case, cases, contended
from measure import interleaved, machine, table
from triton_spirv.lower.program import checks as rules
from triton_spirv_backend.targets import current_target, emitter_target

#: what is measured beside the kernel without a check; the same of kernels whose programs share memory
CHECKS = ("bounds", "uninit", "uninit, new", "race", "overflow", "nan", "all")
SHARED_CHECKS = ("bounds", "race", "all")


def measured(case: Case, seconds: float, processor: bool,
             checks: Sequence[str] = CHECKS) -> dict[str, float]:
    """Check -> its time over that without, of the fastest launches, or the median of the processor's; "ms":
    that without."""
    clock = time.process_time if processor else time.perf_counter

    def action(check: str) -> Callable[[], Any]:
        return lambda: case.launch(check=check)

    actions = {check: action(check) for check in checks if check != "uninit, new"}
    times = interleaved({"": action(""), **actions}, seconds, processor=processor)
    taken = {check: sample.median if processor else sample.least for check, sample in times.items()}
    ratios = {check: taken[check] / taken[""] for check in actions}
    fresh = []
    # what is counted up has to be given first
    if case.output.dtype.is_floating_point and "uninit, new" in checks:
        for _ in range(max(3, times["uninit"].count // 4)):
            triton_spirv.mark_uninitialised(case.output)
            start = clock()
            actions["uninit"]()
            fresh.append((clock() - start) * 1e3)
        ratios["uninit, new"] = (statistics.median(fresh) if processor else min(fresh)) / taken[""]
    return {"ms": taken[""], **ratios}


def proven(case: Case) -> str:
    """At how many of the accesses two addresses may be enough, and of how many."""
    text = case.launch().asm["ttir"]
    original, known = rules._extremes, list[bool]()

    def noted(*given: Any) -> Any:
        found = original(*given)
        known.append(found is not None)
        return found

    rules._extremes = noted
    try:
        triton_spirv.compile(text, emitter_target(current_target()), check=("bounds",))
    finally:
        rules._extremes = original
    return f"{sum(known)} of {len(known)}"


def elsewhere(tool: str, python: str, options: argparse.Namespace) -> dict[str, float | str]:
    """Milliseconds of each kernel by another tool, or why there are none."""
    command = [python, str(Path(__file__).with_name("checked_cases.py")), tool]
    command += [*["--quick"] * options.quick, *["--processor-time"] * options.processor_time]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{tool} ended with {done.returncode}: {done.stderr[-1000:]}")
    found: dict[str, float | str] = json.loads(done.stdout.splitlines()[-1])
    return found


def factor(held: float | str | None, own: float) -> str:
    """How many times as long as our own milliseconds; of what did not end, at least that."""
    if isinstance(held, float):
        return f"{held / own:.0f}"
    return held or ""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small arrays, fewer calls")
    parser.add_argument("--markdown", action="store_true", help="the tables as docs/checking.md has them")
    parser.add_argument("--processor-time", action="store_true", help="of one core, instead of the clock's")
    parser.add_argument("--viz", metavar="PYTHON", help="measure triton-viz' sanitizer with this Python")
    options = parser.parse_args()
    if options.processor_time:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])  # before anything has started threads
    listed = cases(options.quick)
    seconds = 1.0 if options.quick else 20.0 if options.processor_time else 4.0
    rows = [(case.name, measured(case, seconds, options.processor_time)) for case in listed]
    mean = {check: math.exp(math.fsum(map(math.log, held)) / len(held)) for check in CHECKS
            if (held := [row[check] for _, row in rows if check in row])}
    cells = [[name, f"{row['ms']:.2f}", *(f"{row[check]:.1f}" if check in row else "" for check in CHECKS)]
             for name, row in rows]
    cells.append(["geometric mean", "", *(f"{mean[check]:.1f}" for check in CHECKS)])
    shared = [(case.name, measured(case, seconds / 4, options.processor_time, SHARED_CHECKS))
              for case in contended(options.quick)]
    more = [[name, f"{row['ms']:.3f}", *(f"{row[check]:.1f}" for check in SHARED_CHECKS)]
            for name, row in shared]
    tools = {"interpreter": elsewhere("interpreter", sys.executable, options)}
    if options.viz:
        tools["triton-viz"] = elsewhere("triton-viz", options.viz, options)
    others = []
    for case, (name, row) in zip(listed, rows, strict=True):
        own = row["ms"] * row["bounds"]
        factors = [factor(tool.get(name), own) for tool in tools.values()]
        others.append([name, proven(case), f"{own:.2f}", *factors])
    heads = (["kernel", "unchecked, ms", *CHECKS], ["kernel", "unchecked, ms", *SHARED_CHECKS],
             ["kernel", "proven", "bounds, ms", *tools])
    if options.markdown:
        for head, lines in zip(heads, (cells, more, others), strict=True):
            print("\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *lines]), "\n")
        return
    print("\n".join(f"{key}: {value}" for key, value in machine().items()), "\n")
    print(table("Time with a check over that without", heads[0], cells))
    print(table("The same of kernels whose programs share memory", heads[1], more))
    print(table("Time of other tools over that with bounds", heads[2], others))


if __name__ == "__main__":
    main()

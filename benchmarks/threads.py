"""Launches by the threads of this package, of the driver and of torch: one kernel that works for so long, in
a row and behind pauses.

    python benchmarks/threads.py [--quick] [--turns 2] [--json FILE]

Each is a process of its own; they take turns. `own`: arrays of numpy, and threads as they come. `driver`: the
same with TRITON_SPIRV_CREW=0. `torch`: tensors, and TRITON_SPIRV_CREW=0. Times are of the whole call, medians
of all turns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from measure import table
from report import introduced, output_arguments, write

#: microseconds; the last is slept, which others' threads notice
PAUSES = (0, 20, 200, 2000)
SIDES = {"own": {"TRITON_SPIRV_CREW": "1"}, "driver": {"TRITON_SPIRV_CREW": "0"},
         "torch": {"TRITON_SPIRV_CREW": "0"}}
#: programs of the kernel, and elements of each
PROGRAMS, BLOCK = 64, 1024


def child(side: str, rounds: int, calls: int) -> dict[int, list[float]]:
    """pause -> microseconds of each call."""
    import numpy as np
    import triton
    import triton.language as tl
    import triton_spirv

    @triton.jit
    def steps(x, out, n, rounds, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        value = tl.load(x + i, mask=i < n)
        for _ in range(rounds):
            value = value * 0.999 + 0.5
        tl.store(out + i, value, mask=i < n)

    n, clock, taken = PROGRAMS * BLOCK, time.perf_counter_ns, dict[int, list[float]]()
    arrays: list[Any] = [np.random.rand(n).astype(np.float32) for _ in range(2)]
    if side == "torch":
        import torch

        arrays = [torch.from_numpy(one) for one in arrays]
    else:
        arrays = [triton_spirv.asarray(one) for one in arrays]
    for pause in PAUSES:
        for _ in range(50):
            steps[(PROGRAMS,)](*arrays, n, rounds, B=BLOCK)
        taken[pause] = []
        for _ in range(calls):
            end = clock() + 1000 * pause
            if pause == PAUSES[-1]:
                time.sleep(pause * 1e-6)
            while clock() < end:
                pass
            start = clock()
            steps[(PROGRAMS,)](*arrays, n, rounds, B=BLOCK)
            taken[pause].append((clock() - start) / 1000)
    return taken


def measured(side: str, rounds: int, calls: int) -> dict[str, list[float]]:
    command = [sys.executable, __file__, "--child", side, "--rounds", str(rounds), "--calls", str(calls)]
    variables = {"TRITON_SPIRV_BACKEND": "1", "TRITON_SPIRV_DEVICE": "cpu", **SIDES[side]}
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Launches by threads of this package, the driver, torch.")
    parser.add_argument("--quick", action="store_true", help="few calls: does it run?")
    parser.add_argument("--turns", type=int, default=2, help="processes of each side")
    parser.add_argument("--child", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--calls", type=int, default=200, help="in each process, for each pause")
    output_arguments(parser, plot=False)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(child(options.child, options.rounds, options.calls)))
        return
    figures: dict[str, Any] = {"machine": introduced()}
    turns, calls = (1, 5) if options.quick else (options.turns, options.calls)
    rows = []
    for rounds in (4, 64) if options.quick else (4, 16, 64, 256, 1024):
        taken: dict[str, dict[str, list[float]]] = {side: {} for side in SIDES}
        for _ in range(turns):
            for side, all_calls in taken.items():
                for pause, times in measured(side, rounds, calls).items():
                    all_calls.setdefault(pause, []).extend(times)
        middle = {side: {pause: median(times) for pause, times in all_calls.items()}
                  for side, all_calls in taken.items()}
        figures[str(rounds)] = middle
        rows.append([rounds, *(" / ".join(f"{middle[side][str(pause)]:.0f}" for side in SIDES)
                               for pause in PAUSES)])
    print(table(f"{' / '.join(SIDES)}, us", ["steps", *(f"pause {pause} us" for pause in PAUSES)], rows))
    write(options.json, figures)


if __name__ == "__main__":
    main()

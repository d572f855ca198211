"""What a second core gives each kernel, and torch's: the comparison of cpu.py on one core and on two.

    python benchmarks/scaling.py [--quick] [--only rows,products,softmax] [--seconds S] [--cores 1,2]
                                 [--json FILE] [--plot FILE]

Each number of cores is a process of its own that is bound to so many cores before any library counts them:
the OpenCL runtime, as torch, starts as many threads as it may use cores.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from measure import table
from report import output_arguments, write

#: one or two workloads for each limit: memory, arithmetic, both, one core alone
CHOSEN = ("add,gelu,dropout,softmax,layer norm,cross entropy,sum over,transpose,embedding,histogram,sort,"
          "matmul float32 1024,attention float32 1024")


def measured(cores: int, options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """workload -> side -> figures, on so many cores."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [sys.executable, str(Path(__file__).with_name("cpu.py")), "--cores", str(cores),
                   "--peers", "torch", "--seconds", str(options.seconds), "--json", file.name]
        command += ["--quick"] if options.quick else []
        command += ["--only", options.only] if options.only else []
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        figures = json.loads(Path(file.name).read_text(encoding="utf-8"))
    return {name: taken for family in figures if family not in ("machine", "limits")
            for name, taken in figures[family].items()}


def draw(path: str, rows: list[list[Any]], most: int) -> None:
    """Speed-ups, a bar for ours and one for torch."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 1 + 0.35 * len(rows)))
    for number, side in enumerate(("ours", "torch")):
        faster = [float(row[3 + 3 * number]) for row in rows]
        axes.barh([place + 0.4 * number for place in range(len(rows))], faster, 0.4, label=side)
    axes.set_yticks([place + 0.2 for place in range(len(rows))], [row[0] for row in rows], fontsize=7)
    axes.axvline(most, color="black", linewidth=0.8)
    axes.set_xlabel(f"time on one core / time on {most}")
    axes.invert_yaxis()
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)
    print(f"wrote {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description="What a second core gives each kernel.")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run?")
    parser.add_argument("--only", default=CHOSEN, help="families or parts of names; empty: all workloads")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each workload and number of cores")
    parser.add_argument("--cores", default=f"1,{len(os.sched_getaffinity(0))}", help="two numbers of cores")
    output_arguments(parser)
    options = parser.parse_args()
    few, many = (int(count) for count in options.cores.split(","))
    results = {count: measured(count, options) for count in (few, many)}
    rows: list[list[Any]] = []
    for name in results[few]:
        row: list[Any] = [name]
        for side in ("ours", "torch"):
            one, two = (results[count][name][side]["median"] for count in (few, many))
            row += [f"{one:.3g}", f"{two:.3g}", f"{one / two:.2f}"]
        rows.append(row)
    head = ["kernel", *(f"{side}{part}" for side in ("ours", "torch")
                        for part in (f", ms on {few}", f" on {many}", ": faster by"))]
    print(table(f"Medians on {few} and on {many} cores", head, rows))
    write(options.json, {str(count): found for count, found in results.items()})
    if options.plot:
        draw(options.plot, rows, many)


if __name__ == "__main__":
    main()

"""Each kernel on this package's Vulkan device, beside native Triton and torch on the same GPU: one table.

Each side runs in a process of its own, one after the other; a case that hangs or takes its process down is
reported and the others go on. Before anything is timed, the device works for long enough to reach its
full clock. Everything is kept in $OUT/figures.json.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

WORKER = Path(__file__).with_name("worker.py")
CASES = ["vector add", "softmax", "layer norm", "matmul f32", "matmul f16", "matmul i8", "attention f16",
         "launch"]
#: what the figures are to be of native Triton's, where that is said
GOALS = {"vector add": 0.95, "softmax": 0.95, "layer norm": 0.9, "matmul f32": 0.8, "matmul f16": 0.4,
         "matmul i8": None, "attention f16": 0.3}


def run_side(side: str, cases: list[str], quick: bool, limit: float, deadline: float,
             **variables: str) -> list[dict[str, Any]]:
    """The results of one side; a case may take `limit` seconds."""
    results: list[dict[str, Any]] = []
    left = list(cases)
    while left and time.monotonic() < deadline:
        command = [sys.executable, str(WORKER), side, *left, *(["--quick"] if quick else [])]
        switch = {"TRITON_SPIRV_BACKEND": "1"} if side == "spirv" else {}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   start_new_session=True, env={**os.environ, **switch, **variables})
        finished = read(process, limit, deadline, results)
        done = {result["case"] for result in results}
        left = [case for case in left if case not in done]
        if left and finished != "ended well":
            results.append({"side": side, "case": left.pop(0), "failures": [finished]})
            print(f"!! {side}: {results[-1]['case']}: {finished}", flush=True)
    results += [{"side": side, "case": case, "failures": ["no time left"]} for case in left]
    return results


def read(process: subprocess.Popen[str], limit: float, deadline: float, results: list[dict[str, Any]]) -> str:
    """Pass on what a worker says until it ends, is silent for too long, or the time is over."""
    lines: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put("")

    threading.Thread(target=listen, daemon=True).start()
    last = time.monotonic()
    while time.monotonic() < min(last + limit, deadline):
        try:
            line = lines.get(timeout=1.0)
        except queue.Empty:
            continue
        if not line:
            code = process.wait()
            return "ended well" if code == 0 else f"the process ended with status {code}"
        if line.startswith("RESULT "):
            results.append(json.loads(line.removeprefix("RESULT ")))
            last = time.monotonic()
        else:
            print(line, end="", flush=True)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return f"no result within {limit:.0f} s" if time.monotonic() < deadline else "no time left"


def shown(result: dict[str, Any] | None) -> str:
    """One cell of the table."""
    if result is None:
        return "-"
    if "value" not in result:
        return "failed"
    spread = (result["high"] - result["low"]) / result["median"] * 100
    digits = 0 if result["value"] >= 100 else 1
    return f"{result['value']:.{digits}f} {result['unit']} ±{spread / 2:.1f} %"


def table(results: list[dict[str, Any]]) -> list[str]:
    """Lines of markdown."""
    known = {(result["side"], result["case"]): result for result in results}
    lines = ["| kernel | this package, Vulkan | native Triton | torch | of native | goal | error |",
             "|---|---|---|---|---|---|---|"]
    for case, goal in GOALS.items():
        ours, native, other = (known.get((side, case)) for side in ("spirv", "native", "torch"))
        if not any((ours, native, other)):
            continue
        ratio = f"{ours['value'] / native['value']:.2f}" if ours and native and "value" in ours \
            and "value" in native else "-"
        wrong = f"{ours['error']:.1e}" if ours and "error" in ours else "-"
        cells = [case, shown(ours), shown(native), shown(other), ratio, str(goal or "-"), wrong]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| launch of an empty kernel, microseconds | returns after | done after | waited for |",
              "|---|---|---|---|"]
    for side in ("spirv", "native", "torch"):
        launch = known.get((side, "launch"))
        if launch and "returns_us" in launch:
            lines.append(f"| {side} | {launch['returns_us']:.1f} | {launch['done_us']:.1f} | "
                         f"{launch['waited_us']:.1f} |")
    pipelines = known.get(("spirv", "pipelines"), {})
    if "fresh_ms" in pipelines:
        lines += ["", "| pipeline, milliseconds | new | from the cache |", "|---|---|---|"]
        lines += [f"| {name} | {fresh:.1f} | {pipelines['cached_ms'][name]:.1f} |"
                  for name, fresh in pipelines["fresh_ms"].items()]
    for result in results:
        for failure in result.get("failures", ()):
            lines.append(f"\n{result['side']}, {result['case']}: {failure[:400]}")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: does everything run?")
    parser.add_argument("--seconds", type=float, default=500, help="for everything together")
    parser.add_argument("--limit", type=float, help="seconds for one case")
    parser.add_argument("--cases", default=",".join([*CASES, "pipelines"]), help="comma-separated")
    parser.add_argument("--sides", default="spirv,native,torch", help="comma-separated")
    options = parser.parse_args()
    deadline = time.monotonic() + options.seconds
    limit = options.limit or (45 if options.quick else 120)
    chosen = [case.strip() for case in options.cases.split(",")]
    results: list[dict[str, Any]] = []
    cases = [case for case in chosen if case in CASES]
    for side in options.sides.split(","):
        results += run_side(side, cases, options.quick, limit, deadline)
        if side == "spirv" and "pipelines" in chosen:  # nothing is kept from before, by the driver neither
            with tempfile.TemporaryDirectory() as folder:
                results += run_side(side, ["pipelines"], options.quick, limit, deadline,
                                    TRITON_CACHE_DIR=folder, __GL_SHADER_DISK_CACHE="0")
        Path(os.environ.get("OUT", "."), "figures.json").write_text(json.dumps(results, indent=1))
    print("\n".join(["", *table(results)]))
    return int(any("value" not in result and result["case"] in GOALS and result["side"] == "spirv"
                   for result in results))


if __name__ == "__main__":
    sys.exit(main())

"""What a second process start of a script saves, per kernel: it compiles nothing.

    python benchmarks/second_start.py [SCRIPT [ARGUMENTS...]]        tutorials/03-matrix-multiplication.py
    --quick

The script runs twice with one cache folder that is empty at first. Triton's compilation listener counts what
was compiled and what came from the cache; beside it stands what the driver built from SPIR-V and what it
loaded as a binary. Times are processor time, so that a busy machine disturbs them little; the driver's
compiler works in several threads, and all of them count.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CHILD = r"""
import json, os, runpy, sys, time
os.environ["TRITON_SPIRV_BACKEND"] = "1"
from triton import compiler, knobs
from triton_spirv.runtime import program

told = {"compiled": [], "cached": [], "built": [], "loaded": []}

def listener(**facts):
    listener.hit = facts["cache_hit"]
knobs.compilation.listener = listener

def timed(function, name):
    def call(*arguments, **options):
        start = time.process_time()
        result = function(*arguments, **options)
        if result is not None:
            told[name(result) if callable(name) else name].append((time.process_time() - start) * 1e3)
        return result
    return call

compiler.compile = timed(compiler.compile, lambda _: "cached" if listener.hit else "compiled")
program._from_words = timed(program._from_words, "built")
program._from_cache = timed(program._from_cache, "loaded")
sys.argv = sys.argv[2:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as end:
    if end.code:
        raise
with open(os.environ["TOLD"], "w") as file:
    json.dump(told, file)
"""


def start(script: list[str], cache: Path) -> dict[str, list[float]]:
    """One process start: milliseconds of each compilation, cache hit, driver's build, driver's load."""
    told = cache / "told.json"
    environment = {**os.environ, "TRITON_CACHE_DIR": str(cache), "TOLD": str(told)}
    command = [sys.executable, "-c", CHILD, "-", *script]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    result: dict[str, list[float]] = json.loads(told.read_text())
    return result


def measure(script: list[str]) -> dict[str, Any]:
    """Both starts, and the milliseconds that the second saves for each kernel."""
    with tempfile.TemporaryDirectory(prefix="triton-spirv-second-start-") as folder:
        first, second = start(script, Path(folder)), start(script, Path(folder))
    kernels = len(first["compiled"])
    spent = [sum(sum(one) for one in times.values()) for times in (first, second)]
    return {"first": first, "second": second, "kernels": kernels,
            "saved_ms_per_kernel": (spent[0] - spent[1]) / max(kernels, 1)}


def main() -> None:
    tutorial = Path(__file__).parents[1] / "tutorials" / "03-matrix-multiplication.py"
    script = sys.argv[1:] or [str(tutorial), "--quick"]
    result = measure(script)
    print(f"{' '.join(map(os.path.basename, script))}: {result['kernels']} kernels")
    print(f"{'':14}{'compiled':>20}{'from the cache':>20}{'built by driver':>20}{'loaded by driver':>20}")
    for turn in ("first", "second"):
        cells = [f"{len(times)} ({sum(times) / max(len(times), 1):.1f} ms)" for times in
                 (result[turn][name] for name in ("compiled", "cached", "built", "loaded"))]
        print(f"{turn + ' start':14}" + "".join(f"{cell:>20}" for cell in cells))
    print(f"saved per kernel: {result['saved_ms_per_kernel']:.0f} ms of processor time")


if __name__ == "__main__":
    main()

"""What processes give compilations of many kernels: ahead of time, and of an autotuner's configurations.

    python benchmarks/parallel_compile.py [--quick] [--processes 1,2] [--json FILE]

aot         triton_spirv.aot.compile: configurations of a matmul for a CPU, one variant each, to SPIR-V
precompile  triton_spirv.precompile: configurations of the same built for the device
            (0 processes: the calling one does all, as an autotuner does)

Seconds by the clock, from nothing, the start of the workers included; each figure is a process of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from measure import table  # noqa: E402
from report import output_arguments, write  # noqa: E402


def blocks(count: int) -> list[dict[str, int]]:
    """The first configurations of a matmul, of 75."""
    sizes = (16, 32, 64, 128, 256)
    return [{"BM": m, "BN": n, "BK": k} for k in (64, 32, 16) for m in sizes for n in sizes][:count]


def aot(count: int, processes: int) -> float:
    """Run in a child: seconds of aot.compile."""
    from kernels import matmul_kernel
    from triton_spirv import aot

    names = ("a_ptr", "b_ptr", "c_ptr", "M", "N", "K", "a_row", "b_row", "c_row")
    signature = dict(zip(names, ["*fp16:16"] * 3 + ["i32:16"] * 6, strict=True))
    start = time.perf_counter()
    bundle = aot.compile(matmul_kernel, signature, configs=blocks(count), processes=processes, progress=False)
    spent = time.perf_counter() - start
    assert len(bundle.variants) == count
    return spent


def precompile(count: int, processes: int) -> float:
    """Run in a child: seconds of triton_spirv.precompile."""
    import torch
    import triton
    import triton_spirv
    from kernels import matmul_kernel

    tuned = triton.autotune([triton.Config(sizes) for sizes in blocks(count)], ["M", "N", "K"])(matmul_kernel)
    a, b, c = (torch.ones(256, 256, dtype=torch.float16) for _ in range(3))
    start = time.perf_counter()
    made = triton_spirv.precompile(tuned, a, b, c, *[256] * 6, processes=processes, progress=False)
    spent = time.perf_counter() - start
    assert len(made) == count and not any(each.error for each in made)
    return spent


def child(task: str, *arguments: int) -> float:
    """The result of a function here, run in a process of its own with an empty cache."""
    program = (f"import sys; sys.path.insert(0, {str(HERE)!r}); import parallel_compile; "
               f"print(parallel_compile.{task}(*{arguments!r}))")
    with tempfile.TemporaryDirectory(prefix="triton-spirv-benchmark-") as cache:
        environment = {**os.environ, "TRITON_SPIRV_BACKEND": "1", "TRITON_CACHE_DIR": cache,
                       "TRITON_DEFAULT_FP_FUSION": "1"}
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return float(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description="What processes give compilations of many kernels.")
    parser.add_argument("--quick", action="store_true", help="three configurations: does it run?")
    parser.add_argument("--processes", default="0,1,2", help="numbers of worker processes")
    output_arguments(parser, plot=False)
    options = parser.parse_args()
    counts = {"aot": 3 if options.quick else 60, "precompile": 3 if options.quick else 20}
    numbers = [int(number) for number in options.processes.split(",")]
    results = {task: {number: child(task, count, number) for number in numbers}
               for task, count in counts.items()}
    rows: list[list[object]] = [
        [f"{task}, {counts[task]} configurations", *(f"{spent[number]:.2f}" for number in numbers),
         *(f"{spent[numbers[0]] / spent[number]:.2f}" for number in numbers[1:])]
        for task, spent in results.items()]
    head = ["", *(f"{number} processes, s" for number in numbers),
            *(f"{number} against {numbers[0]}" for number in numbers[1:])]
    print(table("Compiling a matmul's configurations, seconds by the clock", head, rows))
    write(options.json, results)


if __name__ == "__main__":
    main()

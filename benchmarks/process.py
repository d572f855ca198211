"""What a process pays: memory, and the start of a second process that finds everything compiled.

    python benchmarks/process.py [--launches 10000] [--compilations 200] [--json FILE]

memory  resident set above that of `import triton, numpy`: after the first launch, which 250 MB are allowed
        for, and how it grows over launches of one kernel and over compilations of different ones; beside
        these, what it grows by where the driver alone builds and releases the same programs, and how many
        objects of Python's are left
start   milliseconds from the first call of a kernel to its result, in a first process that compiles and in a
        second one that finds the caches on disk; by the clock, and of processors

Each measurement is a process of its own.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ALLOWED = 250.0  # megabytes above the imports, after the first launch
FILLING = 20  # compilations after which pools of memory have their size


def resident() -> float:
    """Megabytes of this process that lie in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory(launches: int, compilations: int) -> dict[str, float]:
    """Run in a child: megabytes at the stages of a process."""
    import numpy
    import triton  # noqa: F401

    before = resident()
    import triton_spirv
    from plain import scale_kernel

    x, out = (triton_spirv.asarray(numpy.zeros(1024, numpy.float32)) for _ in range(2))
    scale_kernel[(1,)](x, out, 1024, 0, 1024)
    first = resident()
    for _ in range(launches):
        scale_kernel[(1,)](x, out, 1024, 0, 1024)
    launched = resident()

    def compile(numbers: range) -> tuple[float, int]:
        for number in numbers:
            scale_kernel[(1,)](x, out, 1024, number, 1024)
            scale_kernel.device_caches.clear()
        gc.collect()
        return resident(), len(gc.get_objects())

    # the allocator's and the compilers' own pools reach their size
    filled, objects = compile(range(1, 1 + FILLING))
    after, left = compile(range(1 + FILLING, 1 + FILLING + compilations))
    return {"first launch": first - before, f"{launches} launches": launched - first,
            f"{FILLING} compilations": filled - launched, f"{compilations} more": after - filled,
            "objects": left - objects}


def driver(compilations: int) -> float:
    """Run in a child behind that of `memory`: megabytes that its programs leave behind where nothing but the
    driver builds and releases them."""
    from triton_spirv.runtime import devices, program

    found = sorted(Path(os.environ["TRITON_CACHE_DIR"]).rglob("scale_kernel.spv"))
    words = [path.read_bytes() for path in found]
    context = devices.open_device(devices.choose(devices.selection()))
    sizes = []
    for each in words[:FILLING + compilations]:
        program.compiled(context, each, "scale_kernel", "")  # released at once
        sizes.append(resident())
    return sizes[-1] - sizes[FILLING - 1]


def start() -> dict[str, tuple[float, float]]:
    """Run in a child: milliseconds from the first call of each kernel to its result, and of processors."""
    import torch
    from kernels import add_case, layer_norm_case, matmul_case, softmax_case

    torch.ones(4) + 1
    cases = [add_case(10_000), softmax_case(64, 781), layer_norm_case(64, 781),
             matmul_case(128, torch.float32)]
    result = {}
    for case in cases:
        clock, processor = time.perf_counter(), time.process_time()
        case.ours()
        result[case.name] = (1e3 * (time.perf_counter() - clock), 1e3 * (time.process_time() - processor))
    return result


def child(task: str, cache: str, *arguments: int) -> Any:
    """The result of a function here, run in a process of its own."""
    program = (f"import sys, json; sys.path.insert(0, {str(HERE)!r}); import process; "
               f"print(json.dumps(process.{task}(*{arguments!r})))")
    environment = {**os.environ, "TRITON_SPIRV_BACKEND": "1", "TRITON_CACHE_DIR": cache,
                   "TRITON_DEFAULT_FP_FUSION": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    sys.path.insert(0, str(HERE))
    from measure import table
    from report import output_arguments, write

    parser = argparse.ArgumentParser(description="Memory of a process, and the start of a second one.")
    parser.add_argument("--launches", type=int, default=10_000)
    parser.add_argument("--compilations", type=int, default=200)
    output_arguments(parser, plot=False)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="triton-spirv-benchmark-") as cache:
        cold, warm = child("start", cache), child("start", cache)
        used = child("memory", cache, options.launches, options.compilations)
        alone = child("driver", cache, options.compilations)
    rows: list[list[object]] = [[name, *(f"{x:.1f}" for x in (*cold[name], *warm[name]))] for name in cold]
    print(table("First call of a kernel, milliseconds", ["kernel", "first process", "of processors",
                                                        "second process", "of processors"], rows))
    objects = used.pop("objects")
    sizes = {**used, f"{options.compilations} by the driver alone": alone}
    print(table("Resident set, MB", ["after", "more"], [[name, f"{x:.1f}"] for name, x in sizes.items()]))
    print(f"{options.compilations} more compilations leave {objects:.0f} objects of Python's")
    if used["first launch"] > ALLOWED:
        raise SystemExit(f"more than {ALLOWED:.0f} MB above the imports")
    write(options.json, {"first process": cold, "second process": warm, "memory": sizes, "objects": objects})


if __name__ == "__main__":
    main()

"""The kernels of benchmarks/checked.py, and one launch of each by a tool that is not this one:

    python benchmarks/checked_cases.py interpreter|triton-viz [--quick] [--processor-time]

prints the fastest of some launches in milliseconds for each kernel, as JSON: by Triton's interpreter, which
checks nothing, or by triton-viz' sanitizer, which looks for accesses out of bounds and computes nothing. With
`--processor-time` these are the milliseconds that a processor worked.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

if __name__ == "__main__":
    os.environ["TRITON_INTERPRET"] = "1"  # Triton reads it when it is imported

import torch
import triton
import triton.language as tl
from contended_kernels import locked_rows, shared_row, shared_table, split_matmul, split_sum
from kernels import add_kernel, layer_norm_kernel, matmul_kernel, softmax_kernel

#: a launch that takes longer is not repeated; what takes longer altogether is ended; seconds
LONG, MOST = 2.0, 90


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + place, mask=place < n, other=0)
    tl.store(out_ptr + place, tl.load(x_ptr + index), mask=place < n)


@triton.jit
def histogram_kernel(x_ptr, count_ptr, n, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < n
    bin = tl.load(x_ptr + place, mask=inside, other=0)
    tl.atomic_add(count_ptr + bin, 1, mask=inside)


@dataclass(frozen=True)
class Case:
    """A kernel's launch, which takes the options of one and gives the compiled kernel; what it writes."""

    name: str
    launch: Callable[..., Any]
    output: torch.Tensor


def cases(small: bool, made: Callable[[Any], Any] = lambda kernel: kernel) -> list[Case]:
    """The six kernels; `made`: what is launched in place of each."""
    n, rows, columns, size = (1 << 16, 128, 781, 256) if small else (1 << 20, 1823, 781, 512)
    x, y, out, block = torch.rand(n), torch.rand(n), torch.zeros(n), 8192
    grid = (triton.cdiv(n, block),)
    matrix, wide = torch.randn(rows, columns), torch.zeros(rows, columns)
    weight, bias = torch.rand(columns), torch.rand(columns)
    a, b, c = torch.randn(size, size), torch.randn(size, size), torch.zeros(size, size)
    index = torch.randint(0, n, (n,), dtype=torch.int32)
    bins, counts = torch.randint(0, 256, (n,), dtype=torch.int32), torch.zeros(256, dtype=torch.int32)
    power = triton.next_power_of_2(columns)
    tiles = (triton.cdiv(size, 128), triton.cdiv(size, 128))
    add, softmax, norm, matmul, gather, histogram = map(made, (
        add_kernel, softmax_kernel, layer_norm_kernel, matmul_kernel, gather_kernel, histogram_kernel))
    return [
        Case(f"add {n}", lambda **o: add[grid](x, y, out, n, block, **o), out),
        Case(f"softmax {rows}x{columns}", lambda **o: softmax[(min(rows, 64),)](
            matrix, wide, columns, rows, columns, power, **o), wide),
        Case(f"layer norm {rows}x{columns}", lambda **o: norm[(rows,)](
            matrix, weight, bias, wide, columns, columns, 1e-5, power, **o), wide),
        Case(f"matmul f32 {size}", lambda **o: matmul[tiles](
            a, b, c, size, size, size, size, size, size, 128, 128, 64, **o), c),
        Case(f"gather {n}", lambda **o: gather[grid](x, index, out, n, block, **o), out),
        Case(f"histogram {n}", lambda **o: histogram[grid](bins, counts, n, 4096, **o), counts),
    ]


def contended(small: bool) -> list[Case]:
    """Kernels whose programs share memory, and order each other."""
    rows, size = (16, 512) if small else (64, 2048)
    matrix, total, lock = torch.randn(rows, 1000), torch.zeros(1000), torch.zeros(1, dtype=torch.int32)
    wide, parts, out = torch.randn(256, 1024), torch.zeros(8, 1024), torch.zeros(1024)
    a, b, c = torch.randn(128, size), torch.randn(size, 128), torch.zeros(128, 128)
    tiles = torch.zeros(8, 128, 128)
    counts, row, sums = torch.zeros(8, dtype=torch.int32), torch.randn(1024), torch.zeros(4096)
    index = torch.randint(0, 1024, (512, 1024), dtype=torch.int32)

    def shared(programs: int) -> Case:
        return Case(f"one row, read by {programs}", lambda **o: shared_row[(programs,)](
            row, sums, counts[7:], 1024, **o), sums)
    return [
        Case(f"{rows} rows added under a lock", lambda **o: locked_rows[(rows,)](
            matrix, total, lock, 1000, 1000, 1024, **o), total),
        Case("sum split among 8", lambda **o: split_sum[(8,)](
            wide, parts, out, counts[4:], 256, 1024, **o), out),
        Case(f"matmul 128x128x{size}, K split among 8", lambda **o: split_matmul[(2, 2, 8)](
            a, b, c, tiles, counts, 128, 128, size, 64, 64, 64, **o), c),
        shared(64), shared(512), shared(64 if small else 4096),
        Case("random elements, read by 512", lambda **o: shared_table[(512,)](
            row, index, sums, counts[6:], 1024, **o), sums),
    ]


def milliseconds(case: Case, clock: Callable[[], float]) -> float:
    """The fastest of three launches behind a first one, which is all that there is of a long one."""
    times = list[float]()
    for _ in range(4):
        start = clock()
        case.launch()
        times.append(clock() - start)
        if times[-1] > LONG:
            return times[-1] * 1e3
    return min(times[1:]) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tool", choices=("interpreter", "triton-viz"))
    parser.add_argument("--quick", action="store_true", help="small arrays")
    parser.add_argument("--processor-time", action="store_true")
    options = parser.parse_args()
    clock = time.process_time if options.processor_time else time.perf_counter
    timer = signal.ITIMER_PROF if options.processor_time else signal.ITIMER_REAL
    output, sys.stdout = sys.stdout, sys.stderr  # tools talk
    if options.tool == "interpreter":
        listed = cases(options.quick)
    else:
        import triton_viz

        listed = cases(options.quick, triton_viz.trace("sanitizer"))
    found: dict[str, float | str] = {}

    def end(*_: object) -> None:
        raise TimeoutError(f"over {MOST} s")

    signal.signal(signal.SIGPROF if options.processor_time else signal.SIGALRM, end)
    for case in listed:
        signal.setitimer(timer, MOST)
        try:
            found[case.name] = milliseconds(case, clock)
        except BaseException as error:  # the sanitizer ends the process with what it finds
            found[case.name] = f"{type(error).__name__}: {error}"
        signal.setitimer(timer, 0)
    print(json.dumps(found), file=output)


if __name__ == "__main__":
    main()

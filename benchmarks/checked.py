"""What checked mode costs: kernels with each check, times the kernel without, in one run and in turns.

    python benchmarks/checked.py [--quick] [--markdown]

`uninit` is run twice: on memory that is all written, and ("new") with an output that nobody has written, as
the first launch after torch.empty has it; filling that is not counted.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
import triton_spirv
from kernels import add_kernel, layer_norm_kernel, matmul_kernel, softmax_kernel
from measure import interleaved, machine, table

#: what is measured beside the kernel without a check
CHECKS = ("bounds", "uninit", "uninit, new", "race", "overflow", "nan", "all")


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
    """A kernel's launch, which takes the options of one; what it writes."""

    name: str
    launch: Callable[..., object]
    output: torch.Tensor


def cases(small: bool) -> list[Case]:
    """The six kernels."""
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
    return [
        Case(f"add {n}", lambda **o: add_kernel[grid](x, y, out, n, block, **o), out),
        Case(f"softmax {rows}x{columns}", lambda **o: softmax_kernel[(min(rows, 64),)](
            matrix, wide, columns, rows, columns, power, **o), wide),
        Case(f"layer norm {rows}x{columns}", lambda **o: layer_norm_kernel[(rows,)](
            matrix, weight, bias, wide, columns, columns, 1e-5, power, **o), wide),
        Case(f"matmul f32 {size}", lambda **o: matmul_kernel[tiles](
            a, b, c, size, size, size, size, size, size, 128, 128, 64, **o), c),
        Case(f"gather {n}", lambda **o: gather_kernel[grid](x, index, out, n, block, **o), out),
        Case(f"histogram {n}", lambda **o: histogram_kernel[grid](bins, counts, n, 4096, **o), counts),
    ]


def measured(case: Case, seconds: float) -> dict[str, float]:
    """Check -> its time over that without, of medians; "ms": that without."""
    def action(check: str) -> Callable[[], Any]:
        return lambda: case.launch(check=check)

    actions = {check: action(check) for check in CHECKS if check != "uninit, new"}
    times = interleaved({"": action(""), **actions}, seconds)
    ratios = {check: times[check].median / times[""].median for check in actions}
    fresh = []
    if case.output.dtype.is_floating_point:  # what is counted up has to be given first
        for _ in range(max(3, times["uninit"].count // 4)):
            triton_spirv.mark_uninitialised(case.output)
            start = time.perf_counter()
            actions["uninit"]()
            fresh.append((time.perf_counter() - start) * 1e3)
        ratios["uninit, new"] = sorted(fresh)[len(fresh) // 2] / times[""].median
    return {"ms": times[""].median, **ratios}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small arrays, fewer calls")
    parser.add_argument("--markdown", action="store_true", help="the table as docs/checking.md has it")
    options = parser.parse_args()
    rows = [(case.name, measured(case, 1.0 if options.quick else 4.0)) for case in cases(options.quick)]
    mean = {check: math.exp(math.fsum(map(math.log, held)) / len(held)) for check in CHECKS
            if (held := [row[check] for _, row in rows if check in row])}
    cells = [[name, f"{row['ms']:.2f}", *(f"{row[check]:.1f}" if check in row else "" for check in CHECKS)]
             for name, row in rows]
    cells.append(["geometric mean", "", *(f"{mean[check]:.1f}" for check in CHECKS)])
    head = ["kernel", "unchecked, ms", *CHECKS]
    if options.markdown:
        lines = [head, ["---"] * len(head), *cells]
        print("\n".join(f"| {' | '.join(line)} |" for line in lines))
        return
    print("\n".join(f"{key}: {value}" for key, value in machine().items()), "\n")
    print(table("Time with a check over that without", head, [list(row) for row in cells]))


if __name__ == "__main__":
    main()

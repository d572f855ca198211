"""What kernels become on Intel GPUs that are not here: the tutorials' kernels, compiled by ocloc, read as
ISA.

    python benchmarks/isa.py [--devices pvc ...] [--kernels matmul ...] [--grf default] [--json FILE]

For each kernel and device there is a row for the target as it is, and for kernels with products a second one
for the same target without its matrix unit, the FMA form. Columns: the size of sub-groups, registers of a
thread, spilled bytes, shared memory, instructions; then, of the innermost loop with the most multiplications,
instructions per 1000 multiply-adds, the share of the time in which the matrix unit is fed (its cycles over
those plus what else is issued), messages for each of its instructions; and the widest messages to memory.
ocloc is the one that TRITON_OCLOC_PATH names, or the one in PATH; tools/get_ocloc.sh brings a recent one. A
row says what failed where something did.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from isa_cases import CASES, Case, layouts

os.environ.setdefault("TRITON_SPIRV_BACKEND", "1")


@dataclass(frozen=True)
class Row:
    """What the table shows; of the hot loop where there is one: per_kmac, fed, messages."""

    kernel: str
    device: str
    form: str
    lanes: int = 0
    registers: int = 0
    spilled: int = 0
    shared: int = 0
    instructions: int = 0
    per_kmac: float | None = None
    fed: float | None = None
    messages: float | None = None
    widest: str = ""
    failure: str = ""


def measure(case: Case, name: str, form: str, grf: str) -> Row:
    """One row: compile a kernel for a target and read what became of it."""
    import triton_spirv
    from triton_spirv.errors import TritonSpirvError
    from triton_spirv.isa import statistics
    from triton_spirv.target import find_target, ocloc_device

    target = find_target(name)
    row = Row(case.name, name, form)
    try:
        text = layouts(case, target)
        lanes = re.search(r'"ttg.threads-per-warp" = (\d+)', text)
        target = target.with_options(sub_group_size=int(lanes[1]) if lanes else target.sub_group_size)
        if form == "fma":
            target = target.with_options(matrix=None, block_2d=False)
        made = triton_spirv.compile(text, target, num_stages=case.stages)
        known = statistics(made.words, ocloc_device(name), made.entry, num_warps=made.num_warps,
                           grf_mode=grf, expected_grf=made.grf_mode)
        native, whole, hot = known.native, known.whole, known.hot
        if native.simd_size != made.sub_group_size or whole is None:
            raise ValueError(f"SIMD {native.simd_size} instead of {made.sub_group_size}, or no text")
        found = replace(row, lanes=native.simd_size, registers=native.grf_count, spilled=native.spill_bytes,
                        shared=native.slm_size, instructions=whole.instructions, widest=widest(whole.names))
        if hot is None or not hot.macs:
            return found
        return replace(found, per_kmac=hot.per_kilomac, fed=hot.matrix_share,
                       messages=hot.messages_per_matrix)
    except (TritonSpirvError, RuntimeError, ValueError) as error:  # the table says what happened
        return replace(row, failure=f"{type(error).__name__}: {str(error).splitlines()[0][:70]}")


def widest(names: dict[str, int]) -> str:
    """The three most frequent messages to memory."""
    counts: Counter[str] = Counter()
    for name, count in names.items():
        if name.startswith(("load", "store")):
            counts[re.sub(r"\.a(32|64).*", "", name)] += count
    return " ".join(f"{name} x{count}" for name, count in counts.most_common(3))


TITLE = ("kernel             device  form    SIMD  GRF  spilled    SLM  instr.   /kMAC   fed msg/dpas  "
         "messages")


def show(row: Row) -> str:
    """A line of the table."""
    if row.failure:
        return f"{row.kernel:18} {row.device:7} {row.form:7} {row.failure}"
    numbers = ["-" if x is None else f"{x:.2f}" for x in (row.per_kmac, row.fed, row.messages)]
    return (
        f"{row.kernel:18} {row.device:7} {row.form:7} {row.lanes:4} {row.registers:4} {row.spilled:8} "
        f"{row.shared:6} {row.instructions:7} {numbers[0]:>7} {numbers[1]:>5} {numbers[2]:>8}  {row.widest}"
    )


def main() -> int:
    """Print the table; status 1 where a row failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--devices", nargs="+", default=["pvc", "dg2", "bmg", "lnl", "ptl"])
    parser.add_argument("--kernels", nargs="+", default=[case.name for case in CASES])
    parser.add_argument("--forms", nargs="+", default=["target", "fma"])
    parser.add_argument("--grf", default="default")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(TITLE)
    rows = []
    for case in CASES:
        if case.name not in options.kernels:
            continue
        products = case.name.startswith(("matmul", "attention", "persistent", "descriptors"))
        for device in options.devices:
            for form in options.forms if products else ["target"]:
                rows.append(measure(case, device, form, options.grf))
                print(show(rows[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    return int(any(row.failure for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())

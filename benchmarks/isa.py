"""What kernels become on Intel GPUs that are not here: the tutorials' kernels, compiled by ocloc, read as
ISA.

    python benchmarks/isa.py [--devices pvc bmg dg2] [--kernels matmul ...] [--grf default] [--json FILE]

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
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from isa_cases import CASES, Case, layouts

os.environ.setdefault("TRITON_SPIRV_BACKEND", "1")


# --- ISA ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Instruction:
    """One line of IGC's assembly: the opcode, its lanes, the rest of the line."""

    opcode: str
    lanes: int
    rest: str

    @property
    def is_message(self) -> bool:
        moves = self.opcode.startswith(("load", "store", "atomic", "send"))
        return moves and "null" not in self.rest[:12] and "eot" not in self.rest.lower()


LINE = re.compile(r"(?:\([^)]*\))?\s*([a-z][\w.]*)\s*(?:\((\d+)\|M\d+\))?\s*(.*)")
LABEL = re.compile(r"([A-Za-z_][\w.$|@]*):")
JUMPS = ("jmpi", "goto", "while", "brc", "brd")


def listing(text: str) -> Iterator[str | Instruction]:
    """Labels, and instructions, of an .asm file."""
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith(("//", ".")):
            continue
        label = LABEL.fullmatch(line.split("//")[0].strip())
        if label:
            yield label[1]
            continue
        found = LINE.match(line)
        if found:
            yield Instruction(found[1], int(found[2] or 1), found[3].split("//")[0])


def registers_of(text: str) -> int:
    """What the head of an .asm file says: "//.full_options ... -TotalGRFNum 256", or else 128."""
    found = re.search(r"-TotalGRFNum (\d+)", text)
    return int(found[1]) if found else 128


def loops(items: list[str | Instruction]) -> list[list[Instruction]]:
    """The instructions of every loop that has no other inside."""
    places = {item: i for i, item in enumerate(items) if isinstance(item, str)}
    ends: dict[int, int] = {}
    for i, item in enumerate(items):
        if isinstance(item, Instruction) and item.opcode.startswith(JUMPS):
            for word in re.findall(r"[A-Za-z_][\w.$|@]*", item.rest):
                if places.get(word, i) < i:
                    ends[places[word]] = i
    inner = [
        (first, last)
        for first, last in ends.items()
        if not any(first < other and ends[other] <= last for other in ends)
    ]
    return [
        [item for item in items[first : last + 1] if isinstance(item, Instruction)] for first, last in inner
    ]


def multiplications(item: Instruction, lanes: int) -> int:
    """Multiply-adds of an instruction; a matrix instruction has 8 x repeats x lanes x what 32 bits hold."""
    if item.opcode.startswith("dpas"):
        depth, repeats = map(int, re.findall(r"(\d+)x(\d+)", item.opcode)[0])
        narrow = 4 if re.search(r":u?b\b", item.rest) else 1 if ":tf32" in item.rest else 2
        return depth * repeats * lanes * narrow
    return item.lanes if item.opcode.startswith("mad") and re.search(r":(f|hf|df)\b", item.rest) else 0


def cycles(item: Instruction, bytes: int) -> int:
    """How long an instruction occupies the engine; `bytes`: of a register."""
    if item.opcode.startswith("dpas"):
        return int(item.opcode.rsplit("x", 1)[1])
    if item.is_message or item.lanes == 1:
        return 1
    return max(1, item.lanes * (2 if re.search(r":(u?q|df)\b", item.rest) else 1) * 4 // bytes)


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


def read(text: str, bytes: int) -> dict[str, Any]:
    """The measures of one kernel's assembly."""
    items = list(listing(text))
    every = [item for item in items if isinstance(item, Instruction)]
    named = Counter(
        item.opcode.split(".a64")[0].split(".a32")[0]
        for item in every
        if item.opcode.startswith(("load", "store"))
    )
    found: dict[str, Any] = {
        "instructions": len(every),
        "widest": " ".join(f"{name} x{count}" for name, count in named.most_common(3)),
    }
    lanes = 16 if bytes == 64 else 8
    body = max(
        loops(items), key=lambda body: (sum(multiplications(x, lanes) for x in body), len(body)), default=[]
    )
    work = sum(multiplications(item, lanes) for item in body)
    if work:
        matrix = [item for item in body if item.opcode.startswith("dpas")]
        busy = sum(cycles(item, bytes) for item in matrix)
        others = sum(cycles(item, bytes) for item in body) - busy
        messages = sum(item.is_message for item in body)
        found.update(
            per_kmac=round(len(body) * 1000 / work, 2),
            fed=round(busy / (busy + others), 2),
            messages=round(messages / (len(matrix) or work / 2048), 3),
        )
    return found


def measure(case: Case, name: str, form: str, grf: str) -> Row:
    """One row: compile a kernel for a target and read what became of it."""
    import triton_spirv
    from triton_spirv.native import build
    from triton_spirv.target import OCLOC_DEVICES, find_target

    target = find_target(name)
    row = Row(case.name, name, form)
    try:
        text = layouts(case, target)
        lanes = re.search(r'"ttg.threads-per-warp" = (\d+)', text)
        target = target.with_options(sub_group_size=int(lanes[1]) if lanes else target.sub_group_size)
        if form == "fma":
            target = target.with_options(matrix=None, block_2d=False)
        made = triton_spirv.compile(text, target, num_stages=case.stages)
        with tempfile.TemporaryDirectory() as folder:
            binary = build.compile_spirv(
                made.words,
                OCLOC_DEVICES[name],
                made.entry,
                num_warps=case.warps,
                grf_mode=grf,
                simd=made.sub_group_size,
                dump=Path(folder),
            )
            listings = [path.read_text(errors="replace") for path in sorted(Path(folder).glob("*.asm"))]
        # the compiler dumps each of its attempts, and what it calls; the one that it kept is not the shortest
        text = max((text for text in listings if binary.grf_count == registers_of(text)), key=len, default="")
        bytes = 32 if name in ("dg2", "tgl", "tgl-32") else 64
        return replace(
            row,
            lanes=binary.simd_size,
            registers=binary.grf_count,
            spilled=binary.spill_bytes,
            shared=binary.slm_size,
            **read(text, bytes),
        )
    except Exception as error:  # the table goes on, and says what happened
        return replace(row, failure=f"{type(error).__name__}: {str(error).splitlines()[0][:70]}")


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
    parser.add_argument("--devices", nargs="+", default=["pvc", "bmg", "dg2"])
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

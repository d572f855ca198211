"""What NVIDIA's driver makes of kernels: their machine code, out of its pipeline caches.

    python benchmarks/gpu/machine_code.py FILE...
    python benchmarks/gpu/machine_code.py               all in the cache folder, the newest first

FILE is a cache of this package (`spirv-binaries` in Triton's cache folder) or what vkGetPipelineCacheData
gives. Needs `zstandard`, and nvdisasm, which is in Triton's wheel for NVIDIA. Each line is an instruction
with what its control bits say (Jia et al., Dissecting the NVIDIA Volta GPU architecture via
microbenchmarking, 2018): cycles until the next may issue, the scoreboard that it sets when its result (w) is
there or its operands (r) are read, and those that it waits for. How a cache is laid out is not documented;
what is here was found on driver 580 (SM90).
"""

from __future__ import annotations

import argparse
import collections
import re
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import zstandard

#: where a compressed pipeline begins, and its part of machine code
FRAME, CODE = b"\x28\xb5\x2f\xfd", b"NVuc"
#: an entry of the table behind CODE: what it is, bytes, place
TABLE, ENTRY, ENTRY_BYTES, IS_CODE = 0x40, struct.Struct("<III"), 32, 1
#: of an instruction: bytes, and the bits of its control fields
INSTRUCTION_BYTES, CONTROL_BIT = 16, 105
NONE = 7


@dataclass(frozen=True)
class Instruction:
    """An instruction, its control bits decoded: `stall` cycles, scoreboards by number."""

    place: int
    text: str
    stall: int
    writes: int | None
    reads: int | None
    waits: tuple[int, ...]

    @property
    def name(self) -> str:
        """Without its predicate and operands."""
        return re.sub(r"^@!?U?P\w+\s+", "", self.text).split()[0]

    def __str__(self) -> str:
        boards = [f"w{self.writes}" if self.writes is not None else "",
                  f"r{self.reads}" if self.reads is not None else ""]
        waits = "".join(map(str, self.waits))
        return f"{self.place:5x}  {self.stall:2d} {' '.join(boards):6}{waits:>6}  {self.text}"


def machine_code(data: bytes) -> bytes:
    """The code of the one pipeline in a cache. Raises ValueError where there is none that is understood."""
    start = data.find(FRAME)
    if start < 0:
        raise ValueError("no compressed pipeline: not a cache of NVIDIA's driver")
    content = zstandard.ZstdDecompressor().decompressobj().decompress(data[start:])
    part = content.find(CODE)
    if part < 0:
        raise ValueError("no machine code in the pipeline")
    for at in range(part + TABLE, len(content) - ENTRY.size, ENTRY_BYTES):
        kind, size, place = ENTRY.unpack_from(content, at)
        if kind == IS_CODE:
            return content[part + place:part + place + size]
    raise ValueError("no entry for machine code in the pipeline's table")


def disassembler() -> Path:
    """nvdisasm of Triton's wheel."""
    import triton

    found = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "nvdisasm"
    if not found.exists():
        raise SystemExit(f"{found} is missing: Triton's wheel for NVIDIA has it")
    return found


def disassembled(code: bytes, architecture: str = "SM90") -> list[Instruction]:
    """The instructions in order."""
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(code)
        file.flush()
        done = subprocess.run([disassembler(), "-b", architecture, file.name], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"nvdisasm: {done.stderr.strip()}")
    found = []
    for line in done.stdout.splitlines():
        match = re.match(r"\s+/\*([0-9a-f]+)\*/\s+(.*?)\s*;", line)
        if match:
            place = int(match[1], 16)
            words = int.from_bytes(code[place:place + INSTRUCTION_BYTES], "little") >> CONTROL_BIT
            stall, writes, reads, waits = words & 15, words >> 5 & 7, words >> 8 & 7, words >> 11 & 63
            found.append(Instruction(
                place, match[2], stall, None if writes == NONE else writes, None if reads == NONE else reads,
                tuple(board for board in range(6) if waits >> board & 1)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--architecture", default="SM90", help="as nvdisasm names it")
    parser.add_argument("--summary", action="store_true", help="counts of instructions alone")
    options = parser.parse_args()
    files = options.files
    if not files:
        from triton_spirv.runtime.binary_cache import folder

        files = sorted(folder().glob("*"), key=lambda file: -file.stat().st_mtime)
        if not files:
            raise SystemExit(f"no caches in {folder()}")
    for file in files:
        try:
            found = disassembled(machine_code(file.read_bytes()), options.architecture)
        except ValueError as error:
            print(f"{file}: {error}")
            continue
        counts = collections.Counter(instruction.name for instruction in found)
        print(f"{file}: {len(found)} instructions:",
              ", ".join(f"{count} {name}" for name, count in counts.most_common(12)))
        if not options.summary:
            print(*found, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

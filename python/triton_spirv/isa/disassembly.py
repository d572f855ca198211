"""Every byte of x86 machine code as an instruction: by the library capstone, and what it does not know, as
AVX512-FP16, by binutils' objdump where that is installed.

What neither knows is kept as an instruction without a name, as long as its prefix says, so that nothing of
the code is left out of a count without being named.
"""

from __future__ import annotations

import importlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

from ..dataclass import dataclass
from ..errors import ToolError, TritonSpirvError
from ..tools.process import run

_HINT = "pip install 'triton-spirv[cli]' brings capstone, which reads machine code"
TOOL = "objdump"
UNKNOWN = "(unknown)"

#: address, bytes, and on the first line of an instruction its text
_LINE = re.compile(r"^\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*(?:\t(.*))?$")
_REGISTER = re.compile(r"\b(?:[xyz]mm|r|e)[a-z0-9]+\b|\bk[0-7]\b")
_MEMORY = re.compile(r"(?:(\w+) (?:ptr|bcst) )?\[([^\]]*)\](\{1to\d+\})?", re.IGNORECASE)
#: bytes that a word before "ptr" means
_SIZES = {"byte": 1, "word": 2, "dword": 4, "qword": 8, "xmmword": 16, "ymmword": 32, "zmmword": 64}


@dataclass(frozen=True)
class Access:
    """A place in memory that an instruction names. size: bytes."""

    base: str
    size: int
    is_first: bool


@dataclass(frozen=True)
class Decoded:
    """An instruction. group: "branch", "call", "end" or ""; target: where a branch goes."""

    address: int
    size: int
    name: str
    operands: str
    registers: tuple[str, ...] = ()
    memory: tuple[Access, ...] = ()
    group: str = ""
    target: int | None = None


def disassemble(code: bytes) -> list[Decoded]:
    """The instructions, without a gap. TritonSpirvError where capstone is not installed."""
    try:
        capstone = importlib.import_module("capstone")
    except ImportError:
        raise TritonSpirvError(_HINT) from None
    engine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    engine.detail = True
    found: list[Decoded] = []
    others: dict[int, Decoded] | None = None
    at = 0
    while at < len(code):
        for each in engine.disasm(code[at:], at):
            found.append(_by_capstone(each, capstone))
            at += each.size
        if at < len(code):
            others = by_objdump(code) if others is None else others
            one = others.get(at) or Decoded(at, _length(code, at), UNKNOWN, code[at:at + 8].hex(" "))
            found.append(one)
            at += one.size
    return found


def _by_capstone(each: Any, capstone: Any) -> Decoded:
    registers = tuple(each.reg_name(op.reg) for op in each.operands if op.type == capstone.CS_OP_REG)
    memory = tuple(Access(each.reg_name(op.mem.base) or "", op.size, place == 0)
                   for place, op in enumerate(each.operands) if op.type == capstone.CS_OP_MEM)
    groups = (("call", capstone.CS_GRP_CALL), ("end", capstone.CS_GRP_RET), ("branch", capstone.CS_GRP_JUMP))
    group = next((name for name, number in groups if each.group(number)), "")
    targets = [op.imm for op in each.operands if op.type == capstone.CS_OP_IMM] if group == "branch" else []
    return Decoded(each.address, each.size, each.mnemonic, each.op_str, registers, memory, group,
                   targets[0] if targets else None)


# ---- objdump

def by_objdump(code: bytes) -> dict[int, Decoded]:
    """Address -> instruction, as far as objdump knows it; nothing where it is not installed."""
    tool = shutil.which(TOOL)
    if tool is None:
        return {}
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(code)
        file.flush()
        try:
            text = run([tool, "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", file.name]).decode()
        except ToolError:
            return {}
    return {one.address: one for one in _instructions(text) if not one.name.startswith("(bad)")}


def _instructions(text: str) -> Iterator[Decoded]:
    """Those of objdump's listing; long ones take several lines."""
    rows: list[tuple[int, int, str]] = []
    for line in text.splitlines():
        found = _LINE.match(line)
        if found and found[3] is not None:
            rows.append((int(found[1], 16), len(found[2].split()), found[3]))
        elif found and rows:
            address, size, words = rows[-1]
            rows[-1] = address, size + len(found[2].split()), words
    for address, size, words in rows:
        name, _, operands = words.partition("#")[0].strip().partition(" ")
        yield of_text(address, size, name, operands.strip())


def of_text(address: int, size: int, name: str, operands: str) -> Decoded:
    """An instruction by what an assembler would read, in Intel's syntax."""
    outside = _MEMORY.sub("", operands)
    memory = tuple(Access(_base(found[2]), _SIZES.get((found[1] or "").lower(), 8), found.start() == 0)
                   for found in _MEMORY.finditer(operands))
    groups = (("j", "branch"), ("call", "call"), ("ret", "end"))
    group = next((kind for start, kind in groups if name.startswith(start)), "")
    place = re.match(r"0x([0-9a-f]+)", operands)
    return Decoded(address, size, name, operands, tuple(_REGISTER.findall(outside)), memory, group,
                   int(place[1], 16) if group == "branch" and place else None)


def _base(inside: str) -> str:
    return re.split(r"[+*-]", inside)[0].strip()


# ---- instructions that nobody knows

#: opcodes of the first map that a byte follows: shuffles and shifts, comparisons, inserts, extracts
_WITH_IMMEDIATE = (0x70, 0x71, 0x72, 0x73, 0xC2, 0xC4, 0xC5, 0xC6)


def _length(code: bytes, at: int) -> int:
    """Bytes of an instruction with an EVEX prefix, which all have the same form; 1 for anything else."""
    if code[at] != 0x62 or at + 6 > len(code):
        return 1
    opcode_map, opcode, byte = code[at + 1] & 7, code[at + 4], code[at + 5]
    mode, register = byte >> 6, byte & 7
    size, displacement = 6, {0: 0, 1: 1, 2: 4, 3: 0}[mode]
    if mode != 3 and register == 4:  # a scaled index follows
        size += 1
        if mode == 0 and at + 6 < len(code) and code[at + 6] & 7 == 5:
            displacement = 4
    elif mode == 0 and register == 5:
        displacement = 4
    immediate = opcode_map == 3 or (opcode_map == 1 and opcode in _WITH_IMMEDIATE)
    return min(size + displacement + immediate, len(code) - at)

"""What the CPU device's driver made of a kernel: its machine code, taken from the driver's binary,
instruction by instruction. Intel's driver keeps an object file in the section `.ocl.obj` of an ELF file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .disassembly import UNKNOWN, Access, Decoded, disassemble
from .mix import Mix, hottest, loop_spans
from .object_file import function, object_file

KINDS = ("multiply-add", "vector", "scalar", "move", "load", "store", "stack", "gather", "branch", "call",
         "end", "unknown")
#: bytes of an element, by the last letters of a mnemonic
_ELEMENTS = {"ps": 4, "ss": 4, "pd": 8, "sd": 8, "ph": 2, "sh": 2}
_STACK = ("rsp", "esp")


@dataclass(frozen=True)
class Code:
    """One instruction. width: bits of its widest register; moved: bytes of memory that is not the stack."""

    name: str
    kind: str
    operands: str
    width: int = 64
    moved: int = 0
    macs: int = 0
    targets: tuple[str, ...] = ()
    registers: tuple[str, ...] = ()


@dataclass(frozen=True)
class MachineCode:
    """A kernel's code. stack_bytes: of its frame, where spilled registers and private arrays are;
    unknown_bytes: of instructions that nobody here knows."""

    kernel: str
    device: str
    code_bytes: int
    stack_bytes: int
    items: tuple[Code | str, ...]
    text: str
    unknown_bytes: int = 0

    @property
    def codes(self) -> list[Code]:
        return [item for item in self.items if isinstance(item, Code)]

    @property
    def width(self) -> int:
        """Bits of the widest registers."""
        return max((code.width for code in self.codes), default=0)

    @property
    def vector_registers(self) -> int:
        """How many of the vector registers are used."""
        names = {name for code in self.codes for name in code.registers if name[1:3] == "mm"}
        return len({name[3:] for name in names})

    @property
    def whole(self) -> Mix:
        return counted(self.items)

    @property
    def loops(self) -> tuple[Mix, ...]:
        return tuple(counted(self.items[start:end + 1], str(self.items[start]))
                     for start, end in loop_spans(self.items))

    @property
    def hot(self) -> Mix | None:
        return hottest(self.loops)

    def to_json(self) -> dict[str, Any]:
        """Plain data, for other programs."""
        hot = self.hot
        return {"device": self.device, "code_bytes": self.code_bytes,
                "unknown_bytes": self.unknown_bytes, "stack_bytes": self.stack_bytes,
                "vector_bits": self.width, "vector_registers": self.vector_registers,
                "whole": self.whole.to_json(), "loops": [loop.to_json() for loop in self.loops],
                "hot": hot.label if hot else None}


def machine_code(words: bytes, kernel: str, choice: str = "cpu") -> MachineCode:
    """Build a module on a CPU device and read what its driver made. TritonSpirvError where that cannot be
    read.
    """
    from ..runtime import devices

    device = devices.choose(choice)
    context = devices.open_device(device)
    handle = device.library.program_with_il(context.handle, words)
    try:
        device.library.build(handle, device.handle)
        binary = device.library.binary(handle)
    finally:
        device.library.clReleaseProgram(handle)
    return disassembled(binary, kernel, device.name)


def disassembled(binary: bytes, kernel: str, device: str = "") -> MachineCode:
    """The kernel's code in a driver's binary."""
    return of_bytes(function(object_file(binary), kernel), kernel, device)


def of_bytes(code: bytes, kernel: str, device: str = "") -> MachineCode:
    """Machine code that begins at address 0."""
    decoded = disassemble(code)
    targets = {each.target for each in decoded}
    items: list[Code | str] = []
    lines = []
    for each in decoded:
        if each.address in targets:
            items.append(_label(each.address))
            lines.append(f"{_label(each.address)}:")
        items.append(_code(each))
        lines.append(f"    {each.address:6x}  {each.name} {each.operands}".rstrip())
    unknown = sum(each.size for each in decoded if each.name == UNKNOWN)
    text = "\n".join(lines) + "\n"
    return MachineCode(kernel, device, len(code), _frame(decoded), tuple(items), text, unknown)


def _label(address: int) -> str:
    return f"at_{address:x}"


def _frame(decoded: Sequence[Decoded]) -> int:
    """Bytes that the function takes from the stack at once."""
    taken = [int(amount, 0) for each in decoded if each.name == "sub"
             for register, _, amount in [each.operands.replace(" ", "").partition(",")]
             if register == "rsp" and amount[:1].isdigit()]
    return sum(taken[:1])


def _code(each: Decoded) -> Code:
    """An instruction as it is counted."""
    widths = [{"z": 512, "y": 256, "x": 128}[name[0]] for name in each.registers if name[1:3] == "mm"]
    stack = any(access.base in _STACK for access in each.memory)
    real = () if each.name.startswith(("lea", "nop", "prefetch")) else each.memory
    kind = _kind(each, bool(widths), real, stack)
    width = max(widths, default=64)
    macs = _multiplications(each.name, width) if kind == "multiply-add" else 0
    targets = () if each.target is None else (_label(each.target),)
    moved = 0 if stack else sum(access.size for access in real)
    return Code(each.name, kind, each.operands, width, moved, macs, targets, each.registers)


def _kind(each: Decoded, vector: bool, memory: Sequence[Access], stack: bool) -> str:
    name = each.name
    if each.group or name == UNKNOWN:
        return each.group or "unknown"
    if name.startswith(("vfmadd", "vfnmadd", "vfmsub", "vfnmsub", "vpdp")):
        return "multiply-add"
    if "gather" in name or "scatter" in name:
        return "gather"
    if name in ("push", "pop") or (stack and memory):
        return "stack"
    moves = name.startswith(("mov", "vmov", "vbroadcast", "vpbroadcast", "vinsert", "vextract"))
    if memory and memory[0].is_first and moves:
        return "store"
    if memory and moves:
        return "load"
    if moves or name.startswith(("vperm", "vpermt", "vshuf", "vunpck", "vpunpck")):
        return "move"
    return "vector" if vector else "scalar"


def _multiplications(name: str, width: int) -> int:
    if name.startswith("vpdp"):  # four products of bytes, or two of words, into each 32-bit sum
        return width // 32 * (4 if name.startswith("vpdpb") else 2)
    size = _ELEMENTS.get(name[-2:], 4)
    return 1 if name[-2:] in ("ss", "sd", "sh") else width // (8 * size)


def counted(items: Sequence[Code | str], label: str = "") -> Mix:
    """The counts of a piece of machine code."""
    codes = [item for item in items if isinstance(item, Code)]
    counts = Counter(code.kind for code in codes)
    names = Counter(code.name for code in codes)
    return Mix({kind: counts[kind] for kind in KINDS if counts[kind]}, dict(names.most_common()),
               sum(code.macs for code in codes), sum(code.moved for code in codes), label=label)

"""What the CPU device's driver made of a kernel: its machine code, taken from the driver's binary,
instruction by instruction. Intel's driver keeps an object file in the section `.ocl.obj` of an ELF file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from ..dataclass import dataclass
from ..errors import TritonSpirvError
from .disassembly import UNKNOWN, Access, Decoded, disassemble
from .line_table import line_table
from .mix import Mix, hottest, loop_spans
from .object_file import function, object_file

KINDS = ("multiply-add", "vector", "scalar", "move", "load", "store", "stack", "gather", "branch", "call",
         "end", "unknown")
#: bytes of an element, by the last letters of a mnemonic
_ELEMENTS = {"ps": 4, "ss": 4, "pd": 8, "sd": 8, "ph": 2, "sh": 2}
_STACK = ("rsp", "esp")


@dataclass(frozen=True)
class Code:
    """One instruction. width: bits of its widest register; moved: bytes of memory that is not the stack;
    line: the "file.py:12" that it is made of, "" where the driver does not say."""

    name: str
    kind: str
    operands: str
    width: int = 64
    moved: int = 0
    macs: int = 0
    targets: tuple[str, ...] = ()
    registers: tuple[str, ...] = ()
    line: str = ""


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


def machine_code(words: bytes, kernel: str, choice: str = "cpu", marked: bytes = b"") -> MachineCode:
    """Build a module on a CPU device and read what its driver made. marked: the same module with the lines of
    its source (spirv/line_info.py), which are then known of its loops. TritonSpirvError where the code cannot
    be read.
    """
    from ..runtime import devices

    device = devices.choose(choice)
    context = devices.open_device(device)

    def built(module: bytes) -> MachineCode:
        handle = device.library.program_with_il(context.handle, module)
        try:
            device.library.build(handle, device.handle)
            return disassembled(device.library.binary(handle), kernel, device.name)
        finally:
            device.library.clReleaseProgram(handle)

    return with_lines_of(built(marked), built(words)) if marked else built(words)


def with_lines_of(marked: MachineCode, code: MachineCode) -> MachineCode:
    """The code, with the lines of its loops. The driver makes the same loops with lines and without; what it
    keeps in registers in them, and what it does around them, may differ."""
    items = list(code.items)
    ours, theirs = loop_spans(code.items), loop_spans(marked.items)
    for (start, end), (first, last) in zip(ours, theirs, strict=True) if len(ours) == len(theirs) else ():
        loop = marked.items[first:last + 1]
        matcher = SequenceMatcher(None, _names(items[start:end + 1]), _names(loop), autojunk=False)
        for here, there, count in matcher.get_matching_blocks():
            for at in range(count):
                one, other = items[start + here + at], loop[there + at]
                if isinstance(one, Code) and isinstance(other, Code):
                    items[start + here + at] = replace(one, line=other.line)
    return replace(code, items=tuple(items))


def _names(items: Sequence[Code | str]) -> list[str]:
    """What is done, whatever the addresses are."""
    return [item.name if isinstance(item, Code) else "" for item in items]


def disassembled(binary: bytes, kernel: str, device: str = "") -> MachineCode:
    """The kernel's code in a driver's binary."""
    made = object_file(binary)
    start, code = function(made, kernel)
    try:
        table = line_table(made)
    except TritonSpirvError:  # the module names no lines
        return of_bytes(code, kernel, device)
    return of_bytes(code, kernel, device, lambda address: table.at(start + address))


def of_bytes(code: bytes, kernel: str, device: str = "",
             place: Callable[[int], tuple[str, int]] = lambda address: ("", 0)) -> MachineCode:
    """Machine code that begins at address 0. place: the file and line that an address is of."""
    decoded = disassemble(code)
    targets = {each.target for each in decoded}
    items: list[Code | str] = []
    lines = []
    for each in decoded:
        if each.address in targets:
            items.append(_label(each.address))
            lines.append(f"{_label(each.address)}:")
        file, line = place(each.address)
        items.append(replace(_code(each), line=f"{Path(file).name}:{line}" if line else ""))
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
    lines = Counter(code.line for code in codes if code.line)
    return Mix({kind: counts[kind] for kind in KINDS if counts[kind]}, dict(names.most_common()),
               sum(code.macs for code in codes), sum(code.moved for code in codes), label=label,
               lines=tuple(line for line, _ in lines.most_common()))

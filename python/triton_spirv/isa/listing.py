"""Reads the ISA text that Intel's compiler writes (NAME.asm of a shader dump, and `ocloc disasm`)."""

from __future__ import annotations

import re
from dataclasses import field

from ..dataclass import dataclass

#: (predicate) operation (lanes|first channel) operands // what a message does
_INSTRUCTION = re.compile(r"^(?:\((?P<predicate>[^)]*)\)\s*)?(?P<name>[a-z][\w.]*)\s*"
                          r"(?:\((?P<width>\d+)\|M\d+\)\s*)?(?P<operands>.*?)(?:\s*//\s*(?P<comment>.*))?$")
_LABEL = re.compile(r"^([A-Za-z_][\w.$|@]*):$")
_HEAD = re.compile(r"^//\.(kernel|platform|instCount|RA type|spill size|thread_config)\s+(.*)$", re.MULTILINE)
#: register 0 is declared first, whole: so wide is a register
_REGISTER = re.compile(r"^//\.declare BuiltInR0 .*\bsize=(\d+)", re.MULTILINE)
#: the message of a `send`, in its comment
_SENT = re.compile(r"\b((?:load|store|atomic)[\w]*\.(?:ugm|slm|tgm)[\w.]*)")
_WORDS = re.compile(r"[A-Za-z_][\w.$|@]*")

MESSAGES = ("load", "store", "atomic", "send", "read", "write", "fence", "barrier", "prefetch")
BRANCHES = frozenset(("jmpi", "goto", "while", "brd", "brc", "if", "else", "endif", "join", "break", "cont",
                      "call",
                      "calla", "ret", "halt"))
MOVES = frozenset(("mov", "movi", "sel", "bcast"))
MULTIPLY_ADDS = frozenset(("mad", "mac", "fma", "dp4a"))


@dataclass(frozen=True)
class Instruction:
    """One instruction. width: channels; kind: one of mix.KINDS."""

    name: str
    width: int
    operands: str
    comment: str = ""
    predicate: str = ""

    @property
    def base(self) -> str:
        """The operation without what follows the first dot."""
        return self.name.partition(".")[0]

    @property
    def message(self) -> str:
        """Its name, or what a `send` (of Xe3p: `sendg`) says of itself behind its operands:
        "load_block2d.ugm.d16.a64"."""
        said = _SENT.search(self.comment) if self.base.startswith("send") else None
        return said[1] if said else self.name

    @property
    def kind(self) -> str:
        """What it is for."""
        if self.base.startswith(MESSAGES):
            return _message(self)
        if self.base in ("dpas", "dpasw", "bdpas"):
            return "matrix"
        if self.base in BRANCHES:
            return "branch"
        for kind, names in (("move", MOVES), ("multiply-add", MULTIPLY_ADDS), ("math", ("math",)),
                            ("wait", ("sync", "wait", "nop"))):
            if self.base in names:
                return kind
        return "arithmetic"

    @property
    def targets(self) -> tuple[str, ...]:
        """The labels that a branch names."""
        return tuple(_WORDS.findall(self.operands.partition("{")[0])) if self.kind == "branch" else ()


def _message(instruction: Instruction) -> str:
    """What a message does: a send's own words are in its comment."""
    said = f"{instruction.name} {instruction.operands} {instruction.comment}".lower()
    for kind, marks in (("end", ("{eot", "eot}", "end of thread")), ("fence", ("fence",)),
                        ("spill", ("scratch",)), ("barrier", ("barrier", "gtwy", "gateway")),
                        ("atomic", ("atomic",)), ("shared", (".slm",))):
        if any(mark in said for mark in marks):
            return kind
    if "prefetch" in said or (instruction.message.startswith("load")
                              and instruction.operands.startswith("null")):
        return "prefetch"
    return "store" if "store" in said or "write" in said else "load"


@dataclass(frozen=True)
class Listing:
    """A kernel's ISA. items: instructions, and labels as texts. Sizes in bytes; -1 where the text does not
    say.
    """

    kernel: str
    items: tuple[Instruction | str, ...]
    register_bytes: int = 32
    registers: int = -1
    spill_bytes: int = -1
    allocation: str = ""
    platform: str = ""
    text: str = field(default="", repr=False, compare=False)

    @property
    def instructions(self) -> list[Instruction]:
        """Without labels."""
        return [item for item in self.items if isinstance(item, Instruction)]


def read(text: str) -> Listing:
    """The instructions of a listing up to the end of the thread; what comes behind it is never run."""
    head = {name: value.strip() for name, value in reversed(_HEAD.findall(text))}
    registers = re.search(r"numGRF=(\d+)", head.get("thread_config", ""))
    size = _REGISTER.search(text)
    return Listing(head.get("kernel", "").strip('"'), tuple(_items(text)), int(size[1]) if size else 32,
                   int(registers[1]) if registers else -1, int(head.get("spill size", -1 if not head else 0)),
                   head.get("RA type", ""), head.get("platform", ""), text)


def _items(text: str) -> list[Instruction | str]:
    items: list[Instruction | str] = []
    last = 0
    for line in text.splitlines():
        plain = line.strip()
        if not plain or plain.startswith("//"):
            continue
        label = _LABEL.match(plain.partition("//")[0].strip())
        if label:
            items.append(label[1])
            continue
        match = _INSTRUCTION.match(plain)
        if match and match["name"] != "illegal":
            items.append(Instruction(match["name"], int(match["width"] or 1), match["operands"].strip(),
                                     match["comment"] or "", match["predicate"] or ""))
            if items[-1].kind == "end":  # type: ignore[union-attr]
                last = len(items)
    return items[:last] if last else items

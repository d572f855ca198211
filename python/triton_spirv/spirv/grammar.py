"""The SPIR-V grammar: an instruction's number, the operands it takes, and what it needs.

`grammar_data` holds the Khronos grammar as text. Its lines read

    OpLoad 61 Memory 1.0 IdResultType IdResult IdRef:Pointer MemoryAccess?
    MemoryAccess.Aligned 2 1.0 LiteralInteger
    Capability.Vector16 7 1.0 capabilities=Kernel
    OpenCL.std/fma 26 IdRef:A IdRef:B IdRef:C
    OpSDotKHR = OpSDot

An instruction has its number, its class, the version that brought it, its operands, and what it needs: any of
the capabilities, any of the extensions. An enumerant has its value, version, parameters and needs; an
extended instruction its number and operands. The last line gives another name. An operand is `Kind`, then `?`
(may be absent) or `*` (any number), then `:Name`. The version `None` says that no version has the entry
without one of its extensions.

A kernel uses some 40 of the 3300 lines, so a line is read on first use.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ..dataclass import dataclass
from . import grammar_data

Version = tuple[int, int]


@dataclass(frozen=True)
class Operand:
    """An operand of an instruction, or a parameter of an enumerant."""

    kind: str
    quantifier: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} ({self.kind})" if self.name != self.kind else self.kind


@dataclass(frozen=True)
class Instruction:
    """An instruction; `operands` are those after the result type and the result."""

    name: str
    opcode: int
    group: str
    version: Version | None
    has_type: bool
    has_result: bool
    operands: tuple[Operand, ...]
    capabilities: tuple[str, ...]
    extensions: tuple[str, ...]


@dataclass(frozen=True)
class Enumerant:
    """A value of an enumeration or a bit of a mask, as its kind says, with the operands that follow it."""

    kind: str
    name: str
    value: int
    version: Version | None
    parameters: tuple[Operand, ...]
    capabilities: tuple[str, ...]
    extensions: tuple[str, ...]


@dataclass(frozen=True)
class Kind:
    """An operand kind; its category is Id, Literal, ValueEnum, BitEnum, or Composite, made of `bases`."""

    name: str
    category: str
    bases: tuple[str, ...]


@dataclass(frozen=True)
class ExtendedInstruction:
    """An instruction of an extended set such as OpenCL.std."""

    set: str
    name: str
    number: int
    operands: tuple[Operand, ...]


@cache
def instruction(name: str) -> Instruction:
    """The instruction of this name, or of this alias."""
    fields = _fields(_instruction_lines(), name, "instruction")
    operands, needs = _operands_and_needs(fields[4:])
    kinds = [operand.kind for operand in operands]
    has_type, has_result = "IdResultType" in kinds, "IdResult" in kinds
    return Instruction(fields[0], int(fields[1]), fields[2], _version(fields[3]), has_type, has_result,
                       operands[has_type + has_result:], **needs)


@cache
def enumerant(kind: str, name: str) -> Enumerant:
    """The enumerant of this name (or alias) of an enumeration."""
    fields = _fields(_enumerant_lines(), f"{kind}.{name}", "enumerant")
    parameters, needs = _operands_and_needs(fields[3:])
    name = fields[0].partition(".")[2]
    return Enumerant(kind, name, int(fields[1]), _version(fields[2]), parameters, **needs)


@cache
def kind(name: str) -> Kind:
    """The operand kind of this name."""
    fields = _fields(_kind_lines(), name, "operand kind")
    return Kind(name, fields[1], tuple(fields[2:]))


@cache
def extended(set: str, name: str) -> ExtendedInstruction:
    """The instruction `name` of the extended set `set`."""
    fields = _fields(_extended_lines(), f"{set}/{name}", "extended instruction")
    return ExtendedInstruction(set, name, int(fields[1]), _operands_and_needs(fields[2:])[0])


def instruction_names() -> Iterator[str]:
    """Every name and alias of an instruction."""
    return iter(_instruction_lines())


@cache
def instruction_by_opcode(opcode: int) -> Instruction:
    """The instruction of this number; KeyError if there is none."""
    return instruction(_instructions_by_number()[opcode])


@cache
def enumerant_names(kind: str) -> dict[int, str]:
    """The enumerants of a kind by value, aliases left out."""
    return _names_by_number(_enumerant_lines(), f"{kind}.")


@cache
def enumerant_by_value(kind: str, value: int) -> Enumerant:
    """The enumerant of this value of an enumeration; KeyError if there is none."""
    return enumerant(kind, enumerant_names(kind)[value])


@cache
def extended_names(set: str) -> dict[int, str]:
    """The instructions of an extended set by number; none of a set that is not in the table."""
    return _names_by_number(_extended_lines(), f"{set}/")


@cache
def implied(capability: str) -> frozenset[str]:
    """The capability and all that it declares implicitly: specification 3.2.30."""
    direct = enumerant("Capability", capability).capabilities
    return frozenset([capability]).union(*(implied(other) for other in direct))


def _index(text: str) -> dict[str, str]:
    return {line.partition(" ")[0]: line for line in text.splitlines()}


@cache
def _instruction_lines() -> dict[str, str]:
    return _index(grammar_data.INSTRUCTIONS)


@cache
def _enumerant_lines() -> dict[str, str]:
    return _index(grammar_data.ENUMERANTS)


@cache
def _kind_lines() -> dict[str, str]:
    return _index(grammar_data.KINDS)


@cache
def _extended_lines() -> dict[str, str]:
    return _index(grammar_data.EXTENDED)


@cache
def _instructions_by_number() -> dict[int, str]:
    return _names_by_number(_instruction_lines(), "")


def _names_by_number(lines: dict[str, str], prefix: str) -> dict[int, str]:
    entries = [line.split(" ", 2) for name, line in lines.items() if name.startswith(prefix)]
    return {int(number): name[len(prefix):] for name, number, *_ in entries if number != "="}


def _fields(lines: dict[str, str], name: str, what: str) -> list[str]:
    line = lines.get(name)
    if line is None:
        raise LookupError(f"the SPIR-V grammar has no {what} {name!r}{_suggestion(lines, name)}")
    fields = line.split(" ")
    return _fields(lines, fields[2], what) if fields[1] == "=" else fields


def _suggestion(lines: dict[str, str], name: str) -> str:
    from difflib import get_close_matches  # only for the message

    close = get_close_matches(name, lines, n=3)
    return f"; it has {', '.join(close)}" if close else ""


def _version(text: str) -> Version | None:
    if text == "None":
        return None
    major, minor = text.split(".")
    return int(major), int(minor)


def _operands_and_needs(fields: list[str]) -> tuple[tuple[Operand, ...], dict[str, tuple[str, ...]]]:
    needs: dict[str, tuple[str, ...]] = {"capabilities": (), "extensions": ()}
    operands = []
    for field in fields:
        key, is_need, names = field.partition("=")
        if is_need:
            needs[key] = tuple(names.split("|"))
            continue
        kind, _, name = field.partition(":")
        quantifier = kind[-1] if kind[-1] in "?*" else ""
        kind = kind.removesuffix(quantifier)
        operands.append(Operand(kind, quantifier, name or kind))
    return tuple(operands), needs

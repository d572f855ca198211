"""A module's words as instructions, and what its sections say about its ids. The listing is made of this."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import Any, NamedTuple

from ..dataclass import dataclass
from . import grammar
from .grammar import Instruction
from .literals import string_of
from .types import (
    Array,
    Bool,
    CooperativeMatrix,
    Float,
    FunctionType,
    Int,
    Opaque,
    Pointer,
    RuntimeArray,
    Struct,
    Type,
    Vector,
    Void,
)

MAGIC = 0x07230203
HEADER_WORDS = 5
CONSTANTS = frozenset([
    "OpUndef", "OpConstantNull", "OpConstantTrue", "OpConstantFalse", "OpConstant", "OpConstantComposite"])


class Decoded(NamedTuple):
    """An instruction of a module: its name, its result type and result (0 without), its other words."""

    name: str
    type: int
    result: int
    words: tuple[int, ...]
    instruction: Instruction


def _lists() -> dict[Any, list[tuple[int, ...]]]:
    return defaultdict(list)


@dataclass
class Contents:
    """A decoded module, by section. Names and decorations are by (id,), of members by (type, member)."""

    version: tuple[int, int]
    types: dict[int, Type] = field(default_factory=dict)
    value_types: dict[int, Type] = field(default_factory=dict)
    names: dict[tuple[int, ...], str] = field(default_factory=dict)
    strings: dict[int, str] = field(default_factory=dict)
    sets: dict[int, str] = field(default_factory=dict)
    constants: dict[int, Decoded] = field(default_factory=dict)
    decorations: dict[tuple[int, ...], list[tuple[int, ...]]] = field(default_factory=_lists)
    modes: dict[int, list[tuple[int, ...]]] = field(default_factory=_lists)
    entries: dict[int, Decoded] = field(default_factory=dict)
    preamble: list[Decoded] = field(default_factory=list)
    globals: list[Decoded] = field(default_factory=list)
    functions: list[list[Decoded]] = field(default_factory=list)


#: A `Decoded` of its five parts, without a call of Python's own: modules have thousands
_decoded: Callable[[tuple[Any, ...]], Decoded] = partial(tuple.__new__, Decoded)


def instructions(words: bytes) -> list[Decoded]:
    """The instructions of a module in order; ValueError for what is not SPIR-V or of the other byte order."""
    numbers = struct.unpack(f"{len(words) // 4}I", words)
    if len(numbers) < HEADER_WORDS or numbers[0] != MAGIC:
        raise ValueError("not a SPIR-V module: the magic number is missing")
    at, end = HEADER_WORDS, len(numbers)
    found: list[Decoded] = []
    shapes: dict[int, tuple[str, int, int, Instruction]] = {}    # by opcode: name, places of type and result
    while at < end:
        first = numbers[at]
        shape = shapes.get(first & 0xFFFF)
        if shape is None:
            entry = grammar.instruction_by_opcode(first & 0xFFFF)
            shape = entry.name, int(entry.has_type), (1 + entry.has_type) * entry.has_result, entry
            shapes[first & 0xFFFF] = shape
        name, type_at, result_at, entry = shape
        next_at = at + (first >> 16)
        found.append(_decoded((
            name, numbers[at + 1] if type_at else 0, numbers[at + result_at] if result_at else 0,
            numbers[at + 1 + (result_at or type_at):next_at], entry)))
        at = next_at
    return found


def decode(words: bytes) -> Contents:
    """The contents of a module."""
    version = struct.unpack_from("I", words, 4)[0]
    contents = Contents((version >> 16 & 0xFF, version >> 8 & 0xFF))
    value_types, types = contents.value_types, contents.types
    body: list[Decoded] | None = None
    for it in instructions(words):
        if it.type:
            value_types[it.result] = types[it.type]
        if it.name == "OpFunction":
            body = []
            contents.functions.append(body)
        if body is not None:
            body.append(it)
        else:
            _declare(contents, it)
    return contents


def _declare(contents: Contents, it: Decoded) -> None:
    """Put an instruction outside of functions where it belongs."""
    match it.name:
        case "OpName":
            contents.names[it.words[:1]] = string_of(it.words[1:])[0]
        case "OpMemberName":
            contents.names[it.words[:2]] = string_of(it.words[2:])[0]
        case "OpString":
            contents.strings[it.result] = string_of(it.words)[0]
        case "OpExtInstImport":
            contents.sets[it.result] = string_of(it.words)[0]
        case "OpDecorate" | "OpDecorateId" | "OpDecorateString":
            contents.decorations[it.words[:1]].append(it.words[1:])
        case "OpMemberDecorate" | "OpMemberDecorateString":
            contents.decorations[it.words[:2]].append(it.words[2:])
        case "OpEntryPoint":
            contents.entries[it.words[1]] = it
        case "OpExecutionMode" | "OpExecutionModeId":
            contents.modes[it.words[0]].append(it.words[1:])
        case name if name in CONSTANTS:
            contents.constants[it.result] = it
        case name if name.startswith("OpType"):
            contents.types[it.result] = _type(contents, it)
        case name if it.result:
            contents.globals.append(it)
        case _:
            contents.preamble.append(it)


def _type(contents: Contents, it: Decoded) -> Type:
    """The type that an OpType instruction declares, with what decorations and names add to it."""
    types, words = contents.types, it.words
    match it.name:
        case "OpTypeVoid":
            return Void()
        case "OpTypeBool":
            return Bool()
        case "OpTypeInt":
            return Int(words[0])
        case "OpTypeFloat":
            return Float(words[0], grammar.enumerant_names("FPEncoding")[words[1]] if words[1:] else None)
        case "OpTypeVector":
            return Vector(types[words[0]], words[1])
        case "OpTypeArray":
            stride = _decoration(contents, it.result, "ArrayStride")
            return Array(types[words[0]], contents.constants[words[1]].words[0], stride)
        case "OpTypeRuntimeArray":
            return RuntimeArray(types[words[0]], _decoration(contents, it.result, "ArrayStride"))
        case "OpTypePointer":
            storage_class = grammar.enumerant_names("StorageClass")[words[0]]
            return Pointer(storage_class, types[words[1]], _decoration(contents, it.result, "ArrayStride"))
        case "OpTypeFunction":
            return FunctionType(types[words[0]], tuple(types[word] for word in words[1:]))
        case "OpTypeCooperativeMatrixKHR":
            scope, rows, columns, use = (contents.constants[word].words[0] for word in words[1:])
            return CooperativeMatrix(types[words[0]], grammar.enumerant_names("Scope")[scope], rows, columns,
                                     grammar.enumerant_names("CooperativeMatrixUse")[use])
        case "OpTypeStruct":
            return _struct(contents, it)
    return Opaque(it.name)


def _struct(contents: Contents, it: Decoded) -> Struct:
    members = tuple(contents.types[word] for word in it.words)
    offsets = [_decoration(contents, it.result, "Offset", member) for member in range(len(members))]
    names = [contents.names.get((it.result, member), "") for member in range(len(members))]
    return Struct(
        members,
        offsets=None if None in offsets else tuple(offset or 0 for offset in offsets),
        name=contents.names.get((it.result,)),
        block=_decoration(contents, it.result, "Block") is not None,
        member_names=tuple(names) if any(names) else None)


def _decoration(contents: Contents, id: int, name: str, *member: int) -> int | None:
    """Take a decoration off an id -> its parameter, 0 when it has none, None when the id does not have it."""
    number = grammar.enumerant("Decoration", name).value
    on_id = contents.decorations.get((id, *member), [])
    for decoration in on_id:
        if decoration[0] == number:
            on_id.remove(decoration)
            return decoration[1] if decoration[1:] else 0
    return None

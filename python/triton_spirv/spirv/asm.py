"""`listing`: a SPIR-V module as text to read, to compare and to test against.

    kernel %scale(%pointer: ptr<CrossWorkgroup, f32>, %factor: f32)  {SubgroupSize 16}
    %entry:
        ; scale.py:7
        %load = OpLoad f32 %pointer Aligned 4
        %fmul = OpFMul f32 %load %factor
        OpStore %pointer %fmul Aligned 4
        OpReturn

There are no ids: a value has its OpName or else the name of its instruction, numbered within the function
from the second of a kind on. Types and constants are written where they are used, decorations in braces
behind what they decorate. So a line changes only when what it says changes. The listing is made of the words
alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cache
from math import isnan
from os.path import basename

from . import grammar
from .decode import Contents, Decoded, decode
from .grammar import Enumerant, Operand
from .literals import scalar_bits, scalar_value, string_of
from .module import Module
from .types import Array, Bool, Float, Int, Struct, Type

INDENT = "    "


def listing(module: Module | bytes) -> str:
    """The text of a module, given as one or as its words."""
    contents = decode(module if isinstance(module, bytes) else module.words())
    writer = _Writer(contents)
    parts = [writer.header(), writer.globals(), *(writer.function(body) for body in contents.functions)]
    return "\n".join(["\n".join([*part, ""]) for part in parts if part])


class _Names(dict[int, str]):
    """The text of ids; one that nothing defines is its number."""

    def __missing__(self, id: int) -> str:
        return f"%{id}"


class _Writer:
    """Writes lines; `names` holds the text of every id that the current function can refer to."""

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self.names = _Names()
        self.taken: dict[str, int] = {}    # a name -> the number to try next for it
        self.tails: dict[tuple[str, tuple[int, ...]], str] = {}    # operands that are no ids, written before
        for id, type in contents.types.items():
            self.names[id] = str(type)
        for id, constant in contents.constants.items():
            self.names[id] = self._constant(constant)
        for id, text in contents.strings.items():
            self.names[id] = _quoted(text)
        for id, set_name in contents.sets.items():
            self.names[id] = set_name
        for it in [*contents.globals, *(body[0] for body in contents.functions)]:
            self._name(it.result, it)

    # Parts

    def header(self) -> list[str]:
        """Version, capabilities, extensions and what else comes first, sorted: their order says nothing."""
        groups: dict[str, list[str]] = {"OpMemoryModel": [], "OpCapability": [], "OpExtension": []}
        for it in self.contents.preamble:
            groups.setdefault(it.name, []).append(" ".join(self._operands(it)))
        major, minor = self.contents.version
        lines = [f"; SPIR-V {major}.{minor}, {' '.join(groups.pop('OpMemoryModel'))}"]
        for name, texts in groups.items():
            lines += [f"; {name.removeprefix('Op')} {', '.join(sorted(texts))}"] if texts else []
        return lines

    def globals(self) -> list[str]:
        """Named struct types, then global variables and what else is neither type nor constant."""
        structs = [type for type in self.contents.types.values() if isinstance(type, Struct) and type.name]
        types = [f"type {struct} = {struct.definition()}" for struct in structs]
        return types + [self._line(it) for it in self.contents.globals]

    def function(self, body: list[Decoded]) -> list[str]:
        """A function: its head, then its blocks."""
        outer_names, outer_taken = self.names, self.taken
        self.names, self.taken, self.tails = _Names(outer_names), dict(outer_taken), {}
        roles = _block_roles(body)
        for it in body[1:]:
            if it.result:
                self._name(it.result, it, roles)
        lines = [self._function_head(body)]
        place = ""
        for it in body[1:]:
            if it.name == "OpLabel":
                lines.append(f"{self.names[it.result]}:")
            elif it.name == "OpLine":
                file, line, _ = it.words
                here = f"{INDENT}; {basename(self.contents.strings[file])}:{line}"
                lines += [here] if here != place else []
                place = here
            elif it.name not in ("OpFunctionParameter", "OpFunctionEnd", "OpNoLine"):
                lines.append(INDENT + self._line(it))
        self.names, self.taken = outer_names, outer_taken
        return lines

    def _function_head(self, body: list[Decoded]) -> str:
        head = body[0]
        entry = self.contents.entries.get(head.result)
        if entry is not None:
            what = self._operands(entry)[0].lower()
        else:
            is_import = not any(it.name == "OpLabel" for it in body)
            what = f"{'import' if is_import else 'function'} {self.names[head.type]}"
        parameters = [f"{self.names[it.result]}: {self.names[it.type]}{self._decorations(it.result)}"
                      for it in body if it.name == "OpFunctionParameter"]
        control = self._operands(head)[0]
        notes = [control] if control != "None" else []
        for mode in self.contents.modes[head.result]:
            notes.append(" ".join(self._take("ExecutionMode", list(mode))))
        signature = f"{self.names[head.result]}({', '.join(parameters)})"
        return f"{what} {signature}{self._decorations(head.result, notes)}"

    def _line(self, it: Decoded) -> str:
        """An instruction. Nearly all operands are ids, and what follows them is seldom new."""
        names, (name, type, result, words, instruction) = self.names, it
        text = name
        if type:
            text = f"{text} {names[type]}"
        if result:
            text = f"{names[result]} = {text}"
        if words:
            ids = _leading_ids(name)
            if ids is None:
                text = f"{text} {' '.join(self._operands(it))}"
            elif ids:
                text = f"{text} {' '.join(map(names.__getitem__, words[:ids]))}"
            if ids is not None and len(words) > ids:
                key = name, words[ids:]
                tail = self.tails.get(key)
                if tail is None:
                    tail = " ".join(self._take_all(instruction.operands[ids:], list(words[ids:])))
                    self.tails[key] = tail
                text = f"{text} {tail}"
        return text + self._decorations(result) if (result,) in self.contents.decorations else text

    def _decorations(self, id: int, notes: Iterable[str] = ()) -> str:
        decorations = self.contents.decorations.get((id,), ())
        texts = [*notes, *(" ".join(self._take("Decoration", list(words))) for words in decorations)]
        return f"  {{{', '.join(texts)}}}" if texts else ""

    # Names

    def _name(self, id: int, it: Decoded, roles: dict[int, str] | None = None) -> None:
        """Name an id by its OpName, its role as a block, or its instruction; numbered if that is taken."""
        given = self.contents.names.get((id,))
        if given:
            name = re.sub(r"[^\w.$]", "_", given)
        else:
            name = self._kind_of(it, roles or {}) if it.name in _NAMED_BY_USE else _short_name(it.name)
        number = self.taken.get(name, 0)
        unique = f"{name}_{number}" if number else name
        while number and unique in self.taken:
            number += 1
            unique = f"{name}_{number}"
        self.taken[unique] = 1
        self.taken[name] = number + 1
        self.names[id] = f"%{unique}"

    def _kind_of(self, it: Decoded, roles: dict[int, str]) -> str:
        return roles.get(it.result, "block") if it.name == "OpLabel" else self._extended(it).lower()

    def _extended(self, it: Decoded) -> str:
        return grammar.extended_names(self.contents.sets[it.words[0]]).get(it.words[1]) or str(it.words[1])

    # Operands

    def _operands(self, it: Decoded) -> list[str]:
        words = list(it.words)
        if it.name == "OpExtInst":
            set, name = self.contents.sets[words[0]], self._extended(it)
            is_known = words[1] in grammar.extended_names(set)
            operands = grammar.extended(set, name).operands if is_known else (Operand("IdRef", "*", ""),)
            return [set, name, *self._take_all(operands, words[2:])]
        if it.name == "OpSwitch":
            return self._switch(words)
        return self._take_all(it.instruction.operands, words)

    def _take_all(self, operands: Iterable[Operand], words: list[int]) -> list[str]:
        texts = []
        for operand in operands:
            while words:
                texts += self._take(operand.kind, words)
                if operand.quantifier != "*":
                    break
        return texts

    def _take(self, kind: str, words: list[int]) -> list[str]:
        """Take an operand of a kind off the words -> its text, an enumerant's parameters behind it."""
        if kind == "IdRef":    # nearly all operands
            return [self._reference(words.pop(0))]
        if kind == "LiteralString":
            text, count = string_of(words)
            del words[:count]
            return [_quoted(text)]
        entry = grammar.kind(kind)
        if entry.category == "Composite":
            return [f"[{', '.join(text for base in entry.bases for text in self._take(base, words))}]"]
        word = words.pop(0)
        if entry.category == "ValueEnum":
            enumerant = grammar.enumerant_by_value(kind, word)
            return [enumerant.name, *self._take_all(enumerant.parameters, words)]
        if entry.category == "BitEnum":
            bits = _bits(kind, word)
            parameters = [text for bit in bits for text in self._take_all(bit.parameters, words)]
            return [_names(bits), *parameters]
        if entry.category == "Id":
            return [self._named_constant(kind, word)]
        return [scalar_text(Float(32), word) if kind == "LiteralFloat" else str(word)]

    def _reference(self, id: int) -> str:
        return self.names[id]

    def _named_constant(self, kind: str, id: int) -> str:
        """A scope or memory semantics by its name, if its constant is known."""
        constant = self.contents.constants.get(id)
        if constant is None or constant.name != "OpConstant":
            return self._reference(id)
        if kind == "IdScope":
            return grammar.enumerant_names("Scope")[constant.words[0]]
        return _names(_bits("MemorySemantics", constant.words[0]))

    def _switch(self, words: list[int]) -> list[str]:
        selector, default, *targets = words
        type = self.contents.value_types.get(selector)
        literal = 2 if isinstance(type, Int) and type.width > 32 else 1
        texts = [self.names[selector], self.names[default]]
        for at in range(0, len(targets), literal + 1):
            number = sum(word << 32 * place for place, word in enumerate(targets[at:at + literal]))
            texts.append(f"[{number}, {self.names[targets[at + literal]]}]")
        return texts

    # Constants

    def _constant(self, it: Decoded) -> str:
        type = self.contents.types[it.type]
        match it.name:
            case "OpUndef":
                return "undef"
            case "OpConstantNull":
                return "null"
            case "OpConstantTrue" | "OpConstantFalse":
                return it.name.removeprefix("OpConstant").lower()
            case "OpConstant":
                return scalar_text(type, sum(word << 32 * place for place, word in enumerate(it.words)))
        elements = [self.names[word] for word in it.words]
        if isinstance(type, Array) and type.element is Int(8) and elements[-1] == "0":
            data = bytes(int(element) & 0xFF for element in elements[:-1])
            return _quoted(data.decode(errors="backslashreplace"))
        if len(elements) > 1 and len(set(elements)) == 1:
            return f"splat({elements[0]})"
        return f"({', '.join(elements)})"


def scalar_text(type: Type, bits: int) -> str:
    """The shortest decimal that reads back to these bits; of an unusual NaN, the bits themselves."""
    value = scalar_value(type, bits)
    if isinstance(type, (Bool, Int)):
        return str(value).lower()
    assert isinstance(type, Float)
    if value is None or (isnan(value) and bits != scalar_bits(type, float("nan"))):
        return f"{type}:0x{bits:0{type.width // 4}x}"
    for digits in range(1, 18):
        text = f"{value:.{digits}g}"
        if scalar_bits(type, float(text)) == bits:
            break
    return repr(float(text))


@cache
def _leading_ids(name: str) -> int | None:
    """How many operands of an instruction, from the first on, are ids of values; None where that depends."""
    if name in ("OpExtInst", "OpSwitch"):
        return None
    operands = grammar.instruction(name).operands
    for count, operand in enumerate(operands):
        if operand.kind != "IdRef" or operand.quantifier == "?":
            return count
        if operand.quantifier == "*":
            return sys.maxsize
    return len(operands)


@cache
def _bits(kind: str, mask: int) -> list[Enumerant]:
    """The enumerants in a mask, in the order of their bits and so of their parameters."""
    values = sorted(value for value in grammar.enumerant_names(kind) if value & mask)
    return [grammar.enumerant_by_value(kind, value) for value in values]


def _names(bits: list[Enumerant]) -> str:
    return "|".join(bit.name for bit in bits) or "None"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _block_roles(body: list[Decoded]) -> dict[int, str]:
    """What each block of structured control flow is, by the merge instruction that names it."""
    roles: dict[int, str] = {}
    label, merge_of = 0, ""
    for it in body:
        if it.name == "OpLabel":
            label, merge_of = it.result, ""
            if not roles:
                roles[label] = "entry"
        elif it.name in ("OpLoopMerge", "OpSelectionMerge"):
            merge_of = it.name
            if it.name == "OpLoopMerge":
                roles.setdefault(label, "loop")
                roles.setdefault(it.words[1], "continue")
            roles.setdefault(it.words[0], "after" if it.name == "OpLoopMerge" else "endif")
        elif it.name == "OpBranchConditional":
            first, second = ("then", "else") if merge_of == "OpSelectionMerge" else ("body", "body")
            roles.setdefault(it.words[1], first)
            roles.setdefault(it.words[2], second)
    return roles


@cache
def _short_name(instruction: str) -> str:
    return _SHORT.get(instruction) or instruction.removeprefix("Op").lower()


#: What is named by more than which instruction it is
_NAMED_BY_USE = frozenset({"OpLabel", "OpExtInst"})

_SHORT = {
    "OpFunctionParameter": "arg", "OpVariable": "var", "OpFunctionCall": "call",
    "OpAccessChain": "chain", "OpInBoundsAccessChain": "chain", "OpPtrAccessChain": "chain",
    "OpInBoundsPtrAccessChain": "chain", "OpVectorShuffle": "shuffle", "OpCompositeConstruct": "construct",
    "OpCompositeExtract": "extract", "OpCompositeInsert": "insert"}

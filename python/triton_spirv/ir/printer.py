"""print_module(module) -> text that MLIR and parser.py read back; the formats of dialects.py drive it, as
they drive the reader.

Encodings are written in full, without aliases. `generic=True` prints the generic form of every operation;
without it that form is left for those whose results are of other types than the format says (a pass may give
them layouts that differ from their operands').
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .dialects import OPERATIONS, OperationSpec
from .enumerations import ENUMS
from .format import items_of
from .inference import result_types
from .literals import dictionary, location, number, quote, symbol
from .model import Block, DenseAttr, OpaqueAttr, Operation, Region, Value
from .module import Module
from .printer_syntax import PRINTERS
from .types import FunctionType, IntegerType, Type, element_type


def print_module(module: Module, generic: bool = False, locations: bool = True) -> str:
    """The text of a module."""
    printer = Printer(generic, locations)
    printer.operation(module.operation, 0)
    return "\n".join(printer.lines) + "\n"


class Printer:
    """Holds the lines and the names of values; a name is used once in a module, so scopes need no care."""

    def __init__(self, generic: bool, locations: bool) -> None:
        self.lines: list[str] = []
        self.generic = generic
        self.locations = locations
        self.names: dict[Value, str] = {}
        self.taken: set[str] = set()
        self.labels: dict[Block, str] = {}

    # names

    def fresh(self, wanted: str) -> str:
        base = wanted.partition("#")[0] or "0"
        name, count = base, 0
        while name in self.taken:
            count += 1
            name = f"{base}_{count}" if not base.isdigit() else f"v{base}_{count}"
        self.taken.add(name)
        return "%" + name

    def define(self, values: list[Value]) -> str:
        """Name the results of one operation: %x, or %x:2 with %x#0, %x#1."""
        name = self.fresh(values[0].name)
        if len(values) == 1:
            self.names[values[0]] = name
            return name
        for index, value in enumerate(values):
            self.names[value] = f"{name}#{index}"
        return f"{name}:{len(values)}"

    def use(self, values: Iterable[Value]) -> str:
        return ", ".join(self.names[v] if v in self.names else self._promise(v) for v in values)

    def _promise(self, value: Value) -> str:
        """A value used above its definition gets its name now."""
        op = value.defining_op
        self.define(op.results if op is not None else [value])
        return self.names[value]

    def types(self, values: Iterable[Value]) -> str:
        return ", ".join(str(v.type) for v in values)

    # structure

    def operation(self, op: Operation, depth: int) -> None:
        indent = "  " * depth
        head = ""
        if op.results:
            known = self.names.get(op.results[0])
            if known is None:
                head = self.define(op.results) + " = "
            else:
                head = (
                    known.partition("#")[0] + (f":{len(op.results)}" if len(op.results) > 1 else "") + " = "
                )
        spec = OPERATIONS[op.name]
        self.lines.append(indent + head)
        if self.generic or spec.format == "generic" or not _tells_types(op, spec):
            self._generic(op, spec, depth)
        elif spec.format.startswith("custom "):
            PRINTERS[spec.format.removeprefix("custom ")](self, op, depth)
        else:
            self.put(f"{op.name} {self._formatted(op, spec)}".rstrip())
        if self.locations:
            self.put(f" loc({location(op.location)})")

    def put(self, text: str) -> None:
        self.lines[-1] += text

    def region(self, region: Region, depth: int, arguments: bool = False, skip: str = "") -> None:
        """{ blocks }; `arguments`: with the entry block's head; `skip`: a bare terminator that MLIR leaves
        out.
        """
        self.put("{")
        for index, block in enumerate(region.blocks):
            if index or (arguments and block.arguments):
                self.lines.append("  " * depth + self.label(block) + self.arguments(block) + ":")
            else:
                self.arguments(block)
            for op in block.operations:
                if not (op.name == skip and not op.operands and op is block.operations[-1]):
                    self.operation(op, depth + 1)
        self.lines.append("  " * depth + "}")

    def label(self, block: Block) -> str:
        return self.labels.setdefault(block, f"^bb{len(self.labels)}")

    def arguments(self, block: Block) -> str:
        """(%x: f32, ...) of a block's head; names them."""
        parts = []
        for value in block.arguments:
            if value not in self.names:
                self.define([value])
            parts.append(f"{self.names[value]}: {value.type}")
        return f"({', '.join(parts)})" if parts else ""

    def successor(self, block: Block, values: tuple[Value, ...]) -> str:
        return self.label(block) + (f"({self.use(values)} : {self.types(values)})" if values else "")

    # forms

    def _formatted(self, op: Operation, spec: OperationSpec) -> str:
        named = op.named_operands()
        rest = dict(op.attributes)
        for item in items_of(spec.format):  # what the format prints by name is not in the dictionary
            for word in item if isinstance(item, list) else [item]:
                if word[0] in '@!#|"' and len(word) > 1:
                    rest.pop(word[1:].lstrip("@"), None)
                elif word == "flags":
                    for name in (
                        "overflowFlags",
                        "fastmath",
                        "isExact",
                        "nonNeg",
                        "isDisjoint",
                        "roundingmode",
                    ):
                        rest.pop(name, None)
        _numbered(spec, rest)
        parts: list[str] = []
        for item in items_of(spec.format):
            words = item if isinstance(item, list) else [item]
            if isinstance(item, list) and not any(self._present(word, op, named) for word in words):
                continue
            parts += [self._item(word, op, named, rest) for word in words]
        return _joined(parts)

    def _present(self, word: str, op: Operation, named: dict[str, Any]) -> bool:
        if word[0] == "$" or word.startswith("T("):
            value = named[word.lstrip("$T(").rstrip(")*")]
            return value is not None and value != ()
        return word[0] in '@!"' and len(word) > 1 and word[1:] in op.attributes

    def _item(self, word: str, op: Operation, named: dict[str, Any], rest: dict[str, Any]) -> str:
        if word == "{}":
            return dictionary(rest)
        if word == "F":
            return f"({self.types(op.operands)}) -> {self._results(op)}"
        if word == "R":
            return self._short(op.results[-1].type, op.name)
        if word == "R*":
            return self.types(op.results)
        if word == "T(*)":
            return self.types(op.operands)
        if word == "flags":
            return self._flags(op)
        if word == "caching":
            return ""
        if word.startswith("T("):
            value = named[word[2:-1].rstrip("*")]
            if isinstance(value, tuple):
                return self.types(value)
            return self._short(value.type, op.name)
        if word[0] == "$":
            value = named[word[1:].rstrip("*")]
            return self.use(value if isinstance(value, tuple) else [value])
        if word.startswith("@@"):
            return symbol(op.attributes[word[2:]])
        if word[0] == '"':
            return quote(op.attributes[word[1:]])
        if word[0] == "#":
            return ", ".join(map(str, op.attributes[word[1:]]))
        if word[0] in "@|" and len(word) > 1:
            value = op.attributes[word[1:]]
            return number(value, IntegerType(32)) if isinstance(value, int) else value
        return "" if word[0] == "!" else word

    def _short(self, type: Type, name: str) -> str:
        """The three operations whose format leaves the names of types out."""
        text = str(type)
        if name in ("tt.make_tensor_ptr", "tt.advance", "tt.make_tensor_descriptor"):
            return text.removeprefix("!tt.ptr").removeprefix("!tt.tensordesc")
        return text

    def _results(self, op: Operation) -> str:
        single = len(op.results) == 1 and not isinstance(op.results[0].type, FunctionType)
        return str(op.results[0].type) if single else f"({self.types(op.results)})"

    def _flags(self, op: Operation) -> str:
        a = op.attributes
        parts = [
            a.get("roundingmode", ""),
            "exact" if a.get("isExact") else "",
            "nneg" if a.get("nonNeg") else "",
            "disjoint" if a.get("isDisjoint") else "",
            f"overflow<{a['overflowFlags']}>" if "overflowFlags" in a else "",
            f"fastmath<{a['fastmath']}>" if "fastmath" in a else "",
        ]
        return " ".join(part for part in parts if part)

    def _generic(self, op: Operation, spec: OperationSpec, depth: int) -> None:
        self.put(f'"{op.name}"({self.use(op.operands)})')
        if op.successors:
            self.put(" [" + ", ".join(self.label(block) for block in op.successors) + "]")
        properties = dict(op.attributes)
        _numbered(spec, properties)
        if op.segments is not None and len(spec.operands) > 1 and self.generic:
            properties["operandSegmentSizes"] = op.segments
        if op.name == "arith.constant" and not isinstance(properties["value"], DenseAttr):
            type = element_type(op.results[0].type)
            value = number(properties["value"], type)
            properties["value"] = OpaqueAttr(value if value in ("true", "false") else f"{value} : {type}")
        if properties:
            self.put(f" <{dictionary(properties)}>")
        if op.regions:
            self.put(" (")
            for index, region in enumerate(op.regions):
                self.put(", " if index else "")
                self.region(region, depth, arguments=True)
            self.put(")")
        self.put(f" : ({self.types(op.operands)}) -> {self._results(op)}")


def _tells_types(op: Operation, spec: OperationSpec) -> bool:
    """Are the types that the format leaves out those that a reader takes them for?"""
    if spec.format == "custom select" and op.true_value.type != op.false_value.type:
        return False
    infer = result_types(spec)
    if infer is None or not op.results:
        return True
    values = [value if value != () else None for value in op.named_operands().values()]
    return infer(values, [op.results[-1].type]) == [value.type for value in op.results]


def _joined(parts: list[str]) -> str:
    """Items with spaces between them, but not before a comma nor inside brackets."""
    text = ""
    for part in filter(None, parts):
        close = part in (",", "]", ")") or (part == "[" and text.rpartition(" ")[2][:1] == "%")
        text += part if not text or close or text[-1] in "[(" else " " + part
    return text


def _numbered(spec: OperationSpec, attributes: dict[str, Any]) -> None:
    """Keywords of enumerations to their numbers; cache and evict to the policy that 3.9 has instead."""
    if "cache" in attributes or "evict" in attributes:
        cache, evict = attributes.pop("cache", "none"), attributes.pop("evict", "evict_normal")
        text = f"#tt.cache_policy<cache_modifier = {cache}, eviction_policy = {evict}>"
        attributes["cachePolicy"] = OpaqueAttr(text)
    for name, enum in spec.enums:
        if isinstance(attributes.get(name), str):
            bits = {word: bit for bit, word in ENUMS[enum].items()}
            attributes[name] = sum(bits[word] for word in attributes[name].split("|"))

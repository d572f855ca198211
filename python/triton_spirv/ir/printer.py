"""print_module(module) -> text that MLIR and parser.py read back; the formats of dialects.py drive it, as they drive the reader.

Encodings are written in full, without aliases. `generic=True` prints the generic form of every operation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from triton_spirv.ir import numbers
from triton_spirv.ir.dialects import ENUMS, OPERATIONS, OperationSpec
from triton_spirv.ir.format import items_of
from triton_spirv.ir.model import Block, DenseAttr, Encoding, Location, Module, OpaqueAttr, Operation, Region, SymbolRef, Value
from triton_spirv.ir.types import FloatType, FunctionType, IntegerType, Type, element_type

# Integers of attributes are i32 but these.
WIDE = {"tt.constancy", "tt.contiguity", "predicate", "case_values"}
UNITS = {"force_warp_shuffle", "ignore_cta", "allow_reorder", "efficient_layout", "omitUniformHint", "third_party_allocation",
         "shared_cluster_state", "loop_annotation", "unsignedCmp"}


def print_module(module: Module, generic: bool = False, locations: bool = True) -> str:
    """The text of a module."""
    printer = Printer(generic, locations)
    printer.operation(module.operation, 0)
    return "\n".join(printer.lines) + "\n"


def quote(text: str) -> str:
    """A string token; what is not printable ASCII becomes \\XX."""
    parts = []
    for byte in text.encode("utf-8", "surrogateescape"):
        parts.append(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}")
    return '"' + "".join(parts) + '"'


def number(value: int | float | bool, type: Type) -> str:
    """A literal of the type, without the type."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(type, FloatType):
        return str(int(value))
    if isinstance(value, numbers.BitsFloat) or math.isnan(value) or math.isinf(value):
        return f"0x{numbers.to_bits(value, type):0{(type.width + 3) // 4}X}"
    text = repr(float(value))
    mantissa, e, exponent = text.partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + e + exponent


def attribute(value: Any, name: str = "") -> str:
    """An attribute with its type, where the type can be guessed: i32, or i64 for a few names."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        wide = name in WIDE or not -(1 << 31) <= value < 1 << 31
        return f"{value} : {'i64' if wide else 'i32'}"
    if isinstance(value, float):
        return f"{number(value, FloatType('f32'))} : f32"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, DenseAttr):
        return dense(value)
    if isinstance(value, dict):
        return dictionary(value) or "{}"
    if isinstance(value, (tuple, list)):
        if all(isinstance(v, int) for v in value):
            words = ", ".join(number(v, IntegerType(32)) for v in value)
            type = "i1" if value and isinstance(value[0], bool) else "i32"
            return f"array<{type}: {words}>" if value else "array<i32>"
        return "[" + ", ".join(attribute(v, name) for v in value) + "]"
    assert isinstance(value, (Type, Encoding, OpaqueAttr, SymbolRef)), value
    return str(value)


def dense(value: DenseAttr) -> str:
    """dense<...> : type"""
    element = value.type.element
    if value.splat:
        return f"dense<{number(value.values, element)}> : {value.type}"
    if not value.values:
        return f"dense<> : {value.type}"

    def nested(start: int, shape: tuple[int, ...]) -> str:
        if not shape:
            return number(value.values[start], element)
        stride = math.prod(shape[1:])
        return "[" + ", ".join(nested(start + k * stride, shape[1:]) for k in range(shape[0])) + "]"
    return f"dense<{nested(0, value.type.shape)}> : {value.type}"


def dictionary(values: dict[str, Any]) -> str:
    """{a = 1 : i32, b}, or nothing."""
    parts = []
    for name, value in values.items():
        key = name if name.replace(".", "_").replace("$", "_").isidentifier() else quote(name)
        parts.append(key if value is True and name in UNITS else f"{key} = {attribute(value, name)}")
    return "{" + ", ".join(parts) + "}" if parts else ""


def location(value: Location) -> str:
    """The inside of loc(...)."""
    text = f"{quote(value.file)}:{value.line}:{value.column}" if value.known else "unknown"
    if value.name is not None:
        text = f"{quote(value.name)}({text})"
    for caller in value.callers:
        text = f"callsite({text} at {location(caller)})"
    return text


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
                head = known.partition("#")[0] + (f":{len(op.results)}" if len(op.results) > 1 else "") + " = "
        spec = OPERATIONS[op.name]
        self.lines.append(indent + head)
        if self.generic or spec.format == "generic":
            self._generic(op, spec, depth)
        elif spec.format.startswith("custom "):
            _CUSTOM[spec.format.removeprefix("custom ")](self, op, depth)
        else:
            self.put(op.name + " " + self._formatted(op, spec))
        if self.locations:
            self.put(f" loc({location(op.location)})")

    def put(self, text: str) -> None:
        self.lines[-1] += text

    def region(self, region: Region, depth: int, arguments: bool = False, skip: str = "") -> None:
        """{ blocks }; `arguments`: with the entry block's head; `skip`: a bare terminator that MLIR leaves out."""
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
                    for name in ("overflowFlags", "fastmath", "isExact", "nonNeg", "isDisjoint", "roundingmode"):
                        rest.pop(name, None)
        _numbered(spec, rest)
        parts: list[str] = []
        for item in items_of(spec.format):
            words = item if isinstance(item, list) else [item]
            if isinstance(item, list) and not any(self._present(word, op, named) for word in words):
                continue
            parts += [self._item(word, op, named, rest) for word in words]
        return " ".join(part for part in parts if part)

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
            return self._short(op.results[0].type, op.name)
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
            return "@" + op.attributes[word[2:]]
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
        parts = [a.get("roundingmode", ""), "exact" if a.get("isExact") else "", "nneg" if a.get("nonNeg") else "",
                 "disjoint" if a.get("isDisjoint") else "",
                 f"overflow<{a['overflowFlags']}>" if "overflowFlags" in a else "",
                 f"fastmath<{a['fastmath']}>" if "fastmath" in a else ""]
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


def _numbered(spec: OperationSpec, attributes: dict[str, Any]) -> None:
    """Keywords of enumerations to their numbers; cache and evict to the policy that 3.9 has instead of them."""
    if "cache" in attributes or "evict" in attributes:
        cache, evict = attributes.pop("cache", "none"), attributes.pop("evict", "evict_normal")
        text = f"#tt.cache_policy<cache_modifier = {cache}, eviction_policy = {evict}>"
        attributes["cachePolicy"] = OpaqueAttr(text)
    for name, enum in spec.enums:
        if isinstance(attributes.get(name), str):
            bits = {word: bit for bit, word in ENUMS[enum].items()}
            attributes[name] = sum(bits[word] for word in attributes[name].split("|"))


def _spaced(text: str) -> str:
    return " " + text if text else ""


def _without(op: Operation, *names: str) -> dict[str, Any]:
    return {name: value for name, value in op.attributes.items() if name not in names}


def _module(p: Printer, op: Operation, depth: int) -> None:
    attributes = dictionary(_without(op, "sym_name"))
    name = _spaced("@" + op.attributes["sym_name"] if "sym_name" in op.attributes else "")
    p.put(f"module{name}{' attributes ' + attributes if attributes else ''} ")
    p.region(op.regions[0], depth)


def _function(p: Printer, op: Operation, depth: int) -> None:
    type: FunctionType = op.attributes["function_type"]
    block = op.regions[0].blocks[0] if op.regions else None
    parts = []
    for index, (input, extra) in enumerate(zip(type.inputs, op.attributes["arg_attrs"], strict=True)):
        name = f"{p.define([block.arguments[index]])}: " if block is not None else ""
        parts.append(f"{name}{input}{_spaced(dictionary(extra))}")
    results = " -> " + str(FunctionType((), type.results))[6:] if type.results else ""
    rest = dictionary(_without(op, "sym_name", "sym_visibility", "function_type", "arg_attrs"))
    visibility = _spaced(op.attributes.get("sym_visibility", ""))
    p.put(f"tt.func{visibility} @{op.attributes['sym_name']}({', '.join(parts)}){results}{' attributes ' + rest if rest else ''}")
    if op.regions:
        p.put(" ")
        p.region(op.regions[0], depth)


def _constant(p: Printer, op: Operation, depth: int) -> None:
    value, type = op.attributes["value"], op.results[0].type
    rest = _spaced(dictionary(_without(op, "value")))
    text = dense(value) if isinstance(value, DenseAttr) else number(value, type)
    suffix = "" if isinstance(value, (bool, DenseAttr)) else f" : {type}"
    p.put(f"arith.constant{rest} {text}{suffix}")


def _select(p: Printer, op: Operation, depth: int) -> None:
    condition = "" if op.condition.type == IntegerType(1) else f"{op.condition.type}, "
    p.put(f"arith.select {p.use(op.operands)}{_spaced(dictionary(op.attributes))} : {condition}{op.results[0].type}")


def _poison(p: Printer, op: Operation, depth: int) -> None:
    p.put(f"ub.poison{_spaced(dictionary(op.attributes))} : {op.results[0].type}")


def _assignments(p: Printer, arguments: list[Value], initial: tuple[Value, ...]) -> str:
    return "(" + ", ".join(f"{p.define([a])} = {p.use([v])}" for a, v in zip(arguments, initial, strict=True)) + ")"


def _for(p: Printer, op: Operation, depth: int) -> None:
    induction, *carried = op.regions[0].entry.arguments
    unsigned = " unsigned" if op.attributes.get("unsignedCmp") else ""
    p.put(f"scf.for{unsigned} {p.define([induction])} = {p.use([op.lower])} to {p.use([op.upper])} step {p.use([op.step])} ")
    if op.init:
        p.put(f"iter_args{_assignments(p, carried, op.init)} -> ({p.types(op.results)}) ")
    p.put(f": {induction.type} ")
    p.region(op.regions[0], depth, skip="scf.yield")
    p.put(_spaced(dictionary(_without(op, "unsignedCmp"))))


def _while(p: Printer, op: Operation, depth: int) -> None:
    before, after = op.regions
    head = " " + _assignments(p, before.entry.arguments, op.init) if op.init else ""
    p.put(f"scf.while{head} : ({p.types(op.init)}) -> {p._results(op)} ")
    p.region(before, depth)
    p.put(" do ")
    p.region(after, depth, arguments=True)
    rest = dictionary(op.attributes)
    p.put(" attributes " + rest if rest else "")


def _if(p: Printer, op: Operation, depth: int) -> None:
    p.put(f"scf.if {p.use([op.condition])} " + (f"-> ({p.types(op.results)}) " if op.results else ""))
    p.region(op.regions[0], depth, skip="scf.yield")
    if op.regions[1].blocks:
        p.put(" else ")
        p.region(op.regions[1], depth, skip="scf.yield")
    p.put(_spaced(dictionary(op.attributes)))


def _execute_region(p: Printer, op: Operation, depth: int) -> None:
    p.put("scf.execute_region " + (f"-> ({p.types(op.results)}) " if op.results else ""))
    p.region(op.regions[0], depth)
    p.put(_spaced(dictionary(op.attributes)))


def _br(p: Printer, op: Operation, depth: int) -> None:
    p.put(f"cf.br {p.successor(op.successors[0], op.dest_operands)}{_spaced(dictionary(op.attributes))}")


def _cond_br(p: Printer, op: Operation, depth: int) -> None:
    then = p.successor(op.successors[0], op.true_dest_operands)
    otherwise = p.successor(op.successors[1], op.false_dest_operands)
    p.put(f"cf.cond_br {p.use([op.condition])}, {then}, {otherwise}{_spaced(dictionary(op.attributes))}")


def _switch(p: Printer, op: Operation, depth: int) -> None:
    cases = [f"default: {p.successor(op.successors[0], op.default_operands)}"]
    start = 0
    for case, count, block in zip(op.attributes["case_values"], op.attributes["case_operand_segments"], op.successors[1:], strict=True):
        cases.append(f"{case}: {p.successor(block, op.case_operands[start:start + count])}")
        start += count
    rest = dictionary(_without(op, "case_values", "case_operand_segments"))
    p.put(f"cf.switch {p.use([op.flag])} : {op.flag.type}, [{', '.join(cases)}]{_spaced(rest)}")


def _assume(p: Printer, op: Operation, depth: int) -> None:
    values = op.op_bundle_operands
    tags = op.attributes.get("op_bundle_tags", ())
    bundle = f" [{quote(tags[0])}({p.use(values)} : {p.types(values)})]" if tags else ""
    p.put(f"llvm.intr.assume {p.use([op.cond])}{bundle}{_spaced(dictionary(_without(op, 'op_bundle_tags')))} : i1")


def _gpu_barrier(p: Printer, op: Operation, depth: int) -> None:
    p.put("gpu.barrier" + _spaced(dictionary(op.attributes)))


def _warp_specialize(p: Printer, op: Operation, depth: int) -> None:
    rest = dictionary(_without(op, "partitionNumWarps"))
    p.put(f"ttg.warp_specialize({p.use(op.operands)}){' attributes ' + rest if rest else ''}")
    indent = "  " * depth
    p.lines.append(f"{indent}default ")
    p.region(op.regions[0], depth)
    for index, (region, warps) in enumerate(zip(op.regions[1:], op.attributes["partitionNumWarps"], strict=True)):
        p.lines.append(f"{indent}partition{index}{p.arguments(region.entry) or '()'} num_warps({warps}) ")
        p.region(region, depth)
    p.put(f" : ({p.types(op.operands)}) -> {p._results(op)}")


_CUSTOM: dict[str, Callable[[Printer, Operation, int], None]] = {
    "module": _module, "function": _function, "constant": _constant, "select": _select, "poison": _poison, "for": _for, "while": _while,
    "if": _if, "execute_region": _execute_region, "br": _br, "cond_br": _cond_br, "switch": _switch, "assume": _assume,
    "gpu_barrier": _gpu_barrier, "warp_specialize": _warp_specialize,
}

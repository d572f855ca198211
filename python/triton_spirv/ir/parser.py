"""parse(text) -> Module: reads what Triton prints (TTIR, TTGIR), pretty and generic form.

Tokens come from lexer.py, types and attributes from attributes.py, operations from the formats of dialects.py
(format.py) and, where the syntax is irregular, from syntax.py. This file has the skeleton: values, blocks,
regions, the generic form, the module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from ..collection import collection_later
from ..deep_stack import deepened
from ..errors import ParseError
from . import format as formats
from . import generic, syntax
from .attributes import Reader
from .dialects import OPERATIONS
from .lexer import END, position, scan_aliases, tokenize
from .location import UNKNOWN_LOCATION, Location
from .location_syntax import Locations
from .model import Block, Operation, Region, Value
from .module import Module
from .tokens import shown
from .types import Type
from .verify import verify
from .verify_types import check_type

MAX_DEPTH = 500  # of regions in regions
MAX_RESULTS = 1 << 16  # of one operation

UNRESOLVED: Any = None  # the type of a value that is used above its definition, until that is read


class _Readers(dict[str, formats.OperationReader]):
    """Operation name -> reader, compiled when first met."""

    def __missing__(self, name: str) -> formats.OperationReader:
        spec = OPERATIONS[name]
        if spec.format.startswith("custom "):
            reader = syntax.READERS[spec.format.removeprefix("custom ")]
        else:
            reader = formats.compile_format(spec)
        self[name] = reader
        return reader


_READERS = _Readers()


def parse(text: str, filename: str = "<ttir>", verified: bool = True) -> Module:
    """Read a module and verify it. ParseError with line, column and caret for what is malformed, unknown, or
    not what its operation asks for. `verified`: False reads what MLIR spells, whether it makes sense or not.
    """
    with collection_later():
        return deepened(lambda: Parser(text, filename, verified).module())


class Parser:
    """The state of one reading: tokens, the values in scope, what is used before its definition."""

    def __init__(self, text: str, filename: str, verified: bool) -> None:
        self.text, self.filename, self.verified = text, filename, verified
        aliases, self.start, self.end = scan_aliases(text)
        self.tokens = tokenize(text, self.start, self.end)
        self.reader = Reader(self.tokens, aliases, self.fail, check_type if verified else lambda type: None)
        self.types = self.reader.types
        self.locations = Locations(aliases)
        self.values: dict[str, Value] = {}
        self.forward: dict[str, int] = {}  # name -> token index of the first use
        self.defined: list[str] = []  # names of the region being read
        self.blocks: dict[str, Block] = {}  # labels of the region being read
        self.promises = False  # whether a region around this one has several blocks
        self.made: list[tuple[Operation, int]] = []  # every operation, and the token that it starts at
        self.depth = 0  # of regions
        self.has_branches = False

    # errors and small steps

    def fail(self, message: str, i: int) -> NoReturn:
        line, column, text = position(self.text, self.start, self.end, i)
        raise ParseError(message, self.filename, line, column, text)

    def expect(self, i: int, token: str) -> int:
        if self.tokens[i] != token:
            self.fail(f"expected {token!r}, found {shown(self.tokens[i])}", i)
        return i + 1

    def check(self, value: Value, type: Type, i: int) -> None:
        """The type in the text is the value's; a value used before its definition gets it from here."""
        if value.type is type or value.type == type:
            return
        if value.type is not UNRESOLVED:
            self.fail(f"%{value.name} is {value.type}, not {type}", i)
        value.type = type

    def dictionary(self, i: int) -> tuple[dict[str, Any], int]:
        """{...}, if there"""
        return self.reader.dictionary(i) if self.tokens[i][0] == "{" else ({}, i)

    def attributes(self, i: int) -> tuple[dict[str, Any], int]:
        """attributes {...}, if there"""
        return self.reader.dictionary(i + 1) if self.tokens[i] == "attributes" else ({}, i)

    # values

    def value(self, i: int) -> Value:
        """The value that token i names; one that is not defined yet is promised."""
        token = self.tokens[i]
        found = self.values.get(token)
        if found is not None:
            return found
        if token[0] != "%":
            self.fail(f"expected an operand, found {shown(token)}", i)
        base, _, number = token.partition("#")
        found = self.values.get(base if number == "0" else token + "#0")
        if found is not None:  # %x and %x#0 are the same
            return found
        if number and (base in self.values or base + "#0" in self.values):
            self.fail(f"{token} does not fit the number of results of {base}", i)
        if not (self.blocks or self.promises):  # only a control flow graph has uses above definitions
            self.fail(f"use of undefined value {token}", i)
        promised = Value(UNRESOLVED, token[1:], None, 0)  # type: ignore[arg-type]
        self.values[token] = promised
        self.forward[token] = i
        return promised

    def define(self, token: str, value: Value, i: int) -> Value:
        """Bind a name; a promised value becomes this one."""
        values = self.values
        if token not in values:
            values[token] = value
            self.defined.append(token)
            return value
        if token not in self.forward:
            self.fail(f"redefinition of {token}", i)
        self.forward.pop(token)
        promised = values[token]
        if promised.type is not UNRESOLVED and promised.type != value.type:
            self.fail(f"{token} is {value.type}, an earlier use says {promised.type}", i)
        promised.type, promised.owner, promised.index = value.type, value.owner, value.index
        self.defined.append(token)
        return promised

    def make(
        self,
        name: str,
        operands: list[Value],
        attributes: dict[str, Any],
        types: list[Type],
        names: list[str],
        segments: tuple[int, ...] | None,
        i: int,
        regions: list[Region] | None = None,
        successors: list[Block] | None = None,
    ) -> Operation:
        """The operation with its results bound to `names` (tokens as written; [] leaves the results without
        names).
        """
        if not names:
            if not types:
                op = Operation(
                    name, operands, attributes, types, [], UNKNOWN_LOCATION, segments, regions, successors
                )
                self.made.append((op, i))
                return op
            names = [""] * len(types)
        elif len(names) != len(types):
            self.fail(f"{name} has {len(types)} results, the text names {len(names)}", i)
        op = Operation(
            name,
            operands,
            attributes,
            types,
            [n[1:] for n in names],
            UNKNOWN_LOCATION,
            segments,
            regions,
            successors,
        )
        self.made.append((op, i))
        for index, token in enumerate(names):
            if not token:
                continue
            if token in self.values or self.forward:
                op.results[index] = self.define(token, op.results[index], i)
            else:
                self.values[token] = op.results[index]
                self.defined.append(token)
        return op

    # locations

    def location(self, i: int) -> tuple[Location, int]:
        """loc(...) if there is one."""
        token = self.tokens[i]
        if token[:4] == "loc(":
            return self.locations[token], i + 1
        if token != "loc" or self.tokens[i + 1] != "(":
            return UNKNOWN_LOCATION, i
        i += 2
        depth, parts = 1, []
        while depth:
            token = self.tokens[i]
            if token == END:
                self.fail("a location without its ')'", i)
            depth += (token == "(") - (token == ")")
            parts.append(f" {token} " if token in ("at", "to") else token)
            i += 1
        return self.locations.read("".join(parts[:-1])), i

    # blocks and regions

    def operation(self, i: int) -> tuple[Operation, int]:
        """One operation with its location."""
        tokens = self.tokens
        token = tokens[i]
        names: list[str] = []
        if token[0] == "%":
            names, i = self.result_names(i)
            token = tokens[i]
        if token in OPERATIONS:
            op, i = _READERS[token](self, i + 1, names)
        elif token[0] == '"':
            op, i = generic.read(self, i, names)
        elif token[0].isalpha() and "builtin." + token in OPERATIONS:
            op, i = _READERS["builtin." + token](self, i + 1, names)
        else:
            self.unknown(token, i)
        token = tokens[i]
        if token[:4] == "loc(":
            op.location = self.locations[token]
            return op, i + 1
        if token == "loc":
            op.location, i = self.location(i)
        return op, i

    def unknown(self, token: str, i: int) -> NoReturn:
        if "." in token and token[0].isalpha():
            self.fail(f"unknown operation {token!r}: no line in triton_spirv/ir/dialects.py", i)
        self.fail(f"expected an operation, found {shown(token)}", i)

    def result_names(self, i: int) -> tuple[list[str], int]:
        """%x = , %x:2 = , %x, %y ="""
        tokens = self.tokens
        if tokens[i + 1] == "=":
            return [tokens[i]], i + 2
        names: list[str] = []
        while True:
            name = tokens[i]
            if name[0] != "%":
                self.fail(f"expected the name of a result, found {shown(name)}", i)
            i += 1
            if tokens[i] == ":":
                count = tokens[i + 1]
                if not count.isdecimal() or int(count) > MAX_RESULTS:
                    self.fail(f"expected a number up to {MAX_RESULTS}, found {shown(count)}", i + 1)
                names += [f"{name}#{k}" for k in range(int(count))]
                i += 2
            else:
                names.append(name)
            if tokens[i] != ",":
                return names, self.expect(i, "=")
            i += 1

    def fill(self, block: Block, i: int) -> int:
        """Operations up to the end of the block."""
        tokens, operations = self.tokens, block.operations
        while True:
            first = tokens[i][0]
            if first == "}" or first == "^":
                return i
            op, i = self.operation(i)
            op.parent = block
            operations.append(op)

    def region(
        self, i: int, arguments: Sequence[tuple[str, Type]] = (), terminator: str = "", isolated: bool = False
    ) -> tuple[Region, int]:
        """{ blocks }. `arguments` of the entry block as the operation's own syntax gives them; `terminator`
        is added where MLIR leaves it out; `isolated`: nothing is promised by what surrounds it."""
        tokens = self.tokens
        i = self.expect(i, "{")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"regions are nested more than {MAX_DEPTH} deep", i)
        outer_defined, outer_blocks, outer_promises = self.defined, self.blocks, self.promises
        self.defined, self.blocks = [], {}
        self.promises = (outer_promises or bool(outer_blocks)) and not isolated
        region = Region()
        if arguments or terminator or tokens[i][0] not in "^}":
            entry = Block(region)
            region.blocks.append(entry)
            for token, type in arguments:
                self.argument(entry, token, type, i)
            i = self.fill(entry, i)
        while tokens[i][0] == "^":
            i = self.block(region, i)
        for label, block in self.blocks.items():
            if block.parent is None:
                self.fail(f"branch to {label}, which is not in this region", i)
        if self.forward and not self.promises:
            token, at = next(iter(self.forward.items()))
            self.fail(f"use of undefined value {token}", at)
        i = self.expect(i, "}")
        if terminator:
            self.terminate(region, terminator)
        for token in self.defined:
            del self.values[token]
        self.depth -= 1
        self.defined, self.blocks, self.promises = outer_defined, outer_blocks, outer_promises
        return region, i

    def terminate(self, region: Region, name: str) -> None:
        """Add the terminator without operands that MLIR does not print."""
        block = region.blocks[-1]
        if block.operations and block.operations[-1].name == name:
            return
        end = Operation(name, [], {}, [], [], segments=(0,))
        end.parent = block
        block.operations.append(end)

    def block(self, region: Region, i: int) -> int:
        """^bb1(%x: f32): operations"""
        tokens = self.tokens
        label = tokens[i]
        block = self.successor(label)
        if block.parent is not None:
            self.fail(f"redefinition of block {label}", i)
        block.parent = region
        region.blocks.append(block)
        i += 1
        if tokens[i] == "(":
            i += 1
            while tokens[i] != ")":
                if block.arguments:
                    i = self.expect(i, ",")
                token = tokens[i]
                type, after = self.reader.type(self.expect(i + 1, ":"))
                self.argument(block, token, type, i)
                _, i = self.location(after)
            i += 1
        return self.fill(block, self.expect(i, ":"))

    def argument(self, block: Block, token: str, type: Type, i: int) -> None:
        if token[0] != "%":
            self.fail(f"expected the name of an argument, found {shown(token)}", i)
        value = Value(type, token[1:], block, len(block.arguments))
        block.arguments.append(self.define(token, value, i))

    def successor(self, label: str) -> Block:
        """The block of a label, which may come later (its parent is None until then)."""
        block = self.blocks.get(label)
        self.has_branches = True
        if block is None:
            block = self.blocks[label] = Block(None, label)  # type: ignore[arg-type]
        return block

    # the module

    def module(self) -> Module:
        """The whole text, verified; functions without a module around them get one."""
        module = self.whole()
        if self.verified:
            verify(self.made, self.fail, self.has_branches)
        return module

    def whole(self) -> Module:
        """The whole text as it reads."""
        tokens, i = self.tokens, 0
        operations: list[Operation] = []
        while tokens[i] != END:
            if tokens[i][0] in "#!" and tokens[i + 1] == "=":
                i = self.alias(i)
                continue
            op, i = self.operation(i)
            operations.append(op)
        if len(operations) == 1 and operations[0].name == "builtin.module":
            return Module(operations[0])
        region = Region()
        block = Block(region)
        region.blocks.append(block)
        for op in operations:
            op.parent = block
            block.operations.append(op)
        around = self.make("builtin.module", [], {}, [], [], None, 0, [region])
        return Module(around)

    def alias(self, i: int) -> int:
        """#name = attribute, !name = type, between the operations."""
        name, end = self.tokens[i], i + 2
        if self.tokens[end][:3] == "loc":
            self.locations[f"loc({name})"], end = self.location(end)
            return end
        read = self.reader.type if name[0] == "!" else self.reader.attribute
        _, end = read(end)
        self.reader.aliases[name] = " ".join(self.tokens[i + 2 : end])
        self.reader.encodings.clear()
        return end

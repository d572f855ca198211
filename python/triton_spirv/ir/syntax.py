"""Readers of the operations whose syntax no format line can say: functions, loops, branches, constants.

Each takes (parser, index after the name, result names) and gives (operation, next index), as the compiled
formats do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import control_syntax as control
from .lexer import END
from .model import Block, Operation, Region, Value
from .tokens import is_number, shown, unescape
from .types import DenseAttr, FunctionType, IntegerType, Type

if TYPE_CHECKING:
    from .parser import Parser

Result = tuple[Operation, int]
I1 = IntegerType(1)


# functions and modules


def module(p: Parser, i: int, names: list[str]) -> Result:
    """module @name attributes {...} { ... }"""
    start = i - 1
    attributes: dict[str, Any] = {}
    if p.tokens[i][0] == "@":
        symbol, i = p.reader.attribute(i)
        attributes["sym_name"] = symbol.name
    more, i = p.attributes(i)
    attributes.update(more)
    region, i = p.region(i)
    if not region.blocks:
        region.blocks.append(Block(region))
    return p.make("builtin.module", [], attributes, [], names, None, start, [region]), i


def function(p: Parser, i: int, names: list[str]) -> Result:
    """tt.func public @name(%x: i32 {attributes} loc(...), ...) -> (i32) attributes {...} { ... }"""
    start, tokens = i - 1, p.tokens
    attributes: dict[str, Any] = {}
    if tokens[i] in ("public", "private", "nested"):
        attributes["sym_visibility"] = tokens[i]
        i += 1
    if tokens[i][0] != "@":
        p.fail(f"expected the @name of the function, found {shown(tokens[i])}", i)
    symbol, i = p.reader.attribute(i)
    attributes["sym_name"] = symbol.name
    i = p.expect(i, "(")
    arguments: list[tuple[str, Type]] = []
    inputs: list[Type] = []
    argument_attributes: list[dict[str, Any]] = []
    while tokens[i] != ")":
        if inputs:
            i = p.expect(i, ",")
        token = tokens[i]
        if token[0] == "%":
            i = p.expect(i + 1, ":")
        type, i = p.reader.type(i)
        if token[0] == "%":
            arguments.append((token, type))
        inputs.append(type)
        extra, i = p.dictionary(i)
        argument_attributes.append(extra)
        _, i = p.location(i)
    i += 1
    results: list[Type] = []
    if tokens[i] == "->":
        results, i = _function_results(p, i + 1)
    more, i = p.attributes(i)
    attributes.update(more)
    attributes["function_type"] = FunctionType(tuple(inputs), tuple(results))
    attributes["arg_attrs"] = tuple(argument_attributes)
    regions: list[Region] = []
    if tokens[i] == "{":
        region, i = p.region(i, arguments, isolated=True)
        regions.append(region)
    return p.make("tt.func", [], attributes, [], names, None, start, regions), i


def _function_results(p: Parser, i: int) -> tuple[list[Type], int]:
    """i32, or (i32 {attributes}, f32); the attributes of results say nothing to us."""
    if p.tokens[i] != "(":
        type, i = p.reader.type(i)
        return [type], i
    types: list[Type] = []
    i += 1
    while p.tokens[i] != ")":
        if types:
            i = p.expect(i, ",")
        type, i = p.reader.type(i)
        types.append(type)
        _, i = p.dictionary(i)
    return types, i + 1


# arith, ub


def constant(p: Parser, i: int, names: list[str]) -> Result:
    """arith.constant {attributes} value"""
    start = i - 1
    attributes, i = p.dictionary(i)
    token = p.tokens[i]
    if token == "true" or token == "false":
        attributes["value"] = token == "true"
        return p.make("arith.constant", [], attributes, [I1], names, None, start), i + 1
    if token[0] in "-0123456789":
        type, after = p.reader.type(p.expect(i + 1, ":"))
        attributes["value"] = p.reader.number(token, type, i)
        return p.make("arith.constant", [], attributes, [type], names, None, start), after
    value, after = p.reader.attribute(i)
    if not isinstance(value, DenseAttr):
        p.fail(f"expected a constant, found {shown(token)}", i)
    p.reader.at(i, p.reader.check, value.type)
    attributes["value"] = value
    return p.make("arith.constant", [], attributes, [value.type], names, None, start), after


def select(p: Parser, i: int, names: list[str]) -> Result:
    """arith.select %c, %a, %b {attributes} : [type of %c,] type"""
    start = i - 1
    operands = []
    for k in range(3):
        if k:
            i = p.expect(i, ",")
        operands.append(p.value(i))
        i += 1
    attributes, i = p.dictionary(i)
    at = i = p.expect(i, ":")
    type, i = p.reader.type(i)
    condition: Type = I1
    if p.tokens[i] == ",":
        condition = type
        type, i = p.reader.type(i + 1)
    for value, expected in zip(operands, (condition, type, type), strict=True):
        p.check(value, expected, at)
    return p.make("arith.select", operands, attributes, [type], names, None, start), i


def poison(p: Parser, i: int, names: list[str]) -> Result:
    """ub.poison [<#attribute>] : type"""
    start = i - 1
    if p.tokens[i][0] == "<":
        i += 1
    attributes, i = p.dictionary(i)
    type, i = p.reader.type(p.expect(i, ":"))
    return p.make("ub.poison", [], attributes, [type], names, None, start), i


# llvm, gpu, ttg


def assume(p: Parser, i: int, names: list[str]) -> Result:
    """llvm.intr.assume %c ["tag"(%x : type), ...] : i1"""
    start, tokens = i - 1, p.tokens
    operands = [p.value(i)]
    i += 1
    tags: list[str] = []
    if tokens[i] == "[":
        i += 1
        while tokens[i] != "]":
            if tokens[i][0] == "%":
                operands.append(p.value(i))
            elif tokens[i][0] == '"':
                tags.append(unescape(tokens[i]))
            elif tokens[i] == END:
                p.fail("expected ']'", i)
            i += 1
        i += 1
    attributes, i = p.dictionary(i)
    if tags:
        attributes["op_bundle_tags"] = tuple(tags)
    if tokens[i] == ":":
        type, i = p.reader.type(i + 1)
        p.check(operands[0], type, i - 1)
    return p.make("llvm.intr.assume", operands, attributes, [], names, (1, len(operands) - 1), start), i


def gpu_barrier(p: Parser, i: int, names: list[str]) -> Result:
    """gpu.barrier [memfence [...]]"""
    start = i - 1
    if p.tokens[i] == "memfence":
        while p.tokens[i] not in ("]", END):
            i += 1
        i += 1
    attributes, i = p.dictionary(i)
    return p.make("gpu.barrier", [], attributes, [], names, None, start), i


def warp_specialize(p: Parser, i: int, names: list[str]) -> Result:
    """ttg.warp_specialize(%x) attributes {...} default { ... } partition0(%a: type) num_warps(4) { ... } :
    (types) -> types

    The partitions become the regions 1, 2, ... of the operation; `partitionNumWarps` has their warps.
    """
    start, tokens = i - 1, p.tokens
    i = p.expect(i, "(")
    operands: list[Value] = []
    while tokens[i] != ")":
        if operands:
            i = p.expect(i, ",")
        operands.append(p.value(i))
        i += 1
    attributes, i = p.attributes(i + 1)
    region, i = p.region(p.expect(i, "default"))
    regions, warps = [region], []
    while tokens[i].startswith("partition"):
        i = p.expect(i + 1, "(")
        arguments: list[tuple[str, Type]] = []
        while tokens[i] != ")":
            if arguments:
                i = p.expect(i, ",")
            type, after = p.reader.type(p.expect(i + 1, ":"))
            arguments.append((tokens[i], type))
            _, i = p.location(after)
        i = p.expect(p.expect(i + 1, "num_warps"), "(")
        if not tokens[i].isdecimal() or not is_number(tokens[i]):
            p.fail(f"expected a number of warps, found {shown(tokens[i])}", i)
        warps.append(int(tokens[i]))
        region, i = p.region(p.expect(i + 1, ")"), arguments)
        regions.append(region)
    attributes["partitionNumWarps"] = tuple(warps)
    types, i = p.reader.type_list(p.expect(i, ":"))
    for value, type in zip(operands, types, strict=False):
        p.check(value, type, i - 1)
    results, i = p.reader.results(p.expect(i, "->"))
    return p.make(
        "ttg.warp_specialize", operands, attributes, results, names, (len(operands),), start, regions
    ), i


READERS: dict[str, Callable[[Any, int, list[str]], Result]] = {
    "module": module,
    "function": function,
    "constant": constant,
    "select": select,
    "poison": poison,
    "for": control.scf_for,
    "while": control.scf_while,
    "if": control.scf_if,
    "execute_region": control.execute_region,
    "br": control.br,
    "cond_br": control.cond_br,
    "switch": control.switch,
    "assume": assume,
    "gpu_barrier": gpu_barrier,
    "warp_specialize": warp_specialize,
}

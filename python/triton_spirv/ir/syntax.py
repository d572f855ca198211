"""Readers of the operations whose syntax no format line can say: functions, loops, branches, constants.

Each takes (parser, index after the name, result names) and gives (operation, next index), as the compiled formats do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from triton_spirv.ir.attributes import shown, unescape
from triton_spirv.ir.lexer import END
from triton_spirv.ir.model import Block, Operation, Region, Value
from triton_spirv.ir.types import DenseAttr, FunctionType, IntegerType, Type

if TYPE_CHECKING:
    from triton_spirv.ir.parser import Parser

Result = tuple[Operation, int]
I1 = IntegerType(1)


def _own(op: Operation) -> Operation:
    """Tell the regions whose they are."""
    for region in op.regions:
        region.parent = op
    return op


def _dictionary(p: Parser, i: int) -> tuple[dict[str, Any], int]:
    return p.reader.dictionary(i) if p.tokens[i][0] == "{" else ({}, i)


def _attributes(p: Parser, i: int) -> tuple[dict[str, Any], int]:
    """attributes {...}, if there"""
    if p.tokens[i] != "attributes":
        return {}, i
    return p.reader.dictionary(i + 1)


# functions and modules


def module(p: Parser, i: int, names: list[str]) -> Result:
    """module @name attributes {...} { ... }"""
    start = i - 1
    attributes: dict[str, Any] = {}
    if p.tokens[i][0] == "@":
        symbol, i = p.reader.attribute(i)
        attributes["sym_name"] = symbol.name
    more, i = _attributes(p, i)
    attributes.update(more)
    region, i = p.region(i)
    if not region.blocks:
        region.blocks.append(Block(region))
    return _own(p.make("builtin.module", [], attributes, [], names, None, start, [region])), i


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
        extra, i = _dictionary(p, i)
        argument_attributes.append(extra)
        _, i = p.location(i)
    i += 1
    results: list[Type] = []
    if tokens[i] == "->":
        results, i = _function_results(p, i + 1)
    more, i = _attributes(p, i)
    attributes.update(more)
    attributes["function_type"] = FunctionType(tuple(inputs), tuple(results))
    attributes["arg_attrs"] = tuple(argument_attributes)
    regions: list[Region] = []
    if tokens[i] == "{":
        region, i = p.region(i, arguments, isolated=True)
        regions.append(region)
    return _own(p.make("tt.func", [], attributes, [], names, None, start, regions)), i


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
        _, i = _dictionary(p, i)
    return types, i + 1


# arith, ub


def constant(p: Parser, i: int, names: list[str]) -> Result:
    """arith.constant {attributes} value"""
    start = i - 1
    attributes, i = _dictionary(p, i)
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
    attributes, i = _dictionary(p, i)
    at = i = p.expect(i, ":")
    type, i = p.reader.type(i)
    condition: Type = I1
    if p.tokens[i] == ",":
        condition = type
        type, i = p.reader.type(i + 1)
    for value, expected in zip(operands, (condition, type, type), strict=True):
        _check(p, value, expected, at)
    return p.make("arith.select", operands, attributes, [type], names, None, start), i


def _check(p: Parser, value: Value, type: Type, i: int) -> None:
    from triton_spirv.ir.format import check_type

    check_type(p, value, type, i)


def poison(p: Parser, i: int, names: list[str]) -> Result:
    """ub.poison [<#attribute>] : type"""
    start = i - 1
    if p.tokens[i][0] == "<":
        i += 1
    attributes, i = _dictionary(p, i)
    type, i = p.reader.type(p.expect(i, ":"))
    return p.make("ub.poison", [], attributes, [type], names, None, start), i


# scf


def scf_for(p: Parser, i: int, names: list[str]) -> Result:
    """scf.for [unsigned] %i = %a to %b step %c [iter_args(%x = %y, ...) -> (types)] [: type] { ... } {attributes}"""
    start, tokens = i - 1, p.tokens
    attributes: dict[str, Any] = {}
    if tokens[i] == "unsigned":
        attributes["unsignedCmp"] = True
        i += 1
    induction = tokens[i]
    bounds = []
    i += 1
    for word in ("=", "to", "step"):
        i = p.expect(i, word)
        bounds.append(p.value(i))
        i += 1
    carried, initial, i = _assignments(p, i + 1) if tokens[i] == "iter_args" else ([], [], i)
    types: list[Type] = []
    if tokens[i] == "->":
        types, i = p.reader.results(i + 1)
    index_type = bounds[0].type
    if tokens[i] == ":":
        index_type, i = p.reader.type(i + 1)
    if len(carried) != len(types):
        p.fail(f"{len(carried)} iter_args, but {len(types)} types", i)
    arguments = [(induction, index_type), *zip(carried, types, strict=True)]
    region, i = p.region(i, arguments, terminator="scf.yield")
    more, i = _dictionary(p, i)
    attributes.update(more)
    segments = (1, 1, 1, len(initial))
    return _own(p.make("scf.for", bounds + initial, attributes, types, names, segments, start, [region])), i


def _assignments(p: Parser, i: int) -> tuple[list[str], list[Value], int]:
    """(%x = %y, ...)"""
    i = p.expect(i, "(")
    names: list[str] = []
    values: list[Value] = []
    while p.tokens[i] != ")":
        if names:
            i = p.expect(i, ",")
        names.append(p.tokens[i])
        i = p.expect(i + 1, "=")
        values.append(p.value(i))
        i += 1
    return names, values, i + 1


def scf_while(p: Parser, i: int, names: list[str]) -> Result:
    """scf.while (%x = %y) : (types) -> types { before } do { after } attributes {...}"""
    start = i - 1
    carried, initial, i = _assignments(p, i) if p.tokens[i] == "(" else ([], [], i)
    at = i
    inputs, i = p.reader.type_list(p.expect(i, ":"))
    results, i = p.reader.results(p.expect(i, "->"))
    if len(inputs) != len(carried):
        p.fail(f"{len(carried)} initial values, but {len(inputs)} types", at)
    for value, type in zip(initial, inputs, strict=True):
        _check(p, value, type, at)
    before, i = p.region(i, list(zip(carried, inputs, strict=True)))
    after, i = p.region(p.expect(i, "do"))
    attributes, i = _attributes(p, i)
    return _own(p.make("scf.while", initial, attributes, results, names, (len(initial),), start, [before, after])), i


def scf_if(p: Parser, i: int, names: list[str]) -> Result:
    """scf.if %c [-> (types)] { ... } [else { ... }] {attributes}. Without else the second region has no block."""
    start = i - 1
    condition = p.value(i)
    i += 1
    types: list[Type] = []
    if p.tokens[i] == "->":
        types, i = p.reader.results(i + 1)
    then, i = p.region(i, terminator="scf.yield")
    otherwise = Region()
    if p.tokens[i] == "else":
        otherwise, i = p.region(i + 1, terminator="scf.yield")
    attributes, i = _dictionary(p, i)
    return _own(p.make("scf.if", [condition], attributes, types, names, None, start, [then, otherwise])), i


def execute_region(p: Parser, i: int, names: list[str]) -> Result:
    """scf.execute_region [-> (types)] { ... } {attributes}"""
    start = i - 1
    types: list[Type] = []
    if p.tokens[i] == "->":
        types, i = p.reader.results(i + 1)
    if p.tokens[i] == "no_inline":
        i += 1
    region, i = p.region(i)
    attributes, i = _dictionary(p, i)
    return _own(p.make("scf.execute_region", [], attributes, types, names, None, start, [region])), i


# cf


def _successor(p: Parser, i: int) -> tuple[Block, list[Value], int]:
    """^bb1(%x, %y : types)"""
    tokens = p.tokens
    if tokens[i][0] != "^":
        p.fail(f"expected a block, found {shown(tokens[i])}", i)
    block = p.successor(tokens[i])
    values: list[Value] = []
    i += 1
    if tokens[i] != "(":
        return block, values, i
    i += 1
    while True:
        values.append(p.value(i))
        i += 1
        if tokens[i] != ",":
            break
        i += 1
    i = p.expect(i, ":")
    for k, value in enumerate(values):
        if k:
            i = p.expect(i, ",")
        type, after = p.reader.type(i)
        _check(p, value, type, i)
        i = after
    return block, values, p.expect(i, ")")


def br(p: Parser, i: int, names: list[str]) -> Result:
    """cf.br ^bb1(%x : type)"""
    start = i - 1
    block, values, i = _successor(p, i)
    attributes, i = _dictionary(p, i)
    return p.make("cf.br", values, attributes, [], names, (len(values),), start, successors=[block]), i


def cond_br(p: Parser, i: int, names: list[str]) -> Result:
    """cf.cond_br %c [weights(..)], ^bb1(%x : type), ^bb2"""
    start = i - 1
    condition = p.value(i)
    i += 1
    while p.tokens[i] != ",":  # branch weights
        if p.tokens[i] in (END, "}"):
            p.fail("expected ',' and the blocks of cf.cond_br", i)
        i += 1
    then, then_values, i = _successor(p, i + 1)
    otherwise, else_values, i = _successor(p, p.expect(i, ","))
    attributes, i = _dictionary(p, i)
    segments = (1, len(then_values), len(else_values))
    operands = [condition, *then_values, *else_values]
    return p.make("cf.cond_br", operands, attributes, [], names, segments, start, successors=[then, otherwise]), i


def switch(p: Parser, i: int, names: list[str]) -> Result:
    """cf.switch %flag : type, [ default: ^bb1(...), 42: ^bb2 ]; `case_operand_segments` counts the operands of each case."""
    start = i - 1
    flag = p.value(i)
    i = p.expect(i + 1, ":")
    type, i = p.reader.type(i)
    i = p.expect(p.expect(i, ","), "[")
    i = p.expect(p.expect(i, "default"), ":")
    block, default_values, i = _successor(p, i)
    successors, cases, counts = [block], [], []
    case_values: list[Value] = []
    while p.tokens[i] == ",":
        case, _ = p.reader.attribute(i + 1) if p.tokens[i + 2] != ":" else (int(p.tokens[i + 1]), 0)
        block, values, i = _successor(p, p.expect(i + 2, ":"))
        successors.append(block)
        cases.append(case)
        counts.append(len(values))
        case_values += values
    i = p.expect(i, "]")
    attributes, i = _dictionary(p, i)
    attributes.update(case_values=tuple(cases), case_operand_segments=tuple(counts))
    segments = (1, len(default_values), len(case_values))
    operands = [flag, *default_values, *case_values]
    return p.make("cf.switch", operands, attributes, [], names, segments, start, successors=successors), i


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
    attributes, i = _dictionary(p, i)
    if tags:
        attributes["op_bundle_tags"] = tuple(tags)
    if tokens[i] == ":":
        type, i = p.reader.type(i + 1)
        _check(p, operands[0], type, i - 1)
    return p.make("llvm.intr.assume", operands, attributes, [], names, (1, len(operands) - 1), start), i


def gpu_barrier(p: Parser, i: int, names: list[str]) -> Result:
    """gpu.barrier [memfence [...]]"""
    start = i - 1
    if p.tokens[i] == "memfence":
        while p.tokens[i] not in ("]", END):
            i += 1
        i += 1
    attributes, i = _dictionary(p, i)
    return p.make("gpu.barrier", [], attributes, [], names, None, start), i


def warp_specialize(p: Parser, i: int, names: list[str]) -> Result:
    """ttg.warp_specialize(%x) attributes {...} default { ... } partition0(%a: type) num_warps(4) { ... } : (types) -> types

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
    attributes, i = _attributes(p, i + 1)
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
        warps.append(int(tokens[i]))
        region, i = p.region(p.expect(i + 1, ")"), arguments)
        regions.append(region)
    attributes["partitionNumWarps"] = tuple(warps)
    types, i = p.reader.type_list(p.expect(i, ":"))
    for value, type in zip(operands, types, strict=False):
        _check(p, value, type, i - 1)
    results, i = p.reader.results(p.expect(i, "->"))
    return _own(p.make("ttg.warp_specialize", operands, attributes, results, names, (len(operands),), start, regions)), i


READERS: dict[str, Callable[[Any, int, list[str]], Result]] = {
    "module": module, "function": function, "constant": constant, "select": select, "poison": poison,
    "for": scf_for, "while": scf_while, "if": scf_if, "execute_region": execute_region,
    "br": br, "cond_br": cond_br, "switch": switch,
    "assume": assume, "gpu_barrier": gpu_barrier, "warp_specialize": warp_specialize,
}

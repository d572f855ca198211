"""Readers of control flow: scf.for, scf.while, scf.if, scf.execute_region, cf.br, cf.cond_br, cf.switch.

Each takes (parser, index after the name, result names) and gives (operation, next index), as the
compiled formats do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .lexer import END
from .model import Block, Operation, Region, Value
from .tokens import is_number, shown
from .types import Type

if TYPE_CHECKING:
    from .parser import Parser

Result = tuple[Operation, int]


# scf


def scf_for(p: Parser, i: int, names: list[str]) -> Result:
    """scf.for [unsigned] %i = %a to %b step %c [iter_args(%x = %y, ...) -> (types)] [: type] { ... }
    {attributes}
    """
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
    more, i = p.dictionary(i)
    attributes.update(more)
    segments = (1, 1, 1, len(initial))
    return p.make("scf.for", bounds + initial, attributes, types, names, segments, start, [region]), i


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
        p.check(value, type, at)
    before, i = p.region(i, list(zip(carried, inputs, strict=True)))
    after, i = p.region(p.expect(i, "do"))
    attributes, i = p.attributes(i)
    return p.make(
        "scf.while", initial, attributes, results, names, (len(initial),), start, [before, after]
    ), i


def scf_if(p: Parser, i: int, names: list[str]) -> Result:
    """scf.if %c [-> (types)] { ... } [else { ... }] {attributes}. Without else the second region has no
    block.
    """
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
    attributes, i = p.dictionary(i)
    return p.make("scf.if", [condition], attributes, types, names, None, start, [then, otherwise]), i


def execute_region(p: Parser, i: int, names: list[str]) -> Result:
    """scf.execute_region [-> (types)] { ... } {attributes}"""
    start = i - 1
    types: list[Type] = []
    if p.tokens[i] == "->":
        types, i = p.reader.results(i + 1)
    if p.tokens[i] == "no_inline":
        i += 1
    region, i = p.region(i)
    attributes, i = p.dictionary(i)
    return p.make("scf.execute_region", [], attributes, types, names, None, start, [region]), i


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
        p.check(value, type, i)
        i = after
    return block, values, p.expect(i, ")")


def br(p: Parser, i: int, names: list[str]) -> Result:
    """cf.br ^bb1(%x : type)"""
    start = i - 1
    block, values, i = _successor(p, i)
    attributes, i = p.dictionary(i)
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
    attributes, i = p.dictionary(i)
    segments = (1, len(then_values), len(else_values))
    operands = [condition, *then_values, *else_values]
    return p.make(
        "cf.cond_br", operands, attributes, [], names, segments, start, successors=[then, otherwise]
    ), i


def switch(p: Parser, i: int, names: list[str]) -> Result:
    """cf.switch %flag : type, [ default: ^bb1(...), 42: ^bb2 ]; `case_operand_segments` counts the operands
    of each case.
    """
    start = i - 1
    flag = p.value(i)
    i = p.expect(i + 1, ":")
    _, i = p.reader.type(i)
    i = p.expect(p.expect(i, ","), "[")
    i = p.expect(p.expect(i, "default"), ":")
    block, default_values, i = _successor(p, i)
    successors, cases, counts = [block], [], []
    case_values: list[Value] = []
    while p.tokens[i] == ",":
        if not p.tokens[i + 1].removeprefix("-").isdecimal() or not is_number(p.tokens[i + 1]):
            p.fail(f"expected the number of a case, found {shown(p.tokens[i + 1])}", i + 1)
        case = int(p.tokens[i + 1])
        block, values, i = _successor(p, p.expect(i + 2, ":"))
        successors.append(block)
        cases.append(case)
        counts.append(len(values))
        case_values += values
    i = p.expect(i, "]")
    attributes, i = p.dictionary(i)
    attributes.update(case_values=tuple(cases), case_operand_segments=tuple(counts))
    segments = (1, len(default_values), len(case_values))
    operands = [flag, *default_values, *case_values]
    return p.make("cf.switch", operands, attributes, [], names, segments, start, successors=successors), i

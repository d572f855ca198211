"""MLIR's generic form: "dialect.op"(operands) <{properties}> ({regions}) {attributes} : (types) -> types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .dialects import OPERATIONS, OperationSpec
from .inference import keywords, result_types
from .model import Block, Operation, Region, Value
from .tokens import unescape

if TYPE_CHECKING:
    from .parser import Parser


def read(p: Parser, i: int, names: list[str]) -> tuple[Operation, int]:
    """An operation at its quoted name; successors, [^bb1, ^bb2], follow the operands."""
    tokens, start = p.tokens, i
    name = unescape(tokens[i])
    spec = OPERATIONS.get(name)
    if spec is None:
        p.unknown(name, i)
    i = p.expect(i + 1, "(")
    operands: list[Value] = []
    while tokens[i] != ")":
        if operands:
            i = p.expect(i, ",")
        operands.append(p.value(i))
        i += 1
    i += 1
    successors: list[Block] = []
    if tokens[i] == "[":
        i += 1
        while tokens[i] != "]":
            if successors:
                i = p.expect(i, ",")
            successors.append(p.successor(tokens[i]))
            i += 1
        i += 1
    attributes: dict[str, Any] = {}
    if tokens[i][:2] == "<{":
        attributes, i = p.reader.properties(i)
    regions: list[Region] = []
    if tokens[i] == "(" and tokens[i + 1] == "{":
        i += 1
        while True:
            region, i = p.region(i)
            regions.append(region)
            if tokens[i] != ",":
                break
            i += 1
        i = p.expect(i, ")")
    if tokens[i][0] == "{":
        more, i = p.reader.dictionary(i)
        attributes.update(more)
    i = p.expect(i, ":")
    at = i
    types, i = p.reader.type_list(i)
    if len(types) != len(operands):
        p.fail(f"{len(operands)} operands, but {len(types)} operand types", at)
    for value, type in zip(operands, types, strict=True):
        p.check(value, type, at)
    results, i = p.reader.results(p.expect(i, "->"))
    shares = segments(p, spec, operands, attributes, start)
    keywords(spec, attributes)
    infer = result_types(spec)
    if infer is not None and p.verified:
        said = results[1:] if spec.result_rule.startswith("extended") else results[:1]
        wanted = p.reader.at(start, infer, shared_out(operands, shares), said)
        if results != wanted:
            p.fail(f"{name} gives {', '.join(map(str, wanted))}, not {', '.join(map(str, results))}", start)
    op = p.make(name, operands, attributes, results, names, shares, start, regions, successors)
    for region in regions:
        if not region.blocks and name == "builtin.module":
            region.blocks.append(Block(region))
    return op, i


def shared_out(operands: list[Value], shares: tuple[int, ...] | None) -> list[Any]:
    """The values of each named operand, where there is one: a rule of results asks for such only."""
    if shares is None:
        return list(operands)
    starts = [sum(shares[:k]) for k in range(len(shares))]
    return [operands[start] if count else None for start, count in zip(starts, shares, strict=True)]


def segments(
    p: Parser, spec: OperationSpec, operands: list[Value], attributes: dict[str, Any], i: int
) -> tuple[int, ...] | None:
    """How many operands each name has: said by operandSegmentSizes, or the only way to share them out."""
    count = len(operands)
    said = attributes.pop("operandSegmentSizes", None)
    if spec.fixed:
        if count != len(spec.operands):
            p.fail(f"{spec.name} has {len(spec.operands)} operands, not {count}", i)
        return None
    if said is not None:
        if not isinstance(said, tuple) or not all(isinstance(n, int) and n >= 0 for n in said):
            p.fail(f"operandSegmentSizes {said} are no numbers of operands", i)
        if sum(said) != count or len(said) != len(spec.operands):
            p.fail(
                f"operandSegmentSizes {list(said)} does not share out the {count} operands of {spec.name}",
                i,
            )
        for operand, n in zip(spec.operands, said, strict=True):
            if n != 1 if not operand.quantity else operand.quantity == "?" and n > 1:
                p.fail(f"{spec.name} cannot have {n} operands {operand.name!r}", i)
        return tuple(said)
    sizes = []
    required = sum(not operand.quantity for operand in spec.operands)
    spare = count - required
    variadic = sum(operand.quantity == "*" for operand in spec.operands)
    for operand in spec.operands:
        if not operand.quantity:
            size = 1
        elif operand.quantity == "?":
            size = int(spare > 0)
            spare -= size
        else:
            size = spare // variadic  # several: SameVariadicOperandSize
        sizes.append(size)
    if sum(sizes) != count:
        p.fail(f"{spec.name} cannot have {count} operands", i)
    return tuple(sizes)

"""overflow: what tl.multiple_of, tl.max_contiguous and tl.max_constancy say of values, and is not so.

The compiler believes it, as facts/axis_info.py reads it: along a dimension elements are neighbours, or equal,
in groups of so many, and the first of each group of neighbours is a multiple. So each element is compared
with the first of its group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...facts.axis import axis_facts, hints_of
from ...ir.model import (
    IntegerType,
    Operation,
    PointerType,
    TensorType,
    Value,
    bits_of,
    element_type,
    like,
    shape_of,
)
from ...ir.module import Module
from .sites import I64, Before, Sites

#: attribute -> the function that says it
SAID_BY = {"tt.divisibility": "multiple_of", "tt.contiguity": "max_contiguous",
           "tt.constancy": "max_constancy"}

I32 = IntegerType(32)


def check_hints(module: Module, sites: Sites) -> None:
    """Watch every integer and pointer of the kernel of which something is said, in place."""
    function = module.entry
    entry = function.regions[0].entry
    said: Sequence[dict[str, Any]] = function.attributes.get("arg_attrs") or ({},) * len(entry.arguments)
    found: list[tuple[Value, Operation, dict[str, tuple[int, ...]], tuple[int, ...]]] = [
        (value, function, hints_of(attributes, 1), (1,))
        for value, attributes in zip(entry.arguments, said, strict=True)]
    for op in function.walk():
        if len(op.results) == 1 and any(name in op.attributes for name in SAID_BY):
            rank = len(shape_of(op.result.type)) if isinstance(op.result.type, TensorType) else 1
            facts = axis_facts(op.result)
            found.append((op.result, op, hints_of(op.attributes, rank),
                          (1,) * rank if facts is None else facts.contiguity))
    for value, op, hints, contiguity in found:  # the facts are of the function as it was
        element = element_type(value.type)
        if hints and (isinstance(element, PointerType) or
                      (isinstance(element, IntegerType) and bits_of(element) > 1)):
            _watch(value, op, hints, contiguity, sites)


def _watch(value: Value, op: Operation, hints: Mapping[str, tuple[int, ...]], contiguity: tuple[int, ...],
           sites: Sites) -> None:
    block = value.block
    assert block is not None
    behind = 0 if value.defining_op is None else block.operations.index(op) + 1
    make = Before(block.operations[behind], op.location)
    wide = like(value.type, I64)
    if isinstance(element_type(value.type), PointerType):
        number = make.make("tt.ptr_to_int", [value], wide)
    else:
        number = value if value.type == wide else make.make("arith.extsi", [value], wide)
    for hint, sizes in hints.items():
        for dim, size in enumerate(sizes):
            if size == 1:
                continue
            if hint == "tt.divisibility":
                wrong = _no_multiple(make, number, dim, size, contiguity[dim])
            elif isinstance(wide, TensorType):
                wrong = _no_group(make, number, dim, size, neighbours=hint == "tt.contiguity")
            else:
                continue
            who = f"argument {value.name} was compiled as" if value.defining_op is None else "this value is"
            word = sites.add(op, "overflow", "hint", kind=f"{who} tl.{SAID_BY[hint]}({size})")
            make.make("ts.report", [make.number(0, IntegerType(1)), wrong, number], None, word=word)


def _no_multiple(make: Before, number: Value, dim: int, size: int, group: int) -> Value:
    """Which elements are the first of their groups, and no multiples?"""
    rest = make.make("arith.andi", [number, make.number(size - 1, number.type)], number.type)
    wrong = make.compare("ne", rest, make.number(0, rest.type))
    if not isinstance(number.type, TensorType) or group == 1:
        return wrong
    place, zero = _in_group(make, number.type, dim, group), make.number(0, like(number.type, I32))
    return make.both(make.compare("eq", place, zero), wrong)


def _no_group(make: Before, number: Value, dim: int, size: int, neighbours: bool) -> Value:
    """Which elements are not the first of their groups, or its neighbours in order?"""
    assert isinstance(number.type, TensorType)
    place = _in_group(make, number.type, dim, size)
    first = make.make("arith.subi", [_index(make, number.type, dim), place], place.type)
    wanted = make.make("tt.gather", [number, first], number.type, axis=dim)
    if neighbours:
        distance = make.make("arith.extsi", [place], number.type)
        wanted = make.make("arith.addi", [wanted, distance], number.type)
    return make.compare("ne", number, wanted)


def _index(make: Before, type: TensorType, dim: int) -> Value:
    """The index along a dimension of each element of a tensor type, i32."""
    extent, shape = type.shape[dim], [1] * len(type.shape)
    value = make.make("tt.make_range", [], TensorType((extent,), I32, None), start=0, end=extent)
    shape[dim] = extent
    for axis in range(len(shape)):
        if axis != dim:
            held = tuple(x for d, x in enumerate(shape) if d <= axis or d == dim)
            value = make.make("tt.expand_dims", [value], TensorType(held, I32, None), axis=axis)
    return make.make("tt.broadcast", [value], like(type, I32))


def _in_group(make: Before, type: TensorType, dim: int, size: int) -> Value:
    """How far each element is from the first of its group of a power of two, i32."""
    index = _index(make, type, dim)
    return make.make("arith.andi", [index, make.number(size - 1, index.type)], index.type)

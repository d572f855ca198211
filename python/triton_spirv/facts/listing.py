"""The facts of a module as text, beside the values: for people, and for tests without a device."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.model import FloatType, IntegerType, Operation, Value, element_type, function_of, shape_of
from ..ir.module import Module
from .axis import axis_facts
from .axis_info import LARGEST, AxisInfo
from .bounds import Part, conjunction
from .motion import Element, Motion, Mover, Program, Round, motion
from .slopes import number, text

AXES = "xyz"


def described(module: Module) -> str:
    """A line for each value of integers or pointers: the operation that makes it, what is known along its
    dimensions, how its index, rounds of the loop around it and programs move it, where they do, and what
    comparisons a mask is made of."""
    lines = []
    for op in module.walk():
        if op.has("function"):
            lines += [f"{op.attributes['sym_name']}:"]
        for value in _values(op):
            if not isinstance(element_type(value.type), FloatType):
                maker = "argument" if value.defining_op is None else op.name
                lines.append(f"    %{value.name} = {maker}: {_known(value)}".rstrip(": "))
    return "\n".join([*lines, ""])


def _values(op: Operation) -> Iterator[Value]:
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.arguments


def _known(value: Value) -> str:
    info = axis_facts(value)
    words = [] if info is None else [_axes(info)]
    for dim, size in enumerate(shape_of(value.type)):
        slope = motion(value, Element(dim)).slope
        if slope is not None and number(slope) != 0 and not (info and info.contiguity[dim] >= size):
            words.append(f"along dimension {dim} by {text(slope)}")
    for name, mover in _movers(value):
        found = motion(value, mover)
        if found.slope != 0:
            words.append(f"{name} {_moves(found)}")
    if value.defining_op is not None and element_type(value.type) == IntegerType(1):
        words.append(" and ".join(map(_compared, conjunction(value))))
    return "; ".join(filter(None, words))


def _compared(part: Part) -> str:
    below = "".join(f" below {view.name}" for view in part.views)
    sides = [f"%{side.name}" for side in part.operands or (part.mask,)]
    return f" {part.predicate} ".join(sides) + below


def _movers(value: Value) -> Iterator[tuple[str, Mover]]:
    block = value.block
    loop = None if block is None or block.parent is None else block.parent.parent
    if block is not None and loop is not None and loop.has("counts"):
        yield "round", Round(block)
    function = function_of(block)
    asked = () if function is None else [op for op in function.walk() if op.name == "tt.get_program_id"]
    grid = {op.attributes["axis"] for op in asked}
    yield from ((f"program {axis}", Program(axis)) for axis in AXES if axis in grid)


def _moves(found: Motion) -> str:
    return "unknown" if found.slope is None else str(found)


def _axes(info: AxisInfo) -> str:
    """Contiguous, constant and divisible, without what says nothing."""
    if info.constant is not None:
        return f"constant {info.constant}"
    words = []
    for word, numbers in (("contiguous", info.contiguity), ("constant along", info.constancy),
                          ("divisible by", info.divisibility)):
        if any(number > 1 for number in numbers):
            words.append(f"{word} " + "x".join("all" if x == LARGEST else str(x) for x in numbers))
    return ", ".join([*words, *(["not negative"] if info.nonnegative else [])])

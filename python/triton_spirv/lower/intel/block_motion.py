"""How a loop moves a block over a matrix: along one dimension, by the same number of elements each time.

Then the block's surface can stay where it is, and only a coordinate moves. The masks must stay where they
are, too: `k < K - i * 32` on columns that move by 32 in each iteration i is the edge K of a surface that
rests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...facts.axis import axis_facts
from ...ir.model import Block, Operation, Value
from ...traversal import Asking, question
from ..values.types import shape_of

#: Views through which an index, a bound or a mask is the same.
VIEWS = ("tt.broadcast", "tt.expand_dims", "tt.splat", "arith.extsi", "ttg.convert_layout")


@dataclass(frozen=True)
class Linear:
    """base + slope * the loop's counter; base: a value from outside of the loop, None for 0."""

    base: Value | None
    slope: int


@dataclass(frozen=True)
class Bound:
    """Elements whose index along `dim` is below `limit` are inside. `index` is that index, a tensor of one or
    two dimensions, of which it varies along `own`.
    """

    dim: int
    index: Value
    own: int
    limit: Value
    slope: int


def is_outside(value: Value, body: Block) -> bool:
    """Is the value made before the loop of this body?"""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    return block is not body


@question
def linear(value: Value, body: Block) -> Asking[Linear | None]:
    """The value as a linear function of the loop's counter; None where it is none."""
    if is_outside(value, body):
        return Linear(value, 0)
    if value is body.arguments[0]:
        return Linear(None, 1)
    op = value.defining_op
    if op is None:
        return None
    if op.name in VIEWS:
        return (yield op.operands[0], body)
    if op.name == "arith.muli":
        for counter, factor in (op.operands, op.operands[::-1]):
            known, number = (yield counter, body), constant(factor)
            if known is not None and number is not None and known.base is None:
                return Linear(None, known.slope * number)
    if op.name in ("arith.addi", "arith.subi"):
        x, y = (yield op.operands[0], body), (yield op.operands[1], body)
        if x is None or y is None:
            return None
        sign = 1 if op.name == "arith.addi" else -1
        if y.base is None:
            return Linear(x.base, x.slope + sign * y.slope)
        if x.base is None and sign == 1:
            return Linear(y.base, x.slope + y.slope)
    return None


def constant(value: Value) -> int | None:
    """The value of every element, where it is known."""
    facts = axis_facts(value)
    return None if facts is None else facts.constant


@question
def bounds(mask: Value | None, body: Block) -> Asking[list[Bound] | None]:
    """A mask as bounds that depend on the loop's counter only; None where it is more than that."""
    if mask is None:
        return []
    op = mask.defining_op
    if op is None:
        return None
    if op.name == "arith.andi":
        x, y = (yield op.operands[0], body), (yield op.operands[1], body)
        return None if x is None or y is None else list(dict.fromkeys(x + y))
    if op.name in ("tt.broadcast", "ttg.convert_layout"):
        return (yield op.operands[0], body)
    if op.name != "arith.cmpi" or op.attributes["predicate"] != "slt":
        return None
    index, limit = op.operands
    shape = index.type.shape  # type: ignore[attr-defined]
    moving = [d for d, size in enumerate(shape) if size > 1]
    at, end = linear(index, body), linear(limit, body)
    if len(shape) != 2 or len(moving) != 1 or at is None or end is None:
        return None
    if at.base is None or end.base is None:
        return None
    facts = axis_facts(index)
    if facts is None or facts.contiguity[moving[0]] < shape[moving[0]]:
        return None
    own = [d for d, size in enumerate(shape_of(at.base.type)) if size > 1]
    return [Bound(moving[0], at.base, own[0], end.base, end.slope - at.slope)] if len(own) == 1 else None


def counter_step(loop: Operation) -> int | None:
    """What is added to the counter of a loop that begins at 0; None of any other."""
    return constant(loop.step) if constant(loop.lower) == 0 else None


def step_of(values: list[Value], pitch: Any, parameter: Value | None) -> tuple[bool, int] | None:
    """What is added to pointers in an iteration, as (along the rows' distance?, elements); pitch: that
    distance as a number, or a factor of the kernel's `parameter`.
    """
    if len(values) != 1:
        return None
    number = constant(values[0])
    if number is not None:
        rows = parameter is None and abs(number) >= abs(pitch) > 0 and number % pitch == 0
        return (True, number // pitch) if rows else (False, number)
    value = values[0]
    while value.defining_op is not None and value.defining_op.name in VIEWS:
        value = value.defining_op.operands[0]
    if value is parameter:
        return (True, 1) if pitch == 1 else None
    op = value.defining_op
    if op is None or op.name != "arith.muli" or parameter is None:
        return None
    for x, y in (op.operands, op.operands[::-1]):
        while x.defining_op is not None and x.defining_op.name == "arith.extsi":
            x = x.defining_op.operands[0]
        number = constant(y)
        if x is parameter and number is not None and number % pitch == 0:
            return True, number // pitch
    return None

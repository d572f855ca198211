"""Pointers that a round computes from the loop's counter become pointers that travel from round to round.

    for k in range(0, K, 32):                   p = a + (rows * K + 0 + columns)
        x = load(a + (rows * K + k + columns))  for k in range(0, K, 32):
                                                    x = load(p)
                                                    p += 32

What knows how a loop moves a block over a matrix then knows it of both forms.
"""

from __future__ import annotations

from dataclasses import dataclass

from triton_spirv.traversal import Asking, question

from ..ir.model import Block, DenseAttr, IntegerType, Operation, TensorType, Type, Value
from .copies import Copies, inserter


@dataclass(frozen=True)
class Slope:
    """What a value grows by where the counter grows by one: factor * scalar, a value from outside of the loop
    (None: 1).
    """

    factor: int
    scalar: Value | None = None


def carry_pointer(load: Operation) -> None:
    """Let the pointers of a load travel, in place, where its loop moves them all by one number."""
    body = load.parent
    loop = None if body is None else body.parent.parent
    if body is None or loop is None or loop.name != "scf.for" or len(loop.regions[0].blocks) != 1:
        return
    maker = load.ptr.defining_op
    if maker is None or maker.parent is not body:
        return
    slope, turn = slope_of(load.ptr, body), number(loop.operands[2])
    if slope is None or not slope.factor or turn is None:
        return
    pointers = load.ptr
    inside = inserter(loop)
    lower = loop.operands[0]
    first = Copies(body, lambda value: lower if value is body.arguments[0] else value, inside).of(pointers)
    step = _step(slope, turn, pointers.type, loop)
    argument = body.append_argument(pointers.type, pointers.name)
    end = body.terminator
    moved = Operation("tt.addptr", [argument, step], {}, [pointers.type], [pointers.name], load.location)
    body.insert_before(end, moved)
    end.append_operand(moved.result)
    loop.append_operand(first)
    loop.append_result(pointers.type, pointers.name)
    load.set_operand(0, argument)


@question
def slope_of(value: Value, body: Block) -> Asking[Slope | None]:
    """How a value of a loop's body grows with the counter; None where that is not one product."""
    if value.owner is body:
        return Slope(1) if value is body.arguments[0] else None
    op = value.defining_op
    if op is None or op.parent is not body:
        return Slope(0)
    if _is_same_number(op):
        return (yield op.operands[0], body)
    # what may not be computed before the loop: a load or an atomic (memory changes), a division (by 0, where
    # no round runs), a product of matrices
    if not op.is_pure or op.regions or op.has("divides") or op.has("product"):
        return None
    known: list[Slope] = []
    for operand in op.operands:
        part = yield operand, body
        if part is None:
            return None
        known.append(part)
    if op.name in ("arith.addi", "tt.addptr"):
        return _sum(*known)
    if op.name == "arith.subi":
        return _sum(known[0], Slope(-known[1].factor, known[1].scalar))
    if op.name == "arith.muli":
        for slope, other, factor in (*zip(known, known[::-1], op.operands[::-1], strict=True),):
            if slope.factor and not other.factor:
                return _product(slope, factor, body)
    return Slope(0) if not any(part.factor for part in known) else None


def _sum(x: Slope, y: Slope) -> Slope | None:
    if not x.factor or not y.factor:
        return x if x.factor else y
    return Slope(x.factor + y.factor, x.scalar) if x.scalar is y.scalar else None


def _product(slope: Slope, factor: Value, body: Block) -> Slope | None:
    """The slope times a factor that the loop does not change."""
    while factor.defining_op is not None and _is_same_number(factor.defining_op):
        factor = factor.defining_op.operands[0]
    times = number(factor)
    if times is not None:
        return Slope(slope.factor * times, slope.scalar)
    outside = factor.owner is not body and getattr(factor.owner, "parent", None) is not body
    if slope.scalar is not None or not outside or not isinstance(factor.type, IntegerType):
        return None
    return Slope(slope.factor, factor)


def _is_same_number(op: Operation) -> bool:
    """Is each number of the result one of the operand? (Not of tt.reshape: Triton 3.9 makes the indices of
    descriptors with it, and their loads are block messages as they stand.)
    """
    return (op.has("view") and op.name != "tt.reshape") or op.has("widens")


def number(value: Value) -> int | None:
    """An integer that is a constant, or each element of one."""
    op = value.defining_op
    if op is None or op.name != "arith.constant":
        return None
    held = op.attributes["value"]
    if isinstance(held, DenseAttr):
        held = held.values if held.splat else None
    return held if isinstance(held, int) else None


def _step(slope: Slope, turn: int, pointers: Type, loop: Operation) -> Value:
    """What a round adds to the pointers, in 64 bits, computed before the loop."""
    assert isinstance(pointers, TensorType)
    wide, insert = IntegerType(64), inserter(loop)

    def made(name: str, operands: list[Value], type: Type, **attributes: object) -> Value:
        op = Operation(name, operands, dict(attributes), [type], ["step"], loop.location)
        insert(op)
        return op.result

    step = made("arith.constant", [], wide, value=slope.factor * turn)
    if slope.scalar is not None:
        scalar = slope.scalar
        if scalar.type != wide:
            scalar = made("arith.extsi", [scalar], wide)
        step = made("arith.muli", [scalar, step], wide)
    return made("tt.splat", [step], TensorType(pointers.shape, wide, pointers.encoding))

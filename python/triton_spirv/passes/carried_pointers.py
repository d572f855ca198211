"""Pointers that a round computes from the loop's counter become pointers that travel from round to round.

    for k in range(0, K, 32):                   p = a + (rows * K + 0 + columns)
        x = load(a + (rows * K + k + columns))  for k in range(0, K, 32):
                                                    x = load(p)
                                                    p += 32

What knows how a loop moves a block over a matrix then knows it of both forms.
"""

from __future__ import annotations

from ..facts.motion import Counter, motion
from ..facts.slopes import Multiple, Slope, constant, multiple_of
from ..ir.model import Block, IntegerType, Operation, TensorType, Type, Value
from ..traversal import Asking, every, question
from .copies import Copies, inserter


def carry_pointer(load: Operation) -> None:
    """Let the pointers of a load travel, in place, where its loop moves them all by one number."""
    body = load.parent
    loop = None if body is None else body.parent.parent
    if body is None or loop is None or not loop.has("counts") or len(loop.regions[0].blocks) != 1:
        return
    maker = load.ptr.defining_op
    if maker is None or maker.parent is not body:
        return
    slope, turn = _one_product(motion(load.ptr, Counter(body)).slope, body), constant(loop.operands[2])
    if slope is None or turn is None or not _can_stand_before(load.ptr, body):
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


def _one_product(slope: Slope[Value] | None, body: Block) -> Multiple[Value] | None:
    """A slope as a number other than zero times a scalar that is known before the loop (None: 1)."""
    found = None if slope is None else multiple_of(slope)
    if found is None or not found.factor:
        return None
    scalar = found.scalar
    known = scalar is None or (scalar.block is not body and isinstance(scalar.type, IntegerType))
    return found if known else None


@question
def _can_stand_before(value: Value, body: Block) -> Asking[bool]:
    """May what the value is computed from be computed before the loop? Not a load or an atomic (memory
    changes), a division (by 0, where no round runs), a product of matrices. Nor what is reshaped and moves:
    Triton 3.9 makes the indices of descriptors so, and their loads are block messages as they stand."""
    op = value.defining_op
    if op is None or op.parent is not body:
        return True
    if not op.is_pure or op.regions or op.has("divides") or op.has("product"):
        return False
    if op.name == "tt.reshape" and motion(value, Counter(body)).slope != 0:
        return False
    return (yield from every(op.operands, body))


def _step(slope: Multiple[Value], turn: int, pointers: Type, loop: Operation) -> Value:
    """What a round adds to the pointers, in 64 bits, computed before the loop."""
    assert isinstance(pointers, TensorType)
    scalar = slope.scalar
    wide, insert = IntegerType(64), inserter(loop)

    def made(name: str, operands: list[Value], type: Type, **attributes: object) -> Value:
        op = Operation(name, operands, dict(attributes), [type], ["step"], loop.location)
        insert(op)
        return op.result

    step = made("arith.constant", [], wide, value=slope.factor * turn)
    if scalar is not None:
        if scalar.type != wide:
            scalar = made("arith.extsi", [scalar], wide)
        step = made("arith.muli", [scalar, step], wide)
    return made("tt.splat", [step], TensorType(pointers.shape, wide, pointers.encoding))

"""Indices that are looked up for rows, once for each row.

    row = tl.load(rows + i // 256)        i = program * 1024 + 0, 1, ... 1023
    tl.device_assert((0 <= row) & (row < n))
    x = tl.load(table + row * 256 + i % 256)

has four numbers of rows in a program, and 1,024 elements of each value that is made of them. Here a load of
indices of which runs of neighbours are one becomes a load of the first of each run, and what is computed of
such loads alone is computed of these; whoever needs all elements has the few, repeated. That a load has runs
follows from its addresses (facts/axis.py), where index arithmetic is taken not to wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..facts.axis import HINTS, axis_facts
from ..ir.model import DenseAttr, IntegerType, Operation, TensorType, Value
from ..ir.module import Module
from ..traversal import Asking, Known, answer
from .copies import copied, inserter

Insert = Callable[[Operation], None]

#: attribute of an assertion: its condition has one element for so many of the user's
RUN = "run"

#: elements of the shortest run that pays for it: a vector of a processor
SHORTEST = 16

def once_per_run(module: Module) -> None:
    """Rewrites loads of integers, what is computed of them element by element, and assertions on it."""
    loads = [op for op in module.walk() if op.has("loads")]
    for load, length in [(load, _length(load)) for load in loads]:
        if length >= SHORTEST and _has_samples(load):
            few = {load.results[0]: _sampled(load, length)}
            _follow(load, few, length)
            _repeat(load, few, length)


def _length(load: Operation) -> int:
    """Of how many neighbours at least each aligned group is one element; 1 where the load is no index's."""
    type = load.results[0].type
    if not isinstance(type, TensorType) or len(type.shape) != 1 or not isinstance(type.element, IntegerType):
        return 1
    known = axis_facts(load.results[0])
    if known is None or load.attributes.get("isVolatile") or type.element.width < 32:
        return 1
    return min(known.constancy[0], type.shape[0])


def _has_samples(load: Operation) -> bool:
    """Can each operand be made of fewer elements?"""
    known: Known = {}
    return not _is_uniform(load.ptr) and all(
        answer(_can_be_sampled, operand, known=known) for operand in load.operands)


def _can_be_sampled(value: Value) -> Asking[bool]:
    op = value.defining_op
    if not isinstance(value.type, TensorType):
        return True
    if op is None or op.regions:
        return False
    if op.has("enumerates") or _is_uniform(value):
        return True
    if not op.has("elementwise"):
        return False
    for operand in op.operands:
        if not (yield (operand,)):
            return False
    return True


def _is_uniform(value: Value) -> bool:
    """Is it made as one number in all elements?"""
    op = value.defining_op
    if op is None or not op.has("constant"):
        return op is not None and op.has("splats")
    number = op.attributes["value"]
    return isinstance(number, DenseAttr) and number.splat


def _tensor(value: Value) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type


def _typed(value: Value, size: int) -> TensorType:
    """The type of so many elements of a tensor."""
    return TensorType((size,), _tensor(value).element, _tensor(value).encoding)


def _fewer(op: Operation, operands: Sequence[Value], size: int, insert: Insert) -> Value:
    """The result of an operation for so many elements."""
    made, type = copied(op, operands), _typed(op.result, size)
    made.result.retype(type)
    for hint in HINTS:  # a user's words about neighbours, who are others here
        made.attributes.pop(hint, None)
    number = op.attributes.get("value")
    if isinstance(number, DenseAttr):
        made.attributes["value"] = replace(number, type=type)
    insert(made)
    return made.result


def _uniform(value: Value, size: int, insert: Insert) -> Value:
    """A tensor that is one number in all elements, for so many; a scalar is itself."""
    op = value.defining_op
    if op is None or not isinstance(value.type, TensorType):
        return value
    return _fewer(op, op.operands, size, insert)


def _sampled(load: Operation, length: int) -> Value:
    """What the load gives for the first element of each run; loaded before it."""
    insert = inserter(load)
    known: Known = {}
    size = _tensor(load.result).shape[0] // length

    def sample(value: Value) -> Asking[Value]:
        op = value.defining_op
        if op is None or not isinstance(value.type, TensorType):
            return value
        if op.has("enumerates"):
            return _strided(op, length, size, insert)
        operands = []
        for operand in op.operands:
            operands.append((yield (operand,)))
        return _fewer(op, operands, size, insert)

    return _fewer(load, [answer(sample, operand, known=known) for operand in load.operands], size, insert)


def _strided(range: Operation, length: int, size: int, insert: Insert) -> Value:
    """start + 0, length, 2 length, ..."""
    type, name = _typed(range.result, size), range.result.name
    made = []
    for op_name, attributes in (
            ("tt.make_range", {"start": 0, "end": size}),
            ("arith.constant", {"value": DenseAttr(type, True, length)}),
            ("arith.constant", {"value": DenseAttr(type, True, range.attributes["start"])})):
        op = Operation(op_name, [], dict(attributes), [type], [name], range.location)
        insert(op)
        made.append(op.result)
    number = made[0]
    for op_name, other in ("arith.muli", made[1]), ("arith.addi", made[2]):
        op = Operation(op_name, [number, other], {}, [type], [name], range.location)
        insert(op)
        number = op.result
    return number


def _follow(load: Operation, few: dict[Value, Value], length: int) -> None:
    """What is computed of the few alone is computed of these, and asserted of these."""
    assert load.parent is not None
    behind = load.parent.operations[load.parent.operations.index(load) + 1:]
    (size,) = _tensor(few[load.result]).shape
    for op in behind:
        if not any(operand in few for operand in op.operands):
            continue
        if op.name == "tt.assert":
            op.set_operand(0, few[op.condition])
            op.set_attribute(RUN, length)
            continue
        tensors = [operand for operand in op.operands if isinstance(operand.type, TensorType)]
        if not op.has("elementwise") or len(op.results) != 1 or not all(
                operand in few or _is_uniform(operand) for operand in tensors):
            continue
        if isinstance(_tensor(op.result).element, IntegerType):
            insert = inserter(op)
            operands = [few[operand] if operand in few else _uniform(operand, size, insert)
                        for operand in op.operands]
            few[op.result] = _fewer(op, operands, size, insert)


def _repeat(load: Operation, few: dict[Value, Value], length: int) -> None:
    """Who uses more than the few gets them repeated; what nobody uses any more goes."""
    for value, one in reversed(few.items()):
        op = value.defining_op
        assert op is not None
        if value.uses:
            insert, (size,) = inserter(op), _tensor(one).shape
            for name, shape, attributes in (("tt.expand_dims", (size, 1), {"axis": 1}),
                                            ("tt.broadcast", (size, length), {}),
                                            ("tt.reshape", (size * length,), {})):
                type = TensorType(shape, _tensor(one).element)
                view = Operation(name, [one], dict(attributes), [type], [value.name], op.location)
                insert(view)
                one = view.result
            value.replace_by(one)
        op.erase()

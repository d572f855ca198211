"""Copies of operations, and their way into a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from triton_spirv.traversal import Asking, Known, answer

from ..ir.model import Block, Operation, Region, Value


def copied(op: Operation, operands: Sequence[Value], regions: Sequence[Region] = (),
           successors: Sequence[Block] = ()) -> Operation:
    """The same operation of other operands (and regions), in no block yet."""
    return Operation(op.name, list(operands), dict(op.attributes), [x.type for x in op.results],
                     [x.name for x in op.results], op.location, op.segments, list(regions), list(successors))


def inserter(before: Operation) -> Callable[[Operation], None]:
    """What puts operations before one, in the order in which it is given them."""
    block = before.parent
    assert block is not None

    def insert(op: Operation) -> None:
        block.insert_before(before, op)
    return insert


class Copies:
    """Copies of what values in the body are computed from, as they are in some round; inserted at a place."""

    def __init__(self, body: Block, arguments: Callable[[Value], Value],
                 insert: Callable[[Operation], None]) -> None:
        self.body, self.arguments, self.insert = body, arguments, insert
        self.known: Known = {}

    def of(self, value: Value) -> Value:
        """The copy of a value; made once."""
        return answer(self._made, value, known=self.known)

    def _made(self, value: Value) -> Asking[Value]:
        if value.owner is self.body:
            return self.arguments(value)
        op = value.defining_op
        if op is None or op.parent is not self.body:
            return value
        operands = []
        for operand in op.operands:
            operands.append((yield (operand,)))
        copy = copied(op, operands)
        self.insert(copy)
        return copy.results[value.index]

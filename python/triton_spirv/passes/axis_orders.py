"""In which order the axes of a function's tensors lie best: what is contiguous in memory last.

Tensors whose elements meet one by one (elementwise operations, accesses, what goes round loops) are a
*component*: their axes have one order. Each access of a component says how many neighbours along an axis it
moves at once, if that axis is the last. Facts say it (facts/axis.py): neighbours in memory, or one address.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from ..facts.axis import axis_facts
from ..facts.edges import edges
from ..ir.dialects import OPERATIONS
from ..ir.model import DenseAttr, Operation, TensorType, Value

#: new axis i is axis order[i] of the user's tensor
Order = tuple[int, ...]

#: how often a loop is taken to run
ROUNDS = 8

#: another order has to save one in so many moves
SAVES = 5


def is_ordered(value: Value) -> bool:
    """Has a tensor axes that could lie in another order?"""
    return isinstance(value.type, TensorType) and len(value.type.shape) > 1 and value.type.encoding is None


def shape_of(value: Value) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return value.type.shape


def is_access(op: Operation) -> bool:
    """Does it read or write each element through a pointer of its own?"""
    if not op.has("accesses") or "ptr" not in OPERATIONS[op.name].positions:
        return False
    return isinstance(op.ptr.type, TensorType)


def has_axis(op: Operation) -> bool:
    """Does it combine or pick elements along an axis that it names?"""
    return (op.has("folds") or op.has("picks")) and "axis" in op.attributes


def _tied(op: Operation) -> list[Value]:
    """Of an operation the tensors, operands and results, whose axes mean the same."""
    if op.has("elementwise") or op.has("keeps_dims") or is_access(op) or has_axis(op):
        tensors = [value for value in (*op.operands, *op.results) if is_ordered(value)]
        rank = max((len(shape_of(value)) for value in tensors), default=0)
        return [value for value in tensors if len(shape_of(value)) == rank]
    return []


def is_free(value: Value) -> bool:
    """Is it one number in all elements? Such a tensor is made anew in whatever order."""
    op = value.defining_op
    if op is None:
        return False
    if op.has("constant"):
        number = op.attributes["value"]
        return isinstance(number, DenseAttr) and number.splat
    is_splat = op.has("view") and not isinstance(op.operands[0].type, TensorType)
    return is_splat or op.name == "ub.poison"


def is_renumbered(op: Operation) -> bool:
    """Does it say by number which axis of its operand is which of its result?"""
    return op.has("view") and not op.has("keeps_dims") and (
        "order" in op.attributes or (op.has("reshapes") and "axis" in op.attributes))


class Components:
    """The components of a function. `becomes`: operands of operations, by number, -> one of the values that
    they become beyond the edge of a region or block."""

    def __init__(self, function: Operation) -> None:
        self.operations = function.walk()
        self._leaders: dict[Value, Value] = {}
        self._tied: dict[Operation, list[Value]] = {}
        self.becomes: dict[tuple[Operation, int], Value] = {}
        self._taken: set[Value] = set()
        for op in self.operations:
            self._tie(self.tied(op))
            for edge in edges(op):
                for index, (given, taken) in enumerate(zip(edge.given, edge.taken, strict=True), edge.first):
                    if is_ordered(taken):
                        self._tie([given, taken, self.becomes.get((edge.user, index), taken)])
                        self.becomes[edge.user, index] = taken
                        self._taken.add(taken)

    def tied(self, op: Operation) -> list[Value]:
        """Of an operation the tensors, operands and results, whose axes mean the same."""
        found = self._tied.get(op)
        if found is None:
            found = self._tied[op] = _tied(op)
        return found

    def leader(self, value: Value) -> Value:
        """The value that stands for the component of a value."""
        while (above := self._leaders.get(value, value)) is not value:
            self._leaders[value] = self._leaders.get(above, above)
            value = above
        return value

    def _tie(self, values: Sequence[Value]) -> None:
        several = [value for value in values if not is_free(value)]
        for value in several[1:]:
            self._leaders[self.leader(value)] = self.leader(several[0])

    def met(self, op: Operation, index: int) -> Value | None:
        """A value whose order an operand takes: one that it meets element by element."""
        if (op, index) in self.becomes:
            return self.becomes[op, index]
        tied = self.tied(op)
        return next((x for x in tied if not is_free(x)), None) if op.operands[index] in tied else None

    def is_pinned(self, op: Operation, index: int) -> bool:
        """Does an operation take an operand in the user's order only?"""
        taken = (op, index) in self.becomes or op.operands[index] in self.tied(op)
        return not (taken or is_renumbered(op) or op.has("unordered"))

    def is_made_pinned(self, value: Value) -> bool:
        """Is a value made in the user's order only?"""
        if value in self._taken or is_free(value):
            return False
        op = value.defining_op
        return op is None or not (value in self.tied(op) or is_renumbered(op) or op.has("folds"))

    def orders(self) -> dict[Value, Order]:
        """Leaders of components -> their best orders, where that is not the user's."""
        moves: dict[Value, list[float]] = {}
        for op in self.operations:
            for value, each in self._moves(op):
                before = moves.setdefault(self.leader(value), [0.0] * len(each))
                moves[self.leader(value)] = [a + b for a, b in zip(before, each, strict=True)]
        found = {}
        for leader, each in moves.items():
            last = min(reversed(range(len(each))), key=lambda axis: each[axis])
            if each[last] * (1 + 1 / SAVES) < each[-1]:
                found[leader] = with_last(last, len(each))
        decided = {leader for leader, each in moves.items() if any(each)}
        for op in reversed(self.operations):
            if op.name == "tt.expand_dims" and is_ordered(op.src) and self.leader(op.src) not in decided:
                order = found.get(self.leader(op.result))
                if order is not None:
                    found[self.leader(op.src)] = without(order, op.attributes["axis"])
                    decided.add(self.leader(op.src))
        return found

    def _moves(self, op: Operation) -> Iterator[tuple[Value, list[float]]]:
        """Tensors of an operation with how many moves each axis means, as the last one."""
        if op.has("watches"):  # what checks add does not decide how the kernel computes
            return
        times = ROUNDS ** _depth(op)
        if is_access(op) and is_ordered(op.ptr) and not is_free(op.ptr):
            yield op.ptr, [times * each for each in accessed(op.ptr)]
        for index, value in enumerate(op.operands):
            if is_ordered(value) and not is_free(value) and self.is_pinned(op, index):
                yield value, _turned(value, times)
        for value in op.results:
            if is_ordered(value) and self.is_made_pinned(value):
                yield value, _turned(value, times)


def without(order: Order, axis: int) -> Order:
    """The order of the axes that are left if one is dropped, and those behind it count one less."""
    return tuple(each - (each > axis) for each in order if each != axis)


def with_last(axis: int, rank: int) -> Order:
    """The user's order with one axis behind the others."""
    return *(other for other in range(rank) if other != axis), axis


def accessed(ptr: Value) -> list[float]:
    """How many accesses elements take, by the axis that is the last."""
    shape, known = shape_of(ptr), axis_facts(ptr)
    elements = float(prod(shape))
    if known is None:
        return [elements] * len(shape)
    runs = [min(max(run, same), size, WIDEST)
            for run, same, size in zip(known.contiguity, known.constancy, shape, strict=True)]
    found = []
    for last in range(len(shape)):
        axes = [axis for axis in with_last(last, len(shape)) if shape[axis] > 1]
        found.append(elements / runs[axes[-1]] if axes else 1.0)
    return found


#: more neighbours than this move no faster together
WIDEST = 16


def _turned(value: Value, times: int) -> list[float]:
    """What it costs where elements have to change places: nothing for the user's order, and where only one
    axis has several."""
    shape = shape_of(value)
    moved = 2.0 * times * prod(shape) if sum(size > 1 for size in shape) > 1 else 0.0
    return [*[moved] * (len(shape) - 1), 0.0]


def _depth(op: Operation) -> int:
    """Of how many loops it stands in."""
    depth, around = 0, op.parent_op
    while around is not None:
        depth += around.has("loops")
        around = around.parent_op
    return depth

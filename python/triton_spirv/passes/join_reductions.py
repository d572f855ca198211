"""Reductions of what is read once, over the same elements: one reduction of several tensors.

    a = sum(dy)                       dy_x = dy * (x - mean)
    dy_x = dy * (x - mean)      ->    a, b = reduce((dy, dy_x), sums)
    b = sum(dy_x)

Each reduction of a large tensor is a walk. One walk loads what both need once, instead of keeping it in an
array, and its addresses and masks are computed once. The numbers of each tensor are combined as before, in
the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..ir.model import Block, Operation, Region, TensorType, Value
from ..ir.module import Module
from .copies import copied
from .makers import is_movable, makers

#: tensors of one reduction: each has accumulators of its own in registers
MOST = 4


def join_reductions(module: Module, elements: int) -> None:
    """Rewrite the module in place. Tensors of up to so many elements are left: they lie in registers."""
    blocks: dict[Block, list[Operation]] = {}
    for op in module.walk():
        if op.has("reduces") and op.parent is not None and _is_large(op.operands[0], elements) \
                and _combines_element_by_element(op):
            blocks.setdefault(op.parent, []).append(op)
    for block, reductions in blocks.items():
        places, barriers = _places(block)
        loads: dict[Operation, set[Operation]] = {}
        while len(reductions) > 1:
            first, *others = reductions
            reductions, place = others, places[first]
            for other in [each for each in others if barriers[each] < place]:
                for one in (first, other):
                    if one not in loads:
                        loads[one] = _large_loads(one, elements)
                joined = None if loads[first].isdisjoint(loads[other]) else _joined(first, other)
                if joined is not None:
                    loads[joined], moved = loads[first] | loads[other], places[other]
                    others.remove(other)
                    if any(barriers[each] == moved for each in others):
                        places, barriers = _places(block)
                    places[joined] = place
                    reductions = [joined, *others]
                    break


def _places(block: Block) -> tuple[dict[Operation, int], dict[Operation, int]]:
    """Where each operation is, and the last place of those that its operands need which cannot be moved: so
    far up `makers` finds a way. -1: there are none in the block."""
    places: dict[Operation, int] = {}
    barriers: dict[Operation, int] = {}
    behind: dict[Operation | None, int] = {None: -1}  # of who uses the operation
    for place, op in enumerate(block.operations):
        places[op] = place
        barriers[op] = max([behind.get(value.defining_op, -1) for value in op.operands], default=-1)
        behind[op] = barriers[op] if is_movable(op) else place
    return places, barriers


def _is_large(value: Value, elements: int) -> bool:
    return isinstance(value.type, TensorType) and prod(value.type.shape) > elements


def _combines_element_by_element(op: Operation) -> bool:
    """And in any precision: what looks at bits needs numbers of their own type, and a sum of bf16 beside it
    would be rounded after each addition."""
    blocks = op.regions[0].blocks
    return len(blocks) == 1 and all(each.is_pure and not each.regions and not each.has("reinterprets") and (
        each.has("elementwise") or each.has("constant")) for each in blocks[0].operations[:-1])


def _joined(first: Operation, second: Operation) -> Operation | None:
    """The reduction that stands for both, where `first` stood; None if they are left as they are."""
    alike = first.attributes == second.attributes and {x.type for x in second.srcs} == {first.srcs[0].type}
    if not alike or len(first.results) + len(second.results) > MOST:
        return None
    between = makers(second.operands, first)
    if between is None:
        return None
    for op in between:
        op.move_before(first)
    parts, results = (first, second), [*first.results, *second.results]
    made = Operation("tt.reduce", [*first.operands, *second.operands], dict(first.attributes),
                     [x.type for x in results], [x.name for x in results], first.location, None,
                     [_side_by_side([part.regions[0].entry for part in parts])])
    assert first.parent is not None
    first.parent.insert_before(first, made)
    for old, new in zip(results, made.results, strict=True):
        for user, index in list(old.uses):
            user.set_operand(index, new)
    for part in parts:
        part.erase()
    return made


def _large_loads(reduction: Operation, elements: int) -> set[Operation]:
    """The loads of large tensors of the same block that a reduction's elements are computed from."""
    waiting = [value.defining_op for value in reduction.operands]
    seen: set[Operation] = set()
    loads: set[Operation] = set()
    while waiting:
        op = waiting.pop()
        if op is None or op in seen or op.parent is not reduction.parent:
            continue
        seen.add(op)
        if op.has("loads"):
            if _is_large(op.results[0], elements):
                loads.add(op)
        elif op.is_pure and not op.regions:
            waiting += [operand.defining_op for operand in op.operands]
    return loads


def _side_by_side(combiners: Sequence[Block]) -> Region:
    """One combiner of all their arguments: the first halves of each, then the second halves."""
    region = Region()
    block = Block(region, combiners[0].label)
    region.blocks.append(block)
    halves = [(entry.arguments[:len(entry.arguments) // 2], entry.arguments[len(entry.arguments) // 2:])
              for entry in combiners]
    arguments = [x for half in zip(*halves, strict=True) for part in half for x in part]
    block.arguments = [Value(x.type, x.name, block, index) for index, x in enumerate(arguments)]
    known = dict(zip(arguments, block.arguments, strict=True))
    returned: list[Value] = []
    for entry in combiners:
        for op in entry.operations[:-1]:
            copy = copied(op, [known.get(value, value) for value in op.operands])
            known.update(zip(op.results, copy.results, strict=True))
            block.append(copy)
        returned += [known.get(value, value) for value in entry.operations[-1].operands]
    end = combiners[0].operations[-1]
    block.append(Operation(end.name, returned, dict(end.attributes), [], [], end.location))
    return region

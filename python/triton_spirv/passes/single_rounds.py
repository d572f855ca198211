"""Loops that run once, as far as the arguments of a launch tell: a copy of the kernel without them.

    total = zeros(4, 1024)
    for start in range(0, columns, 1024): total += load(...)
    store(sum(total))

A tensor that travels through a loop and does not fit into registers lies in an array: it is filled with
zeros, read and written in each round, and read again behind the loop. Blocks are often as large as the row,
though, and then one round is all there is. So such a kernel becomes

    if 0 < columns <= 1024: store(sum(zeros(4, 1024) + load(...)))
    else: as it was

and what stood in the loop shares walks with what comes before and behind it. Every operation is the same one,
in the same order, so results are too. But for one: sum(zeros + x) becomes sum(x) + 0, which adds zero to each
sum, and to each element no more. Both differ from sum(x) where all elements are -0, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..ir.dialects import with_trait
from ..ir.model import Block, DenseAttr, IntegerType, Operation, Region, TensorType, Value
from ..ir.module import Module
from ..traversal import Asking, every, question
from .copies import copied

#: A kernel of more operations is left as it is: all of them would be compiled twice.
MOST = 400


def without_single_rounds(module: Module, elements: int) -> None:
    """Rewrite the kernel of the module, in place, if a tensor of more than so many elements travels through a
    loop of it."""
    region = module.entry.regions[0]
    body = module.entry.walk()
    # a product does so much in a round that filling an array does not matter
    if len(region.blocks) != 1 or len(body) > MOST \
            or not with_trait("product").isdisjoint([op.name for op in body]):
        return
    loops = [op for op in body if op.has("counts") and _carries(op, elements) and _is_known(op)]
    if loops:
        _rewrite(region.entry, loops)


def _carries(loop: Operation, elements: int) -> bool:
    """Does a tensor of numbers that large travel from round to round?"""
    types = [value.type for value in loop.results]
    return any(isinstance(type, TensorType) and prod(type.shape) > elements for type in types)


def _is_known(loop: Operation) -> bool:
    """Do the bounds follow from arguments, and the step from nothing?"""
    lower, upper, step = loop.operands[:3]
    made = step.defining_op
    counts_up = made is not None and made.has("constant") and made.attributes["value"] > 0
    return counts_up and _comes_early(lower) and _comes_early(upper)


@question
def _comes_early(value: Value) -> Asking[bool]:
    """Is a number computed from arguments of the kernel, by what may run before anything else?"""
    op = value.defining_op
    if op is None:
        assert isinstance(value.owner, Block)
        around = value.owner.parent.parent
        return around is not None and around.has("function")
    computed = op.is_pure and not op.has("divides") and not op.regions
    return computed and (yield from every(op.operands))


def _rewrite(block: Block, loops: Sequence[Operation]) -> None:
    end, general = block.terminator, block.operations[:-1]
    once, otherwise = arms = [Block(Region()) for _ in range(2)]
    for arm in arms:
        arm.parent.blocks.append(arm)
    otherwise.adopt(general)
    first = _Copy(block, (), end)
    test: Value | None = None
    for bounds in dict.fromkeys((*loop.operands[:3], "unsignedCmp" in loop.attributes) for loop in loops):
        *values, unsigned = bounds
        lower, upper, step = map(first.early, values)  # type: ignore[arg-type]
        some = first.add("arith.cmpi", [lower, upper], {"predicate": "ult" if unsigned else "slt"})
        rest = first.add("arith.subi", [upper, lower], {}, lower)
        one = first.add("arith.cmpi", [rest, step], {"predicate": "ule"})
        for part in (some, one):
            test = part if test is None else first.add("arith.andi", [test, part], {})
    assert test is not None
    copy = _Copy(once, loops)
    for op in general:
        copy.of(op)
    for arm in arms:
        arm.append(Operation("scf.yield", [], {}, [], [], end.location))
    first.insert(Operation("scf.if", [test], {}, [], [], end.location, None, [arm.parent for arm in arms]))
    for op in list(once.operations):
        if op.has("reduces") and len(op.operands) == 1:
            _add_zero_last(op)


def _add_zero_last(reduction: Operation) -> None:
    """sum(zeros + x) becomes sum(x) + 0, in place, where nothing else asks for zeros + x.

    Not where x is a product: that and the addition of its neighbour may be one instruction, of one rounding.
    """
    added = reduction.operands[0].defining_op
    block = reduction.parent
    if added is None or added.name != "arith.addf" or len(added.results[0].uses) != 1:
        return
    combined = reduction.regions[0].entry.operations
    if len(combined) != 2 or combined[0].name != "arith.addf" or block is None or added.parent is not block:
        return
    for zero, x in (added.operands, added.operands[::-1]):
        if _is_zero(zero) and not _is_product(x):
            break
    else:
        return
    reduction.set_operand(0, x)
    added.erase()
    total = reduction.results[0]
    type = total.type
    nothing = DenseAttr(type, True, 0.0) if isinstance(type, TensorType) else 0.0
    constant = Operation("arith.constant", [], {"value": nothing}, [type], ["zero"], added.location)
    sum = Operation("arith.addf", [total, constant.results[0]], dict(added.attributes), [type], [total.name],
                    added.location)
    for user, index in [use for use in total.uses if use[0] is not sum]:
        user.set_operand(index, sum.results[0])
    block.insert_behind(reduction, constant)
    block.insert_behind(constant, sum)


def _is_zero(value: Value) -> bool:
    """A tensor of 0, not -0."""
    op = value.defining_op
    held = op.attributes["value"] if op is not None and op.has("constant") else None
    return isinstance(held, DenseAttr) and held.splat and str(held.values) == "0.0"


def _is_product(value: Value) -> bool:
    """Is a tensor, or what it is a view of, made by a multiplication?"""
    op = value.defining_op
    while op is not None and op.has("view"):
        op = op.operands[0].defining_op
    return op is not None and op.has("multiplies")


class _Copy:
    """Copies of operations, put at the end of a block, or before its operation `end`; `loops` are replaced by
    one round of theirs."""

    def __init__(self, block: Block, loops: Sequence[Operation], end: Operation | None = None) -> None:
        self.block, self.loops, self.end = block, loops, end
        self.known: dict[Value, Value] = {}
        self.labels: dict[Block, Block] = {}

    def insert(self, op: Operation) -> None:
        if self.end is None:
            self.block.append(op)
        else:
            self.block.insert_before(self.end, op)

    def add(self, name: str, operands: list[Value], attributes: dict[str, str],
            like: Value | None = None) -> Value:
        """A new operation of one result: a truth value, or of the type of another."""
        made = Operation(name, operands, attributes, [like.type if like else IntegerType(1)], ["once"],
                         self.block.operations[-1 if self.end is None else -2].location)
        self.insert(made)
        return made.results[0]

    def early(self, value: Value) -> Value:
        """A number, computed here."""
        op = value.defining_op
        if op is not None and value not in self.known:
            for operand in op.operands:
                self.early(operand)
            self.of(op)
        return self.known.get(value, value)

    def of(self, op: Operation) -> None:
        """A copy of an operation and of all inside it, from copies of its operands."""
        operands = [self.known.get(value, value) for value in op.operands]
        if op in self.loops:
            body = op.regions[0].entry
            self.known.update(zip(body.arguments, (operands[0], *operands[3:]), strict=True))
            for inner in body.operations[:-1]:
                self.of(inner)
            left = [self.known.get(value, value) for value in body.operations[-1].operands]
            self.known.update(zip(op.results, left, strict=True))
            return
        regions = [self._region(region) for region in op.regions]
        made = copied(op, operands, regions, [self.labels[block] for block in op.successors])
        self.known.update(zip(op.results, made.results, strict=True))
        self.insert(made)

    def _region(self, region: Region) -> Region:
        copy, around = Region(), self.block
        for block in region.blocks:
            made = self.labels[block] = Block(copy, block.label)
            copy.blocks.append(made)
            made.arguments = [Value(x.type, x.name, made, x.index) for x in block.arguments]
            self.known.update(zip(block.arguments, made.arguments, strict=True))
        for block in region.blocks:
            self.block = self.labels[block]
            for op in block.operations:
                self.of(op)
        self.block = around
        return copy

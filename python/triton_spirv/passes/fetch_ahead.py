"""Loops of products that load what the next iteration multiplies while this one computes.

    for k: x = load(p); ...dot(x)...; p += step

becomes

    x = load(p) before the loop, where it runs at all
    for k: y = load(p + step) unless this is the last round; ...dot(x)...; p += step; x = y

so that a GPU waits for memory while it multiplies. Only loops that write nothing are changed: a load may then
stand earlier. What a load's address and mask are computed from is computed again for the next round.
"""

from __future__ import annotations

from collections.abc import Callable

from triton_spirv.traversal import Asking, answer

from ..facts.slopes import constant
from ..ir.model import Block, IntegerType, Operation, TensorType, Type, Value
from ..ir.module import Module
from .copies import Copies, inserter

Insert = Callable[[Operation], object]

I1 = IntegerType(1)


def fetch_ahead(module: Module) -> None:
    """Rewrite the loops of the module, in place."""
    for op in list(module.walk()):
        if op.has("counts") and len(op.regions[0].blocks) == 1:
            _rewrite(op)


def _rewrite(loop: Operation) -> None:
    body = loop.regions[0].entry
    if not all(map(_is_harmless, _inside(body))) or loop.parent is None:
        return
    loads = [op for op in body.operations
             if op.has("loads") and _feeds_product(op) and _is_early(op, body)]
    if not any(op.has("product") for op in body.operations):
        return
    for load in loads:
        _fetch(loop, body, load)


def _inside(body: Block) -> list[Operation]:
    return [inner for op in body.operations for inner in op.walk()]


def _is_harmless(op: Operation) -> bool:
    """Does it neither write nor depend on when it runs?"""
    reads_plainly = op.has("loads") and not op.attributes.get("isVolatile")
    return op.is_pure or op.has("terminator") or reads_plainly


def _feeds_product(load: Operation) -> bool:
    """Is all that becomes of it an operand of products?"""
    if load.attributes.get("isVolatile") or not isinstance(load.results[0].type, TensorType):
        return False

    def becomes_operand(value: Value) -> Asking[bool]:
        for user, index in value.uses:
            if user.has("product"):
                if user.operands[index] is user.c:
                    return False
            elif not (user.has("elementwise") or user.has("view")) or not (yield (user.results[0],)):
                return False
        return bool(value.uses)
    return answer(becomes_operand, load.results[0])


def _is_early(load: Operation, body: Block) -> bool:
    """Can address, mask and default be computed without a load, a product or anything with a region, and
    also where the loop would not do it?
    """
    pending, seen = list(load.operands), set()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if value.owner is body:
            if value.index > 0:
                pending.append(body.operations[-1].operands[value.index - 1])
            continue
        op = value.defining_op
        if op is None or op.parent is not body:
            continue
        if op.regions or op.has("reads") or op.has("product") or _may_divide_by_zero(op):
            return False
        pending += op.operands
    return True


def _may_divide_by_zero(op: Operation) -> bool:
    """Is that excluded only by the loop, which runs as long as the divisor is none?"""
    return op.has("divides") and not constant(op.operands[1])


def _fetch(loop: Operation, body: Block, load: Operation) -> None:
    end = body.operations[-1]
    first = body.arguments[0]
    lower, upper, step, *initial = loop.operands
    less = "ult" if loop.attributes.get("unsignedCmp") else "slt"

    # before the loop
    outside = inserter(loop)
    start = Copies(body, lambda value: lower if value is first else initial[value.index - 1], outside)
    begin = _load(load, start, _compare(less, lower, upper, load, outside), outside)
    # in the loop, before anything else that the round does
    inside = inserter(body.operations[0])
    here = Copies(body, lambda value: value, inside)
    advanced = Operation("arith.addi", [first, step], {}, [first.type], ["next"], load.location)
    inside(advanced)

    def next_round(value: Value) -> Value:
        return advanced.results[0] if value is first else here.of(end.operands[value.index - 1])

    following = Copies(body, next_round, inside)
    # as the loop itself asks: also where the sum wraps round
    more = _load(load, following, _compare(less, advanced.results[0], upper, load, inside), inside)
    # the value that travels
    loaded = load.results[0]
    argument = body.append_argument(loaded.type, loaded.name)
    loaded.replace_by(argument)
    load.erase()
    end.append_operand(more)
    loop.append_operand(begin)
    loop.append_result(argument.type, f"{argument.name}_left")


def _compare(predicate: str, x: Value, y: Value, load: Operation, insert: Insert) -> Value:
    op = Operation("arith.cmpi", [x, y], {"predicate": predicate}, [I1], ["more"], load.location)
    insert(op)
    return op.results[0]


def _load(load: Operation, copies: Copies, condition: Value, insert: Insert) -> Value:
    """The load of another round, where `condition` holds."""
    pointers = copies.of(load.ptr)
    mask = None if load.mask is None else copies.of(load.mask)
    other = None if load.other is None else copies.of(load.other)
    whole = load.ptr.type
    assert isinstance(whole, TensorType)
    type: Type = TensorType(whole.shape, I1, whole.encoding)
    everywhere = Operation("tt.splat", [condition], {}, [type], ["more"], load.location)
    insert(everywhere)
    together = everywhere.results[0]
    if mask is not None:
        both = Operation("arith.andi", [together, mask], {}, [type], ["more"], load.location)
        insert(both)
        together = both.results[0]
    operands = [pointers, together, *([other] if other is not None else [])]
    result = load.results[0]
    made = Operation("tt.load", operands, dict(load.attributes), [result.type], [result.name], load.location,
                     (1, 1, int(other is not None)))
    insert(made)
    return made.results[0]

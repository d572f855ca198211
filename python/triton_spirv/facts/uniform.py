"""Tensors that hold one value, and loops that move a tensor by one."""

from __future__ import annotations

from triton_spirv.ir.model import Block, DenseAttr, Operation, TensorType, Value


def is_uniform(value: Value, known: dict[Value, bool] | None = None) -> bool:
    """Does the tensor hold one value, by the way it is made? Splats, and element by element arithmetic on
    them.

    Scalars are. `known` keeps answers between calls.
    """
    known = {} if known is None else known
    stack = [value]
    while stack:
        top = stack[-1]
        if top in known:
            stack.pop()
            continue
        operands = _must_be_uniform(top)
        if operands is None:
            known[top] = False
        elif any(known.get(operand) is False for operand in operands):
            known[top] = False
        else:
            waiting = [operand for operand in operands if operand not in known]
            if waiting:
                stack.append(waiting[0])
                continue
            known[top] = True
        stack.pop()
    return known[value]


def _must_be_uniform(value: Value) -> list[Value] | None:
    """The values on which it depends whether `value` is uniform; None: it is not."""
    if not isinstance(value.type, TensorType):
        return []
    op = value.defining_op
    if op is None:
        return None
    if op.name == "tt.splat":
        return []
    if op.name == "arith.constant":
        constant = op.attributes["value"]
        return [] if isinstance(constant, DenseAttr) and constant.splat else None
    if op.has("view") or op.has("elementwise"):
        return op.operands
    return None


def uniform_step(loop: Operation, index: int) -> list[Value] | None:
    """The uniform values that an iteration adds to iter_arg `index` of an scf.for or scf.while.

    None where it does anything else to it. The yielded value must be a chain of tt.addptr and arith.addi that
    starts at the iter_arg; in an scf.while both regions may add.
    """
    if loop.name == "scf.for":
        body = loop.regions[0].entry
        return _chain(body.terminator.operands[index], body.arguments[1 + index], body)
    if loop.name != "scf.while":
        return None
    before, after = loop.regions[0].entry, loop.regions[1].entry
    start, late = _origin(after.terminator.operands[index], after)
    if late is None or start.owner is not after:
        return None
    early = _chain(before.terminator.args[start.index], before.arguments[index], before)
    return None if early is None else early + late


def _chain(value: Value, start: Value, body: Block) -> list[Value] | None:
    """What is added to `start` to make `value` in the block; [] if they are the same."""
    origin, steps = _origin(value, body)
    return steps if origin is start else None


def _origin(value: Value, body: Block) -> tuple[Value, list[Value] | None]:
    """Follow additions of uniform values back to where they begin, and what they add, first to last."""
    known: dict[Value, bool] = {}
    steps: list[Value] = []
    while True:
        op = value.defining_op
        if op is None or op.parent is not body or op.name not in ("tt.addptr", "arith.addi"):
            return value, steps[::-1]
        first, second = op.operands
        if op.name == "arith.addi" and is_uniform(first, known):
            first, second = second, first
        if not is_uniform(second, known):
            return value, None
        steps.append(second)
        value = first

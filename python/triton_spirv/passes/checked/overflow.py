"""overflow: offsets that wrap in 32 bits or fewer on their way to an address, and what `tl.assume` says.

Sums, differences and products wrap without harm in between: an offset is right where the same arithmetic in
64 bits gives a number that its own type holds. So the offset of each access is computed again, exactly, and
compared: by its extremes where it is affine, else element by element. Lowering adds offsets that are affine
in 64 bits anyway; Triton's other backends add what wrapped.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ir.model import DenseAttr, IntegerType, Module, Operation, TensorType, Value, element_type, like
from ...traversal import Asking, Known, answer
from ..copies import copied
from .hints import check_hints
from .sites import I1, I64, Before, Sites
from .sources import check_undefined

#: arithmetic that wraps: its exact result follows from exact operands
RING = ("arith.addi", "arith.subi", "arith.muli")


def check_overflow(module: Module, sites: Sites) -> None:
    """Watch what is said of values, offsets, assumptions, and results that have no meaning, in place."""
    check_hints(module, sites)
    for op in list(module.walk()):
        if op.name == "tt.addptr":
            _watch_offset(op, sites)
        elif op.name == "llvm.intr.assume":
            _watch_assumption(op, sites)
    check_undefined(module, sites)


def _watch_assumption(op: Operation, sites: Sites) -> None:
    word = sites.add(op, "overflow", "assumption")
    make = Before(op)
    make.make("ts.report", [op.cond, make.negated(op.cond), make.number(0, I64)], None, word=word)


def _watch_offset(op: Operation, sites: Sites) -> None:
    """Report, at the accesses that the pointers feed, where the offset is another number than it should
    be."""
    offset = op.offset
    element = element_type(offset.type)
    if not isinstance(element, IntegerType) or not _may_wrap(offset):
        return
    accesses = _accesses(op.result)
    if not accesses:
        return
    make = Before(op)
    exact = _exact(make)(offset)
    least, most = -1 << (element.width - 1), (1 << (element.width - 1)) - 1
    bounds = [make.number(limit, I64) for limit in (least, most)]
    inside = make.make("ts.inside", [exact, *bounds], I1)
    wrong = make.either(make.compare("slt", exact, make.number(least, exact.type)),
                        make.compare("sgt", exact, make.number(most, exact.type)))
    for access, views in accesses:
        before = Before(access)
        there, value = (_moved(each, views, before) for each in (wrong, exact))
        mask = access.mask if "mask" in access.operand_names() else None
        before.make("ts.report", [inside, before.both(mask, there), value], None,
                    word=sites.add(op, "overflow", "offset"))


def _accesses(pointers: Value) -> list[tuple[Operation, tuple[Operation, ...]]]:
    """The accesses that use the pointers, directly or moved further, and the views on the way there."""
    found: list[tuple[Operation, tuple[Operation, ...]]] = []
    pending: list[tuple[Value, tuple[Operation, ...]]] = [(pointers, ())]
    while pending:
        value, views = pending.pop()
        for user, index in value.uses:
            if user.name == "tt.addptr":
                pending.append((user.result, views))
            elif user.has("view"):
                pending.append((user.result, (*views, user)))
            elif (user.has("reads") or user.has("writes")) and user.operand_names()[index] == "ptr":
                found.append((user, views))
    return found


def _moved(value: Value, views: tuple[Operation, ...], make: Before) -> Value:
    """The value, as the views move pointers."""
    for view in views:
        step = copied(view, [value])
        step.results[0].type = like(view.results[0].type, element_type(value.type))
        make.insert(step)
        value = step.results[0]
    return value


def _may_wrap(value: Value) -> bool:
    """Is the offset computed by arithmetic that wraps in fewer than 64 bits?"""
    known: Known = {}

    def asks(value: Value) -> Asking[bool]:
        op = value.defining_op
        if op is None:
            return False
        if op.name in RING:
            return element_type(value.type).width < 64 or (yield from _any(op))  # type: ignore[attr-defined]
        return (op.has("view") or op.name == "arith.extsi") and (yield from _any(op))

    def _any(op: Operation) -> Asking[bool]:
        for operand in op.operands:
            if (yield (operand,)):
                return True
        return False

    return answer(asks, value, known=known)


def _exact(make: Before) -> Callable[[Value], Value]:
    """What gives a value as if nothing had wrapped: in 64 bits, from where it wraps on."""
    known: Known = {}

    def widened(value: Value) -> Asking[Value]:
        op = value.defining_op
        wide = like(value.type, I64)
        if op is not None and op.name in RING:
            operands = []
            for operand in op.operands:
                operands.append((yield (operand,)))
            return make.make(op.name, operands, wide)
        if op is not None and op.name == "arith.extsi":
            return (yield (op.operands[0],))
        if op is not None and op.has("view"):
            moved = copied(op, [(yield (op.operands[0],))])
            moved.results[0].type = wide
            make.insert(moved)
            return moved.results[0]
        if op is not None and op.name == "arith.constant":
            held = op.attributes["value"]
            held = DenseAttr(wide, held.splat, held.values) if isinstance(held, DenseAttr) and isinstance(
                wide, TensorType) else held
            return make.make("arith.constant", [], wide, value=held)
        return value if value.type == wide else make.make("arith.extsi", [value], wide)

    return lambda value: answer(widened, value, known=known)

"""overflow: offsets that wrap in 32 bits or fewer on their way to an address, and what `tl.assume` says.

Sums, differences and products wrap without harm in between: an offset is right where the same arithmetic in
64 bits gives a number that its own type holds, and the types of what was widened on the way hold theirs. So
the offset of each access is computed again, exactly, and compared: by its extremes where it is affine, else
element by element. Lowering adds offsets that are affine in 64 bits anyway; Triton's other backends add what
wrapped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dataclass import dataclass
from ...ir.model import DenseAttr, IntegerType, Operation, TensorType, Type, Value, element_type, like
from ...ir.module import Module
from ...traversal import Asking, Known, answer
from ..copies import copied
from .hints import check_hints
from .sites import I1, I64, Before, Sites
from .sources import check_undefined


def check_overflow(module: Module, sites: Sites) -> None:
    """Watch what is said of values, offsets, assumptions, and results that have no meaning, in place."""
    check_hints(module, sites)
    for op in list(module.walk()):
        if op.has("offsets"):
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
    if not isinstance(element_type(offset.type), IntegerType) or not _may_wrap(offset):
        return
    accesses = _accesses(op.result)
    if not accesses:
        return
    make = Before(op)
    exact = _held(make, _exact(make)(offset), offset)
    assert exact.wraps is not None and exact.fits is not None
    word = sites.add(op, "overflow", "offset")
    for access, views in accesses:
        before = Before(access)
        there, value = (_moved(each, views, before) for each in (exact.wraps, exact.value))
        mask = access.mask if "mask" in access.operand_names() else None
        before.make("ts.report", [exact.fits, before.both(mask, there), value], None, word=word)


@dataclass(frozen=True)
class Exact:
    """A number as if nothing had wrapped, i64. `wraps`: where something has, on the way; `fits`: surely
    nothing has, in no element. None: nothing may."""

    value: Value
    wraps: Value | None = None
    fits: Value | None = None


def _held(make: Before, exact: Exact, narrow: Value) -> Exact:
    """The same number behind a value that holds it in fewer bits, perhaps."""
    element = element_type(narrow.type)
    assert isinstance(element, IntegerType)
    if element.width >= 64:
        return exact
    least, most = -1 << (element.width - 1), (1 << (element.width - 1)) - 1
    inside = make.make("ts.inside", [exact.value, make.number(least, I64), make.number(most, I64)], I1)
    beyond = make.either(make.compare("slt", exact.value, make.number(least, exact.value.type)),
                         make.compare("sgt", exact.value, make.number(most, exact.value.type)))
    return Exact(exact.value, make.either(exact.wraps, beyond), make.both(exact.fits, inside))


def _accesses(pointers: Value) -> list[tuple[Operation, tuple[Operation, ...]]]:
    """The accesses that use the pointers, directly or moved further, and the views on the way there."""
    found: list[tuple[Operation, tuple[Operation, ...]]] = []
    pending: list[tuple[Value, tuple[Operation, ...]]] = [(pointers, ())]
    while pending:
        value, views = pending.pop()
        for user, index in value.uses:
            if user.has("offsets"):
                pending.append((user.result, views))
            elif user.has("view"):
                pending.append((user.result, (*views, user)))
            elif user.has("counts"):
                pending += [(carried, views) for carried in _carried(user, index)]
            elif user.has("accesses") and user.operand_names()[index] == "ptr":
                found.append((user, views))
    return found


def _carried(loop: Operation, operand: int) -> list[Value]:
    """What holds an operand of a loop inside and behind it, if the loop only moves it further."""
    index = operand - (len(loop.operands) - len(loop.init))
    if index < 0:
        return []
    body = loop.regions[0].entry
    inside: Value = body.arguments[1 + index]
    value: Value = body.terminator.operands[index]
    while value is not inside:
        op = value.defining_op
        if op is None or not op.has("offsets"):
            return []
        value = op.operands[0]
    return [inside, loop.results[index]]


def _moved(value: Value, views: tuple[Operation, ...], make: Before) -> Value:
    """The value, as the views move pointers."""
    for view in views:
        step = copied(view, [value])
        step.results[0].type = like(view.results[0].type, element_type(value.type))
        make.insert(step)
        value = step.results[0]
    return value


def _may_wrap(value: Value, known: Known | None = None) -> bool:
    """Is it computed by arithmetic that wraps in fewer than 64 bits? `known`: answers of before."""
    def asks(value: Value) -> Asking[bool]:
        op = value.defining_op
        if op is None:
            return False
        if op.has("ring") and element_type(value.type).width < 64:  # type: ignore[attr-defined]
            return True
        return _is_followed(op) and (yield from _any(op))

    def _any(op: Operation) -> Asking[bool]:
        for operand in op.operands:
            if (yield (operand,)):
                return True
        return False

    return answer(asks, value, known=known)


def _is_followed(op: Operation) -> bool:
    """Does its exact result follow from exact operands? (Of two unsigned numbers another one may be the
    greater, when they have not wrapped.)"""
    if op.has("extreme"):
        return not op.name.endswith("ui")
    return op.has("ring") or op.has("widens") or op.has("view") or op.has("selects")


def _exact(make: Before) -> Callable[[Value], Exact]:
    """What gives a value as if nothing had wrapped: in 64 bits, from where it wraps on."""
    known: Known = {}
    asked: Known = {}

    def widened(value: Value) -> Asking[Exact]:
        op = value.defining_op
        wide = like(value.type, I64)
        if op is not None and _is_followed(op) and _may_wrap(value, asked):
            operands = []
            for operand in op.operands[op.has("selects"):]:
                operands.append((yield (operand,)))
            if op.has("widens"):
                return _held(make, operands[0], op.operands[0])
            return _computed(make, op, operands, wide)
        if op is not None and op.has("constant"):
            held = op.attributes["value"]
            held = DenseAttr(wide, held.splat, held.values) if isinstance(held, DenseAttr) and isinstance(
                wide, TensorType) else held
            return Exact(make.make("arith.constant", [], wide, value=held))
        return Exact(value if value.type == wide else make.make("arith.extsi", [value], wide))

    return lambda value: answer(widened, value, known=known)


def _computed(make: Before, op: Operation, operands: Sequence[Exact], wide: Type) -> Exact:
    """The operation on exact numbers."""
    wraps, fits = None, None
    for operand in operands:
        fits = fits if operand.fits is None else make.both(fits, operand.fits)
    values, mask = [operand.value for operand in operands], like(wide, I1)
    if op.has("view"):
        moved = copied(op, values)
        moved.results[0].type = wide
        make.insert(moved)
        if operands[0].wraps is not None:
            wraps = _moved(operands[0].wraps, (op,), make)
        return Exact(moved.results[0], wraps, fits)
    if op.has("selects"):
        condition = op.operands[0]
        known = [operand.wraps for operand in operands]
        if any(each is not None for each in known):
            chosen = [make.number(0, mask) if each is None else each for each in known]
            wraps = make.make("arith.select", [condition, *chosen], mask)
        return Exact(make.make(op.name, [condition, *values], wide), wraps, fits)
    for operand in operands:
        wraps = wraps if operand.wraps is None else make.either(wraps, operand.wraps)
    return Exact(make.make(op.name, values, wide), wraps, fits)

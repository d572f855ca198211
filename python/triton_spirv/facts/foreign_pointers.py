"""Does a kernel follow addresses that no argument gave it: pointers that it loads, or makes of numbers?

Where host memory is copied for a launch such an address means nothing on the device. A number that is the
address of an argument plus something is that argument's.
"""

from __future__ import annotations

from ..ir.model import Operation, Value
from ..ir.module import Module
from .module_facts import fact
from .pointers import pointer_flow

#: integer operation -> the operands of which one may be an address: then the result is one of the same memory
_OFFSETS = {"arith.addi": (0, 1), "arith.subi": (0,), "arith.ori": (0, 1), "arith.andi": (0, 1)}


@fact
def follows(module: Module) -> str:
    """Where the kernel first reads or writes through such a pointer: file, line and column; empty where it
    does not."""
    foreign = foreign_pointers(module)
    if not foreign:
        return ""
    return next((_place(op) for op in module.walk() if _accesses(op) and op.operands[0] in foreign), "")


@fact
def foreign_pointers(module: Module) -> set[Value]:
    """The pointers, and tensors of them, that no argument of the kernel gave it, or only perhaps."""
    known = pointer_flow(module)
    foreign = set(known.from_anywhere)
    if not foreign:
        return foreign
    own = _addresses(module, known.values)
    foreign -= {pointer for pointers in own.values() for pointer in pointers}
    pending = list(foreign)
    while pending:
        value = pending.pop()
        new = [target for target in (*known.targets.get(value, ()), *own.get(value, ()))
               if target not in foreign]
        foreign.update(new)
        pending += new
    return foreign


def _addresses(module: Module, pointers: set[Value]) -> dict[Value, list[Value]]:
    """Pointer -> the pointers made of a number that is its address, offset or aligned."""
    made: dict[Value, list[Value]] = {}
    bases: dict[Value, Value] = {}  # such a number: the pointer it is of
    for op in module.walk():
        if op.name == "tt.int_to_ptr":
            if op.src in bases:
                made.setdefault(bases[op.src], []).extend(op.results)
        elif not op.has("reads") and pointers.isdisjoint(op.results):
            base = _base(op, bases)
            if base is not None:
                bases[op.results[0]] = base
    return made


def _base(op: Operation, bases: dict[Value, Value]) -> Value | None:
    """The pointer whose address the result is, offset or aligned; None where none can be told."""
    if op.name == "tt.ptr_to_int":
        return op.src
    places = (0,) if op.has("view") else _OFFSETS.get(op.name, ())
    found = [bases[op.operands[place]] for place in places if op.operands[place] in bases]
    return found[0] if len(found) == 1 else None


def _accesses(op: Operation) -> bool:
    """Does it access memory by its first operand?"""
    return op.has("accesses")


def _place(op: Operation) -> str:
    return str(op.location) if op.location.known else op.name

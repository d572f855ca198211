"""How many numbers a kernel adds whose order is not fixed: how far a sum may be off."""

from __future__ import annotations

from ..ir import parse
from ..ir.model import FloatType, Module, Operation, TensorType, element_type, shape_of

#: what the loops around a sum are taken to have, of rounds that nobody knows
ROUNDS = 1024


def unordered_terms_of(text: str, programs: int) -> int:
    """The same of a kernel's IR as text."""
    return unordered_terms(parse(text), programs)


def unordered_terms(module: Module, programs: int) -> int:
    """The most numbers that one sum adds in an order which devices choose: products on units that multiply
    and add, over the rounds of the loops around them, and what all programs add to one place of memory. 0
    where there is no such sum."""
    most = 0
    for op in module.walk():
        floats = [x.type for x in op.operands if isinstance(element_type(x.type), FloatType)]
        if not floats or not (op.has("product") or op.has("atomic")):
            continue
        if op.has("product"):
            terms = shape_of(op.operands[0].type)[-1]
        else:
            terms = programs * max((x.numel for x in floats if isinstance(x, TensorType)), default=1)
        most = max(most, terms * (ROUNDS if _is_in_loop(op) else 1))
    return most


def _is_in_loop(op: Operation) -> bool:
    around = op.parent_op
    while around is not None and not around.has("loops"):
        around = around.parent_op
    return around is not None

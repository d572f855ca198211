"""Loops that make each element of what they carry of the same element of the round before.

    for k: total += x[k]; best = max(best, x[k])

Then the rounds of one part of the tensors need nothing of those of another, and a walk over parts may run all
rounds for each: what a loop compiler calls interchange.
"""

from __future__ import annotations

from collections.abc import Collection

from ..ir.model import Operation, TensorType, Value


def has_rounds_apart(loop: Operation, carried: Collection[int]) -> bool:
    """May an scf.for run all its rounds for some elements of the tensors that it carries in these places,
    then for others, each time from the start?

    Its body has no effect and reads memory that nobody writes meanwhile, so that it may run again. What is
    computed from those tensors has their shape, is computed element by element, and goes nowhere else.
    """
    body = loop.regions[0].entry
    if not loop.has("counts") or len(loop.regions[0].blocks) != 1:
        return False
    *operations, terminator = body.operations
    moved: set[Value] = {body.arguments[i + 1] for i in carried}
    if len({value.type.shape for value in moved if isinstance(value.type, TensorType)}) != 1:
        return False
    for op in operations:
        if not _may_run_again(op):
            return False
        if moved.isdisjoint(op.operands):
            continue
        if not op.has("elementwise"):
            return False
        moved.update(op.results)
    return all(i in carried for i, value in enumerate(terminator.operands) if value in moved)


def _may_run_again(op: Operation) -> bool:
    """Has it no effect, and asks for elements where they are?"""
    if op.regions or op.has("transposes") or op.has("converts"):
        return False
    return (op.has("elementwise") or op.has("view") or op.has("constant") or op.has("enumerates")
            or (op.has("loads") and not op.attributes.get("isVolatile")))

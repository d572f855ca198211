"""Sums that a loop begins with zero, and that one product adds to."""

from __future__ import annotations

from math import copysign

from ..ir.model import DenseAttr, Operation


def only_adds(product: Operation) -> bool:
    """Is what a product is added to a sum of the loop around it that only this product reads and changes, in
    every round?"""
    sums, body, loop = product.c, product.parent, product.parent_op
    if body is None or loop is None or not loop.has("counts") or sums.owner is not body:
        return False
    index = body.arguments.index(sums) - 1
    result = product.results[0]
    return index >= 0 and len(sums.uses) == 1 and len(result.uses) == 1 \
        and body.terminator.operands[index] is result


def sums_from_zero(product: Operation) -> bool:
    """Is what a product is added to a sum that a loop begins with zero (not with -0.0), and that only this
    product reads and changes, in every round?"""
    sums, body, loop = product.c, product.parent, product.parent_op
    if loop is None or not loop.has("counts") or sums.defining_op is not None or sums.owner is not body:
        return False
    index = body.arguments.index(sums) - 1
    if index < 0 or len(sums.uses) != 1:
        return False
    initial = loop.init[index].defining_op
    if body.operations[-1].operands[index] is not product.results[0] or initial is None:
        return False
    value = initial.attributes.get("value") if initial.has("constant") else None
    if not isinstance(value, DenseAttr) or not value.splat or value.values != 0:
        return False
    return copysign(1, value.values) > 0

"""Sums whose order devices choose: which of them are exact in any order, and which memory has nothing but
sums.

A sum of integers is exact, in whatever order, as long as none of its partial sums needs more digits than the
type has. So products of small integers test that the right numbers are added, with no allowance for rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..ir import parse
from ..ir.model import FloatType, Module, Operation, Value, element_type, shape_of
from .pointers import is_pointer, pointer_roots

#: digits that each type of a product's operands, and of its sums, has at the least, with the leading one
DIGITS = {"bf16": 8, "f16": 11, "f32": 24, "f64": 53}
SUMMED = ("f32", "f64")

#: half of what 24 digits hold, for all that a product adds; what it is added to is held to another quarter
MOST_ADDED, MOST_BEFORE = 2 ** 23, 2 ** 22


@dataclass(frozen=True)
class Sums:
    """Of a kernel. `products`: does it sum products of floats? `exact`: can all of them be made exact?
    `added`: the arguments whose memory it changes by adding floats, from any program, and does not read or
    change in any other way."""

    products: bool
    exact: bool
    added: frozenset[int]


def sums_of(text: str) -> Sums:
    """The same of a kernel's IR as text."""
    module = parse(text)
    products = [op for op in module.walk() if op.has("product") and _is_float(op.operands[0])]
    return Sums(bool(products), all(map(greatest_operand, products)), _added(module))


def greatest_operand(op: Operation) -> int:
    """A power of two: a product of integers up to it is exact. 0: this one cannot be made so."""
    if "a_scale" in op.operand_names() or not all(map(_is_float, op.operands)):
        return 0
    a, b, c = (element_type(x.type).name for x in (op.a, op.b, op.c))  # type: ignore[attr-defined]
    if not {a, b} <= DIGITS.keys() or c not in SUMMED:
        return 0
    terms = shape_of(op.a.type)[-1]
    most = math.isqrt(MOST_ADDED // terms)
    return min(1 << (most.bit_length() - 1), *(1 << (DIGITS[x] - 1) for x in (a, b))) if most else 0


def is_addition(op: Operation) -> bool:
    """Does it add floats to memory, for no more than that?"""
    return op.name == "tt.atomic_rmw" and op.attributes["atomic_rmw_op"] == "fadd" and not op.result.uses


def _is_float(value: Value) -> bool:
    return isinstance(element_type(value.type), FloatType)


def _added(module: Module) -> frozenset[int]:
    roots, changed, otherwise = pointer_roots(module), 0, 0
    for op in module.walk():
        if op.has("reads") or op.has("writes"):
            reached = 0
            for value in op.operands:
                reached |= roots.get(value, 0) if is_pointer(value.type) else 0
            if is_addition(op):
                changed |= reached
            else:
                otherwise |= reached
    arguments = range(len(module.entry.regions[0].entry.arguments))
    return frozenset(i for i in arguments if (changed & ~otherwise) >> i & 1)

"""Sums whose order devices choose: which of them are exact in any order, and which memory has nothing but
sums.

A sum of integers is exact, in whatever order, as long as none of its partial sums needs more digits than the
type has. So products of small integers test that the right numbers are added, with no allowance for rounding.
"""

from __future__ import annotations

import math

from ..ir import parse
from ..ir.model import FloatType, Module, Operation, Value, element_type, shape_of
from .pointers import flow, is_pointer, pointer_roots

#: digits that each type of a product's operands, and of its sums, has at the least, with the leading one
DIGITS = {"bf16": 8, "f16": 11, "f32": 24, "f64": 53}
SUMMED = ("f32", "f64")

#: half of what 24 digits hold, for all that a product adds; what it is added to is held to another quarter
MOST_ADDED, MOST_BEFORE = 2 ** 23, 2 ** 22


def sums_of(text: str) -> tuple[bool, bool, frozenset[int]]:
    """Of a kernel's IR as text: does it sum products of floats; can all these sums be made exact; the
    arguments whose memory it changes by adding floats, from any program, and does not read or change in any
    other way."""
    module = parse(text)
    products = [op for op in module.walk() if op.has("product") and _is_float(op.operands[0])]
    exact = all(map(greatest_operand, products)) and not _decide(module, products)
    return bool(products), exact, _added(module)


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


def _decide(module: Module, products: list[Operation]) -> bool:
    """May a sum say where memory is accessed, or what is done next? With other numbers the kernel would do
    something else then, and perhaps not end."""
    targets: dict[Value, list[Value]] = {}
    deciding = set[Value]()
    for op in module.walk():
        if op.name == "tt.func":
            continue
        for source, target in flow(op, module):
            targets.setdefault(source, []).append(target)
        if op.has("reads") or op.has("writes"):
            held = [getattr(op, name) for name in ("value", "val") if name in op.operand_names()]
            deciding.update(value for value in op.operands if all(value is not each for each in held))
        elif op.regions or op.has("terminator"):
            deciding.update(value for value in op.operands if not _is_float(value))
    found = {result for op in products for result in op.results}
    pending = list(found)
    while pending:
        new = [value for value in targets.get(pending.pop(), ()) if value not in found]
        found.update(new)
        pending += new
    return bool(found & deciding)


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

"""Sums whose order devices choose: which of them are exact in any order, and which memory has nothing but
sums.

A sum of integers is exact, in whatever order, as long as none of its partial sums needs more digits than the
type has. So products of small integers test that the right numbers are added, with no allowance for rounding.
"""

from __future__ import annotations

import math

from ..ir import parse
from ..ir.model import FloatType, Operation, Value, element_type, shape_of
from ..ir.module import Module
from .pointers import flow, is_pointer, pointer_roots

#: digits that each type of a product's operands has at the least, with the leading one
DIGITS = {"f8E5M2": 3, "f8E5M2FNUZ": 3, "f8E4M3FN": 4, "f8E4M3FNUZ": 4, "f8E4M3B11FNUZ": 4,
          "bf16": 8, "f16": 11, "f32": 24, "f64": 53}

#: and those that its sums are held to: some of what f64 sums comes from f32
SUMMED = {"bf16": 8, "f16": 11, "f32": 24, "f64": 24}

#: a format of tt.dot_scaled whose elements stay as they are: so many halves, at the most
HALVES = {"e2m1": 12}
#: scales are made 1 or 2
GREATEST_SCALE = 2

#: formats of tt.dot_scaled -> the type of that name, in whose bits an element may come
FORMATS = {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "bf16": "bf16", "fp16": "f16"}


def sums_of(text: str) -> tuple[bool, bool, frozenset[int], bool]:
    """Of a kernel's IR as text: does it sum products of floats; can all these sums be made exact; the
    arguments whose memory it changes by adding floats, from any program, and does not read or change in any
    other way; does the order show in which it folds elements along an axis (tt.reduce, tt.scan)."""
    module = parse(text)
    products = [op for op in module.walk() if op.has("product") and _is_float(op.c)]
    exact = all(map(greatest_operand, products)) and not _decide(module, products)
    folds = any(op.has("folds") and _shows_order(op) for op in module.walk())
    return bool(products), exact, _added(module), folds


def greatest_operand(op: Operation) -> int:
    """A power of two: a product of integers up to it is exact, in halves where an operand has these. 0: this
    one cannot be made so."""
    forms, c = operand_forms(op), element_type(op.c.type)
    if not isinstance(c, FloatType) or c.name not in SUMMED or any(
            form not in DIGITS and form not in HALVES for form in forms):
        return 0
    halves = [HALVES[form] for form in forms if form in HALVES]
    two = forms[0] in HALVES and op.attributes.get("lhs_k_pack", True)
    terms = shape_of(op.a.type)[-1] * (2 if two else 1)
    # half of what the digits hold is for all that a product adds
    room = 2 ** (SUMMED[c.name] - 1) // (terms * math.prod(halves) * GREATEST_SCALE ** len(scales_of(op)))
    most = room if halves else math.isqrt(room)
    digits = [1 << (DIGITS[form] - 1) for form in forms if form in DIGITS]
    return min([1 << (most.bit_length() - 1), *digits]) if most else 0


def greatest_before(op: Operation) -> float:
    """What a product is added to is held to another quarter of the digits, in the same parts of one."""
    c = element_type(op.c.type)
    assert isinstance(c, FloatType)
    return float(2 ** (SUMMED[c.name] - 2)) / 2 ** sum(form in HALVES for form in operand_forms(op))


def operand_forms(op: Operation) -> list[str]:
    """The types of a product's elements, by name; of those that lie two in a byte, the format."""
    if op.name == "tt.dot_scaled":
        return [FORMATS.get(str(op.attributes[name]), str(op.attributes[name]))
                for name in ("a_elem_type", "b_elem_type")]
    return [str(getattr(element_type(x.type), "name", "")) for x in (op.a, op.b)]


def scales_of(op: Operation) -> list[Value]:
    """Those that a product has."""
    return [getattr(op, name) for name in ("a_scale", "b_scale")
            if name in op.operand_names() and getattr(op, name) is not None]


def is_addition(op: Operation) -> bool:
    """Does it add floats to memory, for no more than that?"""
    return op.name == "tt.atomic_rmw" and op.attributes["atomic_rmw_op"] == "fadd" and not op.result.uses


def _shows_order(fold: Operation) -> bool:
    """Whatever does not combine integers by one operation. Of equal elements a combiner of values with their
    places (argmax) may keep either, and one of a user's own may keep the later."""
    combiner = fold.regions[0].entry.operations if fold.regions else []
    return len(combiner) != 2 or any(map(_is_float, fold.operands))


def _is_float(value: Value) -> bool:
    return isinstance(element_type(value.type), FloatType)


def _decide(module: Module, products: list[Operation]) -> bool:
    """May a sum say where memory is accessed, or what is done next? With other numbers the kernel would do
    something else then, and perhaps not end."""
    targets: dict[Value, list[Value]] = {}
    deciding = set[Value]()
    for op in module.walk():
        if op.has("function"):
            continue
        for source, target in flow(op, module):
            targets.setdefault(source, []).append(target)
        if op.has("accesses"):
            written = [getattr(op, name) for name in ("value", "val") if name in op.operand_names()]
            deciding.update(value for value in op.operands if all(value is not each for each in written))
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
        if op.has("accesses"):
            reached = 0
            for value in op.operands:
                reached |= roots.get(value, 0) if is_pointer(value.type) else 0
            if is_addition(op):
                changed |= reached
            else:
                otherwise |= reached
    arguments = range(len(module.entry.regions[0].entry.arguments))
    return frozenset(i for i in arguments if (changed & ~otherwise) >> i & 1)

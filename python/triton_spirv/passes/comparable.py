"""Kernels that check=compiler runs besides: of the same form, but for what they add.

    exact       operands of products become small integers, and scales 1 or 2, so that their sums are exact in
                any order
    magnitudes  atomic operations that add floats add their magnitudes
    counts      ... add 1

or two of them, as exact+counts.
"""

from __future__ import annotations

from ..facts.sums import HALVES, greatest_before, greatest_operand, is_addition, operand_forms
from ..ir.model import FloatType, IntegerType, Operation, Value, bits_of, element_type, like
from ..ir.module import Module
from .checked.sites import Before


def make_comparable(module: Module, forms: str) -> None:
    """Change the kernel to these forms, in place; to none for an empty text."""
    for form in filter(None, forms.split("+")):
        for op in list(module.walk()):
            if form == "exact" and op.has("product") and (most := greatest_operand(op)):
                _make_exact(op, most)
            elif form != "exact" and is_addition(op):
                make, value = Before(op), op.val
                added = make.make("math.absf", [value], value.type) if form == "magnitudes" else (
                    make.number(1.0, value.type))
                op.set_operand(op.operand_names().index("val"), added)


def _make_exact(op: Operation, most: int) -> None:
    forms = dict(zip("ab", operand_forms(op), strict=True))
    make, index = Before(op), 0
    for name, value in op.named_operands().items():
        if value is None:
            continue
        if name in ("a_scale", "b_scale"):
            op.set_operand(index, _scales(value, make))
        elif name == "c":
            op.set_operand(index, _integers(value, greatest_before(op), 1.0, make))
        elif forms[name] not in HALVES:
            op.set_operand(index, _of_type(value, forms[name], float(most), max(1.0, most / 4), make))
        index += 1


def _of_type(value: Value, form: str, limit: float, scale: float, make: Before) -> Value:
    """Such integers of a type of that name, whose bits may come as integers."""
    type = value.type
    held = like(type, FloatType(form))
    floats = value if type == held else make.make("tt.bitcast", [value], held)
    wide = bits_of(element_type(type)) > 8
    computed = floats if wide else make.make("tt.fp_to_fp", [floats], like(type, FloatType("f32")))
    made = _integers(computed, limit, scale, make)
    if not wide:
        made = make.make("tt.fp_to_fp", [made], held, rounding="rtne")
    return made if type == held else make.make("tt.bitcast", [made], type)


def _scales(value: Value, make: Before) -> Value:
    """1 or 2, by the last bit of what is there: exponents with a bias of 127, or small floats."""
    type = value.type
    element = element_type(type)
    bits = like(type, IntegerType(8))
    held = value if type == bits else make.make("tt.bitcast", [value], bits)
    last = make.make("arith.andi", [held, make.number(1, bits)], bits)
    if isinstance(element, IntegerType) or (isinstance(element, FloatType) and element.name == "f8E8M0FNU"):
        exponents: Value = make.make("arith.addi", [last, make.number(127, bits)], bits)
        return exponents if type == bits else make.make("tt.bitcast", [exponents], type)
    floats = make.make("arith.uitofp", [last], like(type, FloatType("f32")))
    more = make.make("arith.addf", [floats, make.number(1.0, floats.type)], floats.type)
    made: Value = make.make("tt.fp_to_fp", [more], type, rounding="rtne")
    return made


def _integers(value: Value, limit: float, scale: float, make: Before) -> Value:
    """The value times a scale, rounded to an integer of at most that size; for a NaN, one end."""
    type = value.type
    scaled = make.make("arith.mulf", [value, make.number(scale, type)], type)
    low = make.make("arith.maxnumf", [scaled, make.number(-limit, type)], type)
    held = make.make("arith.minnumf", [low, make.number(limit, type)], type)
    return make.make("math.roundeven", [held], type)

"""What is doubtful: values that nobody gave, infinities made of numbers, results without a meaning."""

from __future__ import annotations

import math
import sys
from typing import Any

from ...ir.model import FloatType, IntegerType, Operation, Type, Value, element_type, like, shape_of
from ...ir.module import Module
from .origins import GIVEN, I32, Shadows, Source, branches
from .sites import Before, Sites
from .unwritten import check_unwritten

#: formats that have infinities and arithmetic of their own -> binary digits, the greatest number
PRECISION = {"f16": (11, 65504.0), "bf16": (8, 2.0 ** 128 - 2.0 ** 120),
             "f32": (24, 2.0 ** 128 - 2.0 ** 104), "f64": (53, sys.float_info.max)}

#: bit of a shadow: what it is the shadow of is a NaN
NAN = 1 << 30


class NotGiven(Source):
    """uninit: the elements that a load leaves out where nobody says what they are instead (`other`)."""

    check = "uninit"

    def makes(self, op: Operation) -> bool:
        return op.has("loads") and op.mask is not None and op.other is None

    def shadow(self, op: Operation, result: Value, make: Before, inherited: Value | None) -> Value:
        type = like(result.type, I32)
        return make.make("arith.select",
                         [op.mask, make.number(0, type), make.number(self.site(op), type)], type)


class NotFinite(Source):
    """nan: the operation that makes a NaN or an infinity of finite numbers, or a NaN of infinities that were
    given. The shadow of a NaN has one bit more than that of an infinity, so that the greatest of several
    shadows tells whether one of them is a NaN's."""

    check = "nan"
    argues = True

    def __init__(self, sites: Sites) -> None:
        super().__init__(sites)
        self._numbers: dict[Operation, int] = {}

    def keeps(self, type: Type) -> bool:
        element = element_type(type)
        return isinstance(element, FloatType) and element.name in PRECISION

    def makes(self, op: Operation) -> bool:
        is_moved = op.has("view") or op.has("arranges") or op.has("picks") or op.name == "arith.negf"
        is_computed = not op.regions or op.has("folds") or (op.has("maps") and branches(op))
        return is_computed and not is_moved and any(self.keeps(result.type) for result in op.results)

    def site(self, op: Operation) -> int:
        """One for all results of an operation."""
        if op not in self._numbers:
            self._numbers[op] = super().site(op)
        return self._numbers[op]

    def of_argument(self, value: Value, make: Before) -> Value | None:
        if not self.keeps(value.type):
            return None
        type = like(value.type, I32)
        return self._unless_finite(value, self._marked(value, make.number(GIVEN, type), make), make)

    def number(self, shadow: Value, make: Before) -> Value:
        return make.make("arith.andi", [shadow, make.number(GIVEN, shadow.type)], shadow.type)

    def shadow(self, op: Operation, result: Value, make: Before, inherited: Value | None) -> Value | None:
        type = like(result.type, I32)
        if op.has("constant") and _is_finite(op.attributes["value"]):
            return None
        numbers = all(self.keeps(x.type) or not isinstance(element_type(x.type), FloatType)
                      for x in op.operands)
        computed = (op.has("elementwise") or op.regions or op.has("product")) and not op.has("reinterprets")
        origin = make.number(self.site(op) if computed and numbers else GIVEN, type)
        value = _rounded(op, result, make)
        if inherited is None:
            return self._unless_finite(value, self._marked(value, origin, make), make)
        none = make.compare("eq", inherited, make.number(0, type))
        if op.has("extreme"):  # no NaN if no operand is
            shadow = make.make("arith.select", [none, origin, inherited], type)
            return self._unless_finite(value, shadow, make)
        # an infinity that was given is as good as a number to who makes a NaN of it
        given = make.compare("eq", inherited, make.number(GIVEN, type))
        is_nan = self._is_nan(value, make)
        new = make.either(none, make.both(is_nan, given))
        shadow = make.make("arith.select", [new, origin, self.number(inherited, make)], type)
        return self._unless_finite(value, self._marked(value, shadow, make), make)

    def _unless_finite(self, value: Value, shadow: Value, make: Before) -> Value:
        size = make.make("math.absf", [value], value.type)
        finite = make.make("arith.cmpf", [size, make.number(math.inf, value.type)],
                           like(value.type, IntegerType(1)), predicate="olt")
        made: Value = make.make("arith.select", [finite, make.number(0, shadow.type), shadow], shadow.type)
        return made

    def _marked(self, value: Value, shadow: Value, make: Before) -> Value:
        """The shadow, as a NaN's if the value is one."""
        marked = make.make("arith.ori", [shadow, make.number(NAN, shadow.type)], shadow.type)
        made: Value = make.make("arith.select", [self._is_nan(value, make), marked, shadow], shadow.type)
        return made

    def _is_nan(self, value: Value, make: Before) -> Value:
        made: Value = make.make("arith.cmpf", [value, value], like(value.type, IntegerType(1)),
                                predicate="une")
        return made


def _rounded(op: Operation, result: Value, make: Before) -> Value:
    """What to look at for a result. A product is looked at in an operation of its own: a second use would
    keep the driver from making one operation of it and a sum, and so change the last bit of what is
    computed."""
    if op.name != "arith.mulf":
        return result
    made: Value = make.make("math.fma", [op.lhs, op.rhs, make.number(0.0, result.type)], result.type)
    return made


def _is_finite(value: Any) -> bool:
    values = getattr(value, "values", value)
    return all(math.isfinite(x) for x in (values if isinstance(values, (tuple, list)) else [values]))


class Undefined(Source):
    """overflow: quotients by zero, shifts by the width or more, floats that no integer of the type is, what
    tl.gather takes from outside of its axis."""

    check = "overflow"

    def makes(self, op: Operation) -> bool:
        if op.has("divides") or op.has("shifts"):
            return not _is_constant(op.rhs, op)
        return op.has("truncates") or op.name == "tt.gather"

    def shadow(self, op: Operation, result: Value, make: Before, inherited: Value | None) -> Value:
        type = like(result.type, I32)
        before = Before(op)
        wrong = self._is_wrong(op, before)
        # a compiler takes what has no meaning for what does not happen, and the test for it away: so it does
        # not happen
        if op.name != "tt.gather":  # which takes some element
            index = len(op.operands) - 1
            changed = op.operands[index]
            sound = before.number(1 if op.has("divides") else 0, changed.type)
            op.set_operand(index, before.make("arith.select", [wrong, sound, changed], changed.type))
        shadow = make.make("arith.select",
                           [wrong, make.number(self.site(op), type), make.number(0, type)], type)
        return shadow if inherited is None else make.make("arith.maxui", [shadow, inherited], type)

    def describe(self, op: Operation) -> str:
        if op.has("divides"):
            return "a division by zero" + ", or of the least number by -1" * op.name.endswith("si")
        if op.name == "tt.gather":
            return f"an index that is not below {_gathered(op)}, or is below 0,"
        return "a shift by all bits or more" if op.has("shifts") else (
            "a float that the integer's type does not hold")

    def _is_wrong(self, op: Operation, make: Before) -> Value:
        if op.name == "tt.gather":
            element = element_type(op.indices.type)
            assert isinstance(element, IntegerType)
            most = _gathered(op) - 1
            if most >= (1 << element.width) - 1:
                return make.number(0, like(op.indices.type, IntegerType(1)))
            most -= (most >> (element.width - 1)) << element.width  # the same bits, signed
            return make.compare("ugt", op.indices, make.number(most, op.indices.type))
        element = element_type(op.result.type)
        assert isinstance(element, IntegerType)
        if op.has("divides"):
            by_zero = make.compare("eq", op.rhs, make.number(0, op.rhs.type))
            if not op.name.endswith("si"):
                return by_zero
            at_least = make.compare("eq", op.lhs, make.number(-1 << (element.width - 1), op.lhs.type))
            beyond = make.both(at_least, make.compare("eq", op.rhs, make.number(-1, op.rhs.type)))
            return make.either(by_zero, beyond)
        if op.has("shifts"):
            return make.compare("uge", op.rhs, make.number(element.width, op.rhs.type))
        signed = op.name == "arith.fptosi"
        start = -(2.0 ** (element.width - 1)) if signed else 0.0
        end = 2.0 ** (element.width - signed)
        x, mask = op.operands[0], like(op.operands[0].type, IntegerType(1))
        kind = element_type(x.type)
        assert isinstance(kind, FloatType)
        digits, greatest = PRECISION[kind.name]
        # the fraction is cut off: what lies above start - 1 is start at the least, where there are fractions
        exact = digits > element.width or not signed
        low = make.make("arith.cmpf", [x, make.number(max(start - exact, -greatest), x.type)], mask,
                        predicate="ogt" if exact else "oge")
        high = make.make("arith.cmpf", [x, make.number(end if end <= greatest else math.inf, x.type)], mask,
                         predicate="olt")
        return make.negated(make.both(low, high))


def _gathered(op: Operation) -> int:
    """The size of the axis that tl.gather takes elements of."""
    size: int = shape_of(op.src.type)[op.attributes["axis"]]
    return size


def _is_constant(value: Value, op: Operation) -> bool:
    """Is the right side a constant that is fine? (Shifts and divisions by numbers are what kernels are full
    of.)"""
    maker = value.defining_op
    while maker is not None and maker.has("splats"):
        maker = maker.operands[0].defining_op
    if maker is None or not maker.has("constant"):
        return False
    held = maker.attributes["value"]
    held = getattr(held, "values", held)
    return isinstance(held, int) and held != 0 and (op.has("divides") or 0 <= held < 8)


def check_uninit(module: Module, sites: Sites) -> None:
    """Follow what masked loads leave out, and what nobody has written, in place."""
    Shadows(module, sites, NotGiven(sites)).add()
    check_unwritten(module, sites)


def check_nan(module: Module, sites: Sites) -> None:
    """Follow infinities and NaNs, in place."""
    Shadows(module, sites, NotFinite(sites)).add()


def check_undefined(module: Module, sites: Sites) -> None:
    """Follow results of divisions, shifts and conversions that have no meaning, in place."""
    Shadows(module, sites, Undefined(sites)).add()

"""`Number`: a float or an integer in a register, with Python's operators, so that formulas read as formulas.

Every operator is one instruction with one rounding; a sum and a product become one (`mad`) only where a
formula says that it does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dataclass import dataclass
from ...spirv.builder import Builder
from ...spirv.control import IfElse
from ...spirv.module import Value
from ...spirv.types import Float, Int
from ...target import Target

GLSL = "GLSL.std.450"


@dataclass(frozen=True)
class Format:
    """A binary float: bits, stored bits of the significand, exponent bias."""

    bits: int
    stored: int
    bias: int

    @property
    def as_float(self) -> Float:
        return Float(self.bits)

    @property
    def as_int(self) -> Int:
        return Int(self.bits)

    @property
    def infinity(self) -> int:
        return (2 * self.bias + 1) << self.stored

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)


F32, F64 = Format(32, 23, 127), Format(64, 52, 1023)
FORMATS = {32: F32, 64: F64}


@dataclass(frozen=True)
class Tools:
    """What formulas need beside numbers: the builder, the target, and the sums that may be fused."""

    b: Builder
    target: Target
    fusable: set[int]

    def call(self, name: str, *numbers: Number) -> Number:
        """An instruction of GLSL.std.450 on numbers of one type."""
        values = [n.value for n in numbers]
        return Number(self, self.b.module.ext(GLSL, name, *values, type=values[0].type))

    def select(self, condition: Value, x: Number, y: Number | float) -> Number:
        return Number(self, self.b.select(condition, x.value, x.like(y).value))

    def both(self, *conditions: Value) -> Value:
        made = conditions[0]
        for condition in conditions[1:]:
            made = self.b.logical_and(made, condition)
        return made

    def either(self, *conditions: Value) -> Value:
        made = conditions[0]
        for condition in conditions[1:]:
            made = self.b.logical_or(made, condition)
        return made

    def branch(self, condition: Value, then: Any, otherwise: Any) -> list[Number]:
        """The numbers that one of two functions returns; only one of them runs."""
        branch = IfElse(self.b.module, condition)
        with branch.then():
            branch.yield_([n.value for n in then()])
        with branch.otherwise():
            branch.yield_([n.value for n in otherwise()])
        return [Number(self, value) for value in branch.results]


class Number:
    """A scalar in a register."""

    __slots__ = ("tools", "value")

    def __init__(self, tools: Tools, value: Value) -> None:
        self.tools, self.value = tools, value

    @property
    def is_float(self) -> bool:
        return isinstance(self.value.type, Float)

    @property
    def format(self) -> Format:
        return FORMATS[self.value.type.width]  # type: ignore[attr-defined]

    def like(self, other: Number | float) -> Number:
        """A number as a constant of this type."""
        if isinstance(other, Number):
            return other
        return Number(self.tools, self.tools.b.constant(self.value.type, other))

    def _binary(self, on_floats: str, on_integers: str, other: Number | float, swap: bool = False) -> Number:
        b = self.tools.b
        x, y = (self.like(other), self) if swap else (self, self.like(other))
        if self.is_float:
            return Number(self.tools, b.binary(on_floats, x.value, y.value))
        fold = {"OpIAdd": b.iadd, "OpISub": b.isub, "OpIMul": b.imul}[on_integers]
        return Number(self.tools, fold(x.value, y.value))

    def __add__(self, other: Number | float) -> Number:
        return self._binary("OpFAdd", "OpIAdd", other)

    __radd__ = __add__

    def __sub__(self, other: Number | float) -> Number:
        return self._binary("OpFSub", "OpISub", other)

    def __rsub__(self, other: float) -> Number:
        return self._binary("OpFSub", "OpISub", other, swap=True)

    def __mul__(self, other: Number | float) -> Number:
        return self._binary("OpFMul", "OpIMul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Number | float) -> Number:
        return self._binary("OpFDiv", "OpUDiv", other)

    def __rtruediv__(self, other: float) -> Number:
        return self._binary("OpFDiv", "OpUDiv", other, swap=True)

    def __neg__(self) -> Number:
        opcode = "OpFNegate" if self.is_float else "OpSNegate"
        return Number(self.tools, self.tools.b.unary(opcode, self.value))

    def __and__(self, other: Number | int) -> Number:
        return Number(self.tools, self.tools.b.iand(self.value, self.like(other).value))

    def __or__(self, other: Number | int) -> Number:
        return Number(self.tools, self.tools.b.ior(self.value, self.like(other).value))

    def __xor__(self, other: Number | int) -> Number:
        return Number(self.tools, self.tools.b.ixor(self.value, self.like(other).value))

    def __lshift__(self, other: Number | int) -> Number:
        return Number(self.tools, self.tools.b.shl(self.value, self.like(other).value))

    def __rshift__(self, other: Number | int) -> Number:
        """Arithmetic."""
        return Number(self.tools, self.tools.b.ashr(self.value, self.like(other).value))

    def shifted(self, other: Number | int) -> Number:
        """To the right, logically."""
        return Number(self.tools, self.tools.b.lshr(self.value, self.like(other).value))

    def _compare(self, floats: str, integers: str, other: Number | float) -> Value:
        opcode = floats if self.is_float else integers
        return self.tools.b.compare(opcode, self.value, self.like(other).value)

    def __lt__(self, other: Number | float) -> Value:
        return self._compare("OpFOrdLessThan", "OpSLessThan", other)

    def __le__(self, other: Number | float) -> Value:
        return self._compare("OpFOrdLessThanEqual", "OpSLessThanEqual", other)

    def __gt__(self, other: Number | float) -> Value:
        return self._compare("OpFOrdGreaterThan", "OpSGreaterThan", other)

    def __ge__(self, other: Number | float) -> Value:
        return self._compare("OpFOrdGreaterThanEqual", "OpSGreaterThanEqual", other)

    def equals(self, other: Number | float) -> Value:
        return self._compare("OpFOrdEqual", "OpIEqual", other)

    def differs(self, other: Number | float) -> Value:
        """True where a float is NaN."""
        return self._compare("OpFUnordNotEqual", "OpINotEqual", other)

    def is_nan(self) -> Value:
        return self.differs(self)

    # --- bits and conversions -------------------------------------------------------------------------------

    def bits(self) -> Number:
        """The float's bits as an integer."""
        return Number(self.tools, self.tools.b.bitcast(self.value, self.format.as_int))

    def as_float(self) -> Number:
        """The float with these bits."""
        return Number(self.tools, self.tools.b.bitcast(self.value, self.format.as_float))

    def to_int(self) -> Number:
        """An integral float as an integer of the same width."""
        return Number(self.tools, self.tools.b.convert("OpConvertFToS", self.value, self.format.as_int))

    def to_float(self) -> Number:
        """A signed integer as a float of the same width."""
        return Number(self.tools, self.tools.b.convert("OpConvertSToF", self.value, self.format.as_float))

    def resize(self, bits: int, signed: bool = True) -> Number:
        return Number(self.tools, self.tools.b.resize(self.value, bits, signed))

    def abs(self) -> Number:
        return (self.bits() & (self.format.sign - 1)).as_float()

    def with_sign_of(self, other: Number) -> Number:
        """The magnitude of this float, with the sign of another one."""
        sign = other.bits() & self.format.sign
        return (self.abs().bits() | sign).as_float()

    def signed_by(self, bits: Number) -> Number:
        """The float with its sign flipped where a sign bit (an integer with no other bits) is set."""
        return (self.bits() ^ bits).as_float()

    # --- formulas -------------------------------------------------------------------------------------------

    def mad(self, factor: Number | float, term: Number | float) -> Number:
        """self * factor + term, with one rounding or two."""
        product = self * factor
        total = product + term
        for made in (product, total):
            self.tools.fusable.add(made.value.id)
        return total

    def polynomial(self, coefficients: Sequence[float]) -> Number:
        """sum coefficients[i] self^i."""
        *rest, last = coefficients
        total = self.like(last)
        for coefficient in reversed(rest):
            total = total.mad(self, coefficient)
        return total

    def scaled(self, exponent: Number) -> Number:
        """self * 2^exponent, an integer of the same width; rounded once, also into the denormals.

        In three steps, so that each factor is a number; the first two cannot round unless the last would.
        """
        form = self.format
        most = form.bias
        tools = self.tools

        def clamp(x: Number, low: int, high: int) -> Number:
            x = tools.select(x < low, x.like(low), x)
            return tools.select(x > high, x.like(high), x)

        def power(k: Number) -> Number:
            return ((k + form.bias) << form.stored).as_float()

        k = clamp(exponent, -3 * most, 3 * most)
        first = clamp(k, 1 - most + form.stored + 1, most)
        rest = k - first
        second = clamp(rest, 1 - most + form.stored + 1, most)
        third = clamp(rest - second, 1 - most, most)
        return self * power(first) * power(second) * power(third)

    def scaled_near(self, exponent: Number) -> Number:
        """The same for a number near 1 and a result that may overflow or be denormal: two factors."""
        half = exponent >> 1
        form = self.format

        def power(k: Number) -> Number:
            return ((k + form.bias) << form.stored).as_float()

        return self * power(half) * power(exponent - half)

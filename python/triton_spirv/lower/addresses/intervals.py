"""Between which two numbers all elements of an index lie, as scalars that are computed when the kernel runs.

An affine index lies between its ends. Indices that are divided (`x // 28`, `x % 28`), clamped, chosen or
multiplied follow from what they are made of, and one that is read from memory from an assertion that stands
before its use. With that the memory that an access touches is compared with that of another, whatever its
addresses are made of (lower/memory/hazard.py).

Numbers are of 64 bits, in which no index of 32 wraps. That an element is a number of its own type is a test,
among `Intervals.tests`: the intervals are those of the elements where all tests hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from math import prod

from ...dataclass import dataclass
from ...facts.axis import axis_facts
from ...facts.bounds import Part, conjunction
from ...facts.views import source_dims
from ...ir.model import IntegerType, Operation, Value, bits_of
from ...spirv.builder import I64, Builder
from ...spirv.module import Value as Register
from ...spirv.types import Bool
from ...traversal import Asking, Known, answer
from ..arithmetic.symbolic import as_affine
from ..context import Context
from ..values.tensor import Affine, Bound, Deferred, Tensor, Uniform
from ..values.types import element_of, shape_of
from .masks import maker_of

#: for each dimension of a tensor, along which dimension of the access it lies (-1: it has one element); None
#: where that is not known
Dims = tuple[int, ...] | None

#: the largest size of a number that may stand in a sum
LARGEST = 1 << 61

#: the largest size that either of two numbers may have whose product stands in a sum
LARGEST_FACTOR = 1 << 30

#: comparisons of an element with a limit -> (which end they limit, what is added to the limit)
LIMITS = {"slt": ("high", -1), "sle": ("high", 0), "sgt": ("low", 1), "sge": ("low", 0)}


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`, i64; neither of them larger than `most`, up or down."""

    low: Register
    high: Register
    most: int


@dataclass
class Intervals:
    """Intervals of tensors, for the elements for which `mask` holds, in the access `at`.

    mask: what that of the operation is bound to; None for all elements.
    tests: scalars that all have to be true.
    """

    ctx: Context
    at: Operation
    mask: Tensor | None
    tests: list[Register] = field(default_factory=list)
    known: Known = field(default_factory=dict)

    def of(self, tensor: Tensor) -> Interval | None:
        """None where nothing is known. Emits scalar code."""
        return answer(self._rule, tensor, tuple(range(len(tensor.shape))), known=self.known)

    def _rule(self, tensor: Bound | None, dims: Dims) -> Asking[Interval | None]:
        affine = as_affine(tensor)
        if affine is not None and affine.exact is not None:
            return (yield affine.exact, dims)
        if affine is not None:
            return self._of_affine(affine, dims)
        if not isinstance(tensor, Deferred) or not isinstance(tensor.element, IntegerType):
            return None
        op = tensor.operation
        if op.has("view") and len(tensor.operands) == 1:
            return (yield tensor.operands[0], _below(op, dims))
        if op.has("elementwise"):
            # a condition is no number
            operands = tensor.operands[1:] if op.has("selects") else tensor.operands
            sides = []
            for operand in operands:
                sides.append((yield operand, dims))
            if op.has("times") and None not in sides and prod(side.most for side in sides) > LARGEST:
                sides = [self._narrowed(side) for side in sides]
            if op.name in RULES and None not in sides:
                found = RULES[op.name](self.ctx.b, *sides)
                if found is not None:
                    return self._checked(found, bits_of(tensor.element))
        return self._asserted(op.results[tensor.index], dims)

    def _of_affine(self, affine: Affine, dims: Dims) -> Interval | None:
        b, bits = self.ctx.b, bits_of(affine.element)
        if bits > 32 and any(not isinstance(stride, int) for stride in affine.strides):
            return None
        low = high = b.resize(affine.base, 64)
        known = isinstance(low.constant, int) and abs(low.constant) < 1 << 48
        most = abs(low.constant) if known else 1 << (min(bits, 49) - 1)
        if bits > 49 and not known:  # more than any memory has bytes
            self._within(low, low, most)
        for stride, extent in zip(affine.strides, affine.shape, strict=True):
            if extent == 1:
                continue
            if isinstance(stride, int):
                reach = b.constant(I64, stride * (extent - 1))
                ends = (high, low) if stride > 0 else (low, high)
                moved = b.iadd(ends[0], reach)
                low, high = (low, moved) if stride > 0 else (moved, high)
                most += abs(stride) * (extent - 1)
            else:
                reach, zero = b.imul(b.resize(stride, 64), extent - 1), b.constant(I64, 0)
                low = b.iadd(low, _least(b, reach, zero))
                high = b.iadd(high, _greatest(b, reach, zero))
                most += extent << 31
        found = self._checked(Interval(low, high, most), min(bits, 50))
        return None if found is None else self._clipped(found, affine, dims)

    def _checked(self, found: Interval, bits: int) -> Interval | None:
        """The interval where all of it are numbers of so many bits; None where it may be too large."""
        if found.most > LARGEST:
            return None
        most = 1 << (bits - 1)
        if found.most >= most:
            self._within(found.low, found.high, most)
        return Interval(found.low, found.high, min(found.most, most))

    def _narrowed(self, found: Interval) -> Interval:
        """The interval where all of it are factors."""
        if found.most <= LARGEST_FACTOR:
            return found
        self._within(found.low, found.high, LARGEST_FACTOR)
        return Interval(found.low, found.high, LARGEST_FACTOR)

    def _within(self, low: Register, high: Register, most: int) -> None:
        """A test: from -most to most - 1."""
        b = self.ctx.b
        for end, opcode, limit in (low, "OpSGreaterThanEqual", -most), (high, "OpSLessThan", most):
            if not isinstance(end.constant, int):
                self.tests.append(b.compare(opcode, end, limit))
            elif not -most <= end.constant < most:
                self.tests.append(b.constant(Bool(), False))

    def _clipped(self, found: Interval, affine: Affine, dims: Dims) -> Interval:
        """Elements whose mask compares them with a limit lie on its side."""
        b, low, high = self.ctx.b, found.low, found.high
        pattern = _pattern(affine, dims)
        for part in conjunction(self.mask, maker_of) if pattern is not None else ():
            if part.predicate not in LIMITS or not isinstance(part.operands[1], Uniform):
                continue
            compared = as_affine(part.operands[0])
            if compared is None or compared.exact is not None:
                continue
            if _pattern(compared, _seen(part, _whole(self.at))) != pattern:
                continue
            end, more = LIMITS[part.predicate]
            limit = b.iadd(b.resize(part.operands[1].scalar, 64), more)
            if end == "high":
                high = _least(b, high, limit)
            else:
                low = _greatest(b, low, limit)
        if low is found.low and high is found.high:
            return found
        return Interval(low, high, found.most + 1)  # of a limit that is an extreme, the number beyond it

    def last(self, dim: int, extent: int) -> Register | None:
        """The last index along a dimension of the access for which its mask may hold, i64, where a part of it
        is `index + start < limit`; None where none is. (0 where the mask holds for no index.)"""
        b, whole = self.ctx.b, self.ctx.b.constant(I64, extent - 1)
        for part in conjunction(self.mask, maker_of):
            compared = as_affine(part.operands[0]) if part.predicate in ("slt", "sle") else None
            if compared is None or compared.exact is not None or not isinstance(part.operands[1], Uniform):
                continue
            bits = bits_of(compared.element)
            pattern = _pattern(compared, _seen(part, _whole(self.at)))
            if bits > 32 or pattern is None or pattern[1:] != ((dim, 1, extent),):
                continue
            start = b.resize(compared.base, 64)
            self._within(start, b.iadd(start, extent - 1), 1 << (bits - 1))
            limit = b.iadd(b.resize(part.operands[1].scalar, 64), LIMITS[part.predicate][1])
            return _greatest(b, _least(b, b.isub(limit, start), whole), b.constant(I64, 0))
        return None

    def _asserted(self, value: Value, dims: Dims) -> Interval | None:
        """What assertions before the access say of a value."""
        ends: dict[str, tuple[Register, int]] = {}
        for part in self._assertions(dims):
            limit = self._limit(part.operands[1]) if part.predicate in LIMITS else None
            if limit is not None and part.operands[0] is value:
                end, more = LIMITS[part.predicate]
                ends[end] = self.ctx.b.iadd(limit[0], more), limit[1] + abs(more)
        if len(ends) < 2:
            return None
        return Interval(ends["low"][0], ends["high"][0], max(most for _, most in ends.values()))

    def _limit(self, value: Value) -> tuple[Register, int] | None:
        """A number that is one for all elements, i64, and how large it may be; None of others, and where a
        test would have to say that."""
        known = axis_facts(value)
        if known is not None and known.constant is not None:
            return self.ctx.b.constant(I64, known.constant), abs(known.constant)
        bound = self.ctx.bindings.value(value)
        scalar, bits = bound.scalar if isinstance(bound, Uniform) else None, _bits(value)
        return None if scalar is None or bits > 32 else (self.ctx.b.resize(scalar, 64), 1 << (bits - 1))

    def _assertions(self, dims: Dims) -> list[Part]:
        """What has been asserted before the access of values with these dimensions, of all elements or of
        those that its mask has."""
        whole = {(part.mask, _seen(part, _whole(self.at))) for part in conjunction(self.at.mask)}
        found: list[Part] = []
        for op in self.at.parent.operations if self.at.parent is not None else ():
            if op is self.at:
                break
            if op.name == "tt.assert":
                for part in conjunction(op.condition):
                    found += [part] if part.predicate else _of_some(part, dims, whole)
        return [part for part in found if not part.views]


def _of_some(part: Part, dims: Dims, whole: set[tuple[Value, Dims]]) -> list[Part]:
    """`asserted | ~mask`: the parts of what is asserted, where the mask of the access implies this one, of
    the same elements."""
    made = part.mask.defining_op
    if made is None or made.name != "arith.ori":
        return []
    for asserted, other in (made.operands, made.operands[::-1]):
        negated = other.defining_op
        if negated is None or negated.name != "arith.xori":
            continue
        ones = axis_facts(negated.rhs)
        needed = {(each.mask, _seen(each, dims)) for each in conjunction(negated.lhs)}
        known = all(seen is not None for _, seen in needed)
        if ones is not None and ones.constant and known and needed <= whole:
            return [each for each in conjunction(asserted) if each.predicate]
    return []


def _bits(value: Value) -> int:
    """How many bits a number needs, its sign among them."""
    op = value.defining_op
    if op is not None and (op.has("widens") or (op.has("view") and len(op.operands) == 1)):
        return _bits(op.operands[0])
    return bits_of(element_of(value.type))


def _whole(access: Operation) -> Dims:
    """The dimensions of an access, and of its mask."""
    return tuple(range(len(shape_of(access.ptr.type))))


def _seen(part: Part, dims: Dims) -> Dims:
    """The dimensions of a part of a mask which has these."""
    for view in part.views:
        dims = _below(view, dims)
    return dims


def _below(view: Operation, dims: Dims) -> Dims:
    """The dimensions of what a view is of: its elements may have changed their places."""
    if dims is None or view.has("keeps_dims"):
        return dims
    source = source_dims(view)
    if source is None:
        return None
    found = {d: dims[place] for place, d in enumerate(source) if d is not None}
    return tuple(found.get(d, -1) for d in range(len(shape_of(view.src.type))))


def _pattern(affine: Affine, dims: Dims) -> tuple[object, ...] | None:
    """What tells the elements of an affine tensor, whatever dimensions it is repeated along; None where it
    is not known along which it moves."""
    moving = [(d, s if isinstance(s, int) else s.id, n)
              for d, (s, n) in enumerate(zip(affine.strides, affine.shape, strict=True)) if s != 0 and n > 1]
    if dims is None:
        return None if moving else (affine.base.id,)
    return (affine.base.id, *((dims[d], stride, n) for d, stride, n in moving))


def _least(b: Builder, x: Register, y: Register) -> Register:
    if isinstance(x.constant, int) and isinstance(y.constant, int):
        return x if x.constant <= y.constant else y
    return b.select(b.compare("OpSLessThan", x, y), x, y)


def _greatest(b: Builder, x: Register, y: Register) -> Register:
    if isinstance(x.constant, int) and isinstance(y.constant, int):
        return x if x.constant >= y.constant else y
    return b.select(b.compare("OpSLessThan", x, y), y, x)


# --- operations: the intervals of the operands -> that of the result, before it is a number of its own type


def _sum(b: Builder, x: Interval, y: Interval) -> Interval:
    return Interval(b.iadd(x.low, y.low), b.iadd(x.high, y.high), x.most + y.most)


def _difference(b: Builder, x: Interval, y: Interval) -> Interval:
    return Interval(b.isub(x.low, y.high), b.isub(x.high, y.low), x.most + y.most)


def _product(b: Builder, x: Interval, y: Interval) -> Interval | None:
    """By one number, whose sign may be unknown."""
    if x.low is x.high:
        x, y = y, x
    if y.low is not y.high or x.most * y.most > LARGEST:
        return None
    ends = b.imul(x.low, y.low), b.imul(x.high, y.low)
    if isinstance(y.low.constant, int):
        low, high = ends if y.low.constant >= 0 else ends[::-1]
    else:
        low, high = _least(b, *ends), _greatest(b, *ends)
    return Interval(low, high, x.most * y.most)


def _divisor(y: Interval) -> int | None:
    """A constant above zero."""
    number = y.low.constant
    return number if y.low is y.high and isinstance(number, int) and number > 0 else None


def _quotient(b: Builder, x: Interval, y: Interval) -> Interval | None:
    by = _divisor(y)
    if by is None:
        return None
    low, high = (b.constant(I64, abs(end.constant) // by * (1 if end.constant >= 0 else -1))
                 if isinstance(end.constant, int) else b.binary("OpSDiv", end, by) for end in (x.low, x.high))
    return Interval(low, high, x.most // by)


def _remainder(b: Builder, x: Interval, y: Interval) -> Interval | None:
    """With the sign of what is divided."""
    by = _divisor(y)
    if by is None:
        return None
    zero = b.constant(I64, 0)
    low = b.select(b.compare("OpSGreaterThanEqual", x.low, zero), zero, 1 - by)
    return Interval(low, b.constant(I64, by - 1), by)


def _shifted(b: Builder, x: Interval, y: Interval) -> Interval | None:
    """To the right, with the sign, by a constant."""
    by = y.low.constant
    if y.low is not y.high or not isinstance(by, int) or not 0 <= by < 32:
        return None
    low, high = (b.constant(I64, end.constant >> by) if isinstance(end.constant, int)
                 else b.binary("OpShiftRightArithmetic", end, by) for end in (x.low, x.high))
    return Interval(low, high, (x.most >> by) + 1)


def _masked(b: Builder, x: Interval, y: Interval) -> Interval | None:
    """By a constant that is not negative, on either side."""
    for side in (x, y):
        mask = side.low.constant
        if side.low is side.high and isinstance(mask, int) and mask >= 0:
            return Interval(b.constant(I64, 0), b.constant(I64, mask), mask)
    return None


def _choice(b: Builder, x: Interval, y: Interval) -> Interval:
    return Interval(_least(b, x.low, y.low), _greatest(b, x.high, y.high), max(x.most, y.most))


def _minimum(b: Builder, x: Interval, y: Interval) -> Interval:
    return Interval(_least(b, x.low, y.low), _least(b, x.high, y.high), max(x.most, y.most))


def _maximum(b: Builder, x: Interval, y: Interval) -> Interval:
    return Interval(_greatest(b, x.low, y.low), _greatest(b, x.high, y.high), max(x.most, y.most))


RULES: dict[str, Callable[..., Interval | None]] = {
    "arith.addi": _sum, "arith.subi": _difference, "arith.muli": _product, "arith.divsi": _quotient,
    "arith.remsi": _remainder, "arith.select": _choice, "arith.minsi": _minimum, "arith.maxsi": _maximum,
    "arith.shrsi": _shifted, "arith.andi": _masked, "arith.extsi": lambda b, x: x,
}

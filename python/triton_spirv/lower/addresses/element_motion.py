"""How a tensor of integers moves from element to element, as far as lowering knows it: along a dimension,
within aligned groups, by one slope.

Affine tensors have slopes for whole dimensions, which may be known when running only. Of others the facts of
the IR tell (facts/axis.py), and what they are made of. facts/motion.py asks the same of the rounds of a loop
and of programs.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...facts.axis import axis_facts
from ...ir.model import Operation, bits_of
from ...layout import Layout
from ...spirv.module import Value as Register
from ...traversal import Asking, answer
from ..values.tensor import Affine, Deferred, Pointers, Tensor, Uniform
from ..values.types import shape_of

#: Bits of integers in which index arithmetic is taken not to wrap.
NARROW = 32


@dataclass(frozen=True)
class ElementSlope:
    """factor * the scalar `parameter` (None: 1), in elements."""

    factor: int
    parameter: Register | None = None

    def __add__(self, other: ElementSlope) -> ElementSlope | None:
        for zero, value in ((self, other), (other, self)):
            if not zero.factor:
                return value
        same = self.parameter is other.parameter
        return ElementSlope(self.factor + other.factor, self.parameter) if same else None

    def __mul__(self, other: ElementSlope) -> ElementSlope | None:
        if self.parameter is not None and other.parameter is not None:
            return None
        return ElementSlope(self.factor * other.factor, self.parameter or other.parameter)


def slope_along(tensor: object, dim: int, length: int) -> ElementSlope | None:
    """What a tensor grows by along a dimension within aligned groups of `length`; None where that is
    unknown."""
    return answer(_slope, tensor, dim, length) if isinstance(tensor, Deferred) else _of_formula(tensor, dim)


def _of_formula(tensor: object, dim: int) -> ElementSlope | None:
    """The same of a tensor that is no operation."""
    if tensor is None or isinstance(tensor, (Uniform, Register)):
        return ElementSlope(0)
    if not isinstance(tensor, Affine):
        return None
    stride = tensor.strides[dim]
    return ElementSlope(stride) if isinstance(stride, int) else ElementSlope(1, stride)


def _slope(tensor: object, dim: int, length: int) -> Asking[ElementSlope | None]:
    if not isinstance(tensor, Deferred):
        return _of_formula(tensor, dim)
    op, operands = tensor.operation, tensor.operands
    facts = axis_facts(op.results[tensor.index])
    if facts is not None and facts.contiguity[dim] >= length:
        return ElementSlope(1)
    if facts is not None and facts.constancy[dim] >= length:
        return ElementSlope(0)
    if op.name == "tt.broadcast":
        return ElementSlope(0) if shape_of(op.src.type)[dim] == 1 else (yield (operands[0], dim, length))
    below = dims_below(op)
    if below is not None:
        source = below[dim]
        return ElementSlope(0) if source is None else (yield (operands[0], source, length))
    if op.has("widens"):
        return (yield (operands[0], dim, length))
    if (op.has("sum") or op.name == "arith.muli") and bits_of(tensor.element) >= NARROW:
        x = yield (operands[0], dim, length)
        y = yield (operands[1], dim, length)
        if x is None or y is None:
            return None
        if op.has("sum"):
            return x + y
        for uniform, other in ((operands[0], y), (operands[1], x)):
            if isinstance(uniform, Uniform):
                value = uniform.scalar.constant
                by = ElementSlope(value) if isinstance(value, int) else ElementSlope(1, uniform.scalar)
                return other * by
    if not op.has("elementwise"):
        return None
    for operand in operands:
        if (yield (operand, dim, length)) != ElementSlope(0):
            return None
    return ElementSlope(0)


def dims_below(op: Operation) -> list[int | None] | None:
    """For a view that adds dimensions of size 1: per dimension of the result, that of the operand, None for
    an added one. None for any other operation.
    """
    if not op.has("reshapes"):
        return None
    source = [d for d, size in enumerate(shape_of(op.src.type)) if size != 1]
    result = [d for d, size in enumerate(shape_of(op.result.type)) if size != 1]
    if [shape_of(op.src.type)[d] for d in source] != [shape_of(op.result.type)[d] for d in result]:
        return None
    found = dict(zip(result, source, strict=True))
    return [found.get(d) for d in range(len(shape_of(op.result.type)))]


def pointer_slope(pointers: Pointers, dim: int, length: int) -> ElementSlope | None:
    """The same of pointers."""
    total: ElementSlope | None = ElementSlope(0)
    for part in (pointers.affine, *pointers.terms):
        found = slope_along(part, dim, length)
        total = None if total is None or found is None else total + found
    return total


def growth(tensor: Tensor | None, basis: int, layout: Layout) -> int | None:
    """What a tensor grows by from one element to the one whose index has bit `basis` too; None where that is
    unknown, or no number."""
    total = 0
    for dim, index in enumerate(layout.unravel(basis)):
        slope = slope_along(tensor, dim, 2 * index) if index else ElementSlope(0)
        if slope is None or (slope.factor and slope.parameter is not None):
            return None
        total += index * slope.factor
    return total


def pointer_growth(pointers: Pointers, basis: int, layout: Layout) -> int | None:
    """The same of pointers."""
    total = 0
    for part in (pointers.affine, *pointers.terms):
        grown = 0 if part is None else growth(part, basis, layout)
        if grown is None:
            return None
        total += grown
    return total

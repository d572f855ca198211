"""Slopes: by how much a value grows where its mover goes on by one. They are symbolic.

    int          a number
    scalar       a value of the IR; where lowering asks, the register that it is bound to
    Sum          several, added in this order
    Product      one, times a scalar or a number

The facts of the IR (motion.py) and what lowering knows of the elements of its tensors
(lower/addresses/element_motion.py) have the same slopes, so that the same questions can be asked of both:
which number one is (`number`), which number times one scalar (`multiple_of`). Whoever emits code computes a
slope in the order in which it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

from ..dataclass import dataclass
from ..ir.model import Operation, Value
from ..traversal import Asking, question
from .axis import axis_facts

S = TypeVar("S")


@dataclass(frozen=True)
class Sum(Generic[S]):
    """Slopes that are added, in this order."""

    parts: tuple[Slope[S], ...]


@dataclass(frozen=True)
class Product(Generic[S]):
    """A slope times a scalar, or times a tensor that holds one scalar, or times an integer."""

    slope: Slope[S]
    factor: S | int


Slope: TypeAlias = int | S | Sum[S] | Product[S]


@dataclass(frozen=True)
class Multiple(Generic[S]):
    """factor * the scalar; None: 1, and wherever the factor is 0."""

    factor: int
    scalar: S | None = None


def added(*slopes: Slope[S]) -> Slope[S]:
    """Their sum."""
    parts = [slope for slope in slopes if not isinstance(slope, int) or slope]
    if all(isinstance(part, int) for part in parts):
        return sum(part for part in parts if isinstance(part, int))
    return parts[0] if len(parts) == 1 else Sum(tuple(parts))


def times(slope: Slope[S], factor: S | int) -> Slope[S]:
    """Their product."""
    if isinstance(slope, int) and isinstance(factor, int):
        return slope * factor
    if 0 in (slope, factor):
        return 0
    return Product(slope, factor)


def of_result(op: Operation, slopes: Sequence[Slope[S]], scalar: Callable[[int], S | int | None],
              wraps: bool = False) -> Slope[S] | None:
    """The slope of what a pure operation makes of operands with these slopes; None where it has no single
    one. scalar: what an operand is, by its place, where all its elements are one; wraps: may sums and
    products be other numbers than those of integers?"""
    if slopes.count(0) == len(slopes):
        return 0
    if wraps:
        return None
    if op.has("sum"):
        return added(*slopes)
    if op.has("difference"):
        return added(slopes[0], times(slopes[1], -1))
    if op.has("times") and 0 in slopes:
        rests = slopes.index(0)
        factor = scalar(rests)
        return None if factor is None else times(slopes[1 - rests], factor)
    return None


# --- as numbers, and as text --------------------------------------------------------------------------------


def constant(value: Value) -> int | None:
    """The value of every element, where it is known."""
    facts = axis_facts(value)
    return None if facts is None else facts.constant


def number(slope: Slope[S] | None) -> int | None:
    """The integer that a slope is; None where it is none, or unknown."""
    if slope is None or isinstance(slope, int):
        return slope
    found = multiple_of(slope)
    return found.factor if found is not None and found.scalar is None else None


@question
def multiple_of(slope: Slope[S]) -> Asking[Multiple[S] | None]:
    """A slope as factor * scalar; None where it is more than that. A value of the IR is the innermost: the
    one behind splats and extensions."""
    if isinstance(slope, int):
        return Multiple(slope)
    if isinstance(slope, Sum):
        total: Multiple[S] = Multiple(0)
        for part in slope.parts:
            found: Multiple[S] | None = yield (part,)
            if found is None or (total.factor and found.factor and found.scalar is not total.scalar):
                return None
            total = _multiple(total.factor + found.factor, found.scalar if found.factor else total.scalar)
        return total
    if isinstance(slope, Product):
        x: Multiple[S] | None = yield (slope.slope,)
        y: Multiple[S] | None = yield (slope.factor,)
        if x is None or y is None or (x.scalar is not None and y.scalar is not None):
            return None
        return _multiple(x.factor * y.factor, y.scalar if x.scalar is None else x.scalar)
    if not isinstance(slope, Value):
        return Multiple(1, slope)
    known = constant(slope)
    if known is not None:
        return Multiple(known)
    op = slope.defining_op
    if op is not None and (op.has("view") or op.has("widens")):
        return (yield (op.operands[0],))
    return Multiple(1, slope)


def _multiple(factor: int, scalar: S | None) -> Multiple[S]:
    return Multiple(factor, scalar if factor else None)


def text(slope: Slope[Value], depth: int = 6) -> str:
    """For people; what is deeper than that is left out."""
    if isinstance(slope, Value):
        return f"%{slope.name}"
    if isinstance(slope, int) or not depth:
        return str(slope) if isinstance(slope, int) else "..."
    if isinstance(slope, Product):
        return f"{text(slope.slope, depth - 1)} * {text(slope.factor, depth - 1)}"
    return "(" + " + ".join(text(part, depth - 1) for part in slope.parts) + ")"

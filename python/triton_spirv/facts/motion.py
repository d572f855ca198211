"""How a value moves: value = start + slope * mover, for each of what may move it.

    Counter(body)   the counter of the loop with this body, by one
    Round(body)     from one round of that loop to the next
    Program(axis)   from one program to the next along an axis of the grid

A motion is asked for one mover at a time (`motion(value, mover)`), and answered from how the value is made.
Slopes are symbolic: an integer, a scalar value of the program, or sums and products of
these. `number` and `product_of` say what integer, or integer times scalar, a slope is; whoever emits code
computes it in the order in which it is written.

    rows * stride + k + columns     by Counter (k): start unknown, slope 1
    k * 4 * stride                  by Counter (k): start 0, slope product(product(1, 4), stride)
    p, and p += 32 in each round    by Round: start p's first value, slope 32

All elements of a tensor move by the same slope, or the slope is unknown (None). As in Triton's own facts,
index arithmetic is taken not to wrap in its signed type. A `hint` may be wrong: for it numbers that change
their width are the same numbers, and what is read through pointers that rest rests, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..ir.model import Block, Operation, Value
from ..traversal import Asking, Known, answer, question
from .axis import axis_facts
from .uniform import is_uniform

#: Values that one question for a hint asks about, at most: addresses are short formulas.
FAR = 128


@dataclass(frozen=True)
class Sum:
    """Slopes that are added, in this order."""

    parts: tuple[Slope, ...]


@dataclass(frozen=True)
class Product:
    """A slope times a scalar, or times a tensor that holds one scalar, or times an integer."""

    slope: Slope
    factor: Value | int


Slope = int | Value | Sum | Product


@dataclass(frozen=True)
class Motion:
    """start + slope * mover. `start`: a value that the mover does not reach, behind views and extensions; 0;
    or None where it is neither. `slope`: None where it is unknown."""

    start: Value | int | None
    slope: Slope | None

    def __str__(self) -> str:
        start = "?" if self.start is None else text(self.start)
        return f"{start} + {'?' if self.slope is None else text(self.slope)}"


UNKNOWN = Motion(None, None)


def text(slope: Slope, depth: int = 6) -> str:
    """For people; what is deeper than that is left out."""
    if isinstance(slope, Value):
        return f"%{slope.name}"
    if isinstance(slope, int) or not depth:
        return str(slope) if isinstance(slope, int) else "..."
    if isinstance(slope, Product):
        return f"{text(slope.slope, depth - 1)} * {text(slope.factor, depth - 1)}"
    return "(" + " + ".join(text(part, depth - 1) for part in slope.parts) + ")"


# --- movers -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Counter:
    """The counter of an scf.for, by one; `body` is the loop's."""

    body: Block

    def reaches(self, value: Value) -> bool:
        """May it move the value?"""
        return value.block is self.body

    def of_argument(self, value: Value) -> Asking[Motion]:
        """How an argument of a block moves."""
        yield from ()
        return Motion(0, 1) if value is self.body.arguments[0] else UNKNOWN


@dataclass(frozen=True)
class Round:
    """From one round of an scf.for to the next; `body` is the loop's."""

    body: Block

    def reaches(self, value: Value) -> bool:
        return value.block is self.body

    def of_argument(self, value: Value) -> Asking[Motion]:
        yield from ()
        loop = self.body.parent.parent
        assert loop is not None and value.index is not None
        if value.index == 0:
            return Motion(loop.operands[0], loop.operands[2])
        chain = added_each_round(loop, value.index - 1)
        if chain is None:
            return UNKNOWN
        return Motion(loop.operands[value.index + 2], added(*chain))


@dataclass(frozen=True)
class Program:
    """From one program to the next along an axis of the grid, "x", "y" or "z", in the same round of all
    loops."""

    axis: str

    def reaches(self, value: Value) -> bool:
        return True

    def of_argument(self, value: Value) -> Asking[Motion]:
        region = value.block.parent if value.block is not None else None
        around = None if region is None else region.parent
        if around is not None and around.name == "tt.func":
            return Motion(value, 0)
        if around is None or around.name != "scf.for":
            return UNKNOWN
        assert value.index is not None
        before = yield (around.operands[0 if value.index == 0 else value.index + 2],)
        return Motion(None, before.slope)


Mover = Counter | Round | Program


# --- the analysis -------------------------------------------------------------------------------------------


def motion(value: Value, mover: Mover, hint: bool = False,
           source: Callable[[Operation], Motion | None] | None = None) -> Motion:
    """How the mover moves a value. `source`: what the asker knows of the results of operations."""
    known: Known = {}
    uniform: dict[Value, bool] = {}

    def rule(value: Value) -> Asking[Motion]:
        if not mover.reaches(value):
            return Motion(value, 0)
        if hint and len(known) > FAR:
            return UNKNOWN
        op = value.defining_op
        if op is None:
            return (yield from mover.of_argument(value))
        if op.name == "tt.get_program_id" and mover == Program(op.attributes["axis"]):
            return Motion(0, 1)
        found = None if source is None else source(op)
        if found is not None:
            return found
        if not (op.is_pure or (hint and op.has("reads"))):
            return UNKNOWN
        if op.has("view") or op.has("widens") or (hint and op.has("resizes")):
            return (yield (op.operands[0],))
        parts: list[Motion] = []
        for operand in op.operands:
            parts.append((yield (operand,)))
        return _combined(op, parts, uniform)

    return answer(rule, value, known=known)


def _combined(op: Operation, parts: list[Motion], uniform: dict[Value, bool]) -> Motion:
    """Of the result of an operation whose operands move so."""
    known = [part.slope for part in parts if part.slope is not None]
    if len(known) < len(parts):
        return UNKNOWN
    if op.has("sum"):
        return Motion(_start(*(part.start for part in parts)), added(*known))
    if op.name == "arith.subi":
        start = parts[0].start if parts[1].start == 0 else None
        return Motion(start, added(known[0], times(known[1], -1)))
    if op.name == "arith.muli" and 0 in known:
        rests = known.index(0)
        slope, factor = known[1 - rests], op.operands[rests]
        if slope == 0 or is_uniform(factor, uniform):
            return Motion(0 if parts[1 - rests].start == 0 else None, times(slope, factor))
    return Motion(None, 0) if all(slope == 0 for slope in known) else UNKNOWN


def _start(*starts: Value | int | None) -> Value | int | None:
    """Of a sum; None where it is more than one value."""
    others = [start for start in starts if start != 0 or isinstance(start, Value)]
    return 0 if not others else others[0] if len(others) == 1 else None


def added(*slopes: Slope) -> Slope:
    """Their sum."""
    parts = [slope for slope in slopes if isinstance(slope, Value) or slope != 0]
    if all(isinstance(part, int) for part in parts):
        return sum(part for part in parts if isinstance(part, int))
    return parts[0] if len(parts) == 1 else Sum(tuple(parts))


def times(slope: Slope, factor: Value | int) -> Slope:
    """Their product."""
    if isinstance(factor, int) and isinstance(slope, int):
        return slope * factor
    return 0 if slope == 0 else Product(slope, factor)


def added_each_round(loop: Operation, index: int) -> list[Value] | None:
    """The uniform values that a round adds to iter_arg `index` of an scf.for, first to last.

    None where it does anything else to it. The yielded value must be a chain of sums that starts at the
    iter_arg.
    """
    body = loop.regions[0].entry
    known: dict[Value, bool] = {}
    value, steps = body.terminator.operands[index], list[Value]()
    while value is not body.arguments[1 + index]:
        op = value.defining_op
        if op is None or op.parent is not body or not op.has("sum"):
            return None
        first, second = op.operands
        if op.name == "arith.addi" and is_uniform(first, known):
            first, second = second, first
        if not is_uniform(second, known):
            return None
        steps.append(second)
        value = first
    return steps[::-1]


# --- slopes as numbers --------------------------------------------------------------------------------------


def constant(value: Value) -> int | None:
    """The value of every element, where it is known."""
    facts = axis_facts(value)
    return None if facts is None else facts.constant


def number(slope: Slope | None) -> int | None:
    """The integer that a slope is; None where it is none, or unknown."""
    found = None if slope is None else product_of(slope)
    return found[0] if found is not None and found[1] is None else None


@question
def product_of(slope: Slope) -> Asking[tuple[int, Value | None] | None]:
    """A slope as factor * scalar (None: 1); None where it is more than that. The scalar is the innermost:
    behind splats and extensions."""
    if isinstance(slope, int):
        return slope, None
    if isinstance(slope, Sum):
        total, scalar = 0, None
        for part in slope.parts:
            found = yield (part,)
            if found is None or (total and found[0] and found[1] is not scalar):
                return None
            scalar = found[1] if found[0] else scalar
            total += found[0]
        return total, scalar if total else None
    if isinstance(slope, Product):
        return _product((yield (slope.slope,)), (yield (slope.factor,)))
    known = constant(slope)
    if known is not None:
        return known, None
    op = slope.defining_op
    if op is not None and (op.has("view") or op.has("widens")):
        return (yield (op.operands[0],))
    return 1, slope


def _product(x: tuple[int, Value | None] | None,
             y: tuple[int, Value | None] | None) -> tuple[int, Value | None] | None:
    if x is None or y is None or (x[1] is not None and y[1] is not None):
        return None
    factor = x[0] * y[0]
    return factor, (y[1] if x[1] is None else x[1]) if factor else None

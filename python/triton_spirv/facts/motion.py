"""How a value moves: value = start + slope * mover, for each of what may move it.

    Counter(body)   the counter of the loop with this body, by one
    Round(body)     from one round of that loop to the next
    Program(axis)   from one program to the next along an axis of the grid
    Element(dim)    from one element of a tensor to the next along a dimension

A motion is asked for one mover at a time (`motion(value, mover)`), and answered from how the value is made.
Slopes are symbolic (slopes.py). What lowering has bound tensors to moves from element to element, too:
lower/addresses/element_motion.py.

    rows * stride + k + columns     by Counter (k): start unknown, slope 1
    k * 4 * stride                  by Counter (k): start 0, slope product(product(1, 4), stride)
    p, and p += 32 in each round    by Round: start p's first value, slope 32

All elements of a tensor move by the same slope, or the slope is unknown (None). As in Triton's own facts,
index arithmetic is taken not to wrap in its signed type. A `hint` may be wrong: for it numbers that change
their width are the same numbers, and what is read through pointers that rest rests, too.
"""

from __future__ import annotations

from collections.abc import Callable

from ..dataclass import dataclass
from ..ir.model import Block, Operation, TensorType, Value
from ..traversal import Asking, Known, answer
from .slopes import Slope, added, of_result, text
from .uniform import is_uniform
from .views import source_dims

#: Values that one question for a hint asks about, at most: addresses are short formulas.
FAR = 128


@dataclass(frozen=True)
class Motion:
    """start + slope * mover. `start`: a value that the mover does not reach, behind views and extensions; 0;
    or None where it is neither. `slope`: None where it is unknown."""

    start: Value | int | None
    slope: Slope[Value] | None

    def __str__(self) -> str:
        start = "?" if self.start is None else text(self.start)
        return f"{start} + {'?' if self.slope is None else text(self.slope)}"


UNKNOWN = Motion(None, None)


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
    loops. Of what a loop carries it is that of its first value: rounds are taken to add the same in each
    program. What asks only fetches ahead by it, so that a number is never wrong for it."""

    axis: str

    def reaches(self, value: Value) -> bool:
        return True

    def of_argument(self, value: Value) -> Asking[Motion]:
        region = value.block.parent if value.block is not None else None
        around = None if region is None else region.parent
        if around is not None and around.has("function"):
            return Motion(value, 0)
        if around is None or not around.has("counts"):
            return UNKNOWN
        assert value.index is not None
        before = yield (around.operands[0 if value.index == 0 else value.index + 2],)
        return Motion(None, before.slope)


@dataclass(frozen=True)
class Element:
    """From one element of a tensor to the next along a dimension. (Ranges have 32 bits, and narrower numbers
    that are made of them are not followed: sums do not wrap.)"""

    dim: int

    def reaches(self, value: Value) -> bool:
        return isinstance(value.type, TensorType)

    def of_argument(self, value: Value) -> Asking[Motion]:
        region = value.block.parent if value.block is not None else None
        loop = None if region is None else region.parent
        if loop is None or not loop.has("counts") or added_each_round(loop, value.index - 1) is None:
            return UNKNOWN
        before = yield loop.operands[value.index + 2], self
        return Motion(None, before.slope)

    def of_result(self, op: Operation, uniform: dict[Value, bool]) -> Asking[Motion | None]:
        """How the result of a pure operation moves, where that does not follow from how all operands do."""
        if is_uniform(op.results[0], uniform):
            return Motion(op.results[0], 0)
        if op.has("enumerates"):
            return Motion(None if op.attributes["start"] else 0, 1)
        if not op.has("view"):
            return None if op.has("elementwise") else UNKNOWN
        dims = source_dims(op)
        if dims is None:
            return UNKNOWN
        dim = dims[self.dim]
        return Motion(op.results[0], 0) if dim is None else (yield op.operands[0], Element(dim))


Mover = Counter | Round | Program | Element


# --- the analysis -------------------------------------------------------------------------------------------


def motion(value: Value, mover: Mover, hint: bool = False,
           source: Callable[[Operation], Motion | None] | None = None) -> Motion:
    """How the mover moves a value. `source`: what the asker knows of the results of operations."""
    known: Known = {}
    uniform: dict[Value, bool] = {}

    def rule(value: Value, mover: Mover = mover) -> Asking[Motion]:  # it is asked, too, where views change it
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
        by: tuple[Element, ...] = ()
        if isinstance(mover, Element):
            by, found = (mover,), (yield from mover.of_result(op, uniform))
            if found is not None:
                return found
        elif op.has("view"):
            return (yield (op.operands[0],))
        if op.has("widens") or (hint and op.has("resizes")):
            return (yield op.operands[0], *by)
        parts: list[Motion] = []
        for operand in op.operands:
            parts.append((yield operand, *by))
        return _combined(op, parts, uniform)

    return answer(rule, value, known=known)


def _combined(op: Operation, parts: list[Motion], uniform: dict[Value, bool]) -> Motion:
    """Of the result of an operation whose operands move so."""

    def scalar(place: int) -> Value | None:
        operand = op.operands[place]
        return operand if parts[1 - place].slope == 0 or is_uniform(operand, uniform) else None

    slopes = [part.slope for part in parts if part.slope is not None]
    slope = of_result(op, slopes, scalar) if len(slopes) == len(parts) else None
    if slope is None:
        return UNKNOWN
    start: Value | int | None = None
    if op.has("sum"):
        start = _start(*(part.start for part in parts))
    elif op.has("difference"):
        start = parts[0].start if parts[1].start == 0 else None
    elif op.has("times"):
        start = 0 if parts[1 - slopes.index(0)].start == 0 else None
    return Motion(start, slope)


def _start(*starts: Value | int | None) -> Value | int | None:
    """Of a sum; None where it is more than one value."""
    others = [start for start in starts if start != 0 or isinstance(start, Value)]
    return 0 if not others else others[0] if len(others) == 1 else None


def added_each_round(loop: Operation, index: int, uniform: bool = True) -> list[Value] | None:
    """The values that a round adds to iter_arg `index` of an scf.for, first to last; `uniform`: tensors hold
    one value each.

    None where it does anything else to it. The yielded value must be a chain of sums that starts at the
    iter_arg.
    """
    body = loop.regions[0].entry

    def rule(value: Value) -> Asking[list[Value] | None]:
        if value is body.arguments[1 + index]:
            return []
        op = value.defining_op
        if op is None or op.parent is not body or not op.has("sum"):
            return None
        first, second = op.operands
        before = yield (first,)
        if before is None and op.name == "arith.addi":
            before, second = (yield (second,)), first
        return None if before is None else [*before, second]

    steps = answer(rule, body.terminator.operands[index])
    known: dict[Value, bool] = {}
    return None if steps is None or (uniform and not all(is_uniform(x, known) for x in steps)) else steps

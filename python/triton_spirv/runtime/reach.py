"""Which bytes behind a pointer a launch may reach: the formulas of facts/reach.py, computed in intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..artifact import Artifact

#: the least and the greatest value; None: it may be anything. Where the least is greater, there is no value.
Interval = tuple[int, int] | None

#: Parts of allocations are copied where the whole has so many bytes: below it takes longer to compute which.
LEAST_BYTES = 1 << 18

NONE = (1, 0)


class Reach:
    """Of one launch: its numbers, and its grid."""

    def __init__(self, nodes: Sequence[Sequence[Any]], accesses: Sequence[Any], arguments: Sequence[object],
                 grid: tuple[int, int, int]) -> None:
        self._nodes, self._accesses = nodes, accesses
        self._arguments, self._grid = arguments, grid

    @cached_property
    def _intervals(self) -> list[Interval]:
        found: list[Interval] = []
        for name, *parts in self._nodes:
            found.append(RULES[name](self, found, *parts))
        return found

    def number(self, index: int) -> Interval:
        """An argument."""
        value = self._arguments[index]
        return (int(value), int(value)) if isinstance(value, int) else None

    def programs(self, axis: int) -> int:
        """Of the grid, along an axis."""
        return self._grid[axis]

    def bytes(self, index: int) -> tuple[int, int] | None:
        """From the pointer on: where what may be reached begins and ends, 0 and 0 where nothing is; None
        where it is not known."""
        rows = self._accesses[index] if index < len(self._accesses) else None
        if rows is None:
            return None
        begins, ends = [], []
        for node, size in rows:
            interval = self._intervals[node]
            if interval is None:
                return None
            if interval[0] <= interval[1]:
                begins.append(interval[0] * size)
                ends.append((interval[1] + 1) * size)
        return (min(begins), max(ends)) if begins else (0, 0)

    def part(self, index: int, pointer: int, whole: tuple[int, int], alignment: int) -> tuple[int, int]:
        """Of an allocation (address, bytes) what may be reached through a pointer into it, and what that
        points to, in whole lines of `alignment` bytes, which devices may read as such. (Drivers find the
        memory that a kernel uses by its arguments.)"""
        known = self.bytes(index) if whole[1] >= LEAST_BYTES else None
        if known is None:
            return whole
        low, high = pointer + min(known[0], 0), pointer + max(known[1], 1)
        begin = max(whole[0], low // alignment * alignment)
        return begin, max(0, min(whole[0] + whole[1], -(-high // alignment) * alignment) - begin)


def reach_of(artifact: Artifact, numbers: Sequence[object], grid: Sequence[int]) -> Reach:
    """Of a launch of the kernel; numbers: its arguments, None for those that are memory."""
    nodes, accesses = artifact.reach or ((), ())
    x, y, z = grid
    return Reach(nodes, accesses, numbers, (x, y, z))


def _within(low: int, high: int, bits: int) -> Interval:
    """The interval, where no value of it wraps."""
    return (low, high) if -(1 << bits - 1) <= low and high < 1 << bits - 1 else None


def _binary(corners: Callable[[int, int], int]) -> Callable[..., Interval]:
    """Of an operation that has its extremes where its operands have theirs."""
    def rule(reach: Reach, found: list[Interval], x: int, y: int, bits: int) -> Interval:
        a, b = found[x], found[y]
        if a is None or b is None:
            return None
        if a[0] > a[1] or b[0] > b[1]:
            return NONE
        values = [corners(p, q) for p in a for q in b]
        return _within(min(values), max(values), bits)
    return rule


def _quotient(signed: bool) -> Callable[..., Interval]:
    def rule(reach: Reach, found: list[Interval], x: int, y: int, bits: int) -> Interval:
        a, b = found[x], found[y]
        if a is None or b is None or b[0] <= 0 or (a[0] < 0 and not signed):
            return None
        if a[0] > a[1] or b[0] > b[1]:
            return NONE
        values = [abs(p) // q * (1 if p >= 0 else -1) for p in a for q in b]
        return min(values), max(values)
    return rule


def _remainder(signed: bool) -> Callable[..., Interval]:
    def rule(reach: Reach, found: list[Interval], x: int, y: int, bits: int) -> Interval:
        a, b = found[x], found[y]
        if a is None or b is None or b[0] <= 0 or (a[0] < 0 and not signed):
            return None
        if 0 <= a[0] and a[1] < b[0]:
            return a
        return (-(b[1] - 1) if a[0] < 0 else 0), b[1] - 1
    return rule


def _and(reach: Reach, found: list[Interval], x: int, y: int, bits: int) -> Interval:
    natural = [each[1] for each in (found[x], found[y]) if each is not None and each[0] >= 0]
    return (0, min(natural)) if natural else None


def _shift(reach: Reach, found: list[Interval], x: int, y: int, bits: int) -> Interval:
    a, b = found[x], found[y]
    if a is None or b is None or not 0 <= b[0] <= b[1] < bits:  # nor where there is none
        return None
    values = [p << q for p in a for q in b]
    return NONE if a[0] > a[1] else _within(min(values), max(values), bits)


def _limit(below: bool) -> Callable[..., Interval]:
    def rule(reach: Reach, found: list[Interval], x: int, bound: int, least: int) -> Interval:
        a, b = found[x], found[bound]
        if b is None or a is None:
            return a
        return (a[0], min(a[1], b[1] - least)) if below else (max(a[0], b[0] + least), a[1])
    return rule


def _turn(reach: Reach, found: list[Interval], lower: int, upper: int) -> Interval:
    a, b = found[lower], found[upper]
    return None if a is None or b is None else (a[0], b[1] - 1)


def _rounds(reach: Reach, found: list[Interval], lower: int, upper: int, step: int, less: int) -> Interval:
    a, b, c = found[lower], found[upper], found[step]
    if a is None or b is None or c is None or c[0] <= 0:
        return None
    return 0, max(0, -(-(b[1] - a[0]) // c[0])) - less


def _fits(natural: bool) -> Callable[..., Interval]:
    def rule(reach: Reach, found: list[Interval], x: int, bits: int) -> Interval:
        a = found[x]
        return None if a is None or (natural and a[0] < 0) else _within(*a, bits)
    return rule


RULES: dict[str, Callable[..., Interval]] = {
    "values": lambda reach, found, low, high: (low, high),
    "argument": lambda reach, found, index: reach.number(index),
    "program_id": lambda reach, found, axis: (0, reach.programs(axis) - 1),
    "num_programs": lambda reach, found, axis: (reach.programs(axis),) * 2,
    "add": _binary(lambda a, b: a + b), "sub": _binary(lambda a, b: a - b),
    "mul": _binary(lambda a, b: a * b), "min": _binary(min), "max": _binary(max),
    "div": _quotient(True), "udiv": _quotient(False), "rem": _remainder(True), "urem": _remainder(False),
    "and": _and, "shl": _shift, "below": _limit(True), "above": _limit(False), "turn": _turn,
    "rounds": _rounds, "fits": _fits(False), "natural": _fits(True),
}

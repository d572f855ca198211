"""Places in shared memory: byte ranges that live as long as something may read them.

Lowering goes through a program from top to bottom, so a range is taken when its buffer is first written and
given back behind the last operation that may read it: what follows may use the same bytes. A buffer that is
used inside a loop and made outside lives until the loop ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...dataclass import dataclass
from ...ir.model import MemDescType, Operation, Value


@dataclass(frozen=True)
class Range:
    """Bytes from `start` up to `end`."""

    start: int
    end: int

    def overlaps(self, other: Range) -> bool:
        """Do they share a byte?"""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class Turn(Range):
    """One of two copies that a loop uses in turn: the one for this round, or (`ahead`) for the next. `number`
    tells one pair from another."""

    number: int = 0
    ahead: bool = False

    def overlaps(self, other: Range) -> bool:
        """Two copies of one pair never do."""
        if isinstance(other, Turn) and other.number == self.number:
            return self.ahead == other.ahead
        return super().overlaps(other)


@dataclass(frozen=True)
class Apart(Range):
    """Bytes of which each warp uses a part of its own, `part` bytes each."""

    part: int = 0


class Arena:
    """Ranges in use, and the most bytes that ever were; every range starts at a multiple of `alignment`."""

    def __init__(self, alignment: int) -> None:
        self.alignment = alignment
        self.high = 0
        self._taken: list[Range] = []

    @property
    def in_use(self) -> int:
        """The end of the last range that is taken."""
        return max((taken.end for taken in self._taken), default=0)

    def take(self, size: int, after: int = 0, limit: int = 0) -> Range:
        """The first free range of `size` bytes from byte `after` on, if it ends by `limit`; else the first of
        all.
        """
        made = self.find(size, after, limit)
        self._taken.append(made)
        self.high = max(self.high, made.end)
        return made

    def find(self, size: int, after: int = 0, limit: int = 0) -> Range:
        """The range that `take` would take."""
        made = self._first(size, after)
        return made if made.end <= limit else self._first(size, 0)

    def _first(self, size: int, after: int) -> Range:
        start = -(-after // self.alignment) * self.alignment
        for taken in sorted(self._taken, key=lambda taken: taken.start):
            if start + size <= taken.start:
                break
            start = max(start, -(-taken.end // self.alignment) * self.alignment)
        return Range(start, start + size)

    def give_back(self, taken: Range) -> None:
        """The range may be taken again."""
        self._taken.remove(taken)


def last_use(value: Value, passes_on: Callable[[Operation], bool]) -> Operation | None:
    """The operation of the value's own block behind which nothing reads what `value` stands for; None:
    another block does.

    `passes_on(op)`: may the results of a user of the value still read it later (a view, or an operation that
    is not evaluated where it stands)? Buffers that leave a region or enter one are followed.
    """
    home = value.defining_op
    assert home is not None and home.parent is not None
    last = home
    order = {op: i for i, op in enumerate(home.parent.operations)}
    pending, seen = [value], {value}

    def follow(values: Iterable[Value]) -> None:
        for found in values:
            if found not in seen:
                seen.add(found)
                pending.append(found)

    while pending:
        for user, _ in pending.pop().uses:
            around = _ancestor(user, order)
            if around is None:
                return None
            if order[around] > order[last]:
                last = around
            if passes_on(user):
                follow(user.results)
            inside = [argument for region in user.regions for argument in region.entry.arguments]
            owner = _left_by(user)
            outside = owner.results if owner is not None else []
            follow([x for x in (*user.results, *inside, *outside) if isinstance(x.type, MemDescType)])
    return last


def _left_by(op: Operation) -> Operation | None:
    """The operation whose region `op` ends, which takes its operands for results; None for any other `op`."""
    if op.results or op.parent is None or op is not op.parent.terminator or op.parent.parent is None:
        return None
    return op.parent.parent.parent


def _ancestor(op: Operation, order: dict[Operation, int]) -> Operation | None:
    """The operation of the block of `order` that is `op` or has it inside."""
    found: Operation | None = op
    while found is not None and found not in order:
        region = found.parent.parent if found.parent is not None else None
        found = region.parent if region is not None else None
    return found

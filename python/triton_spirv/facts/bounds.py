"""A mask as a conjunction of comparisons: what has to hold of an element for its mask to be true.

    m = (rows < M)[:, None] & (columns[None, :] < N)

is two parts: `rows < M` below a broadcast and an expand_dims, and `columns[None, :] < N` below a broadcast.
Masks are taken apart here only, whether they are values of the IR or tensors that lowering knows more of:
`made` says what operation makes one of what. How the sides of a comparison move is a question for motion.py;
what may wrap is for whoever proves a comparison to see to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..dataclass import dataclass
from ..ir.model import Operation, Value
from ..traversal import Asking, answer

Answer = TypeVar("Answer")

#: What tells the operation that makes a mask, and what it is made of; None where that cannot be told.
MakerOf = Callable[[Any], tuple[Operation, Sequence[Any]] | None]


@dataclass(frozen=True)
class Part:
    """One part of a mask: `comparison` of `operands`, or a `mask` that is none. `views`: through which the
    whole mask sees it, outermost first."""

    mask: Any
    comparison: Operation | None
    operands: tuple[Any, ...]
    views: tuple[Operation, ...]

    @property
    def predicate(self) -> str:
        """slt, sge, ...; empty where it is no comparison."""
        return "" if self.comparison is None else str(self.comparison.attributes["predicate"])


def of_value(mask: Value) -> tuple[Operation, Sequence[Value]] | None:
    """A value of the IR is made by its operation."""
    return None if mask.defining_op is None else (mask.defining_op, mask.defining_op.operands)


def folded(mask: Any, part: Callable[[Part], Answer], both: Callable[[Answer, Answer], Answer],
           maker: MakerOf = of_value) -> Answer:
    """What `part` says of the parts of a mask, put together by `both` as the mask is."""

    def rule(mask: Any, views: tuple[Operation, ...]) -> Asking[Answer]:
        found = maker(mask)
        if found is None:
            return part(Part(mask, None, (), views))
        op, operands = found
        if op.name == "arith.andi":
            first = yield operands[0], views
            return both(first, (yield operands[1], views))
        if op.has("view"):
            return (yield operands[0], (*views, op))
        compares = op.name == "arith.cmpi"
        return part(Part(mask, op if compares else None, tuple(operands) if compares else (), views))

    return answer(rule, mask, ())


def conjunction(mask: Any, maker: MakerOf = of_value) -> list[Part]:
    """The parts that all have to hold, each once, first to last; none for no mask."""
    if mask is None:
        return []
    return folded(mask, lambda part: [part], lambda x, y: list(dict.fromkeys(x + y)), maker)


def keeps_dims(part: Part) -> bool:
    """Are the dimensions of a part those of the whole mask?"""
    return all(view.has("keeps_dims") for view in part.views)

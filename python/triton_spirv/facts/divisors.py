"""What divides the elements of a tensor of integers where aligned blocks of it begin.

The facts along dimensions (axis.py) have one divisor for each dimension, of groups whose length they choose.
Here the length is the asker's, and it is found from what the value is made of: a product of an index and a
stride is divisible by more at every sixteenth index than at each.
"""

from __future__ import annotations

from ..ir.model import Value, shape_of
from ..traversal import Asking, question
from .axis import axis_facts
from .axis_info import LARGEST
from .views import source_dims


@question
def divisor(value: Value, lengths: tuple[int, ...]) -> Asking[int]:
    """A power of two that divides the elements of a tensor of integers at multiples of `lengths`."""
    facts = axis_facts(value)
    best = 1 if facts is None else max(
        facts.divisor(d, lengths[d] if d < len(lengths) else 1) for d in range(facts.rank))
    op = value.defining_op
    if op is None:
        return best
    found, dims = 1, source_dims(op)
    if dims is not None:
        kept = {source: lengths[d] for d, source in enumerate(dims) if source is not None}
        found = yield op.src, tuple(kept.get(d, 1) for d in range(len(shape_of(op.src.type))))
    elif op.has("widens"):
        found = yield op.operands[0], lengths
    elif op.has("times"):
        left, right = (yield op.lhs, lengths), (yield op.rhs, lengths)
        found = left * right
    elif op.has("sum") or op.has("difference"):
        left, right = (yield op.operands[0], lengths), (yield op.operands[1], lengths)
        found = min(left, right)
    return min(max(best, found), LARGEST)


def pointer_divisor(value: Value, lengths: tuple[int, ...], size: int) -> tuple[int, Value | None]:
    """What divides the distance in bytes from the returned pointer to the first elements of aligned blocks of
    `lengths`; that pointer.
    """
    apart = LARGEST
    while (op := value.defining_op) is not None:
        if not (op.has("splats") or op.has("keeps_dims") or op.has("sum")):
            return 1, None
        if op.has("offsets"):
            apart = min(apart, divisor(op.offset, lengths) * size)
        value = op.operands[0]
    return apart, value

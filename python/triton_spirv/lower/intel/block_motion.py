"""How a loop moves a block over a matrix: along one dimension, by the same number of elements each time.

Then the block's surface can stay where it is, and only a coordinate moves. The masks must stay where they
are, too: `k < K - i * 32` on columns that move by 32 in each iteration i is the edge K of a surface that
rests.
"""

from __future__ import annotations

from ...dataclass import dataclass
from ...facts.axis import axis_facts
from ...facts.bounds import Part, conjunction, keeps_dims
from ...facts.motion import Counter, motion
from ...facts.slopes import added, constant, multiple_of, number
from ...ir.model import Block, Operation, Value
from ..values.types import shape_of


@dataclass(frozen=True)
class Bound:
    """Elements whose index along `dim` is below `limit` are inside. `index` is that index, a tensor of one or
    two dimensions, of which it varies along `own`.
    """

    dim: int
    index: Value
    own: int
    limit: Value
    slope: int


def bounds(mask: Value | None, body: Block) -> list[Bound] | None:
    """A mask as bounds that depend on the loop's counter only; None where it is more than that."""
    found = [_bound(part, body) for part in conjunction(mask)]
    return None if None in found else list(dict.fromkeys(filter(None, found)))


def _bound(part: Part, body: Block) -> Bound | None:
    if part.predicate != "slt" or not keeps_dims(part):
        return None
    index, limit = part.operands
    shape = index.type.shape
    moving = [d for d, size in enumerate(shape) if size > 1]
    at, end = motion(index, Counter(body)), motion(limit, Counter(body))
    from_index, from_limit = number(at.slope), number(end.slope)
    if len(shape) != 2 or len(moving) != 1 or from_index is None or from_limit is None:
        return None
    if not isinstance(at.start, Value) or not isinstance(end.start, Value):
        return None
    facts = axis_facts(index)
    if facts is None or facts.contiguity[moving[0]] < shape[moving[0]]:
        return None
    own = [d for d, size in enumerate(shape_of(at.start.type)) if size > 1]
    if len(own) != 1:
        return None
    return Bound(moving[0], at.start, own[0], end.start, from_limit - from_index)


def counter_step(loop: Operation) -> int | None:
    """What is added to the counter of a loop that begins at 0; None of any other."""
    return constant(loop.step) if constant(loop.lower) == 0 else None


def step_of(values: list[Value], pitch: int, parameter: Value | None) -> tuple[bool, int] | None:
    """What is added to pointers in an iteration, as (along the rows' distance?, elements); pitch: that
    distance as a number, or a factor of the kernel's `parameter`.
    """
    found = multiple_of(added(*values))
    if found is None:
        return None
    factor, scalar = found.factor, found.scalar
    if scalar is None:
        rows = parameter is None and abs(factor) >= abs(pitch) > 0 and factor % pitch == 0
        return (True, factor // pitch) if rows else (False, factor)
    op = scalar.defining_op
    if op is not None and op.has("times"):  # the parameter times a number, computed before the loop
        for x, y in (op.operands, op.operands[::-1]):
            inner, known = multiple_of(x), constant(y)
            if inner is not None and known is not None:
                factor, scalar = factor * inner.factor * known, inner.scalar
                break
    return (True, factor // pitch) if scalar is parameter and factor % pitch == 0 else None

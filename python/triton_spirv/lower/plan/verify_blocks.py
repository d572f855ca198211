"""Do the 2D block messages of an access move what it asks for, and nothing else?

Asked of the kernel's operations and the plan's record alone:

    the blocks       are all elements that a sub-group has of the tensor, each in one block
    the edges        are along every dimension in which the mask differs
    the pitch        is long enough, or the launcher is asked for it
    the loop         moves the block as the record says, and the mask so that the edge of a surface that rests
                     stays where it is
"""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.axis import axis_facts
from ...facts.bounds import Part, conjunction, keeps_dims
from ...facts.motion import Round, added_each_round, motion
from ...facts.slopes import constant, number
from ...ir.model import Operation
from ...layout import Elimination, Layout
from .accesses import Access, Blocks
from .addresses import Addresses, multiple_of, sum_of
from .records import Node, Plan, Turns, Versions, Walk
from .records import Region as Inner
from .text import called

#: Bytes that rows of a surface must at least be apart.
LEAST_PITCH = 128


def wrong_blocks(plan: Plan) -> list[str]:
    """What does not hold."""
    return list(_of(plan.body, (), Addresses()))


def _of(nodes: tuple[Node, ...], around: tuple[Operation, ...], addresses: Addresses) -> Iterator[str]:
    """What does not hold of a body; `around`: the operations whose regions it stands in."""
    for node in nodes:
        if isinstance(node, Access) and node.blocks is not None and node.layout is not None:
            wrong = _wrong(node.operation, node.layout, node.blocks, around, addresses)
            if wrong is not None:
                yield f"the blocks of {called(node.operation)} {wrong}"
        elif isinstance(node, (Walk, Turns)):
            yield from _of(node.body, around, addresses)
        elif isinstance(node, (Versions, Inner)):
            inner = (*around, node.operation) if isinstance(node, Inner) else around
            for arm in node.arms:
                yield from _of(arm.body, inner, addresses)


def _wrong(op: Operation, layout: Layout, blocks: Blocks, around: tuple[Operation, ...],
           addresses: Addresses) -> str | None:
    message = blocks.message
    if not _are_elements(layout, blocks):
        return "are not the elements that it asks for"
    for part in conjunction(op.mask):
        missing = [dim for dim in _differs(part) if dim not in blocks.edges]
        if missing:
            return f"have no edge along dimension {missing[0]}, where its mask has"
    strides = addresses.strides(op.ptr)
    pitch = None if strides is None else strides[message.down]
    if isinstance(pitch, int) and pitch * message.bytes < LEAST_PITCH:
        return f"lie in rows of {pitch * message.bytes} bytes"
    if pitch is not None and not isinstance(pitch, int) and not any(each.factor for each in blocks.requires):
        return "lie in rows whose distance nobody is asked for"
    if blocks.surface not in ("moving", "resting"):
        return None
    loop = op.parent_op
    if loop is None or not loop.has("counts") or loop not in around or op.ptr.owner is not op.parent:
        return "are moved by no loop"
    steps = added_each_round(loop, op.ptr.index - 1)
    if steps is None:
        return "are moved by a loop that does anything else with its pointers"
    if blocks.surface == "moving":
        return None
    if blocks.moves is None:
        return "do not move"
    dim, count = blocks.moves
    along = 1 if dim == message.across else pitch
    if along is not None and multiple_of(along, count) != sum_of([addresses.scalar(step) for step in steps]):
        return f"do not move by {count} along dimension {dim} in each round"
    for part in conjunction(op.mask):
        moved = _moved(part, op)
        if moved is not None and moved != (-count if _differs(part) == [dim] else 0):
            return "have an edge that does not rest"
    return None


def _are_elements(layout: Layout, blocks: Blocks) -> bool:
    """Are the blocks what one sub-group holds of the tensor, and nothing twice?"""
    message, starts = blocks.message, blocks.starts
    width = message.width * message.count
    (down, _), (across, _) = (layout.dim_bits[dim] for dim in (message.down, message.across))
    inside = [size << down for size in _powers(message.height)] + [size << across for size in _powers(width)]
    bases = [*inside, *starts.register]
    space = Elimination()
    rank = sum(space.add(basis) for basis in (*layout.component, *layout.register, *layout.lane))
    return (starts.shape, starts.warp, starts.origin) == (layout.shape, layout.warp, layout.origin) and len(
        bases) == len(set(bases)) == rank and not any(space.add(basis) for basis in bases)


def _powers(size: int) -> Iterator[int]:
    return (1 << bit for bit in range(size.bit_length() - 1))


def _differs(part: Part) -> list[int]:
    """The dimensions along which a part of a mask differs; none where it is known to hold everywhere."""
    facts = axis_facts(part.mask)
    if not keeps_dims(part) or facts is None or facts.constant is not None:
        return []
    if part.predicate == "sge" and constant(part.operands[1]) == 0:
        index = axis_facts(part.operands[0])
        if index is not None and index.nonnegative:
            return []
    return [dim for dim, (size, same) in enumerate(zip(part.mask.type.shape, facts.constancy, strict=True))
            if size > 1 and same < size]


def _moved(part: Part, op: Operation) -> int | None:
    """How far a round moves the bound of a comparison against its index; None where that is no number."""
    assert op.parent is not None
    if part.predicate != "slt":
        return None
    index, bound = (number(motion(side, Round(op.parent)).slope) for side in part.operands)
    return None if index is None or bound is None else bound - index

"""Is every value computed before it is used, on each way through the blocks of a function?"""

from __future__ import annotations

from .model import Block, Operation, Region, Value


def undominated(function: Operation) -> tuple[Operation, Value] | None:
    """The first operation that uses a value which is not computed on every way to it, and that value."""
    dominators: dict[Block, int] = {}
    numbers: dict[Block, int] = {}
    order: dict[Operation, int] = {}
    for region in _regions(function):
        _number(region, dominators, numbers)
    for op in function.walk():
        order[op] = len(order)

    def before(value: Value, user: Operation) -> bool:
        home = value.owner if isinstance(value.owner, Block) else value.owner.parent
        at: Operation | None = user
        while at is not None and at.parent is not home:
            block = at.parent
            if block is None or home is None:
                return False
            if block.parent is home.parent:  # another block of the same region
                return bool(dominators[block] >> numbers[home] & 1)
            at = block.parent.parent
        if at is None:
            return False
        return isinstance(value.owner, Block) or order[value.owner] < order[at]

    for op in function.walk():
        for value in op.operands:
            if not before(value, op):
                return op, value
    return None


def _regions(function: Operation) -> list[Region]:
    return [region for op in function.walk() for region in op.regions]


def _number(region: Region, dominators: dict[Block, int], numbers: dict[Block, int]) -> None:
    """For each block the set of blocks that every way from the entry passes, as bits; a block that no way
    reaches is dominated by all."""
    blocks = region.blocks
    numbers.update((block, i) for i, block in enumerate(blocks))
    everything = (1 << len(blocks)) - 1
    dominators.update((block, everything if i else 1) for i, block in enumerate(blocks))
    changed = True
    while changed:
        changed = False
        for block in blocks:
            if not block.operations:
                continue
            for successor in block.operations[-1].successors:
                if successor.parent is not region or successor is blocks[0]:
                    continue
                known = dominators[successor] & (dominators[block] | 1 << numbers[successor])
                if known != dominators[successor]:
                    dominators[successor] = known
                    changed = True

"""Addresses that the results of products are stored to, before the loops that sum these.

    for k: total = dot(x, y, total)              out = splat(out_ptr) + offsets
    out = splat(out_ptr) + offsets       ->      for k: total = dot(x, y, total)
    store(out, total)                            store(out, total)

A block of a result is large, and hardly ever in a cache when it is stored. Products with their addresses at
hand fetch it while they compute, in the last round (lower/products/destination.py).
"""

from __future__ import annotations

from ..facts.destinations import destination
from ..ir.model import Block, Operation
from ..ir.module import Module


def early_addresses(module: Module) -> None:
    """Move pure operations up, those that follow from what is there before the loop."""
    for product in [op for op in module.walk() if op.has("product")]:
        store = destination(product)
        loop = product.parent_op
        if store is not None and loop is not None and loop.parent is not None:
            for op in _addresses(store, loop, loop.parent) or ():
                op.move_before(loop)


def _addresses(store: Operation, loop: Operation, block: Block) -> list[Operation] | None:
    """The operations behind the loop that the store's addresses are computed by, in their order; None where
    one has an effect, reads memory or needs a result of the loop."""
    behind = block.operations[block.operations.index(loop):]
    needed = {store.ptr.defining_op}
    found: list[Operation] = []
    for op in reversed(behind):
        if op in needed:
            if op is loop or not op.is_pure or op.regions or op.has("divides"):
                return None
            found.append(op)
            needed.update(operand.defining_op for operand in op.operands)
    return found[::-1]

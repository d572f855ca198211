"""Addresses that the results of products are stored to, before the loops that sum these.

    for k: total = dot(x, y, total)              out = splat(out_ptr) + offsets
    out = splat(out_ptr) + offsets       ->      for k: total = dot(x, y, total)
    store(out, total)                            store(out, total)

A block of a result is large, and hardly ever in a cache when it is stored. Products with their addresses at
hand fetch it while they compute, in the last round (lower/products/destination.py), and store it tile by tile
where its mask is at hand, too (lower/products/last_round.py).
"""

from __future__ import annotations

from ..facts.bounds import conjunction
from ..facts.destinations import destination, stored_alone
from ..ir.model import Value
from ..ir.module import Module
from .makers import makers

#: A mask of more comparisons is left where it is: computed before a loop, it would be kept in an array.
MOST = 3


def early_addresses(module: Module) -> None:
    """Move pure operations up, those that follow from what is there before the loop."""
    for product in [op for op in module.walk() if op.has("product")]:
        store, anchor = destination(product), product.parent_op
        alone = stored_alone(product)
        if store is None and alone is not None and alone.loop is None:
            store, anchor = alone.store, product
        if store is None or anchor is None or anchor.parent is None:
            continue
        for value in (store.ptr, store.mask):
            if value is not None and (value is store.ptr or _is_simple(value)):
                for op in makers([value], anchor) or ():
                    op.move_before(anchor)


def _is_simple(mask: Value) -> bool:
    """Is a mask few comparisons that all have to hold?"""
    parts = conjunction(mask)
    return len(parts) <= MOST and all(part.predicate for part in parts)

"""Where the result of a product goes: the store behind the loop that sums it."""

from __future__ import annotations

from ..ir.model import Operation, Value

#: So many values at most are followed from a loop to its store.
MOST = 32


def destination(product: Operation) -> Operation | None:
    """The store, behind the loop that a product stands in, of what the loop sums by this product, or of what
    is computed of that element by element; None if there is none, or the loop uses the sums otherwise."""
    loop, body = product.parent_op, product.parent
    if loop is None or body is None or not loop.has("counts") or len(product.results[0].uses) != 1:
        return None
    user, index = product.results[0].uses[0]
    return _stored(loop.results[index], loop) if user is body.terminator else None


def has_early_address(store: Operation, loop: Operation) -> bool:
    """Are the addresses of a store behind a loop known before it?"""
    made, block = store.ptr.defining_op, loop.parent
    if made is None or block is None or made.parent is not block:
        return True
    return block.operations.index(made) < block.operations.index(loop)


def _stored(value: Value, loop: Operation) -> Operation | None:
    """The nearest store of what is computed of a value element by element, in the block of the loop."""
    found = [value]
    for each in found:
        for user, _ in each.uses:
            if user.parent is not loop.parent:
                continue
            if user.name == "tt.store" and user.value is each:
                return user
            if user.has("elementwise") and user.results[0] not in found and len(found) < MOST:
                found.append(user.results[0])
    return None

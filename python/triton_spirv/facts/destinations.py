"""Where the result of a product goes: the store behind the loop that sums it."""

from __future__ import annotations

from ..dataclass import dataclass
from ..ir.model import Block, Operation, Value

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


@dataclass(frozen=True)
class LastRound:
    """Tiles of a product may go straight to where `store` puts them: in the last round of the loop around the
    product, behind which the store stands, or at once, if that is no loop. steps: what is computed of them on
    the way, each operation of one operand."""

    store: Operation
    loop: Operation | None
    steps: tuple[Operation, ...]


def last_round(product: Operation) -> LastRound | None:
    """That of a product; None where anything else asks for the sums, or may see, in memory, that they are
    stored early: an operation behind the product in its round, or between the loop and the store."""
    found = stored_alone(product)
    if found is None or product.parent is None:
        return None
    loop, end = found.loop, product.parent.terminator
    anchor = product if loop is None else loop
    early = _is_early(found.store.ptr, anchor) and (
        found.store.mask is None or _is_early(found.store.mask, anchor))
    quiet = _is_quiet(anchor, found.store) and (loop is None or _is_quiet(product, end))
    return found if early and quiet else None


def stored_alone(product: Operation) -> LastRound | None:
    """The store of what a product, or the loop around it, sums, if nothing else asks for it."""
    block, loop = product.parent, product.parent_op
    if block is None or loop is None or len(product.results[0].uses) != 1:
        return None
    user, index = product.results[0].uses[0]
    if user is not block.terminator:
        return _stored_alone(product.results[0], block, None)
    if loop.parent is None or not loop.has("counts"):
        return None
    if product.c is not block.arguments[index + 1] or len(product.c.uses) != 1:
        return None
    return _stored_alone(loop.results[index], loop.parent, loop)


def _stored_alone(value: Value, block: Block, loop: Operation | None) -> LastRound | None:
    steps: list[Operation] = []
    while len(value.uses) == 1 and len(steps) < MOST:
        user, _ = value.uses[0]
        if user.parent is not block:
            return None
        if _puts(user, value):
            return LastRound(user, loop, tuple(steps))
        if not user.has("elementwise") or len(user.operands) != 1:
            return None
        steps.append(user)
        value = user.results[0]
    return None


def only_store(product: Operation) -> Operation | None:
    """The store, whose mask is known before the loop around a product, or before the product, which is all
    that the sums of the product are for, element by element: what the mask leaves out is asked for by nobody.
    (None where it may be divided by: sums that nobody computes are zero.)"""
    block, loop = product.parent, product.parent_op
    if block is None or loop is None or len(product.results[0].uses) != 1:
        return None
    value, anchor = product.results[0], product
    user, index = value.uses[0]
    if user is block.terminator:
        if loop.parent is None or not loop.has("counts") or product.c is not block.arguments[index + 1] \
                or len(product.c.uses) != 1:
            return None
        value, anchor = loop.results[index], loop
    store = _only_store(value, anchor)
    return store if store is not None and store.mask is not None and _is_early(store.mask, anchor) else None


def _only_store(value: Value, anchor: Operation) -> Operation | None:
    """The one that all ways from a value lead to, in the block of an operation."""
    found, stores = [value], set()
    for each in found:
        for user, _ in each.uses:
            if user.parent is not anchor.parent or len(found) > MOST:
                return None
            if _puts(user, each) and each is not user.ptr and each is not user.mask:
                stores.add(user)
            elif user.has("elementwise") and user.is_pure and not user.has("divides"):
                found += [result for result in user.results if result not in found]
            else:
                return None
    return stores.pop() if len(stores) == 1 else None


def _puts(user: Operation, value: Value) -> bool:
    """Does an operation store the value?"""
    return user.name == "tt.store" and user.value is value


def _is_quiet(first: Operation, last: Operation) -> bool:
    """Does everything between two operations of a block leave memory alone? (Another product may read its
    operands when it stands there.)"""
    assert first.parent is not None
    operations = first.parent.operations
    between = operations[operations.index(first) + 1:operations.index(last)]
    return all(op.is_pure and not op.regions and not op.has("product") for op in between)


def has_early_address(store: Operation, loop: Operation) -> bool:
    """Are the addresses of a store behind a loop known before it?"""
    return _is_early(store.ptr, loop)


def _is_early(value: Value, anchor: Operation) -> bool:
    """Is a value known before an operation of a block?"""
    made, block = value.defining_op, anchor.parent
    if made is None or block is None or made.parent is not block:
        return True
    return block.operations.index(made) < block.operations.index(anchor)


def _stored(value: Value, loop: Operation) -> Operation | None:
    """The nearest store of what is computed of a value element by element, in the block of the loop."""
    found = [value]
    for each in found:
        for user, _ in each.uses:
            if user.parent is not loop.parent:
                continue
            if _puts(user, each):
                return user
            if user.has("elementwise") and user.results[0] not in found and len(found) < MOST:
                found.append(user.results[0])
    return None

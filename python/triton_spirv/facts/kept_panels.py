"""Which product may find its packed right operand where an earlier program of the launch left it?

    for k in range(0, K, BK):
        y = tl.load(b + k * N)         the same memory in all programs of these columns
        total = tl.dot(x, y, total)
    tl.store(c, total)                 all that is written is written behind it

What a program loads is what lay there when the launch began, unless something has written there meanwhile.
Its own stores all stand behind the loop. What other programs store it may see or not, as they run before it
or behind: they tell it nothing, since there are no atomic operations, and nothing is volatile. So elements
that another program of the launch has loaded from the same addresses are what it may load.
"""

from __future__ import annotations

from ..ir.model import Operation
from ..ir.module import Module
from .pointers import pointer_roots, written_roots


def keeping_product(kernel: Operation) -> Operation | None:
    """The only product in the loops of a kernel, if it may find its right operand so."""
    region = kernel.regions[0]
    if len(region.blocks) != 1:
        return None
    product: Operation | None = None
    writes: list[Operation] = []
    for op in kernel.walk():
        if op.has("calls") or op.has("atomic") or op.has("waits") or op.has("watches") \
                or op.attributes.get("isVolatile") or op.attributes.get("scope") \
                or op.attributes.get("pure") is False:
            return None
        if op.has("writes"):
            writes.append(op)
        if op.has("product") and op.parent_op is not None and op.parent_op.has("counts"):
            if product is not None:
                return None
            product = op
    if product is None or len(product.operands) > 3:  # it scales its operands
        return None
    load = product.b.defining_op
    if load is None or not load.has("loads") or load.parent is not product.parent \
            or len(product.b.type.shape) != 2 or len(product.b.uses) != 1:
        return None
    order = region.entry.operations
    own = order.index(_outermost(kernel, product))
    return product if all(order.index(_outermost(kernel, each)) > own for each in writes) else None


def reads_apart(module: Module, product: Operation) -> bool:
    """Is the left operand of a product loaded through arguments through which the kernel writes nothing?"""
    load = product.a.defining_op
    if load is None or not load.has("loads"):
        return False
    roots = pointer_roots(module).get(load.ptr, -1)
    return roots != -1 and not roots & written_roots(module)


def _outermost(kernel: Operation, op: Operation) -> Operation:
    """The operation of the kernel's body that holds another one, or is it."""
    while op.parent_op is not None and op.parent_op is not kernel:
        op = op.parent_op
    return op

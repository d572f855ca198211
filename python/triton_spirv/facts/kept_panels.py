"""Which products may find their packed right operands where an earlier program of the launch left them?

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

#: Products of a loop, at most.
MOST = 2


def keeping_products(kernel: Operation) -> tuple[Operation, ...]:
    """The products in the loops of a kernel, if they may find their right operands so: one, or two of the
    same loop, as of a layer and its gate."""
    region = kernel.regions[0]
    if len(region.blocks) != 1:
        return ()
    products: list[Operation] = []
    writes: list[Operation] = []
    for op in kernel.walk():
        if op.has("calls") or op.has("atomic") or op.has("waits") or op.has("watches") \
                or op.attributes.get("isVolatile") or op.attributes.get("scope") \
                or op.attributes.get("pure") is False:
            return ()
        if op.has("writes"):
            writes.append(op)
        if op.has("product") and op.parent_op is not None and op.parent_op.has("counts"):
            products.append(op)
    if not 0 < len(products) <= MOST or any(each.parent is not products[0].parent for each in products) \
            or not all(map(_is_loaded_once, products)):
        return ()
    order = region.entry.operations
    own = order.index(_outermost(kernel, products[0]))
    return tuple(products) if all(order.index(_outermost(kernel, each)) > own for each in writes) else ()


def _is_loaded_once(product: Operation) -> bool:
    """Is the right operand loaded in the same round, for nothing but this product?"""
    load = product.b.defining_op
    return load is not None and load.has("loads") and load.parent is product.parent \
        and len(product.operands) == 3 and len(product.b.type.shape) == 2 and len(product.b.uses) == 1


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

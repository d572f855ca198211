"""How loads, stores and atomic operations are made: decided before a word is emitted. What is returned is
part of the plan, and load.py, store.py and atomic.py do as it says.

How an access moves its elements is decided once (`Transfers`). What its mask is known to be depends on where
the code stands, so each version of a walk takes what goes with that.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.model import Operation
from ...layout import Layout
from ...spirv.module import Value as Register
from ..addresses.masks import is_refuted
from ..addresses.transfers import is_true
from ..context import Context
from ..lanes.elements import visited_layout
from ..plan.accesses import Access, Transfer, Vectors
from ..values.tensor import Tensor


def plan_loads(ctx: Context, layout: Layout, mask: Tensor | None, asked: Sequence[tuple[Operation, Tensor]],
               refuted: bool) -> list[Access]:
    """Loads, each (operation, ptr), under one mask and one layout: they go the same way, or share a test.
    refuted: it is of no use to ask whether the mask is true everywhere."""
    loads = [(op, ctx.transfers.of(op, ptr, mask, layout)) for op, ptr in asked]
    if _holds(ctx, mask, layout, loads[0][1]):
        return [Access(op, "plain" if mask is None else "proven", layout, each.vectors) for op, each in loads]
    if all(each.governed for _, each in loads):
        return [Access(op, "predicated", layout, each.vectors, each.governed) for op, each in loads]
    if refuted:
        return [Access(op, each.way, layout, each.vectors, each.branches) for op, each in loads]
    in_one = all(each.one_mask for _, each in loads)
    return [Access(op, "proven", layout, each.vectors, each.branches, cold="nothing" if in_one else each.way)
            for op, each in loads]


def plan_store(ctx: Context, op: Operation, layout: Layout, ptr: Tensor, mask: Tensor | None) -> Access:
    """A store under a layout. Whether it may stream is known with its addresses: see `streams`."""
    transfer = ctx.transfers.of(op, ptr, mask, layout)
    if _holds(ctx, mask, layout, transfer):
        return Access(op, "plain" if mask is None else "proven", layout, transfer.vectors)
    if transfer.governed:
        return Access(op, "predicated", layout, transfer.vectors, transfer.governed)
    if transfer.branches is not None or is_refuted(ctx, mask, layout):
        return Access(op, transfer.way, layout, transfer.vectors, transfer.branches)
    return Access(op, "proven", layout, transfer.vectors, cold=transfer.way)


def _holds(ctx: Context, mask: Tensor | None, layout: Layout, transfer: Transfer) -> bool:
    """Is the mask true for all elements, here or everywhere?"""
    return transfer.unmasked or ctx.masks.holds(mask, layout)


def plan_scalar(op: Operation, mask: Register | None) -> Access:
    """A load or store through a scalar pointer: behind a branch, unless the mask is known to hold."""
    return Access(op, "scalar", cold="" if mask is None or mask.constant is True else "nothing")


def plan_atomic(ctx: Context, op: Operation, ptr: Register | Tensor,
                mask: Register | Tensor | None) -> Access:
    """An atomic operation: of a scalar pointer, or of each element of a tensor, once."""
    if isinstance(ptr, Register):
        assert mask is None or isinstance(mask, Register)
        return plan_scalar(op, mask)
    layout = visited_layout(ctx, op.ptr.type)
    assert not isinstance(mask, Register)
    return Access(op, "one by one", layout, Vectors(layout), cold="" if is_true(mask) else "nothing")

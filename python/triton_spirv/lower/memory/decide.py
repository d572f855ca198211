"""How loads, stores and atomic operations are made: decided from the operation, its pointers and its mask,
before a word is emitted. What is returned is part of the plan, and load.py, store.py and atomic.py do as it
says.

What a mask is known to be depends on where the code stands (`is_proven`, `is_refuted`), so an access that two
versions of a walk make is decided once for each.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.model import Operation
from ...layout import Layout
from ...spirv.module import Value as Register
from ..addresses.access import by_memory, vectors_of
from ..addresses.masks import by_register, is_predicated, is_proven, is_refuted
from ..context import Context
from ..lanes.elements import visited_layout
from ..plan.accesses import Access, Groups, Vectors
from ..values.tensor import Tensor, Uniform
from ..values.types import element_of


def plan_loads(ctx: Context, layout: Layout, mask: Tensor | None, asked: Sequence[tuple[Operation, Tensor]]
               ) -> list[Access]:
    """Loads, each (operation, ptr), under one mask and one layout: they go the same way, or share a test."""
    vectors = [_vectors(ctx, op, ptr, layout) for op, ptr in asked]
    if is_proven(ctx, mask, layout):
        way = "plain" if mask is None else "proven"
        return [Access(op, way, layout, each) for (op, _), each in zip(asked, vectors, strict=True)]
    if all(is_predicated(ctx, op, ptr, mask, layout) for op, ptr in asked):
        return [Access(op, "predicated", layout, each, by_register(ctx, mask, each.layout))
                for (op, _), each in zip(asked, vectors, strict=True)]
    groups = [groups_of(ctx, mask, each.layout) for each in vectors]
    own = [way_without_test(ctx, layout, each) for each in groups]
    if is_refuted(ctx, mask, layout):
        return [Access(op, way, layout, each, together)
                for (op, _), each, together, way in zip(asked, vectors, groups, own, strict=True)]
    if all(each is not None and each.layout.registers == 1 for each in groups):
        own = ["nothing"] * len(own)
    return [Access(op, "proven", layout, each, together, cold=way)
            for (op, _), each, together, way in zip(asked, vectors, groups, own, strict=True)]


def plan_store(ctx: Context, op: Operation, layout: Layout, ptr: Tensor, mask: Tensor | None) -> Access:
    """A store under a layout. Whether it may stream is known with its addresses: see `streams`."""
    vectors = _vectors(ctx, op, ptr, layout)
    if is_proven(ctx, mask, layout):
        return Access(op, "plain" if mask is None else "proven", layout, vectors)
    if is_predicated(ctx, op, ptr, mask, layout):
        return Access(op, "predicated", layout, vectors, by_register(ctx, mask, vectors.layout))
    groups = groups_of(ctx, mask, vectors.layout)
    way = way_without_test(ctx, layout, groups)
    if groups is not None or is_refuted(ctx, mask, layout):
        return Access(op, way, layout, vectors, groups)
    return Access(op, "proven", layout, vectors, cold=way)


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
    known = mask is None or (isinstance(mask, Uniform) and mask.scalar.constant is True)
    return Access(op, "one by one", layout, Vectors(layout), cold="" if known else "nothing")


def _vectors(ctx: Context, op: Operation, ptr: Tensor, layout: Layout) -> Vectors:
    pointee = element_of(op.ptr.type).pointee  # type: ignore[attr-defined]
    return vectors_of(ctx, ptr, by_memory(ctx, ptr, layout, pointee), pointee, op.ptr)


def groups_of(ctx: Context, mask: Tensor | None, layout: Layout) -> Groups | None:
    """Which registers of a lane are under one mask, for one branch each. None where components have masks of
    their own, or the target moves masked vectors, or the masks are too many."""
    if ctx.target.masked_access or layout.steps > 1:
        return None
    found = by_register(ctx, mask, layout)
    return None if found is None or found.layout.registers > ctx.target.branches else found


def way_without_test(ctx: Context, layout: Layout, groups: Groups | None) -> str:
    """How elements are moved whose mask is not known to hold. Many are better visited by a loop than by a
    branch each."""
    if groups is not None:
        return "regions"
    many = layout.registers * layout.width > ctx.target.branches
    return "one by one" if not ctx.target.masked_access and many else "masked"


def is_governed(ctx: Context, op: Operation, layout: Layout, ptr: Tensor, mask: Tensor | None) -> bool:
    """Does a store need no test of its whole mask: by messages that masks govern, or one mask for all?"""
    if mask is None or is_predicated(ctx, op, ptr, mask, layout):
        return True
    groups = groups_of(ctx, mask, _vectors(ctx, op, ptr, layout).layout)
    return groups is not None and groups.layout.registers == 1

"""Stores to global memory: in blocks, by regions or elements of a mask, past the caches where much is
written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.model import Operation, TensorType
from ...layout import Layout
from ...matrices.layout import is_matrix
from ...spirv.control import IfElse, if_
from ...spirv.module import Value as Register
from ..addresses.access import Access, by_memory
from ..addresses.masks import by_register, guarded, is_predicated, is_provable, is_proven, is_refuted
from ..context import Context, StepLoop
from ..intel.block_store import block_store
from ..lanes import elements
from ..plan.records import Access as Accessed
from ..registry import lowers
from ..values import fragment as fragments
from ..values.tensor import Deferred
from ..values.types import element_of, storage_type
from .hazard import versioned
from .load import (
    by_mask,
    exchange_first,
    one_by_one,
    regions_of,
    to_memory,
    true_everywhere,
    way_without_test,
)
from .prefetch import touch_ahead


@lowers("tt.store")
def store(ctx: Context, op: Operation, ptr: Any, value: Any, mask: Any) -> None:
    """ptr, value [...]; masked elements are not touched."""
    type = op.value.type
    by_lanes = isinstance(type, TensorType) and not is_matrix(type.encoding)
    layout = ctx.layout_of(op.ptr.type) if by_lanes else None
    ctx.shared.touches(op, ptr, True, layout)
    _store(ctx, op, ptr, value, mask)
    ctx.shared.touches(op, ptr, True, layout, again=True)


def _store(ctx: Context, op: Operation, ptr: Any, value: Any, mask: Any) -> None:
    if isinstance(ptr, Register):
        ctx.settle(memory_only=True)
        _store_scalar(ctx, op, ptr, value, mask)
        return
    by_blocks = block_store(ctx, op, ptr, mask)
    if by_blocks is not None:
        ctx.settle(memory_only=True)
        by_blocks(value)
        layout = ctx.layout_of(op.value.type)
        ctx.recorder.add(Accessed(op, "store", "block", layout, layout.registers, layout.width))
        return
    tensors = [x for x in (ptr, value, mask) if x is not None]
    exchange_first(ctx, ctx.layout_of(op.ptr.type), ptr, value, mask)

    def walk() -> None:
        layout = ctx.layout_of(op.ptr.type)
        inputs = [(x, layout) for x in tensors]
        regions = None if mask is None else regions_of(ctx, mask, _by_memory(ctx, op, layout, ptr))
        predicated = mask is not None and is_predicated(ctx, op, ptr, mask, layout)
        alone = predicated or (regions is not None and regions[0].registers == 1)
        plan = ctx.plan(op, inputs, optional=[mask] if is_provable(mask, layout) else [])
        idles = layout.step and mask is not None and not plan.stored and not _reads_volatile(ctx, inputs)
        if layout.step and not ctx.brief:
            touch_ahead(ctx, op, ptr, layout)
        with StepLoop(ctx, len(layout.step)):
            guarded(ctx, inputs, [] if mask is None or alone else [(mask, layout)],
                    lambda: _store_window(ctx, op, layout, ptr, value, mask),
                    idle=(mask, layout) if idles else None)
        ctx.finish(plan)

    versioned(ctx, op, ptr, tensors, walk)


def _reads_volatile(ctx: Context, inputs: Sequence[tuple[Any, Layout]]) -> bool:
    """Is a load below the inputs to be made whether or not its elements are stored?"""
    return any(isinstance(node, Deferred) and node.operation.attributes.get("isVolatile")
               for node, _ in ctx.requests(inputs))


def _store_window(
    ctx: Context, op: Operation, layout: Layout, ptr: Any, value: Any, mask: Any
) -> list[Register]:
    """Store one step of a tensor; what several lanes hold one of them stores. Returns no registers."""
    owns = elements.owner(ctx, *elements.redundant(layout))
    elements.guarded(ctx, owns, lambda: _store_registers(ctx, op, layout, ptr, value, mask))
    return []


def _by_memory(ctx: Context, op: Operation, layout: Layout, ptr: Any) -> Layout:
    return by_memory(ctx, ptr, layout, element_of(op.ptr.type).pointee)  # type: ignore[attr-defined]


def _store_registers(
    ctx: Context, op: Operation, layout: Layout, ptr: Any, value: Any, mask: Any
) -> list[Register]:
    b = ctx.b
    wide = _by_memory(ctx, op, layout, ptr)
    pointee = element_of(op.ptr.type).pointee  # type: ignore[attr-defined]
    access = Access(ctx, ptr, wide, pointee, op.ptr)
    values = [to_memory(ctx, x) for x in fragments.rearrange(b, ctx.fragment(value, layout), wide).registers]
    if not is_proven(ctx, mask, layout) and is_predicated(ctx, op, ptr, mask, layout):
        access.record(op, "store", layout, "predicated")
        found = by_register(mask, wide)
        assert found is not None
        for here, registers in by_mask(ctx, mask, found):
            for r in registers:
                access.store_where(r, values[r], here)
        return []
    regions = None if is_proven(ctx, mask, layout) else regions_of(ctx, mask, wide)
    if regions is not None:
        access.record(op, "store", layout, "regions")
        for here, registers in by_mask(ctx, mask, regions):
            with if_(b.module, here):
                access.store_all({r: values[r] for r in registers})
        return []
    known = None if is_proven(ctx, mask, layout) else ctx.fragment(mask, layout)
    masks = None if known is None else fragments.rearrange(b, known, wide).registers

    def each(masks: Any, stream: bool = False) -> None:
        if masks is not None and one_by_one(ctx, layout):
            return _store_elements(ctx, op, layout, ptr, value, mask)
        if masks is None:
            return access.store_all(dict(enumerate(values)), stream)
        for r, register in enumerate(values):
            access.store(r, register, masks[r], stream)

    if masks is None:
        streams = None if ctx.brief else access.streams(op)
        access.record(op, "store", layout, "plain" if mask is None else "proven", streams=streams is not None)
        if streams is None:
            each(None)
            return []
        branch = IfElse(ctx.b.module, streams)
        with branch.then():
            ctx.env.fence_stream()
            each(None, stream=True)
            ctx.env.fence_stream()
        with branch.otherwise():
            each(None)
        return []
    way = way_without_test(ctx, regions, layout)
    if is_refuted(ctx, mask, layout):
        access.record(op, "store", layout, way)
        each(masks)
        return []
    access.record(op, "store", layout, "proven", way)
    branch = IfElse(ctx.b.module, true_everywhere(ctx, masks))
    with branch.then():
        each(None)
    with branch.otherwise():
        each(masks)
    return []


def _store_elements(ctx: Context, op: Operation, layout: Layout, ptr: Any, value: Any, mask: Any) -> None:
    """Store the elements whose mask is true, one after the other."""
    held = storage_type(element_of(op.ptr.type).pointee)  # type: ignore[attr-defined]

    def visit(row: list[Any]) -> None:
        address, put, inside = row
        with if_(ctx.b.module, inside):
            ctx.env.store(ctx.env.pointer(address, held), to_memory(ctx, put))

    ctx.open_scope()
    elements.visit_elements(ctx, layout, (ptr, value, mask), visit)
    ctx.close_scope()


def _store_scalar(ctx: Context, op: Operation, ptr: Register, value: Register,
                  mask: Register | None) -> None:
    ctx.recorder.add(Accessed(op, "store", "scalar"))
    held = to_memory(ctx, value)
    acts = elements.acting(ctx)
    if mask is not None and mask.constant is not True:
        acts = mask if acts is None else ctx.b.logical_and(acts, mask)
    elements.guarded(ctx, acts, lambda: ctx.env.store(ptr, held))

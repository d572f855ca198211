"""Stores to global memory: in blocks, by regions or elements of a mask, past the caches where much is
written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir.model import Operation, TensorType
from ...layout import Layout
from ...matrices.layout import is_matrix
from ...spirv.builder import I32
from ...spirv.control import IfElse, if_
from ...spirv.module import Value as Register
from ..addresses.access import AccessPointers
from ..addresses.masks import Idle, guarded, is_provable
from ..context import Context, StepLoop
from ..intel.block_store import block_store, block_surfaces, plan_block_store
from ..lanes import elements
from ..plan.accesses import Access, Vectors
from ..plan.records import STORED
from ..registry import lowers
from ..values import fragment as fragments
from ..values.tensor import Bound, Tensor, is_anywhere
from ..values.types import pointee_of, storage_type
from .decide import plan_scalar, plan_store
from .hazard import Store, versioned
from .load import by_mask, exchange_first, to_memory, true_everywhere, under
from .prefetch import fetch_turns_ahead, touch_ahead
from .together import followers, stored_together


@lowers("tt.store")
def store(ctx: Context, op: Operation, ptr: Bound, value: Bound, mask: Bound | None) -> None:
    """ptr, value [...]; masked elements are not touched."""
    type = op.value.type
    by_lanes = isinstance(type, TensorType) and not is_matrix(type.encoding)
    layout = ctx.layouts.of(op.ptr.type) if by_lanes else None
    ctx.shared.touches(op, ptr, True, layout)
    _store(ctx, op, ptr, value, mask)
    ctx.shared.touches(op, ptr, True, layout, again=True)


def _store(ctx: Context, op: Operation, ptr: Bound, value: Bound, mask: Bound | None) -> None:
    if isinstance(ptr, Register):
        assert isinstance(value, Register) and (mask is None or isinstance(mask, Register))
        ctx.pending.settle(memory_only=True)
        _store_scalar(ctx, op, ptr, value, mask)
        return
    assert not isinstance(value, Register) and not isinstance(mask, Register)
    _store_tensor(ctx, op, ptr, value, mask)


def _store_tensor(ctx: Context, op: Operation, ptr: Tensor, value: Tensor, mask: Tensor | None) -> None:
    done = ctx.prepared.stored_early.get(op)
    if done is not None:
        _store_late(ctx, op, ptr, value, mask, done)
        return
    blocks = plan_block_store(ctx, op, ptr, mask)
    if blocks is not None:
        surfaces = block_surfaces(ctx, blocks)
        ctx.pending.settle(memory_only=True)
        layout = ctx.layouts.of(op.value.type)
        fragment = ctx.evaluation.fragment(value, layout)
        ctx.recorder.add(Access(op, "block", layout, Vectors(layout), blocks=blocks))
        block_store(ctx, blocks, surfaces, fragment)
        return
    exchange_first(ctx, ctx.layouts.of(op.ptr.type), ptr, value, mask)
    first = Store(op, ptr, value, mask)
    stores = [first, *followers(ctx, first)]
    ctx.b.module.location = op.location
    if len(stores) == 1 or not stored_together(ctx, stores, lambda: _walk(ctx, stores),
                                               lambda store: _walk(ctx, [store])):
        versioned(ctx, op, ptr, mask, first.tensors, lambda: _walk(ctx, [first]))


def _store_late(ctx: Context, op: Operation, ptr: Tensor, value: Tensor, mask: Tensor | None,
                done: Register) -> None:
    """Where a product has not stored its tiles itself: `done`, a variable, is 1 if it has."""
    b = ctx.b
    first = Store(op, ptr, value, mask)
    ctx.pending.settle(memory_only=False, op=op)
    with if_(b.module, b.compare("OpIEqual", b.emit("OpLoad", done, type=I32), 0)):
        ctx.scopes.open()
        ctx.recorder.open()
        versioned(ctx, op, ptr, mask, first.tensors, lambda: _walk(ctx, [first]))
        late = ctx.recorder.close()
        ctx.scopes.close()
    ctx.recorder.versions(STORED, [("no", late), ("yes", ())], may_skip=True)
    b.emit("OpStore", done, b.constant(I32, 0))


def _walk(ctx: Context, stores: Sequence[Store]) -> None:
    """Store tensors of one shape, under one mask, in one walk."""
    op, mask = stores[-1].op, stores[-1].mask
    layout = ctx.layouts.of(op.ptr.type)
    inputs = [(x, layout) for each in stores for x in (each.ptr, each.value)]
    inputs += [] if mask is None else [(mask, layout)]
    tests = [] if mask is None or all(ctx.transfers.of(each.op, each.ptr, mask, layout).needs_no_test
                                      for each in stores) else [(mask, layout)]
    optional = [mask] if mask is not None and is_provable(mask, layout) else []
    opened = ctx.walks.plan(op, inputs, optional=optional)
    idles = layout.step and not opened.by_products
    if layout.step and not ctx.layouts.brief:
        for each in stores:
            touch_ahead(ctx, each.op, each.ptr, layout)

    def window() -> list[Register]:
        if len(stores) > 1:  # everything is loaded before anything is stored
            for each in stores:
                ctx.evaluation.fragment(each.value, layout)
        for each in stores:
            _store_window(ctx, each.op, layout, each.ptr, each.value, mask)
        return []

    with StepLoop(ctx.walks, len(layout.step)):
        guarded(ctx, inputs, tests, window, idle=Idle(mask, layout) if idles and mask is not None else None)
    ctx.walks.finish(opened)


def _store_window(
    ctx: Context, op: Operation, layout: Layout, ptr: Tensor, value: Tensor, mask: Tensor | None
) -> list[Register]:
    """Store one step of a tensor; what several lanes hold one of them stores. Returns no registers."""
    owns = elements.owner(ctx, *elements.redundant(layout))
    elements.guarded(ctx, owns, lambda: _store_registers(ctx, op, layout, ptr, value, mask))
    return []


def _store_registers(
    ctx: Context, op: Operation, layout: Layout, ptr: Tensor, value: Tensor, mask: Tensor | None
) -> list[Register]:
    b = ctx.b
    plan = plan_store(ctx, op, layout, ptr, mask)
    assert plan.vectors is not None
    wide = plan.vectors.layout
    pointers = AccessPointers(ctx, ptr, plan.vectors, pointee_of(op.ptr.type))
    made = fragments.rearrange(b, ctx.evaluation.fragment(value, layout), wide)
    values = [to_memory(ctx, x) for x in made.registers]
    if plan.way in ("plain", "proven") and not plan.cold:
        streams = None if ctx.layouts.brief else pointers.streams(op)
        if not ctx.layouts.brief:
            fetch_turns_ahead(ctx, op, ptr, layout, plan.vectors)
        ctx.recorder.add(replace(plan, streams=streams is not None))
        _store_all(ctx, pointers, values, streams)
        return []
    if plan.way in ("predicated", "regions"):
        assert plan.groups is not None
        governed = by_mask(ctx, mask, plan.groups)
        ctx.recorder.add(plan)  # behind the loads that the mask is made of, as in the code
        for here, registers in governed:
            if plan.way == "regions":
                with if_(b.module, here):
                    pointers.store_all({r: values[r] for r in registers})
                continue
            for r in registers:
                pointers.store_where(r, values[r], here)
        return []
    assert mask is not None
    masks = under(ctx, mask, layout, wide)
    ctx.recorder.add(plan)

    def masked(way: str) -> None:
        if way == "one by one":
            _store_elements(ctx, op, layout, ptr, value, mask)
            return
        spared = pointers.spared(masks) if is_anywhere(mask) else pointers
        for r, register in enumerate(values):
            spared.store(r, register, masks[r])

    if not plan.cold:
        masked(plan.way)
        return []
    branch = IfElse(ctx.b.module, true_everywhere(ctx, masks))
    with branch.then():
        pointers.store_all(dict(enumerate(values)))
    with branch.otherwise():
        masked(plan.cold)
    return []


def _store_all(ctx: Context, pointers: AccessPointers, values: Sequence[Register],
               streams: Register | None) -> None:
    """Every element; past the caches where `streams`, a scalar Bool, holds."""
    if streams is None:
        pointers.store_all(dict(enumerate(values)))
        return
    branch = IfElse(ctx.b.module, streams)
    with branch.then():
        ctx.env.fence_stream()
        pointers.store_all(dict(enumerate(values)), stream=True)
        ctx.env.fence_stream()
    with branch.otherwise():
        pointers.store_all(dict(enumerate(values)))


def _store_elements(ctx: Context, op: Operation, layout: Layout, ptr: Tensor, value: Tensor,
                    mask: Tensor) -> None:
    """Store the elements whose mask is true, one after the other."""
    pointee = storage_type(pointee_of(op.ptr.type))

    def visit(row: list[Register]) -> None:
        address, put, inside = row
        with if_(ctx.b.module, inside):
            ctx.env.store(ctx.env.pointer(address, pointee), to_memory(ctx, put),
                          volatile=not ctx.target.lanes)  # not made a vector's: the quirk scattered_rows

    ctx.scopes.open()
    elements.visit_elements(ctx, layout, (ptr, value, mask), visit)
    ctx.scopes.close()


def _store_scalar(ctx: Context, op: Operation, ptr: Register, value: Register,
                  mask: Register | None) -> None:
    plan = plan_scalar(op, mask)
    ctx.recorder.add(plan)
    bits = to_memory(ctx, value)
    acts = elements.acting(ctx)
    if mask is not None and plan.cold:
        acts = mask if acts is None else ctx.b.logical_and(acts, mask)
    elements.guarded(ctx, acts, lambda: ctx.env.store(ptr, bits))

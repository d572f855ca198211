"""Loads and stores on global memory.

A mask that is true everywhere at run time takes the plain access; the masked form is the cold path.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..ir.model import IntegerType, Operation, TensorType
from ..layout import Layout
from ..spirv.builder import width_of, with_width
from ..spirv.control import IfElse, if_
from ..spirv.module import Value as Register
from ..spirv.types import Bool, Int
from . import elements
from . import fragment as fragments
from .access import Access, by_memory
from .block_io import block_load
from .context import Context, StepLoop
from .convert_layout import is_anywhere
from .hazard import versioned
from .masks import all_true, by_register, guarded, is_proven
from .registry import lowers, pulled
from .tensor import Deferred, Fragment, Pointers, Uniform
from .types import element_of, register_type, storage_type


def true_everywhere(ctx: Context, masks: Any) -> Register:
    """Is every component of every register true (for this lane)?"""
    b = ctx.b
    together = masks[0]
    for mask in masks[1:]:
        together = b.logical_and(together, mask)
    return b.all(together)


@pulled("tt.load")
def load(ctx: Context, op: Operation, layout: Layout | None, ptr: Any, mask: Any, other: Any) -> Any:
    """ptr [...] -> [...]; masked elements give `other` (0 where there is none) and are not touched."""
    ctx.shared.touches(op, writes=False)
    if layout is None:
        return _load_scalar(ctx, op, ptr, mask, other)
    natural = op.attributes.get("ts.natural")
    if natural is not None and layout == ctx.layout_of(op.results[0].type):
        made = block_load(ctx, op, layout, ptr, mask, other)
        if made is not None:
            return made
        type = op.results[0].type
        assert isinstance(type, TensorType)
        as_was = ctx.layout_of(replace(type, encoding=natural))
        return ctx.fragment(load(ctx, op, as_was, ptr, mask, other), layout)
    element = element_of(op.results[0].type)
    b = ctx.b
    volatile = bool(op.attributes.get("isVolatile", False))
    _exchange_first(ctx, layout, ptr, mask, other)
    wide = by_memory(ctx, ptr, layout, element)
    access = Access(ctx, ptr, wide, element, op.ptr)

    def plain() -> Fragment:
        return Fragment(wide, element, _from_memory(ctx, element, [
            access.load(r, None, None, volatile) for r in range(wide.registers)]))

    if is_proven(ctx, mask, layout):
        return fragments.rearrange(b, plain(), layout)
    regions = _regions(ctx, mask, wide)

    def by_regions() -> tuple[Register, ...]:
        assert regions is not None
        others = _others(ctx, other, layout, wide, access)
        return _from_memory(ctx, element, _load_regions(ctx, mask, regions, access, others, volatile))

    if regions is not None and regions[0].registers == 1:
        return fragments.rearrange(b, Fragment(wide, element, by_regions()), layout)
    test = all_true(ctx, mask, layout)
    known = ctx.fragment(mask, layout) if test is None else None
    if known is not None:
        test = true_everywhere(ctx, known.registers)
    assert test is not None
    branch = IfElse(b.module, test)
    with branch.then():
        branch.yield_(plain().registers)
    with branch.otherwise():
        ctx.push_memo()
        if regions is not None:
            branch.yield_(by_regions())
        elif _one_by_one(ctx, layout):
            made = _load_elements(ctx, op, layout, ptr, mask, other)
            branch.yield_(fragments.rearrange(b, made, wide).registers)
        else:
            masks = fragments.rearrange(b, known or ctx.fragment(mask, layout), wide).registers
            others = _others(ctx, other, layout, wide, access)
            branch.yield_(_from_memory(ctx, element, [
                access.load(r, masks[r], others[r], volatile) for r in range(wide.registers)]))
        ctx.pop_memo()
    return fragments.rearrange(b, Fragment(wide, element, tuple(branch.results)), layout)


Regions = tuple[Layout, list[int]]  # see masks.by_register


def _regions(ctx: Context, mask: Any, layout: Layout) -> Regions | None:
    """Which registers of a lane are under one mask, for one branch each. None where components have masks of
    their own, or the target moves masked vectors, or the masks are too many."""
    if ctx.target.masked_access or layout.steps > 1:
        return None
    found = by_register(mask, layout)
    return None if found is None or found[0].registers > ctx.target.branches else found


def _by_mask(ctx: Context, mask: Any, regions: Regions) -> list[tuple[Register, list[int]]]:
    """Each mask, a scalar Bool, with the registers that are under it."""
    layout, which = regions
    masks = ctx.fragment(mask, layout).registers
    return [(x, [r for r, k in enumerate(which) if k == i]) for i, x in enumerate(masks)]


def _load_regions(ctx: Context, mask: Any, regions: Regions, access: Access, others: list[Register],
                  volatile: bool) -> list[Register]:
    """All registers under one mask are loaded behind one branch; its other arm gives `others`."""
    loaded = list(others)
    for here, registers in _by_mask(ctx, mask, regions):
        branch = IfElse(ctx.b.module, here)
        with branch.then():
            branch.yield_([access.load(r, None, None, volatile) for r in registers])
        with branch.otherwise():
            branch.yield_([others[r] for r in registers])
        for r, value in zip(registers, branch.results, strict=True):
            loaded[r] = value
    return loaded


def _exchange_first(ctx: Context, layout: Layout, *tensors: Any) -> None:
    """Make what lanes exchange for these tensors, before the lanes part ways over their masks."""
    for tensor in tensors:
        if isinstance(tensor, Pointers):
            _exchange_first(ctx, layout, *tensor.terms)
        elif isinstance(tensor, Deferred) and layout.lane and not is_anywhere(tensor):
            ctx.fragment(tensor, layout)


def _one_by_one(ctx: Context, layout: Layout) -> bool:
    """Are masked elements better visited by a loop than by a branch each?"""
    return not ctx.target.masked_access and layout.registers * layout.width > ctx.target.branches


def _load_elements(ctx: Context, op: Operation, layout: Layout, ptr: Any, mask: Any, other: Any) -> Fragment:
    """The elements whose mask is true, one after the other."""
    element = element_of(op.results[0].type)
    kind = register_type(element)
    nothing = ctx.b.constant(kind, False if isinstance(kind, Bool) else 0)

    def visit(row: list[Any]) -> Register:
        address, inside, default = row
        branch = IfElse(ctx.b.module, inside)
        with branch.then():
            held = ctx.env.load(ctx.env.pointer(address, storage_type(element)), 1)
            branch.yield_(_from_memory(ctx, element, [held]))
        with branch.otherwise():
            branch.yield_([nothing if default is None else default])
        return branch.results[0]

    made = elements.visit_elements(ctx, layout, (ptr, mask, other), visit, element)
    assert made is not None
    return made


def _others(ctx: Context, other: Any, layout: Layout, wide: Layout, access: Access) -> list[Register]:
    b = ctx.b
    if other is None:
        return [b.constant(with_width(access.pointee, wide.width), 0)] * wide.registers
    if isinstance(other, Uniform):
        return [_to_memory(ctx, b.splat(other.scalar, wide.width))] * wide.registers
    return [_to_memory(ctx, x) for x in fragments.rearrange(b, ctx.fragment(other, layout), wide).registers]


def _load_scalar(
    ctx: Context, op: Operation, ptr: Register, mask: Register | None, other: Register | None
) -> Register:
    b = ctx.b
    type = op.results[0].type
    volatile = bool(op.attributes.get("isVolatile", False))
    if mask is None or mask.constant is True:
        value = ctx.env.load(ptr, 1, volatile)
    else:
        branch = IfElse(b.module, mask)
        with branch.then():
            branch.yield_([ctx.env.load(ptr, 1, volatile)])
        with branch.otherwise():
            default = b.constant(storage_type(type), 0) if other is None else _to_memory(ctx, other)
            branch.yield_([ctx.env.address(default) if ctx.is_pointer(default) else default])
        value = branch.results[0]
    return ctx.as_scalar(_from_memory(ctx, type, [value])[0], type)


def _from_memory(ctx: Context, element: Any, values: Any) -> tuple[Register, ...]:
    """Bytes of i1 become Bool; everything else is held in registers as in memory."""
    if isinstance(element, IntegerType) and element.width == 1:
        return tuple(ctx.b.compare("OpINotEqual", value, 0) for value in values)
    return tuple(values)


def _to_memory(ctx: Context, value: Register) -> Register:
    b = ctx.b
    if isinstance(getattr(value.type, "element", value.type), Bool):
        return b.select(value, b.constant(with_width(Int(8), width_of(value.type)), 1), 0)
    return ctx.env.address(value) if ctx.is_pointer(value) else value


@lowers("tt.store")
def store(ctx: Context, op: Operation, ptr: Any, value: Any, mask: Any) -> None:
    """ptr, value [...]; masked elements are not touched."""
    ctx.shared.touches(op, writes=True)
    if isinstance(ptr, Register):
        ctx.settle(memory_only=True)
        _store_scalar(ctx, ptr, value, mask)
        return
    layout = ctx.layout_of(op.ptr.type)
    _exchange_first(ctx, layout, ptr, value, mask)
    inputs = [(x, layout) for x in (ptr, value, mask) if x is not None]
    regions = None if mask is None else _regions(ctx, mask, _by_memory(ctx, op, layout, ptr))
    alone = regions is not None and regions[0].registers == 1

    def walk() -> None:
        plan = ctx.plan(op, inputs)
        with StepLoop(ctx, len(layout.step)):
            guarded(ctx, inputs, [] if mask is None or alone else [(mask, layout)],
                    lambda: _store_window(ctx, op, layout, ptr, value, mask))
        ctx.finish(plan)

    versioned(ctx, op, ptr, inputs, walk)


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
    values = [_to_memory(ctx, x) for x in fragments.rearrange(b, ctx.fragment(value, layout), wide).registers]
    regions = None if is_proven(ctx, mask, layout) else _regions(ctx, mask, wide)
    if regions is not None:
        for here, registers in _by_mask(ctx, mask, regions):
            with if_(b.module, here):
                for r in registers:
                    access.store(r, values[r], None)
        return []
    known = None if is_proven(ctx, mask, layout) else ctx.fragment(mask, layout)
    masks = None if known is None else fragments.rearrange(b, known, wide).registers

    def each(masks: Any, stream: bool = False) -> None:
        if masks is not None and _one_by_one(ctx, layout):
            return _store_elements(ctx, op, layout, ptr, value, mask)
        for r, register in enumerate(values):
            access.store(r, register, None if masks is None else masks[r], stream)

    if masks is None:
        streams = access.streams(op)
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
            ctx.env.store(ctx.env.pointer(address, held), _to_memory(ctx, put))

    ctx.push_memo()
    elements.visit_elements(ctx, layout, (ptr, value, mask), visit)
    ctx.pop_memo()


def _store_scalar(ctx: Context, ptr: Register, value: Register, mask: Register | None) -> None:
    held = _to_memory(ctx, value)
    acts = elements.acting(ctx)
    if mask is not None and mask.constant is not True:
        acts = mask if acts is None else ctx.b.logical_and(acts, mask)
    elements.guarded(ctx, acts, lambda: ctx.env.store(ptr, held))

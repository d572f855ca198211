"""Loads from global memory, and what stores (store.py) share with them.

A mask that is true everywhere at run time takes the plain access; the masked form is the cold path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir.model import IntegerType, Operation, TensorType, Type
from ...layout import Layout
from ...spirv.builder import I64, width_of, with_width
from ...spirv.control import IfElse
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Int
from ..addresses.access import AccessPointers
from ..addresses.masks import all_true, is_refuted
from ..context import Context
from ..intel.block_io import block_load, plan_block_load
from ..lanes import elements
from ..lanes.exchange import from_owner
from ..plan.accesses import Access, Groups, Vectors
from ..registry import parts_of_load, pulled
from ..values import fragment as fragments
from ..values.tensor import Bound, Deferred, Fragment, Pointers, Tensor, Uniform, is_anywhere
from ..values.types import as_scalar, element_of, is_pointer, register_type, storage_type
from ..walk.requests import is_worth_keeping
from .decide import plan_loads, plan_scalar
from .prefetch import fetch_ahead, fetch_turns_ahead


def true_everywhere(ctx: Context, masks: Sequence[Register]) -> Register:
    """Is every component of every register true (for this lane)?"""
    b = ctx.b
    together = masks[0]
    for mask in masks[1:]:
        together = b.logical_and(together, mask)
    return b.all(together)


@pulled("tt.load")
def load(ctx: Context, op: Operation, layout: Layout | None, ptr: Bound, mask: Bound | None,
         other: Bound | None) -> Register | Fragment:
    """ptr [...] -> [...]; masked elements give `other` (0 where there is none) and are not touched."""
    if op.attributes.get("isVolatile"):
        return _load_volatile(ctx, op, layout, ptr, mask, other)
    lanes = None if "ts.natural" in op.attributes else layout
    ctx.shared.touches(op, ptr, False, lanes)
    made = _load(ctx, op, layout, ptr, mask, other)
    ctx.shared.touches(op, ptr, False, lanes, again=True)
    return made


def _load(ctx: Context, op: Operation, layout: Layout | None, ptr: Bound, mask: Bound | None,
          other: Bound | None) -> Register | Fragment:
    if layout is not None:
        assert not (isinstance(ptr, Register) or isinstance(mask, Register) or isinstance(other, Register))
        return _load_tensor(ctx, op, layout, ptr, mask, other)
    assert isinstance(ptr, Register)
    assert (mask is None or isinstance(mask, Register)) and (other is None or isinstance(other, Register))
    return _load_scalar(ctx, op, ptr, mask, other)


def _load_tensor(ctx: Context, op: Operation, layout: Layout, ptr: Tensor, mask: Tensor | None,
                 other: Tensor | None) -> Fragment:
    natural = op.attributes.get("ts.natural")
    if natural is not None and layout == ctx.layouts.of(op.results[0].type):
        blocks = plan_block_load(ctx, op, layout, ptr, mask, other)
        if blocks is not None:
            assert isinstance(ptr, Pointers)
            ctx.recorder.add(Access(op, "block", layout, Vectors(layout), blocks=blocks))
            return block_load(ctx, op, layout, ptr, blocks)
        type = op.results[0].type
        assert isinstance(type, TensorType)
        as_was = ctx.layouts.of(replace(type, encoding=natural))
        return ctx.evaluation.fragment(_load_tensor(ctx, op, as_was, ptr, mask, other), layout)
    return _loaded(ctx, layout, mask, [(op, ptr, other)])[0]


def load_together(ctx: Context, nodes: Sequence[Deferred], layout: Layout) -> list[Fragment]:
    """Loads under one mask and one layout, with nothing between them that stores: one branch for all."""
    asked = [(node.operation, *parts_of_load(node)) for node in nodes]
    for op, ptr, *_ in asked:
        ctx.shared.touches(op, ptr, False, layout)
    made = _loaded(ctx, layout, asked[0][2], [(op, ptr, other) for op, ptr, _, other in asked])
    for op, ptr, *_ in asked:
        ctx.shared.touches(op, ptr, False, layout, again=True)
    return made


def _load_volatile(ctx: Context, op: Operation, layout: Layout | None, ptr: Bound, mask: Bound | None,
                   other: Bound | None) -> Register | Fragment:
    """What others may write meanwhile: of lanes that hold an element twice each might see it at another time,
    and they would go different ways. All take what one of them saw. What the program does afterwards stands
    behind it, as behind an acquiring operation: loops look at flags in this way."""
    if ctx.layouts.lanes == 1:
        return _load(ctx, op, layout, ptr, mask, other)
    seen = None if layout is None else elements.visited_layout(ctx, op.ptr.type)
    ctx.shared.touches(op, ptr, False, seen)
    made = _load(ctx, op, seen, ptr, mask, other)
    ctx.env.fence("gpu", "acquire")
    ctx.shared.touches(op, ptr, False, seen, acquires=True, again=True)
    if isinstance(made, Register) or layout is None or seen is None:
        assert isinstance(made, Register)
        one = ctx.env.address(made) if is_pointer(made) else made
        return as_scalar(ctx.env, from_owner(ctx, one, *elements.EVERYONE), op.results[0].type)
    copies = elements.redundant(seen)
    same = tuple(from_owner(ctx, register, *copies) for register in made.registers)
    return ctx.evaluation.fragment(Fragment(seen, made.element, same), layout)


def _loaded(ctx: Context, layout: Layout, mask: Tensor | None,
            asked: Sequence[tuple[Operation, Tensor, Tensor | None]]) -> list[Fragment]:
    """The elements of several loads, each (operation, ptr, other), under one mask."""
    for _, ptr, other in asked:
        exchange_first(ctx, layout, ptr, mask, other)
    refuted = is_refuted(ctx, mask, layout)
    plans = plan_loads(ctx, layout, mask, [(op, ptr) for op, ptr, _ in asked], refuted)
    loads = [_Load(ctx, plan, ptr, mask, other) for plan, (_, ptr, other) in zip(plans, asked, strict=True)]
    if layout.step and not refuted:
        for plan, (op, ptr, _) in zip(plans, asked, strict=True):
            fetch_ahead(ctx, op, ptr, layout)
            assert plan.vectors is not None
            fetch_turns_ahead(ctx, op, ptr, layout, plan.vectors)
    for plan in plans:
        ctx.recorder.add(plan)
    if plans[0].cold:
        return _arranged(loads, _tested(ctx, layout, mask, loads))
    return _arranged(loads, [x for load in loads for x in load.registers()])


def _tested(ctx: Context, layout: Layout, mask: Tensor | None, loads: Sequence[_Load]) -> Sequence[Register]:
    """Loads of which a test chooses the way when the kernel runs: is the mask true everywhere?"""
    b, plans = ctx.b, [load.plan for load in loads]
    one_mask = plans[0].groups if plans[0].cold == "nothing" else None
    known = None
    assert mask is not None
    if one_mask is not None:
        test = ctx.evaluation.fragment(mask, one_mask.layout).registers[0]
    else:
        compared = all_true(ctx, mask, layout)
        known = ctx.evaluation.fragment(mask, layout) if compared is None else None
        test = compared if known is None else true_everywhere(ctx, known.registers)  # type: ignore[assignment]
    branch = IfElse(b.module, test)
    with branch.then():
        branch.yield_([x for load in loads for x in load.plain()])
    with branch.otherwise():
        ctx.scopes.open()
        groups = plans[0].groups
        if one_mask is not None:
            branch.yield_([x for load in loads for x in load.nothing()])
        elif groups is not None and all(x.groups and x.groups.layout == groups.layout for x in plans):
            branch.yield_(_by_regions(ctx, mask, loads))
        else:
            branch.yield_([x for load in loads for x in load.masked(load.plan.cold, known)])
        ctx.scopes.close()
    return branch.results


def _arranged(loads: Sequence[_Load], registers: Sequence[Register]) -> list[Fragment]:
    """The loads' own shares of the registers, under the layout that was asked for."""
    made, start = [], 0
    for load in loads:
        end = start + load.wide.registers
        found = Fragment(load.wide, load.element, tuple(registers[start:end]))
        made.append(fragments.rearrange(load.ctx.b, found, load.layout))
        start = end
    return made


class _Load:
    """One load as it is planned; its methods give the registers of the layout in which it moves elements."""

    def __init__(self, ctx: Context, plan: Access, ptr: Tensor, mask: Tensor | None,
                 other: Tensor | None) -> None:
        assert plan.layout is not None and plan.vectors is not None
        self.ctx, self.plan, self.op, self.layout = ctx, plan, plan.operation, plan.layout
        self.ptr, self.mask, self.other = ptr, mask, other
        self.element = element_of(self.op.results[0].type)
        self.volatile = bool(self.op.attributes.get("isVolatile", False))
        self.wide = plan.vectors.layout
        self.pointers = AccessPointers(ctx, ptr, plan.vectors, self.element)

    def registers(self) -> tuple[Register, ...]:
        """By a way that needs no test."""
        way = self.plan.way
        return self.plain() if way in ("plain", "proven") else self.where() if way == "predicated" else \
            self.masked(way, None)

    def plain(self) -> tuple[Register, ...]:
        """Every element, whatever the mask says."""
        return self.from_memory(self.load(range(self.wide.registers)))

    def load(self, registers: Sequence[int]) -> list[Register]:
        """Registers, as memory holds them."""
        return self.pointers.load_all(registers, self.volatile)

    def where(self) -> tuple[Register, ...]:
        """The elements whose mask is true, each register by messages that its mask governs."""
        made = self.others()
        assert self.plan.groups is not None
        for here, registers in by_mask(self.ctx, self.mask, self.plan.groups):
            for r in registers:
                made[r] = self.pointers.load_where(r, here, made[r])
        return self.from_memory(made)

    def nothing(self) -> tuple[Register, ...]:
        """What masked elements give."""
        return self.from_memory(self.others())

    def masked(self, way: str, known: Fragment | None) -> tuple[Register, ...]:
        """The elements whose mask is true; `known` is the mask under the layout, if that is at hand."""
        ctx, b = self.ctx, self.ctx.b
        assert self.mask is not None
        if way == "regions":
            return tuple(_by_regions(ctx, self.mask, [self]))
        if way == "one by one":
            made = _load_elements(ctx, self.op, self.layout, self.ptr, self.mask, self.other)
            return fragments.rearrange(b, made, self.wide).registers
        masks = under(ctx, self.mask, self.layout, self.wide, known)
        others = self.others()
        pointers = self.pointers
        if is_anywhere(self.mask):  # what comes from memory is made of what lies there
            pointers = pointers.spared(masks, ctx.b.constant(I64, 0))
        return self.from_memory([pointers.load(r, masks[r], others[r], self.volatile)
                          for r in range(self.wide.registers)])

    def others(self) -> list[Register]:
        """What masked elements give, as memory holds it."""
        return _others(self.ctx, self.other, self.layout, self.wide, self.pointers)

    def from_memory(self, values: Sequence[Register]) -> tuple[Register, ...]:
        """What memory holds, as registers do."""
        return _from_memory(self.ctx, self.element, values)


def under(ctx: Context, mask: Tensor, layout: Layout, wide: Layout,
          known: Fragment | None = None) -> tuple[Register, ...]:
    """A mask of a walk under `layout` in the layout in which elements are moved: made in that where it takes
    no memory and little time, since squares of masks are transposed bit by bit. known: it, under `layout`."""
    again = is_anywhere(mask) and not (isinstance(mask, Deferred) and is_worth_keeping(mask))
    if known is None and wide.component != layout.component and again:
        return ctx.evaluation.fragment(mask, wide).registers
    return fragments.rearrange(ctx.b, known or ctx.evaluation.fragment(mask, layout), wide).registers


def by_mask(ctx: Context, mask: Tensor | None, groups: Groups) -> list[tuple[Register, list[int]]]:
    """Each mask, a scalar Bool, with the registers that are under it."""
    assert mask is not None
    masks = ctx.evaluation.fragment(mask, groups.layout).registers
    return [(x, [r for r, k in enumerate(groups.of) if k == i]) for i, x in enumerate(masks)]


def _by_regions(ctx: Context, mask: Tensor | None, loads: Sequence[_Load]) -> list[Register]:
    """All registers of all loads under one mask are loaded behind one branch; its other arm gives what masked
    elements give. The loads have the same masks in the same registers of the mask."""
    made = [load.others() for load in loads]
    spread = [by_mask(ctx, mask, load.plan.groups) for load in loads if load.plan.groups is not None]
    for parts in zip(*spread, strict=True):
        places = [(i, r) for i, (_, registers) in enumerate(parts) for r in registers]
        branch = IfElse(ctx.b.module, parts[0][0])
        with branch.then():
            branch.yield_([x for load, (_, registers) in zip(loads, parts, strict=True)
                           for x in load.load(registers)])
        with branch.otherwise():
            branch.yield_([made[i][r] for i, r in places])
        for (i, r), value in zip(places, branch.results, strict=True):
            made[i][r] = value
    return [x for load, registers in zip(loads, made, strict=True) for x in load.from_memory(registers)]


def exchange_first(ctx: Context, layout: Layout, *tensors: Tensor | None) -> None:
    """Make what lanes exchange for these tensors, before the lanes part ways over their masks."""
    for tensor in tensors:
        if isinstance(tensor, Pointers):
            exchange_first(ctx, layout, *tensor.terms)
        elif isinstance(tensor, (Deferred, Fragment)) and layout.lane and not is_anywhere(tensor):
            ctx.evaluation.fragment(tensor, layout)


def _load_elements(ctx: Context, op: Operation, layout: Layout, ptr: Tensor, mask: Tensor | None,
                   other: Tensor | None) -> Fragment:
    """The elements whose mask is true, one after the other."""
    element = element_of(op.results[0].type)
    kind = register_type(element)
    nothing = ctx.b.constant(kind, False if isinstance(kind, Bool) else 0)

    def visit(row: list[Register]) -> Register:
        address, inside, default = row
        branch = IfElse(ctx.b.module, inside)
        with branch.then():
            value = ctx.env.load(ctx.env.pointer(address, storage_type(element)), 1)
            branch.yield_(_from_memory(ctx, element, [value]))
        with branch.otherwise():
            branch.yield_([nothing if default is None else default])
        return branch.results[0]

    made = elements.visit_elements(ctx, layout, (ptr, mask, other), visit, element)
    assert made is not None
    return made


def _others(ctx: Context, other: Tensor | None, layout: Layout, wide: Layout,
            pointers: AccessPointers) -> list[Register]:
    b = ctx.b
    if other is None:
        return [b.constant(with_width(pointers.pointee, wide.width), 0)] * wide.registers
    if isinstance(other, Uniform):
        return [to_memory(ctx, b.splat(other.scalar, wide.width))] * wide.registers
    made = ctx.evaluation.fragment(other, layout)
    return [to_memory(ctx, x) for x in fragments.rearrange(b, made, wide).registers]


def _load_scalar(
    ctx: Context, op: Operation, ptr: Register, mask: Register | None, other: Register | None
) -> Register:
    b = ctx.b
    type = op.results[0].type
    plan = plan_scalar(op, mask)
    ctx.recorder.add(plan)
    volatile = bool(op.attributes.get("isVolatile", False))
    if mask is None or not plan.cold:
        value = ctx.env.load(ptr, 1, volatile)
    else:
        branch = IfElse(b.module, mask)
        with branch.then():
            branch.yield_([ctx.env.load(ptr, 1, volatile)])
        with branch.otherwise():
            default = b.constant(storage_type(type), 0) if other is None else to_memory(ctx, other)
            branch.yield_([ctx.env.address(default) if is_pointer(default) else default])
        value = branch.results[0]
    return as_scalar(ctx.env, _from_memory(ctx, type, [value])[0], type)


def _from_memory(ctx: Context, element: Type, values: Sequence[Register]) -> tuple[Register, ...]:
    """Bytes of i1 become Bool; everything else is held in registers as in memory."""
    if isinstance(element, IntegerType) and element.width == 1:
        return tuple(ctx.b.compare("OpINotEqual", value, 0) for value in values)
    return tuple(values)


def to_memory(ctx: Context, value: Register) -> Register:
    """The way back; a pointer is its address."""
    b = ctx.b
    if isinstance(getattr(value.type, "element", value.type), Bool):
        return b.select(value, b.constant(with_width(Int(8), width_of(value.type)), 1), 0)
    return ctx.env.address(value) if is_pointer(value) else value

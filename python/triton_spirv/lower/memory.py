"""Loads, stores and pointer arithmetic on global memory.

Accesses are found contiguous from the affine part of their pointers: neighbouring components whose offsets
differ by one element move as one vector. A mask that is true everywhere at run time takes the plain access;
the masked form is the cold path. Offsets that are not affine (a gather) move one element per component.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..analysis.axis import axis_facts
from ..ir.model import IntegerType, Operation, PointerType
from ..layout import Layout, log2
from ..spirv.builder import I64, width_of, with_width
from ..spirv.control import IfElse, if_
from ..spirv.module import Value as Register
from ..spirv.types import Bool, Int
from . import elements
from . import fragment as fragments
from .context import Context, StepLoop
from .convert_layout import is_anywhere
from .elementwise import as_affine
from .hazard import versioned
from .masks import all_true, guarded, is_proven
from .registry import elementwise, lowers, pulled, symbolic
from .tensor import Affine, Deferred, Fragment, Pointers, Stored, Tensor, Uniform
from .types import element_of, register_type, shape_of, storage_bytes, storage_type

INDEX = IntegerType(64)
BRANCHES = 8  # masked elements that are loaded or stored by a branch each
STREAMED_VECTOR = 32  # bytes of the smallest vector worth streaming


# --- pointers
# -------------------------------------------------------------------------------------------------------------


@symbolic("tt.addptr")
def addptr_symbolic(ctx: Context, op: Operation, ptr: Any, offset: Any) -> Any:
    """Scalar pointers move; tensors of pointers with one base collect their offsets."""
    b = ctx.b
    if isinstance(ptr, Register):
        return ctx.env.offset(ptr, b.resize(offset, 64))
    if isinstance(ptr, Uniform):
        ptr = Pointers(ptr.shape, ptr.element, ptr.scalar)
    if not isinstance(ptr, Pointers):
        return None
    if isinstance(offset, Uniform):
        return replace(ptr, base=ctx.env.offset(ptr.base, b.resize(offset.scalar, 64)))
    for part in summands(offset):
        affine = as_affine(part)
        if affine is None:
            ptr = replace(ptr, terms=(*ptr.terms, part))
        else:
            ptr = replace(ptr, affine=add_affine(ctx, ptr.affine, widened(ctx, affine)))
    return ptr


def summands(offset: Any) -> list[Any]:
    """A sum of index arithmetic that is affine in part, as its parts; it is taken not to wrap, as in Triton's AxisInfo."""
    if not isinstance(offset, Deferred) or offset.stored is not None or offset.operation.name != "arith.addi":
        return [offset]
    parts = [part for operand in offset.operands for part in summands(operand)]
    return parts if any(as_affine(part) is not None for part in parts) else [offset]


def widened(ctx: Context, affine: Affine) -> Affine:
    """An affine offset in 64 bits, for addresses."""
    b = ctx.b
    strides = tuple(s if isinstance(s, int) else b.resize(s, 64) for s in affine.strides)
    return Affine(affine.shape, INDEX, b.resize(affine.base, 64), strides)


def add_affine(ctx: Context, x: Affine | None, y: Affine) -> Affine:
    if x is None:
        return y
    from .elementwise import _combine
    strides = tuple(_combine(ctx, True, s, t, x.base) for s, t in zip(x.strides, y.strides, strict=True))
    return replace(x, base=ctx.b.iadd(x.base, y.base), strides=strides)


@pulled("tt.addptr", weight=2)
def addptr(ctx: Context, op: Operation, layout: Layout, ptr: Any, offset: Any) -> Fragment:
    """Pointers that came from memory: 64-bit addresses plus offset times the size of an element."""
    b = ctx.b
    element = element_of(op.results[0].type)
    size = max(1, (_pointee_bits(element) + 7) // 8)
    addresses = ctx.fragment(ptr, layout).registers
    offsets = ctx.registers(offset, layout)
    moved = [b.iadd(a, b.imul(b.resize(o, 64), size)) for a, o in zip(addresses, offsets, strict=True)]
    return Fragment(layout, element, tuple(moved))


def _pointee_bits(pointer: Any) -> int:
    from .types import bits_of
    return bits_of(pointer.pointee)


@elementwise("tt.int_to_ptr")
def int_to_ptr(ctx: Context, op: Operation, src: Register) -> Register:
    if isinstance(op.results[0].type, PointerType):
        return ctx.as_scalar(src, op.results[0].type)
    return src


@elementwise("tt.ptr_to_int")
def ptr_to_int(ctx: Context, op: Operation, src: Register) -> Register:
    return ctx.env.address(src) if ctx.is_pointer(src) else src


def element_offsets(ctx: Context, pointers: Pointers, layout: Layout) -> list[Register | None]:
    """Per register the offsets from the base, in elements (i64); None for zero."""
    b = ctx.b
    parts = [ctx.fragment(part, layout).registers for part in (pointers.affine, *pointers.terms) if part is not None]
    if not parts:
        return [None] * layout.registers
    offsets: list[Register | None] = []
    for column in zip(*parts, strict=True):
        total = b.resize(column[0], 64)
        for other in column[1:]:
            total = b.iadd(total, b.resize(other, 64))
        offsets.append(total)
    return offsets


def invariant(tensor: Any) -> int:
    """The bits of the row-major index that the tensor's elements do not depend on (for a view: of the viewed index)."""
    if isinstance(tensor, Uniform):
        return -1
    if isinstance(tensor, Affine):
        layout = Layout(tensor.shape)
        return sum(layout.axis_mask(d) for d, stride in enumerate(tensor.strides) if isinstance(stride, int) and stride == 0)
    if isinstance(tensor, Deferred):
        from .registry import RULES
        op = tensor.operation
        if op.name == "tt.broadcast":
            layout = Layout(tensor.shape)
            source = shape_of(op.src.type)
            return sum(layout.axis_mask(d) for d, size in enumerate(source) if size == 1)
        if RULES[op.name].kind == "elementwise":
            mask = -1
            for operand in tensor.operands:
                mask &= -1 if isinstance(operand, Register) else invariant(operand)
            return mask
    return 0


def growth(tensor: Any, basis: int, layout: Layout) -> int | None:
    """What an offset grows by from one element to the one whose index has bit `basis` too; None where that is unknown."""
    if isinstance(tensor, Affine):
        moved = 0
        for stride, index in zip(tensor.strides, layout.unravel(basis), strict=True):
            if index and not isinstance(stride, int):
                return None
            moved += index * stride if isinstance(stride, int) else 0
        return moved
    if not basis & ~invariant(tensor):
        return 0
    if not isinstance(tensor, Deferred):
        return None
    info = axis_facts(tensor.operation.results[tensor.index])
    moved_dims = [(d, index) for d, index in enumerate(layout.unravel(basis)) if index]
    if info is None or len(moved_dims) != 1:
        return None
    d, index = moved_dims[0]
    return index if info.contiguity[d] >= 2 * index else 0 if info.constancy[d] >= 2 * index else None


def run_length(pointers: Any, layout: Layout) -> int:
    """Neighbouring components whose addresses are neighbours: a power of two."""
    if not isinstance(pointers, Pointers):
        return 1
    parts = [part for part in (pointers.affine, *pointers.terms) if part is not None]
    bits = 0
    for i, basis in enumerate(layout.component):
        moved = [growth(part, basis, layout) for part in parts]
        if None in moved or sum(moved) != 1 << i:  # type: ignore[arg-type]
            break
        bits = i + 1
    return 1 << bits


def by_memory(ctx: Context, ptr: Any, layout: Layout, pointee: Any) -> Layout:
    """The layout with registers whose elements are neighbours in memory as components: one access moves them."""
    if not isinstance(ptr, Pointers) or ptr.affine is None:
        return layout
    same = -1
    for term in ptr.terms:
        same &= invariant(term)

    def moved(basis: int) -> int | None:
        steps = list(zip(ptr.affine.strides, layout.unravel(basis), strict=True))
        if basis & ~same or any(index and not isinstance(stride, int) for stride, index in steps):
            return None
        return sum(index * stride for stride, index in steps if index)

    return fragments.grouped(layout, moved, ctx.target.lane_bytes // storage_bytes(pointee))


class Access:
    """The pointers of one tensor access under a layout, ready to be loaded from or stored to, register by register."""

    def __init__(self, ctx: Context, ptr: Any, layout: Layout, pointee: Any) -> None:
        self.ctx, self.layout = ctx, layout
        self.run = run_length(ptr, layout)
        self.pointee = storage_type(pointee)
        self.size = storage_bytes(pointee)
        self.base: Register | None = None
        self.firsts: list[Register] | None = None
        self.steps: list[int | None] = []  # elements from register 0 to each register, where they are known
        if isinstance(ptr, Uniform):
            ptr = Pointers(ptr.shape, ptr.element, ptr.scalar)
        if isinstance(ptr, Pointers):
            self.base = ptr.base
            if self.run == layout.width and (self.run > 1 or (ptr.affine is not None and not ptr.terms)):
                self.firsts = self._firsts(ptr)
                return
            self.offsets = element_offsets(ctx, ptr, layout)
        else:
            self.offsets = list(ctx.fragment(ptr, layout).registers)

    def _firsts(self, pointers: Pointers) -> list[Register]:
        """The offset of component 0 of each register."""
        b, count = self.ctx.b, self.layout.registers
        firsts = [b.constant(I64, 0)] * count if pointers.affine is None else self._affine_firsts(pointers.affine)
        heads = replace(self.layout, component=())
        for term in pointers.terms:
            self.steps = [None] * count
            added = self.ctx.fragment(term, heads).registers
            firsts = [b.iadd(x, b.resize(y, 64)) for x, y in zip(firsts, added, strict=True)]
        return firsts

    def _affine_firsts(self, affine: Affine) -> list[Register]:
        """The same for an affine offset: one scalar, plus what the register adds."""
        ctx, b = self.ctx, self.ctx.b
        origin = ctx.affine_scalar(affine, self.layout)
        firsts = []
        for index in self.layout.register_indices:
            moved = origin
            step: int | None = 0
            for stride, i in zip(affine.strides, self.layout.unravel(index), strict=True):
                if i and not (isinstance(stride, int) and stride == 0):
                    factor = stride if isinstance(stride, Register) else b.constant(I64, stride)
                    moved = b.iadd(moved, b.imul(factor, i))
                    step = step + stride * i if isinstance(stride, int) and step is not None else None
            firsts.append(moved)
            self.steps.append(step)
        return firsts

    def pointer(self, register: int, component: int = 0) -> Register:
        """The address of one component."""
        ctx, b = self.ctx, self.ctx.b
        if self.firsts is not None:
            first = ctx.env.offset(self.base, self.firsts[register])  # type: ignore[arg-type]
            return first if component == 0 else ctx.env.offset(first, b.constant(I64, component))
        offset = self.offsets[register]
        if self.base is None:
            assert offset is not None
            return ctx.env.pointer(b.extract(offset, component), self.pointee)
        return self.base if offset is None else ctx.env.offset(self.base, b.extract(offset, component))

    def load(self, register: int, mask: Register | None, other: Register | None, volatile: bool) -> Register:
        env, width, run = self.ctx.env, self.layout.width, self.run
        b = self.ctx.b
        if run == 1 and width > 1:
            if self.base is not None and self.offsets[register] is None and mask is None:
                return b.splat(env.load(self.base, 1, volatile), width)
            pointers = [self.pointer(register, c) for c in range(width)]
            return env.gather(pointers, mask, other)
        parts = []
        for c in range(0, width, run):
            place = self.pointer(register, c)
            if mask is None:
                parts.append(env.load(place, run, volatile))
                continue
            assert other is not None
            which = range(c, c + run)
            parts.append(env.masked_load(place, fragments.components(b, mask, which), fragments.components(b, other, which)))
        return fragments.concatenate(b, parts)

    def streams(self, op: Operation) -> Register | None:
        """A scalar Bool: is this store part of a stream too large for the caches, and aligned to whole vectors? None for never.

        Such a store may bypass the caches: memory need not be read before it is written.
        """
        ctx, b = self.ctx, self.ctx.b
        bytes = self.layout.width * self.size
        if not ctx.target.stream_bytes or self.firsts is None or bytes < STREAMED_VECTOR or ctx.has_atomics:
            return None
        if any(step is None or step * self.size % bytes for step in self.steps):
            return None
        programs = b.imul(b.imul(ctx.env.num_programs(0), ctx.env.num_programs(1)), ctx.env.num_programs(2))
        least = ctx.target.stream_bytes // (self.layout.numel * self.size)
        large = b.compare("OpUGreaterThanEqual", programs, least)
        aligned = b.compare("OpIEqual", b.iand(ctx.env.address(self.pointer(0)), bytes - 1), 0)
        return b.logical_and(large, aligned)

    def store(self, register: int, value: Register, mask: Register | None, stream: bool = False) -> None:
        env, width, run = self.ctx.env, self.layout.width, self.run
        b = self.ctx.b
        if run == 1 and width > 1:
            env.scatter([self.pointer(register, c) for c in range(width)], value, mask)
            return
        for c in range(0, width, run):
            which = range(c, c + run)
            part = fragments.components(b, value, which)
            if mask is None:
                env.store(self.pointer(register, c), part, stream)
            else:
                env.masked_store(self.pointer(register, c), part, fragments.components(b, mask, which))


# --- loads ----------------------------------------------------------------------------------------------------------------


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
    if layout is None:
        return _load_scalar(ctx, op, ptr, mask, other)
    element = element_of(op.results[0].type)
    b = ctx.b
    volatile = bool(op.attributes.get("isVolatile", False))
    _exchange_first(ctx, layout, ptr, mask, other)
    wide = by_memory(ctx, ptr, layout, element)
    access = Access(ctx, ptr, wide, element)

    def plain() -> Fragment:
        return Fragment(wide, element, _from_memory(ctx, element, [
            access.load(r, None, None, volatile) for r in range(wide.registers)]))

    if is_proven(ctx, mask, layout):
        return fragments.rearrange(b, plain(), layout)
    test = all_true(ctx, mask, layout)
    known = ctx.fragment(mask, layout) if test is None else None
    branch = IfElse(b.module, true_everywhere(ctx, known.registers) if known is not None else test)
    with branch.then():
        branch.yield_(plain().registers)
    with branch.otherwise():
        ctx.push_memo()
        if _one_by_one(ctx, layout):
            made = _load_elements(ctx, op, layout, ptr, mask, other)
            branch.yield_(fragments.rearrange(b, made, wide).registers)
        else:
            masks = fragments.rearrange(b, known or ctx.fragment(mask, layout), wide).registers
            others = _others(ctx, other, layout, wide, access)
            branch.yield_(_from_memory(ctx, element, [
                access.load(r, masks[r], others[r], volatile) for r in range(wide.registers)]))
        ctx.pop_memo()
    return fragments.rearrange(b, Fragment(wide, element, tuple(branch.results)), layout)


def _exchange_first(ctx: Context, layout: Layout, *tensors: Any) -> None:
    """Make what lanes exchange for these tensors, before the lanes part ways over their masks."""
    for tensor in tensors:
        if isinstance(tensor, Pointers):
            _exchange_first(ctx, layout, *tensor.terms)
        elif isinstance(tensor, Deferred) and layout.lane and not is_anywhere(tensor):
            ctx.fragment(tensor, layout)


def _one_by_one(ctx: Context, layout: Layout) -> bool:
    """Are masked elements better visited by a loop than by a branch each?"""
    return not ctx.target.masked_access and layout.registers * layout.width > BRANCHES


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


def _load_scalar(ctx: Context, op: Operation, ptr: Register, mask: Register | None, other: Register | None) -> Register:
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


# --- stores ---------------------------------------------------------------------------------------------------------------


@lowers("tt.store")
def store(ctx: Context, op: Operation, ptr: Any, value: Any, mask: Any) -> None:
    """ptr, value [...]; masked elements are not touched."""
    if isinstance(ptr, Register):
        ctx.settle(memory_only=True)
        _store_scalar(ctx, ptr, value, mask)
        return
    layout = ctx.layout_of(op.ptr.type)
    _exchange_first(ctx, layout, ptr, value, mask)
    inputs = [(x, layout) for x in (ptr, value, mask) if x is not None]

    def walk() -> None:
        plan = ctx.plan(op, inputs)
        with StepLoop(ctx, len(layout.step)):
            guarded(ctx, inputs, [] if mask is None else [(mask, layout)],
                    lambda: _store_window(ctx, op, layout, ptr, value, mask))
        ctx.finish(plan)

    versioned(ctx, op, ptr, inputs, walk)


def _store_window(ctx: Context, op: Operation, layout: Layout, ptr: Any, value: Any, mask: Any) -> list[Register]:
    """Store one step of a tensor; what several lanes hold one of them stores. Returns no registers."""
    owns = elements.owner(ctx, *elements.redundant(layout))
    elements.guarded(ctx, owns, lambda: _store_registers(ctx, op, layout, ptr, value, mask))
    return []


def _store_registers(ctx: Context, op: Operation, layout: Layout, ptr: Any, value: Any, mask: Any) -> list[Register]:
    pointee = element_of(op.ptr.type).pointee  # type: ignore[attr-defined]
    b = ctx.b
    wide = by_memory(ctx, ptr, layout, pointee)
    access = Access(ctx, ptr, wide, pointee)
    values = [_to_memory(ctx, x) for x in fragments.rearrange(b, ctx.fragment(value, layout), wide).registers]
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


__all__ = ["Access", "Stored", "Tensor", "element_offsets", "invariant", "log2", "run_length"]

"""Pointer arithmetic: tensors of pointers that share a base stay a base and offsets; the rest are
addresses.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.model import IntegerType, Operation, PointerType, Type, bits_of
from ...layout import Layout
from ...spirv.module import Value as Register
from ...traversal import Asking, question
from ..arithmetic.symbolic import as_affine, combined
from ..context import Context
from ..registry import elementwise, pulled, symbolic
from ..values.tensor import Affine, Bound, Deferred, Fragment, Pointers, Tensor, Uniform
from ..values.types import as_scalar, element_of, is_pointer

INDEX = IntegerType(64)

#: Parts that a sum of index arithmetic is taken apart into, at most.
PARTS = 64


@symbolic("tt.addptr")
def addptr_symbolic(ctx: Context, op: Operation, ptr: Bound, offset: Bound) -> Bound | None:
    """Scalar pointers move; tensors of pointers with one base collect their offsets."""
    b = ctx.b
    if isinstance(ptr, Register):
        assert isinstance(offset, Register)
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
            if isinstance(part, Deferred):
                part.pointers.append(op.results[0])
        else:
            ptr = replace(ptr, affine=add_affine(ctx, ptr.affine, widened(ctx, affine)))
    return ptr


@question
def summands(offset: Bound) -> Asking[list[Tensor]]:
    """A sum of index arithmetic that is affine in part, as its parts; it is taken not to wrap, as in Triton's
    AxisInfo. Sums of 8 and 16 bits are too short for that. A sum of too many parts is one: x + x of what is
    such a sum already has twice as many.
    """
    assert not isinstance(offset, Register)
    if (not isinstance(offset, Deferred) or offset.evaluated is not None
            or offset.operation.name != "arith.addi"):
        return [offset]
    if bits_of(offset.element) < 32:
        return [offset]
    left, right = offset.operands
    parts = [*(yield (left,)), *(yield (right,))]
    return parts if len(parts) <= PARTS and any(as_affine(part) is not None for part in parts) else [offset]


def widened(ctx: Context, affine: Affine) -> Affine:
    """An affine offset in 64 bits, for addresses."""
    b = ctx.b
    strides = tuple(s if isinstance(s, int) else b.resize(s, 64) for s in affine.strides)
    return Affine(affine.shape, INDEX, b.resize(affine.base, 64), strides)


def add_affine(ctx: Context, x: Affine | None, y: Affine) -> Affine:
    if x is None:
        return y
    strides = tuple(combined(ctx, True, s, t, x.base) for s, t in zip(x.strides, y.strides, strict=True))
    return replace(x, base=ctx.b.iadd(x.base, y.base), strides=strides)


@pulled("tt.addptr", weight=2)
def addptr(ctx: Context, op: Operation, layout: Layout, ptr: Tensor, offset: Tensor) -> Fragment:
    """Pointers that came from memory: 64-bit addresses plus offset times the size of an element."""
    b = ctx.b
    element = element_of(op.results[0].type)
    size = max(1, (_pointee_bits(element) + 7) // 8)
    addresses = ctx.evaluation.fragment(ptr, layout).registers
    offsets = ctx.evaluation.registers(offset, layout)
    moved = [b.iadd(a, b.imul(b.resize(o, 64), size)) for a, o in zip(addresses, offsets, strict=True)]
    return Fragment(layout, element, tuple(moved))


def _pointee_bits(pointer: Type) -> int:
    assert isinstance(pointer, PointerType)
    return bits_of(pointer.pointee)


@elementwise("tt.int_to_ptr")
def int_to_ptr(ctx: Context, op: Operation, src: Register) -> Register:
    if isinstance(op.results[0].type, PointerType):
        return as_scalar(ctx.env, src, op.results[0].type)
    return src


@elementwise("tt.ptr_to_int")
def ptr_to_int(ctx: Context, op: Operation, src: Register) -> Register:
    return ctx.env.address(src) if is_pointer(src) else src

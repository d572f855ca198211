"""Buffers in shared memory that the program names: ttg.local_* and the views of memory descriptors.

A memory descriptor is an array with a layout (`tensor.Shared`); views change the layout, or where it starts,
and move nothing. A buffer lives from its allocation to its last use (lower/values/allocation.py), whatever
ttg.local_dealloc says; barriers are placed where they are needed (shared.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...errors import LoweringError
from ...ir.model import MemDescType, Operation
from ...layout import Layout, SharedLayout, log2, span, transposed
from ...spirv.module import Value as Register
from ..context import Context
from ..registry import lowers
from ..values.encoding import shared_layout_of_encoding
from ..values.tensor import Fragment, Shared, Tensor
from .shared import feeds_products


def described(type: MemDescType) -> SharedLayout:
    """The layout of a whole buffer; the leading dimensions that its encoding does not know number its
    copies."""
    encoding_rank = _rank(type)
    copies, shape = type.shape[:len(type.shape) - encoding_rank], type.shape[len(type.shape) - encoding_rank:]
    inner = shared_layout_of_encoding(type.encoding, shape)
    size = inner.extent
    outer = [size << i for dim in copies for i in range(log2(dim))]
    return SharedLayout(type.shape, (*inner.places, *outer), inner.padding)


def _rank(type: MemDescType) -> int:
    """Dimensions that the encoding of a buffer is made for."""
    order = type.encoding.get("order")
    offset = type.encoding.get("offset")
    return len(order) if order is not None else len(offset[0]) if offset else len(type.shape)


@lowers("ttg.local_alloc")
def local_alloc(ctx: Context, op: Operation, src: Tensor) -> Shared:
    """A buffer, with the elements of `src` where there is one."""
    type = op.results[0].type
    assert isinstance(type, MemDescType)
    array = ctx.shared.buffer(op.results[0], type.element, described(type))
    if src is not None:
        _put(ctx, ctx.evaluation.fragment(src, ctx.layouts.of(op.src.type)), array)
    return array


@lowers("ttg.local_dealloc")
def local_dealloc(ctx: Context, op: Operation, src: Shared) -> None:
    """Nothing: where the buffer is used last is known."""


@lowers("ttg.local_store")
def local_store(ctx: Context, op: Operation, src: Tensor, dst: Shared) -> None:
    """src [...] into the buffer `dst`."""
    _put(ctx, ctx.evaluation.fragment(src, ctx.layouts.of(op.src.type)), dst)


def _put(ctx: Context, fragment: Fragment, array: Shared) -> None:
    ctx.shared.writes(array)
    ctx.shared_tensors.store(array, fragment)


@lowers("ttg.local_load")
def local_load(ctx: Context, op: Operation, src: Shared, token: Tensor | None) -> Tensor:
    """The buffer's elements [...]. An operand of a matrix product stays where it is, if nothing may overwrite
    it."""
    type = op.src.type
    assert isinstance(type, MemDescType)
    if not type.mutable and feeds_products(op.results[0]):
        return src
    ctx.shared.reads(src)
    return ctx.shared_tensors.load(src, ctx.layouts.of(op.results[0].type))


# --- views --------------------------------------------------------------------------------------------------


@lowers("ttg.memdesc_trans")
def memdesc_trans(ctx: Context, op: Operation, src: Shared) -> Shared:
    """Dimension d of the result is dimension order[d] of src."""
    shape, order = src.layout.shape, tuple(op.attributes["order"])
    swapped = tuple(shape[d] for d in order)
    return _seen(src, swapped, lambda index: transposed(index, shape, order))


@lowers("ttg.memdesc_reshape")
def memdesc_reshape(ctx: Context, op: Operation, src: Shared) -> Shared:
    """The same elements in row-major order under another shape."""
    return _seen(src, op.results[0].type.shape, lambda index: index)  # type: ignore[attr-defined]


@lowers("ttg.memdesc_subslice")
def memdesc_subslice(ctx: Context, op: Operation, src: Shared) -> Shared:
    """The part of src that starts at `offsets`, multiples of the part's sizes."""
    shape = op.results[0].type.shape  # type: ignore[attr-defined]
    whole, part = Layout(src.layout.shape), Layout(shape)
    offsets = op.attributes["offsets"]
    start = sum(i << low for i, (low, _) in zip(offsets, whole.dim_bits, strict=True))

    def inside(index: int) -> int:
        return sum(i << low for i, (low, _) in zip(part.unravel(index), whole.dim_bits, strict=True))

    made = _seen(src, shape, inside)
    origin = src.layout.origin ^ span(src.layout.places, start)
    return replace(made, layout=replace(made.layout, origin=origin))


@lowers("ttg.memdesc_index")
def memdesc_index(ctx: Context, op: Operation, src: Shared, index: Register) -> Shared:
    """Copy `index` (i32, known at run time) of a buffer with several: [N, ...] -> [...]."""
    shape = op.results[0].type.shape  # type: ignore[attr-defined]
    b = ctx.b
    made = _seen(src, shape, lambda inner: inner)
    copies = src.layout.places[len(made.layout.places):]
    if any(place != copies[0] << i for i, place in enumerate(copies)):
        raise LoweringError("its copies are not side by side")
    if not copies:
        return made
    stride = src.layout.padded(copies[0])
    start = b.imul(b.resize(index, 32), stride)
    return replace(made, start=start if src.start is None else b.iadd(src.start, start))


def _seen(src: Shared, shape: tuple[int, ...], source: Callable[[int], int]) -> Shared:
    """A view of `shape`; `source(index)` is the linear index in src, linear over xor."""
    bits = Layout(shape).numel.bit_length() - 1
    places = tuple(span(src.layout.places, source(1 << i)) for i in range(bits))
    return replace(src, shape=shape, layout=replace(src.layout, shape=shape, places=places))

"""Views: operations that say which element is which, and compute nothing.

A view evaluates its operand under the layout whose indices are the view's: no data moves until two layouts
really differ.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ...facts.views import Dims, source_dims
from ...ir.model import Operation, PointerType, TensorType
from ...layout import Layout, log2, transposed
from ...spirv.module import Value as Register
from ..context import Context
from ..registry import lowers, pulled, symbolic
from ..values import fragment as fragments
from ..values.tensor import Affine, Deferred, Fragment, Pointers, Stored, Tensor, Uniform
from ..values.types import as_scalar, element_of, shape_of


def reshaped(tensor: Tensor, shape: tuple[int, ...], dims: Dims) -> Tensor | None:
    """An unmaterialised tensor with dimension i of the result being dimension dims[i] of the source (None: a
    new one).
    """
    if isinstance(tensor, Uniform):
        return replace(tensor, shape=shape)
    if isinstance(tensor, Affine) and tensor.exact is None:
        return replace(
            tensor, shape=shape, strides=tuple(0 if d is None else tensor.strides[d] for d in dims)
        )
    return None


def viewed_pointers(ctx: Context, op: Operation, src: Tensor, dims: Dims) -> Pointers | None:
    """Pointers under a view: the base stays, the affine part and every term are viewed; terms that have no
    form of their own wait under the same view."""
    if not isinstance(src, Pointers):
        return None
    shape = shape_of(op.results[0].type)
    affine = None
    terms: list[Tensor] = []
    for part in (src.affine, *src.terms):
        if part is None:
            continue
        plain = replace(part, exact=None) if isinstance(part, Affine) else part
        seen = reshaped(plain, shape, dims)
        if isinstance(seen, Affine) and part is src.affine:
            affine = seen
        elif isinstance(part, Deferred) and not isinstance(part.evaluated, Stored):
            terms.append(_viewed_later(op, part))
        elif seen is not None:
            terms.append(seen)
        else:
            return None
    return Pointers(shape, src.element, src.base, affine, tuple(terms))


def _viewed_later(op: Operation, term: Deferred) -> Deferred:
    """The view `op` of a term of its operand. The operation is one of its own, outside of the function: what
    is known of the pointers need not hold for the term."""
    source, result = op.src.type, op.results[0].type
    assert isinstance(source, TensorType) and isinstance(result, TensorType)
    inside = Operation("ts.term", [], {}, [replace(source, element=term.element)], ["offset"])
    view = Operation(op.name, inside.results, dict(op.attributes), [replace(result, element=term.element)],
                     ["offset"], op.location)
    return Deferred(result.shape, term.element, view, (term,), 0, term.weight, term.reads_memory,
                    depth=term.depth + 1)


def _view_source(op: Operation, layout: Layout) -> Layout:
    return layout.reshaped(shape_of(op.src.type))


@pulled("tt.expand_dims", "tt.reshape", weight=0, source_layout=_view_source)
def reshape(ctx: Context, op: Operation, layout: Layout, src: Tensor) -> Fragment:
    """[...] -> the same elements in row-major order under another shape."""
    made = ctx.evaluation.fragment(src, _view_source(op, layout))
    return Fragment(layout, made.element, made.registers)


@symbolic("tt.expand_dims", "tt.reshape", "tt.broadcast", "tt.trans")
def view_symbolic(ctx: Context, op: Operation, src: Tensor) -> Tensor | None:
    """Uniform stays uniform under any shape; index arithmetic stays affine where dimensions stay what they
    are, wherever they come to lie.
    """
    shape = shape_of(op.results[0].type)
    if isinstance(src, Uniform):
        return replace(src, shape=shape)
    dims = source_dims(op)
    if dims is None:
        return None
    return viewed_pointers(ctx, op, src, dims) if isinstance(src, Pointers) else reshaped(src, shape, dims)


def _broadcast_source(op: Operation, layout: Layout) -> Layout:
    return _unrepeated(layout, shape_of(op.src.type))


@lru_cache(maxsize=1024)
def _unrepeated(layout: Layout, shape: tuple[int, ...]) -> Layout:
    """The layout of a tensor of this shape from that of the larger one which repeats it."""
    kept: list[tuple[int, int]] = []  # (bits in the result's index, how far down they are in the source's)
    low = dropped = 0
    for size, source in zip(reversed(layout.shape), reversed(shape), strict=True):
        bits = log2(size)
        if source > 1:
            kept.append(((size - 1) << low, dropped))
        else:
            dropped += bits
        low += bits
    return layout.map(shape, lambda basis: sum([(basis & mask) >> down for mask, down in kept]))


@pulled("tt.broadcast", weight=0, source_layout=_broadcast_source)
def broadcast(ctx: Context, op: Operation, layout: Layout, src: Tensor) -> Fragment:
    """[..., 1, ...] -> [..., N, ...]; the index bits of the repeated dimensions do not matter to the
    operand.
    """
    made = ctx.evaluation.fragment(src, _broadcast_source(op, layout))
    return Fragment(layout, made.element, made.registers)


def _trans_source(op: Operation, layout: Layout) -> Layout:
    shape, order = shape_of(op.src.type), tuple(op.attributes["order"])
    return layout.map(shape, lambda basis: transposed(basis, shape, order))


@pulled("tt.trans", weight=0, source_layout=_trans_source)
def trans(ctx: Context, op: Operation, layout: Layout, src: Tensor) -> Fragment:
    """Dimension d of the result is dimension order[d] of src."""
    made = ctx.evaluation.fragment(src, _trans_source(op, layout))
    return Fragment(layout, made.element, made.registers)


@symbolic("tt.splat")
def splat_symbolic(ctx: Context, op: Operation, src: Register) -> Tensor:
    type = op.results[0].type
    if isinstance(src, Register):
        if isinstance(element_of(type), PointerType):
            return Pointers(shape_of(type), element_of(type), src)
    return Uniform(shape_of(type), element_of(type), src)


@pulled("tt.splat", weight=0)
def splat(ctx: Context, op: Operation, layout: Layout, src: Register) -> Fragment:
    """A scalar in every element. Always symbolic; this is the form for consumers that ask for registers."""
    return ctx.evaluation.fragment(splat_symbolic(ctx, op, src), layout)


@lowers("tt.unsplat")
def unsplat(ctx: Context, op: Operation, src: Tensor) -> Register:
    """The scalar of a tensor of one element."""
    layout = ctx.layouts.of(op.src.type)
    first = ctx.b.extract(ctx.evaluation.fragment(src, layout).registers[0], 0)
    return as_scalar(ctx.env, first, op.results[0].type)


def _halves(op: Operation, layout: Layout) -> Layout:
    """The layout asked of an operand of tt.join: the result's without the last dimension."""
    shape = layout.shape[:-1]
    return layout.map(shape, lambda basis: basis >> 1)


@pulled("tt.join", source_layout=_halves)
def join(ctx: Context, op: Operation, layout: Layout, lhs: Tensor, rhs: Tensor) -> Fragment:
    """Two [...] -> [..., 2]; the new last index chooses the operand."""
    half = _halves(op, layout)
    return _choose(ctx, layout, 1, ctx.evaluation.fragment(lhs, half), ctx.evaluation.fragment(rhs, half))


def _cat_source(op: Operation, layout: Layout) -> Layout:
    shape = shape_of(op.lhs.type)
    low = log2(layout.numel) - 1
    return layout.map(shape, lambda basis: basis & ~(1 << low))


@pulled("tt.cat", source_layout=_cat_source)
def cat(ctx: Context, op: Operation, layout: Layout, lhs: Tensor, rhs: Tensor) -> Fragment:
    """Two [N] -> [2N], one behind the other (Triton allows any order of elements; this is the natural
    one).
    """
    half = _cat_source(op, layout)
    left, right = ctx.evaluation.fragment(lhs, half), ctx.evaluation.fragment(rhs, half)
    return _choose(ctx, layout, layout.numel // 2, left, right)


def _choose(ctx: Context, layout: Layout, bit: int, zeros: Fragment, ones: Fragment) -> Fragment:
    """Elements of `ones` where index bit `bit` is set, of `zeros` elsewhere."""
    b = ctx.b
    dynamic = ctx.indices.dynamic_index(layout, bit)
    registers = []
    for base, x, y in zip(layout.register_indices, zeros.registers, ones.registers, strict=True):
        takes = [bool((base ^ offset) & bit) for offset in layout.component_indices]
        if dynamic is not None:
            condition = b.compare("OpINotEqual", dynamic, 0)
            registers.append(b.select(condition, y, x))
        elif all(takes) or not any(takes):
            registers.append(y if takes[0] else x)
        else:
            registers.append(fragments.assemble(b, [(y if take else x, c) for c, take in enumerate(takes)]))
    return Fragment(layout, zeros.element, tuple(registers))


def _split_source(op: Operation, layout: Layout, index: int = 0) -> Layout:
    half = layout.map((*layout.shape, 2), lambda basis: basis << 1)
    return replace(half, origin=half.origin | index)


@pulled("tt.split", source_layout=_split_source)
def split(ctx: Context, op: Operation, layout: Layout, src: Tensor) -> tuple[Fragment, Fragment]:
    """[..., 2] -> two [...]: the elements with last index 0, and 1."""
    halves = [ctx.evaluation.fragment(src, _split_source(op, layout, index)) for index in range(2)]
    zeros, ones = (Fragment(layout, half.element, half.registers) for half in halves)
    return zeros, ones

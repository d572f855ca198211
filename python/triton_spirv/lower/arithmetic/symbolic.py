"""Constants and index arithmetic: tensors that stay formulas, uniform or affine, for as long as they can.

Sums, products and extensions of indices fold into base and strides; what is no index is computed element by
element (elementwise.py).
"""

from __future__ import annotations

from ...facts.axis import axis_facts
from ...ir.model import DenseAttr, FloatType, IntegerType, Operation, PointerType, Type
from ...ir.numbers import to_bits
from ...layout import Layout
from ...spirv.builder import scalar_type
from ...spirv.module import Value as Register
from ...spirv.types import Int
from ..context import Context
from ..registry import pulled, symbolic
from ..values.tensor import Affine, Bound, Deferred, Fragment, Tensor, Uniform, depth_of
from ..values.types import element_of, register_type, shape_of


def constant_scalar(ctx: Context, type: Type, value: float) -> Register:
    """An IR constant as a register; bf16 and fp8 as their bits."""
    b = ctx.b
    if isinstance(type, FloatType) and isinstance(register_type(type), Int):
        return b.constant(register_type(type), to_bits(value, type))
    return b.constant(
        register_type(type), bool(value) if isinstance(type, IntegerType) and type.width == 1 else value
    )


@symbolic("arith.constant")
def constant_symbolic(ctx: Context, op: Operation) -> Bound | None:
    type, value = op.results[0].type, op.attributes["value"]
    if not isinstance(value, DenseAttr):
        return constant_scalar(ctx, type, value)
    return (
        Uniform(shape_of(type), element_of(type), constant_scalar(ctx, element_of(type), value.values))
        if value.splat
        else None
    )


@pulled("arith.constant")
def constant(ctx: Context, op: Operation, layout: Layout) -> Fragment:
    """A tensor of listed values (splats and scalars are symbolic)."""
    b, values = ctx.b, op.attributes["value"].values
    element = element_of(op.results[0].type)
    registers = [
        b.construct(
            [constant_scalar(ctx, element, values[base ^ offset]) for offset in layout.component_indices]
        )
        for base in layout.register_indices
    ]
    return Fragment(layout, element, tuple(registers))


@symbolic("tt.make_range")
def make_range_symbolic(ctx: Context, op: Operation) -> Affine:
    element = element_of(op.results[0].type)
    start = ctx.b.constant(register_type(element), op.attributes["start"])
    return Affine(shape_of(op.results[0].type), element, start, (1,))


@pulled("tt.make_range")
def make_range(ctx: Context, op: Operation, layout: Layout) -> Fragment:
    """start, start + 1, ... (always symbolic; this is the form for consumers that ask for registers)."""
    return ctx.evaluation.fragment(make_range_symbolic(ctx, op), layout)


def as_affine(tensor: object) -> Affine | None:
    """Uniform integers are affine with strides of zero."""
    if isinstance(tensor, Affine):
        return tensor
    if (
        isinstance(tensor, Uniform)
        and isinstance(scalar_type(tensor.scalar.type), Int)
        and not isinstance(tensor.element, PointerType)
    ):
        return Affine(tensor.shape, tensor.element, tensor.scalar, (0,) * len(tensor.shape))
    return None


def _exact(op: Operation, operands: tuple[Bound | None, ...]) -> Deferred | None:
    """The operation itself, where an operand is affine only for addresses."""
    if not any(isinstance(x, Affine) and x.exact is not None for x in operands):
        return None
    type = op.results[0].type
    return Deferred(shape_of(type), element_of(type), op, operands, depth=1 + max(map(depth_of, operands)))


def _is_index(op: Operation) -> bool:
    element = element_of(op.results[0].type)
    return isinstance(element, IntegerType) and element.width > 1 and bool(shape_of(op.results[0].type))


@symbolic("arith.addi")
@symbolic("arith.subi")
def add_symbolic(ctx: Context, op: Operation, lhs: Bound, rhs: Bound) -> Tensor | None:
    """affine +- affine; uniform operands alone stay uniform by the plain rule."""
    x, y = as_affine(lhs), as_affine(rhs)
    if (
        not _is_index(op)
        or x is None
        or y is None
        or not (isinstance(lhs, Affine) or isinstance(rhs, Affine))
    ):
        return None
    b = ctx.b
    combine = b.iadd if op.name == "arith.addi" else b.isub
    strides = tuple(
        combined(ctx, op.name == "arith.addi", s, t, x.base)
        for s, t in zip(x.strides, y.strides, strict=True)
    )
    return Affine(x.shape, x.element, combine(x.base, y.base), strides, _exact(op, (lhs, rhs)))


def combined(
    ctx: Context, adds: bool, s: Register | int, t: Register | int, like: Register
) -> Register | int:
    """The stride of a sum (or difference) of formulas; `like` has its type where it is no number."""
    if isinstance(s, int) and isinstance(t, int):
        return s + t if adds else s - t
    if isinstance(t, int) and t == 0:
        return s
    if adds and isinstance(s, int) and s == 0:
        return t
    x = s if isinstance(s, Register) else ctx.b.constant(like.type, s)
    return ctx.b.iadd(x, t) if adds else ctx.b.isub(x, t)


@symbolic("arith.muli")
def multiply_symbolic(ctx: Context, op: Operation, lhs: Bound, rhs: Bound) -> Tensor | None:
    """affine * uniform."""
    if isinstance(lhs, Uniform):
        lhs, rhs = rhs, lhs
    if not _is_index(op) or not isinstance(lhs, Affine) or not isinstance(rhs, Uniform):
        return None
    factor = rhs.scalar
    strides = tuple(_scaled(ctx, stride, factor) for stride in lhs.strides)
    return Affine(lhs.shape, lhs.element, ctx.b.imul(lhs.base, factor), strides, _exact(op, (lhs, rhs)))


def _scaled(ctx: Context, stride: Register | int, factor: Register) -> Register | int:
    if isinstance(stride, int):
        return (
            stride * factor.constant
            if isinstance(factor.constant, int)
            else ctx.b.imul(factor, stride)
            if stride
            else 0
        )
    return ctx.b.imul(stride, factor)


@symbolic("arith.extsi")
@symbolic("arith.extui")
def extend_symbolic(ctx: Context, op: Operation, operand: Bound) -> Tensor | None:
    """Affine for addresses (no wrap assumed, as AxisInfo does); data is extended exactly. With zeros only
    what is not negative: of i - 5, extended so, the first elements are far behind the others."""
    if not isinstance(operand, Affine) or operand.element == IntegerType(1):
        return None
    signed = op.has("widens")
    facts = axis_facts(op.operands[0])
    if not signed and (facts is None or not facts.nonnegative):
        return None
    type = op.results[0].type
    element = element_of(type)
    bits = element.width  # type: ignore[attr-defined]
    exact = Deferred(shape_of(type), element, op, (operand,), depth=1 + depth_of(operand))
    strides = tuple(s if isinstance(s, int) else ctx.b.resize(s, bits) for s in operand.strides)
    return Affine(operand.shape, element, ctx.b.resize(operand.base, bits, signed), strides, exact)

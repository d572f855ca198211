"""tt.dot_scaled: products of 4- and 8-bit floats whose neighbours along K share a scale.

Each operand is decoded and scaled while it is staged, in f32, where that is exact; the rest is tt.dot. Beside
an operand of f16, though, the scaled elements are f16 too, as Triton has it: they round, and large ones are
infinite.
Formats and scales: OCP Microscaling Formats (MX) Specification, version 1.0, section 5. A scale is the
exponent of a power of two (E8M0: 0 is 2 ** -127, 255 is NaN) or, as in NVFP4, an 8-bit float.
"""

from __future__ import annotations

from ...dataclass import dataclass
from ...ir.model import FloatType, IntegerType, Operation, Type
from ...layout import Layout, log2, transposed
from ...spirv.builder import Builder, with_width
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Float
from ..arithmetic.cast import to_float
from ..context import Context, StepLoop
from ..registry import lowers
from ..values.float16 import f16_to_f32
from ..values.tensor import Fragment, Stored, Tensor
from .dot import F32, product
from .operand import Shape, compute_before

#: Element types of the formats of one element a byte or more.
ELEMENTS = {"e4m3": FloatType("f8E4M3FN"), "e5m2": FloatType("f8E5M2"), "bf16": FloatType("bf16"),
            "fp16": FloatType("f16")}
FP4 = "e2m1"


def element(ctx: Context, form: str) -> FloatType:
    """The type of a format, as the target holds it."""
    found = ELEMENTS[form]
    return FloatType(found.name, as_bits=found.name == "f16" and not ctx.target.float16)


@lowers("tt.dot_scaled")
def dot_scaled(ctx: Context, op: Operation, a: Tensor, b: Tensor, c: Tensor, a_scale: Tensor,
               b_scale: Tensor) -> Stored | Fragment:
    """a [..., M, K] x b [..., K, N] + c; a_scale [..., M, K / group], b_scale [..., N, K / group]. `e2m1`
    comes two a byte, the first in the low half, along K or, with `*_k_pack = false`, along M or N."""
    left_form, right_form = str(op.attributes["a_elem_type"]), str(op.attributes["b_elem_type"])
    along_k = [bool(op.attributes.get(name, True)) for name in ("lhs_k_pack", "rhs_k_pack")]
    left_axis = _packed_axis(left_form, along_k[0], len(a.shape) - 1, len(a.shape) - 2)
    right_axis = _packed_axis(right_form, along_k[1], len(b.shape) - 2, len(b.shape) - 1)
    form = element(ctx, "fp16") if "fp16" in (left_form, right_form) else F32
    scales = factors(ctx, op, a_scale, False, form), factors(ctx, op, b_scale, True, form)
    left = Scaled(a, _unpacked(a.shape, left_axis), left_form, left_axis, scales[0], form)
    right = Scaled(b, _unpacked(b.shape, right_axis), right_form, right_axis, scales[1], form)
    return product(ctx, op, left, right, c, all_terms=True)  # a zero's scale may be NaN


def _packed_axis(form: str, along_k: bool, k: int, other: int) -> int | None:
    return (k if along_k else other) if form == FP4 else None


def _unpacked(shape: Shape, axis: int | None) -> Shape:
    return tuple(2 * size if d == axis else size for d, size in enumerate(shape))


# --- scales -------------------------------------------------------------------------------------------------


def factors(ctx: Context, op: Operation, scale: Tensor, transpose: bool, type: FloatType) -> Stored | None:
    """The scales as f32 in an array, rounded to `type`, [..., K / group, N] for the right operand; they are
    few."""
    if scale is None:
        return None
    order = list(range(len(scale.shape)))
    if transpose:
        order[-2:] = reversed(order[-2:])
    array = ctx.arrays.allocate(tuple(scale.shape[d] for d in order), F32)
    layout = ctx.layouts.default(scale.shape)
    placed = layout.map(array.shape, lambda index: transposed(index, array.shape, tuple(order)))
    compute_before(ctx, op, [(scale, layout)])
    with StepLoop(ctx.walks, len(layout.step)):
        made = ctx.evaluation.fragment(scale, layout)
        registers = [rounded(ctx, scale_to_f32(ctx, x, scale.element), type) for x in made.registers]
        ctx.arrays.write(array, Fragment(placed, F32, tuple(registers)))
    return array


def rounded(ctx: Context, value: Register, type: FloatType) -> Register:
    """An f32 that the type has, too."""
    return to_float(ctx, to_float(ctx, value, F32, type), type, F32)


def scale_to_f32(ctx: Context, scale: Register, type: Type) -> Register:
    """An E8M0 exponent, or a float of any type."""
    if not isinstance(type, IntegerType):
        return to_float(ctx, scale, type, F32)
    b = ctx.b
    exponent = b.resize(scale, 32, signed=False)
    bits = b.select(b.compare("OpIEqual", exponent, 0), 0x00400000, b.shl(exponent, 23))
    return b.bitcast(b.select(b.compare("OpIEqual", exponent, 255), 0x7FC00000, bits), Float(32))


# --- elements -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scaled:
    """An operand of `shape` that is decoded, multiplied by its scales and `rounded_to` a type; `packed` is
    the dimension along which two elements share a byte."""

    tensor: Tensor
    shape: Shape
    form: str
    packed: int | None
    factors: Stored | None
    rounded_to: FloatType
    target: Type = F32

    def stored(self) -> None:
        return None

    def inputs(self, layout: Layout) -> list[tuple[Tensor, Layout]]:
        return [(self.tensor, self._packed_layout(layout))]

    def fragment(self, ctx: Context, layout: Layout) -> Fragment:
        made = ctx.evaluation.fragment(self.tensor, self._packed_layout(layout))
        if self.packed is None:
            values = [to_float(ctx, x, element(ctx, self.form), F32) for x in made.registers]
        else:
            bit = layout.dim_bits[self.packed][0]
            values = [e2m1_to_f32(ctx.b, x) for x in halves(ctx, made.registers, layout, bit)]
        if self.factors is not None:
            scales = ctx.evaluation.fragment(self.factors, self._groups(layout, self.factors.shape)).registers
            products = [ctx.b.binary("OpFMul", x, y) for x, y in zip(values, scales, strict=True)]
            values = [rounded(ctx, x, self.rounded_to) for x in products]
        return Fragment(layout, F32, tuple(values))

    def zeros(self, ctx: Context, layout: Layout) -> None:
        return None

    def _packed_layout(self, layout: Layout) -> Layout:
        """Where the bytes of the elements of a layout are in the packed tensor."""
        if self.packed is None:
            return layout
        bit = layout.dim_bits[self.packed][0]
        below = (1 << bit) - 1
        return layout.map(self.tensor.shape, lambda index: (index >> 1) & ~below | index & below)

    def _groups(self, layout: Layout, shape: Shape) -> Layout:
        """Where the scales of the elements of a layout are."""
        shifts = [log2(size // groups) for size, groups in zip(self.shape, shape, strict=True)]
        to = Layout(shape)

        def scale_of(index: int) -> int:
            parts = zip(layout.unravel(index), shifts, to.dim_bits, strict=True)
            return sum(i >> shift << low for i, shift, (low, _) in parts)
        return layout.map(shape, scale_of)


def halves(ctx: Context, registers: tuple[Register, ...], layout: Layout, bit: int) -> list[Register]:
    """The half of each byte that holds the element: the upper one where bit `bit` of the index is set. Other
    bits of the results (i16) are arbitrary."""
    b = ctx.b
    upper = ctx.indices.dynamic_index(layout, 1 << bit)
    found = []
    for register, base in zip(registers, layout.register_indices, strict=True):
        low = b.resize(register, 16, signed=False)
        high = b.lshr(low, 4)
        takes = tuple(bool((base ^ offset) >> bit & 1) for offset in layout.component_indices)
        if upper is not None:
            found.append(b.select(b.compare("OpINotEqual", upper, 0), high, low))
        elif all(takes) or not any(takes):
            found.append(high if takes[0] else low)
        else:
            found.append(b.select(b.constant(with_width(Bool(), len(takes)), takes), high, low))
    return found


def e2m1_to_f32(b: Builder, code: Register) -> Register:
    """The lowest four bits of an i16; as exponent and mantissa of an f16, whose bias is larger by 14."""
    bits = b.ior(b.shl(b.iand(code, 8), 12), b.shl(b.iand(code, 7), 9))
    wide = f16_to_f32(b, bits)
    return b.binary("OpFMul", wide, b.constant(wide.type, 2.0 ** 14))

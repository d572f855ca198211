"""tt.dot on a matrix unit: one instruction for each block of the result and each step along K.

The layouts are those of matrix_layout.py: the registers of a lane, as they are, are the operands of the
instruction. An accumulator is a vector of a lane's `rows` sums.
"""

from __future__ import annotations

from typing import Any

from ..ir.model import Operation
from ..layout import Layout
from ..spirv.builder import scalar_type, width_of, with_width
from ..spirv.module import Value as Register
from ..spirv.types import Float, Int
from . import fragment as fragments
from .context import Context
from .encoding import layout_of_encoding
from .matrix_layout import Tiling
from .matrix_placement import FORMS
from .tensor import Fragment
from .types import bits_of, element_of, shape_of


def product_on_matrix_unit(ctx: Context, op: Operation, a: Any, b: Any, c: Any) -> Fragment:
    """a [M, K] x b [K, N] + c [M, N] under the layouts that matrix_placement.py has given them."""
    unit = ctx.target.matrix
    assert unit is not None
    layout, element = ctx.layout_of(op.result.type), element_of(op.result.type)
    operand = element_of(op.a.type)
    bits, form = bits_of(operand), FORMS[str(operand)][0]
    (m, n), k = shape_of(op.result.type), shape_of(op.a.type)[-1]
    word = Tiling(unit, bits, m, n, k, 1, 1, 1).a_word
    left = _held(ctx, a, op.attributes["ts.left"])
    right = _held(ctx, b, op.attributes["ts.right"])
    depth = unit.depth(bits)
    rows = {base: operand_words(ctx, left, base, _inside(left, unit.rows, depth, k), word)
            for base in _blocks(left.layout)}
    columns = {base: operand_words(ctx, right, base, _inside(right, depth, unit.columns, n), 32)
               for base in _blocks(right.layout)}
    sums = [ctx.b.splat(x, layout.width) for x in ctx.registers(c, layout)]
    for start in range(0, k, depth):
        for r, index in enumerate(layout.register_indices):
            row, column = divmod(index, n)
            x, y = rows[row * k + start], columns[start * n + column]
            sums[r] = ctx.env.multiply_matrices(form, depth, x, y, sums[r])
    held = (bits_of(element), layout), (bits, left.layout), (bits, right.layout)
    bytes = sum(size * known.registers * known.width * unit.columns // 8 for size, known in held)
    ctx.register_bytes = max(ctx.register_bytes, bytes)
    return Fragment(layout, element, tuple(sums))


def _held(ctx: Context, tensor: Any, encoding: Any) -> Fragment:
    layout = layout_of_encoding(encoding, tensor.shape, ctx.num_warps, ctx.target.sub_group_size)
    made = ctx.fragment(tensor, layout)
    return Fragment(layout, made.element, tuple(ctx.b.splat(x, layout.width) for x in made.registers))


def _blocks(layout: Layout) -> tuple[int, ...]:
    return layout.register_indices


def _inside(held: Fragment, height: int, width: int, pitch: int) -> int:
    """The bits of an index that lie inside a block of `height` x `width`."""
    return (height - 1) * pitch | (width - 1)


def operand_words(ctx: Context, held: Fragment, base: int, inside: int, word: int) -> Register:
    """The operand of the instruction for the block whose first register is that of index `base`: its
    registers one behind the other, as words of so many bits.
    """
    numbered = zip(held.layout.register_indices, held.registers, strict=True)
    registers = [register for index, register in numbered if index & ~inside == base & ~inside]
    return fragments.concatenate(ctx.b, [as_words(ctx, register, word) for register in registers])


def as_words(ctx: Context, register: Register, word: int) -> Register:
    """A vector as one of words, floats where the elements are as wide."""
    b, element = ctx.b, scalar_type(register.type)
    width = element.width  # type: ignore[attr-defined]
    if isinstance(element, Float) and element.width == 32:
        return register
    count = width_of(register.type) * width // word
    type = with_width(Int(word), count)
    return register if register.type == type else b.emit("OpBitcast", register, type=type)

"""tt.dot on a matrix unit: one instruction for each block of the result and each step along K.

The layouts are those of matrix_layout.py: the registers of a lane, as they are, are the operands of the
instruction. An accumulator is a vector of a lane's `rows` sums.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from ...ir.model import Operation, bits_of
from ...layout import Layout
from ...matrices.layout import FORMS, Tiling
from ...spirv.builder import scalar_type, width_of, with_width
from ...spirv.module import Value as Register
from ...spirv.types import Float, Int
from ..context import Context
from ..plan.records import Product
from ..values import fragment as fragments
from ..values.encoding import layout_of_encoding
from ..values.tensor import Fragment, Tensor
from ..values.types import element_of, shape_of
from .operand_blocks import InRegisters, Waiting, wait_of, waiting


def product_on_matrix_unit(ctx: Context, op: Operation, a: Tensor, b: Tensor, c: Tensor) -> Fragment:
    """a [M, K] x b [K, N] + c [M, N] under the layouts that matrix_placement.py has given them."""
    unit = ctx.target.matrix
    assert unit is not None
    layout, element = ctx.layouts.of(op.result.type), element_of(op.result.type)
    operand = element_of(op.a.type)
    bits, form = bits_of(operand), FORMS[str(operand)][0]
    (m, n), k = shape_of(op.result.type), shape_of(op.a.type)[-1]
    word = Tiling(unit, bits, m, n, k, 1, 1, 1).a_word
    depth = unit.depth(bits)
    plan = Product(op, "matrix unit", (unit.rows, unit.columns, depth), form=str(operand))
    with ExitStack() as stack:
        (first, left), (second, right) = operands(ctx, stack, op, a, b)
        sums = [ctx.b.splat(x, layout.width) for x in ctx.evaluation.registers(c, layout)]
        ctx.recorder.add(replace(plan, staging=(first, second)))
        arrays = [x.array for x in (left, right) if isinstance(x, Waiting)]
        for array in arrays:
            ctx.shared.reads(array)
        for start in range(0, k, depth):
            rows: dict[int, Register] = {}
            columns: dict[int, Register] = {}
            for r, index in enumerate(layout.register_indices):
                row, column = divmod(index, n)
                x, y = rows.get(row), columns.get(column)
                if x is None:
                    inside = _inside(unit.rows, depth, k)
                    x = rows[row] = operand_words(ctx, left, row * k + start, inside, word)
                if y is None:
                    inside = _inside(depth, unit.columns, n)
                    y = columns[column] = operand_words(ctx, right, start * n + column, inside, 32)
                sums[r] = ctx.env.multiply_matrices(form, depth, x, y, sums[r])
        for array in arrays[:-1]:  # until here
            ctx.shared.reads(array)
    reading = sum(_bytes(x.layout, bits) // (k // depth if isinstance(x, Waiting) else 1)
                  for x in (left, right))
    results = ctx.prepared.product_bytes[op.parent] = ctx.prepared.product_bytes.get(op.parent, 0) + _bytes(
        layout, bits_of(element))
    ctx.launch.register_bytes = max(ctx.launch.register_bytes, results + reading)
    return Fragment(layout, element, tuple(sums))


def _bytes(layout: Layout, bits: int) -> int:
    """Of a sub-group's registers."""
    return bits * layout.registers * layout.width << len(layout.lane) >> 3


def operands(ctx: Context, stack: ExitStack, op: Operation, a: Tensor,
             b: Tensor) -> list[tuple[str, Waiting | InRegisters]]:
    """Both operands, in registers or in shared memory, and where they are; that of the second is decided when
    the first one has its place, for there is less room then."""
    tensors = [(x, value, layout_of_encoding(op.attributes[side], x.shape, ctx.kernel.num_warps,
                                             ctx.target.sub_group_size))
               for x, value, side in ((a, op.a, "ts.left"), (b, op.b, "ts.right"))]
    found: list[tuple[str, Waiting | InRegisters]] = []
    for tensor, value, layout in tensors:
        wait = wait_of(ctx, tensor, value, layout)
        if wait is None:
            held = ctx.evaluation.fragment(tensor, layout)
            splat = tuple(ctx.b.splat(x, layout.width) for x in held.registers)
            found.append(("registers", InRegisters(Fragment(layout, held.element, splat))))
        else:
            found.append(("shared memory", waiting(ctx, stack, wait, layout)))
    return found


def _inside(height: int, width: int, pitch: int) -> int:
    """The bits of an index that lie inside a block of `height` x `width`."""
    return (height - 1) * pitch | (width - 1)


def operand_words(ctx: Context, held: Waiting | InRegisters, base: int, inside: int, word: int) -> Register:
    """The operand of the instruction for the block whose first register is that of index `base`: its
    registers one behind the other, as words of so many bits.
    """
    registers = [held.register(ctx, r) for r, index in enumerate(held.layout.register_indices)
                 if index & ~inside == base & ~inside]
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

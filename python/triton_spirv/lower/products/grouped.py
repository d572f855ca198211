"""Operands for instructions that multiply and sum neighbours along K: pairs of bf16, fours of 8-bit integers.

An element of such an operand is the 32 bits of one group. Where components run along K the bits lie side by
side already; elsewhere the members of a group come in registers of their own and are put together.

The instructions: VDPBF16PS sums two products into an f32, and takes denormal numbers as zero. So it is used
where the option fast_math is given, and where operands turn out to hold nothing that it would clear
(pairs.py). VPDPBUSD sums
four products of an unsigned and a signed byte into an i32: the left operand gets 128 added, and 128 times the
sum over each column of the right one is taken off again. VPMADDWD, which AVX2 has, sums two products of
16 bits into an i32, twice as many as a multiply-add of f32: bytes are extended for it (VPMADDUBSW, of bytes,
saturates). Tile registers (tile_registers.py) take the same
groups, sixteen along K at a time.
"""

from __future__ import annotations

from ...dataclass import dataclass
from ...ir.model import FloatType, IntegerType, Type, bits_of
from ...layout import Layout, log2
from ...spirv.builder import I32, width_of, with_width
from ...spirv.module import Value as Register
from ..context import Context
from ..values import fragment as fragments
from ..values.tensor import Fragment, Tensor
from .operand import Operand, Plain, Shape

#: How many elements a group has, by its form: the type that they have in it.
GROUPS = {"bf16": 2, "i8": 4, "i16": 2}

#: Words that the instructions take.
VECTOR = 16

WORD = IntegerType(32)
SIGN_BITS = 0x80808080


def grouped(ctx: Context, a: Tensor, b: Tensor, result: Type) -> tuple[Grouped, Grouped, str] | None:
    """Both operands in groups, and their form, where the target has an instruction for it; else None."""
    return _in_groups(ctx, ctx.target.products, a, b, result, SIGN_BITS)


def grouped_for_tiles(ctx: Context, a: Tensor, b: Tensor,
                      result: Type) -> tuple[Grouped, Grouped, str] | None:
    """The same for tile registers, which take bytes with their signs."""
    return _in_groups(ctx, ctx.target.tile_registers, a, b, result, 0)


def _in_groups(ctx: Context, forms: frozenset[str], a: Tensor, b: Tensor, result: Type,
               flipped: int) -> tuple[Grouped, Grouped, str] | None:
    form = str(a.element)
    if str(b.element) != form or str(result) not in ("f32", "i32"):
        return None
    if form == "i8" and form not in forms:
        form = "i16"
    if form not in forms:
        return None
    columns, depth = b.shape[-1], b.shape[-2]
    if columns < VECTOR or ctx.target.vector_width != VECTOR or depth < GROUPS[form] ** 2:
        return None
    element = FloatType("bf16") if form == "bf16" else IntegerType(int(form[1:]))
    rank = len(a.shape)
    left = Grouped(Plain(a, element), GROUPS[form], rank - 1, flipped if form == "i8" else 0)
    return left, Grouped(Plain(b, element), GROUPS[form], rank - 2), form


@dataclass(frozen=True)
class Grouped:
    """An operand whose elements along `axis` are taken together, `count` at a time; bits of `flipped` are
    inverted."""

    operand: Operand
    count: int
    axis: int
    flipped: int = 0
    target: Type = WORD

    @property
    def shape(self) -> Shape:
        return tuple(n // self.count if d == self.axis else n for d, n in enumerate(self.operand.shape))

    @property
    def tensor(self) -> Tensor:
        return self.operand.tensor

    def stored(self) -> None:
        return None

    def inputs(self, layout: Layout) -> list[tuple[Tensor, Layout]]:
        return self.operand.inputs(self._source(layout))

    def fragment(self, ctx: Context, layout: Layout) -> Fragment:
        b, count = ctx.b, self.count
        made = self.operand.fragment(ctx, self._source(layout)).registers
        groups = [made[r * count:(r + 1) * count] for r in range(layout.registers)]
        join = self._side_by_side if self._is_inside(layout) else self._interleaved
        words = [join(ctx, members) for members in groups]
        if self.flipped:
            words = [b.ixor(word, self.flipped) for word in words]
        return Fragment(layout, WORD, tuple(words))

    def zeros(self, ctx: Context, layout: Layout) -> Fragment | None:
        if self.operand.zeros(ctx, layout) is None:
            return None
        word = ctx.b.constant(with_width(I32, layout.width), self.flipped)
        return Fragment(layout, WORD, (word,) * layout.registers)

    def _is_inside(self, layout: Layout) -> bool:
        """Do neighbouring components hold neighbouring groups?"""
        return bool(layout.component) and layout.component[0] == 1 << layout.dim_bits[self.axis][0]

    def _source(self, layout: Layout) -> Layout:
        """The layout of the single elements: the members of a group in neighbouring components, or in
        neighbouring registers."""
        low, size = layout.dim_bits[self.axis][0], log2(self.count)
        below = (1 << low) - 1

        def first(index: int) -> int:
            return index & below | (index & ~below) << size
        spread = layout.map(self.operand.shape, first)
        members = tuple(1 << (low + bit) for bit in range(size))
        component, register = spread.component, members + spread.register
        if self._is_inside(layout):
            width = len(component)
            every = members + component
            component, register = every[:width], every[width:] + spread.register
        return Layout(spread.shape, component, register, spread.step, spread.lane, spread.warp, spread.origin)

    def _side_by_side(self, ctx: Context, parts: tuple[Register, ...]) -> Register:
        """Registers that hold whole groups, one behind the other."""
        b = ctx.b
        width = width_of(parts[0].type) // self.count
        words = [b.emit("OpBitcast", part, type=with_width(I32, width)) for part in parts]
        return fragments.concatenate(b, words)

    def _interleaved(self, ctx: Context, members: tuple[Register, ...]) -> Register:
        """One register for each member of the groups."""
        b = ctx.b
        bits = bits_of(self.operand.target)
        word = b.resize(members[0], 32, signed=False)
        for i, member in enumerate(members[1:], 1):
            word = b.ior(word, b.shl(b.resize(member, 32, signed=False), i * bits))
        return word

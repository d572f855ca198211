"""Products of bf16 by VDPBF16PS where it clears nothing.

The instruction takes denormal numbers as zero, and rounds denormal results to zero. Neither happens where the
least magnitudes of operands are large enough: with numbers of at least 2 ** p on the left and 2 ** q on the
right, zeros aside, every product is a multiple of 2 ** (p + q - 14), since a bf16 has 8 bits; so is every sum
of products, rounded or not; and where 2 ** (p + q - 14) is a normal f32, whatever is no zero is normal too.
Infinities and NaNs are as good as anywhere.

The least magnitude of each operand is found while it is staged, three instructions for a vector. A product in
which it is too small is computed in f32, from pairs taken apart. What the sums are added to may be denormal,
so it is added at the end, by an addition of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ...dataclass import dataclass
from ...ir.model import Type
from ...layout import Layout
from ...spirv.builder import I32, with_width
from ...spirv.control import IfElse
from ...spirv.module import Value as Register
from ...spirv.types import Float, Int
from ..context import Context, StepLoop
from ..values.numbers import least
from ..values.tensor import Fragment, Tensor
from .grouped import VECTOR, Grouped
from .operand import Operand, Shape

I16 = Int(16)

MAGNITUDE = 0x7FFF  # bits of a bf16 without its sign
MANTISSA = 7  # bits of a bf16 behind its exponent

#: p + q, both with a bias of 127, of factors whose product is a multiple of 2 ** -126: p + q - 14 = -126.
LEAST_EXPONENTS = 2 * 127 - 126 + 2 * MANTISSA


@dataclass(frozen=True)
class Watched:
    """An operand of bf16 that leaves in `least`, a variable, the least magnitudes of its elements less one,
    so that zeros count as the largest."""

    operand: Operand
    least: Register

    @property
    def shape(self) -> Shape:
        return self.operand.shape

    @property
    def target(self) -> Type:
        return self.operand.target

    @property
    def tensor(self) -> Tensor:
        return self.operand.tensor

    def stored(self) -> None:
        return None

    def inputs(self, layout: Layout) -> list[tuple[Tensor, Layout]]:
        return self.operand.inputs(layout)

    def fragment(self, ctx: Context, layout: Layout) -> Fragment:
        b = ctx.b
        made = self.operand.fragment(ctx, layout)
        found = [b.isub(b.iand(x, MAGNITUDE), 1) for x in made.registers]
        found.append(b.emit("OpLoad", self.least, type=with_width(I16, VECTOR)))
        while len(found) > 1:
            found = [least(b, *pair) for pair in zip(found[::2], found[1::2], strict=False)] + (
                found[-1:] if len(found) % 2 else [])
        b.emit("OpStore", self.least, found[0])
        return made

    def zeros(self, ctx: Context, layout: Layout) -> Fragment | None:
        return self.operand.zeros(ctx, layout)

    def look_through(self, ctx: Context) -> None:
        """All of it, which is put nowhere."""
        layout = ctx.layouts.default(self.shape)
        with StepLoop(ctx.walks, len(layout.step)):
            self.fragment(ctx, layout)

    def exponent(self, ctx: Context) -> Register:
        """The least exponent of its elements but zeros, with its bias; above any if it has no others."""
        b = ctx.b
        found, width = b.emit("OpLoad", self.least, type=with_width(I16, VECTOR)), VECTOR
        while width > 1:
            width //= 2
            halves = [b.shuffle(found, found, [start + c for c in range(width)]) for start in (0, width)]
            found = least(b, *halves)
        return b.lshr(b.iadd(b.resize(found, I32.width, signed=False), 1), MANTISSA)


def pairs(ctx: Context, left: Grouped, right: Grouped) -> tuple[Grouped, Grouped] | None:
    """Both operands, watched; None where one has less than a vector of pairs."""
    if min(prod(left.shape), prod(right.shape)) < VECTOR:
        return None
    return _watched(ctx, left), _watched(ctx, right)


def _watched(ctx: Context, operand: Grouped) -> Grouped:
    variable = ctx.b.module.variable(with_width(I16, VECTOR))
    ctx.b.emit("OpStore", variable, ctx.b.constant(with_width(I16, VECTOR), -1))
    return Grouped(Watched(operand.operand, variable), operand.count, operand.axis, operand.flipped)


def least_of(operand: Grouped) -> Register | None:
    """The variable of an operand that is watched."""
    return operand.operand.least if isinstance(operand.operand, Watched) else None


@dataclass(frozen=True)
class NormalSums:
    """Are the sums of a loop, which begins with zero, still without denormal numbers? They are unless
    products were added to them that `either_way` computed the general way. `flag`: a variable, 1 if there
    were such."""

    flag: Register

    @staticmethod
    def of(ctx: Context) -> NormalSums:
        """At the beginning of the kernel they are."""
        m = ctx.b.module
        flag = m.variable(I32)
        with m.at_entry():
            m.emit("OpStore", flag, m.constant(I32, 0))
        return NormalSums(flag)

    def hold(self, ctx: Context) -> Register:
        """Ask."""
        return ctx.b.compare("OpIEqual", ctx.b.emit("OpLoad", self.flag, type=I32), 0)

    def end(self, ctx: Context) -> None:
        """From here on they may hold any number."""
        ctx.b.emit("OpStore", self.flag, ctx.b.constant(I32, 1))


def halves(ctx: Context, pair: Register) -> tuple[Register, Register]:
    """Both numbers of pairs, in f32."""
    b = ctx.b
    return b.bitcast(b.shl(pair, 16), Float(32)), b.bitcast(b.iand(pair, -1 << 16), Float(32))


def either_way(ctx: Context, left: Grouped, right: Grouped, by_pairs: Callable[[], Sequence[Register]],
               general: Callable[[], Sequence[Register]], also: Register | None = None) -> list[Register]:
    """Run `by_pairs` if nothing of the staged operands would be cleared, and `also`, if given, else
    `general`; what they yield."""
    branch = IfElse(ctx.b.module, clears_nothing(ctx, left, right, also))
    for arm, run in ((branch.then, by_pairs), (branch.otherwise, general)):
        with arm():
            ctx.scopes.open()
            branch.yield_(run())
            ctx.scopes.close()
    return branch.results


def clears_nothing(ctx: Context, left: Grouped, right: Grouped, also: Register | None = None) -> Register:
    """A scalar Bool: would nothing of operands that were looked at be cleared? And `also`, if given."""
    b = ctx.b
    assert isinstance(left.operand, Watched) and isinstance(right.operand, Watched)
    exponents = [left.operand.exponent(ctx), right.operand.exponent(ctx)]
    test = b.compare("OpUGreaterThanEqual", b.iadd(*exponents), LEAST_EXPONENTS)
    for exponent in exponents:
        test = b.logical_and(test, b.compare("OpUGreaterThan", exponent, 0))
    return test if also is None else b.logical_and(test, also)

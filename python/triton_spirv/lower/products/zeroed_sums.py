"""Sums that a loop begins with zero, where a product's registers begin with it.

    sums = 0                                 (no round: sums = 0)
    for k: sums += product of k              for k: sums = (k is the first ? 0 : sums) + product of k

So nothing writes zeros to the array of the sums, or reads them again, unless the loop has no round at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from ...dataclass import dataclass
from ...facts.running_sums import sums_from_zero
from ...ir.model import Operation, TensorType, Value
from ...spirv.builder import with_width
from ...spirv.control import if_
from ...spirv.module import Value as Register
from ...spirv.types import Type as SpirvType
from ..context import Context
from ..plan.records import Zeroed
from ..values.tensor import Stored, Tensor
from ..values.types import register_type
from .loops import counted


@dataclass
class ZeroedCarrier:
    """A large sum in an array, which holds nothing before the first round of `loop`."""

    ctx: Context
    loop: Operation
    product: Operation
    array: Stored

    @property
    def types(self) -> list[SpirvType]:
        return []

    def start(self) -> Stored:
        """Before the loop: zeros in the array if nobody will write it."""
        ctx, b = self.ctx, self.ctx.b
        lower, upper = map(ctx.bindings.scalar, (self.loop.lower, self.loop.upper))
        signed = not self.loop.attributes.get("unsignedCmp", False)
        without = b.compare("OpSGreaterThanEqual" if signed else "OpUGreaterThanEqual", lower, upper)
        with if_(b.module, without):
            clear(ctx, self.array)
        b.module.functions[-1].begun.add(self.array.array.id)
        stored = replace(self.array)
        ctx.recorder.add(Zeroed(ctx.recorder.array(stored), ctx.recorder.content(stored), self.product))
        return stored

    def registers(self, bound: Tensor) -> list[Register]:
        return []

    def goes_on(self, bound: object) -> None:
        """What the array holds is the sums of the next round from here on."""
        assert isinstance(bound, Stored) and bound.array is self.array.array  # the product overwrites it
        self.ctx.recorder.renames(bound, self.array)

    def bound(self, registers: Sequence[Register]) -> Stored:
        bound = replace(self.array)  # a new object, as that of any array that a loop carries
        self.ctx.recorder.renames(self.array, bound)
        return bound


def zeroed_carrier(ctx: Context, loop: Operation, index: int) -> ZeroedCarrier | None:
    """The carrier for value `index` of a loop, where a product of one work-item begins it with zero."""
    sums: Value = loop.regions[0].entry.arguments[index + 1]
    type = sums.type
    if len(sums.uses) != 1 or not isinstance(type, TensorType):
        return None
    layout = ctx.layouts.of(type)
    if layout.steps == 1 or layout.lane:
        return None
    product = sums.uses[0][0]
    if product.name != "tt.dot" or product.c is not sums or not sums_from_zero(product) \
            or not ctx.target.optimises("array-reuse") or ctx.kernel.stops_rounds:
        return None
    ctx.prepared.zeroed.add(product)
    return ZeroedCarrier(ctx, loop, product, ctx.arrays.allocate(type.shape, type.element))


def is_first_round(ctx: Context, product: Operation) -> Register | None:
    """A scalar Bool: do sums begin in this round? None where they have begun before the loop."""
    if product not in ctx.prepared.zeroed:
        return None
    loop, body = product.parent_op, product.parent
    assert loop is not None and body is not None
    index, lower = map(ctx.bindings.scalar, (body.arguments[0], loop.lower))
    return ctx.b.compare("OpIEqual", index, lower)


def clear(ctx: Context, array: Stored) -> None:
    """Zeros in all of it."""
    zeros = ctx.b.constant(with_width(register_type(array.element), array.width), 0)
    with counted(ctx, prod(array.shape), array.width) as loop:
        ctx.env.private_store(array.array, array.width, loop.index, zeros)

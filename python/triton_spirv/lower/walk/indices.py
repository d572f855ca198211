"""Where an element lies: what step, lane and warp contribute to indices, and the values of affine tensors."""

from __future__ import annotations

from dataclasses import replace

from ...environment.base import Environment
from ...layout import Layout
from ...spirv.builder import Builder, with_width
from ...spirv.module import Value as Register
from ...spirv.types import Int
from ..values.tensor import Affine, Fragment


class Indices:
    """Index arithmetic under a layout. `pieces`: the numbers of the turns of the walks around, innermost
    first, each with its bits."""

    def __init__(self, b: Builder, env: Environment) -> None:
        self.b, self.env = b, env
        self.pieces: list[tuple[Register, int]] = []

    def dynamic_index(self, layout: Layout, mask: int = -1, shift: int = 0) -> Register | None:
        """What step, lane and warp contribute to the linear index (its bits `mask`, shifted right), as i32;
        None for nothing.
        """
        total: Register | None = None
        low = 0
        for index, bits in self.pieces if layout.step else ():
            total = self._span(total, layout.step[low:low + bits], index, mask, shift)
            low += bits
        if any(layout.lane):
            total = self._span(total, layout.lane, self.env.lane_id(), mask, shift)
        if any(layout.warp):
            total = self._span(total, layout.warp, self.env.warp_id(), mask, shift)
        return total

    def _span(
        self, total: Register | None, bases: tuple[int, ...], index: Register, mask: int, shift: int
    ) -> Register | None:
        """total + the xor of the bases of the bits set in `index`; runs of doubling bases become one
        shift.
        """
        b = self.b
        i = 0
        while i < len(bases):
            basis = (bases[i] & mask) >> shift
            run, single = 1, basis & (basis - 1) == 0
            while (
                basis and single and i + run < len(bases) and (bases[i + run] & mask) >> shift == basis << run
            ):
                run += 1
            if basis:
                if not single:  # several dimensions move at once: select the whole basis
                    bit = b.iand(b.lshr(index, i), 1)
                    part = b.imul(bit, basis)
                else:
                    part = b.lshr(index, i)
                    if i + run < len(bases):
                        part = b.iand(part, (1 << run) - 1)
                    part = b.shl(part, basis.bit_length() - 1)
                total = part if total is None else b.ixor(total, part)
            i += run
        return total

    def dynamic_coordinate(self, layout: Layout, dim: int) -> Register | None:
        """What step, lane and warp contribute to the index in dimension `dim` (i32; None for nothing)."""
        low, bits = layout.dim_bits[dim]
        return self.dynamic_index(layout, ((1 << bits) - 1) << low, low) if bits else None

    def affine_scalar(self, tensor: Affine, layout: Layout, index: int = 0) -> Register:
        """The value at component 0 of the register whose static linear index is `index`."""
        b = self.b
        total = tensor.base
        kind = total.type
        assert isinstance(kind, Int)
        bits = kind.width
        static, moving = layout.unravel(index), layout.unravel(layout.moving)
        for d, stride in enumerate(tensor.strides):
            if isinstance(stride, int) and stride == 0:
                continue
            factor = stride if isinstance(stride, Register) else b.constant(kind, stride)
            dynamic, here = self.dynamic_coordinate(layout, d), static[d]
            if dynamic is not None and here & moving[d]:
                dynamic, here = b.ixor(dynamic, here), 0
            if dynamic is not None:
                total = b.iadd(total, b.imul(b.resize(dynamic, bits), factor))
            if here:
                total = b.iadd(total, b.imul(factor, here))
        return total

    def affine(self, tensor: Affine, layout: Layout) -> Fragment:
        """The registers of an affine tensor."""
        b = self.b
        parts = [layout.unravel(i) for i in layout.component_indices]
        vector: Register | None = None
        if layout.width > 1:
            constant = [
                sum(s * p[d] for d, s in enumerate(tensor.strides) if isinstance(s, int)) for p in parts
            ]
            vector = b.constant(with_width(tensor.base.type, layout.width), tuple(constant))
            for d, stride in enumerate(tensor.strides):
                column = tuple(p[d] for p in parts)
                if isinstance(stride, Register) and any(column):
                    vector = b.iadd(vector, b.imul(stride, b.constant(vector.type, column)))
        origin = self.affine_scalar(tensor, layout)
        zero = replace(tensor, base=b.constant(tensor.base.type, 0))
        registers = []
        for index in layout.register_indices:
            if index & layout.moving:
                scalar = self.affine_scalar(tensor, layout, index)
                registers.append(scalar if vector is None else b.iadd(b.splat(scalar, layout.width), vector))
                continue
            scalar = origin
            for stride, i in zip(zero.strides, layout.unravel(index), strict=True):
                if i and not (isinstance(stride, int) and stride == 0):
                    factor = stride if isinstance(stride, Register) else b.constant(scalar.type, stride)
                    scalar = b.iadd(scalar, b.imul(factor, i))
            registers.append(
                b.splat(scalar, layout.width)
                if vector is None
                else b.iadd(b.splat(scalar, layout.width), vector)
            )
        return Fragment(layout, tensor.element, tuple(registers))

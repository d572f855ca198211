"""Numbers of several 32-bit words: a table of bits, a window into it, its product with a significand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...spirv.builder import I32, I64
from ...spirv.types import Array, Float, Pointer
from .number import Number, Tools


class Words:
    """A table of words, most significant first, in private memory."""

    def __init__(self, tools: Tools, words: Sequence[int]) -> None:
        self.tools = tools
        m = tools.b.module
        held = m.constant(Array(I32, len(words)), tuple(words))
        self.table = m.variable(held.type, held)

    def _word(self, index: Number) -> Number:
        b = self.tools.b
        place = b.emit("OpAccessChain", self.table, index.value, type=Pointer("Function", I32))
        return Number(self.tools, b.emit("OpLoad", place, type=I32))

    def window(self, start: Number, count: int) -> list[Number]:
        """`count` words of the table from bit `start` (i32) on, as i64 below 2^32."""
        first, shift = start >> 5, (start & 31).resize(64)
        words = [self._word(first + i).resize(64, signed=False) for i in range(count + 1)]
        return [((((one << 32) | other) << shift) >> 32) & 0xFFFFFFFF
                for one, other in pairwise(words)]

    def product(self, window: Sequence[Number], mantissa: Number) -> list[Number]:
        """The words of window * mantissa, without what goes beyond the window at the top."""
        tools = self.tools
        limbs = [mantissa.resize(64, signed=False) & 0xFFFFFFFF]
        if mantissa.value.type is I64:
            limbs.append(mantissa.shifted(32))
        count = len(window)
        total = [Number(tools, tools.b.constant(I64, 0)) for _ in range(count)]
        for shift, limb in enumerate(limbs):
            carry = Number(tools, tools.b.constant(I64, 0))
            for i in range(count - 1 - shift, -1, -1):
                # below 2^64: (2^32 - 1)^2 + 2 (2^32 - 1)
                partial = window[i + shift] * limb + total[i] + carry
                total[i], carry = partial & 0xFFFFFFFF, partial.shifted(32)
        return total

    def quadrant(self, product: Sequence[Number]) -> tuple[Number, Number]:
        """The two highest bits, rounded by the rest to the nearer, and the signed rest as a float in
        [-1/2, 1/2]."""
        tools = self.tools
        padded = [*product, Number(tools, tools.b.constant(I64, 0)), Number(tools, tools.b.constant(I64, 0))]
        shifted = [((one << 2) | other.shifted(30)) & 0xFFFFFFFF
                   for one, other in pairwise(padded)]
        high = (shifted[0] << 32) | shifted[1]
        up = high < 0
        q = product[0].shifted(30) + Number(tools, tools.b.select(up, high.like(1).value, 0))
        wide = len(product) > 3
        if not wide:
            fraction = Number(tools, tools.b.convert("OpConvertSToF", high.value, Float(32))) * 2.0 ** -64
            return q.resize(32), fraction
        low = (shifted[2] << 32) | shifted[3]
        top = Number(tools, tools.b.convert("OpConvertSToF", high.value, Float(64)))
        rest = Number(tools, tools.b.convert("OpConvertUToF", low.value, Float(64)))
        # The upper part alone is rounded; what that loses is far below the last bit unless it is small.
        return q, top * 2.0 ** -64 + rest * 2.0 ** -128

"""Addresses that are linear where tests say so: with remainders of indices, or indices that were extended.

    rows = (program * BM + tl.arange(0, BM)) % M
    x = tl.load(a + rows[:, None] * pitch + k[None, :])

So kernels do without masks of rows: at the edge of a matrix a block goes on with its first rows. All other
blocks lie in memory as they would without the remainder. Their least and their largest index tell that, and
that no sum or product of them wraps (intervals.py). Indices that are extended to 64 bits before they are
broadcast have such a form, too, where those of 32 bits do not wrap.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import reduce

from ...dataclass import dataclass
from ...ir.model import IntegerType, Operation, bits_of
from ...spirv.builder import I64
from ...spirv.module import Value as Register
from ...traversal import Asking, answer
from ..arithmetic.symbolic import as_affine
from ..context import Context
from ..registry import SYMBOLIC
from ..values.tensor import Affine, Bound, Deferred, Pointers, Uniform
from .intervals import Dims, Interval, Intervals
from .pointer import add_affine, widened

#: What offsets are made of besides, by traits of operations.
OTHERS = ("times", "sum", "widens", "reshapes", "repeats")


@dataclass
class _Inside(Intervals):
    """Intervals where the remainders whose identities are in `inside` are the indices themselves."""

    inside: dict[int, Interval] = field(default_factory=dict)

    def of_index(self, tensor: Bound | None) -> Interval | None:
        """The same for a part of an offset: along which dimensions of the access it lies is not asked."""
        return answer(self._rule, tensor, None, known=self.known)

    def _rule(self, tensor: Bound | None, dims: Dims) -> Asking[Interval | None]:
        found = self.inside.get(id(tensor))
        return (yield from Intervals._rule(self, tensor, dims)) if found is None else found


def linear(ctx: Context, load: Operation, pointers: object
           ) -> tuple[Register, Affine, Register | None] | None:
    """What the pointers of a load are: a base, offsets, and a scalar Bool that implies that they are that, if
    any is needed; None where they are something else. Emits scalar code."""
    if not isinstance(pointers, Pointers):
        return None
    intervals = _Inside(ctx, load, None)

    def index(tensor: Bound | None) -> Asking[Bound | None]:
        """One as it is where all tests hold, uniform or affine."""
        known = tensor if isinstance(tensor, Uniform) else as_affine(tensor)
        if known is not None:
            return known
        if not isinstance(tensor, Deferred) or not isinstance(tensor.element, IntegerType) \
                or bits_of(tensor.element) < 32:
            return None
        op = tensor.operation
        if not op.has("remainder") and not any(map(op.has, OTHERS)):
            return None
        operands = []
        for operand in tensor.operands:
            operands.append((yield (operand,)))
            if operands[-1] is None:
                return None
        if not op.has("remainder"):
            return SYMBOLIC[op.name](ctx, op, *map(_for_addresses, operands)) if op.name in SYMBOLIC else None
        dividend, divisor = operands
        ends = intervals.of_index(tensor.operands[0])
        if ends is None or not isinstance(divisor, Uniform):
            return None
        b = ctx.b
        intervals.inside[id(tensor)] = ends
        intervals.tests += [b.compare("OpSGreaterThanEqual", ends.low, b.constant(I64, 0)),
                            b.compare("OpSLessThan", ends.high, b.resize(divisor.scalar, I64.width))]
        return dividend
    affine = pointers.affine
    for term in pointers.terms:
        found = answer(index, term)
        # that nothing of 32 bits wraps: elsewhere that may be left open, but these elements are exact ones
        if not isinstance(found, Affine) or intervals.of(term) is None:
            return None
        affine = add_affine(ctx, affine, widened(ctx, found))
    if affine is None:
        return None
    return pointers.base, affine, reduce(ctx.b.logical_and, intervals.tests) if intervals.tests else None


def _for_addresses(index: Bound) -> Bound:
    """Of what has been extended, addresses take the affine form, as values.tensor.Affine says."""
    return replace(index, exact=None) if isinstance(index, Affine) else index

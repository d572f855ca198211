"""Addresses with the remainder of an index, for blocks of which nothing begins again.

    rows = (program * BM + tl.arange(0, BM)) % M
    x = tl.load(a + rows[:, None] * pitch + k[None, :])

So kernels do without masks of rows: at the edge of a matrix a block goes on with its first rows. All other
blocks lie in memory as they would without the remainder, which the first and the last index tell, if nothing
wraps on the way.
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

#: No index of a remainder is larger: more than any memory has bytes.
LARGEST_INDEX = 1 << 48

#: What offsets are made of besides, by traits of operations.
OTHERS = ("times", "sum", "widens", "reshapes", "repeats")


@dataclass
class _Inside(Intervals):
    """Intervals where the remainders whose identities are in `inside` are the indices themselves."""

    inside: dict[int, Interval] = field(default_factory=dict)

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
        grows = _growth(dividend)
        if grows is None or not isinstance(divisor, Uniform):
            return None
        assert isinstance(dividend, Affine)
        b, first = ctx.b, ctx.b.resize(dividend.base, I64.width)
        last = b.iadd(first, grows)
        intervals.inside[id(tensor)] = Interval(first, last, LARGEST_INDEX + grows)
        intervals.tests += [b.compare("OpULessThan", first, LARGEST_INDEX),  # so it is not below 0
                            b.compare("OpSLessThan", last, b.resize(divisor.scalar, I64.width))]
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


def _growth(index: Bound) -> int | None:
    """From the first element of an index to the last one, between which the others lie; None where that is
    not known."""
    if not isinstance(index, Affine) or index.exact is not None:
        return None
    grows = 0
    for stride, extent in zip(index.strides, index.shape, strict=True):
        if not isinstance(stride, int) or stride < 0:
            return None
        grows += stride * (extent - 1)
    return grows

"""Addresses with the remainder of an index, for blocks of which nothing begins again.

    rows = (program * BM + tl.arange(0, BM)) % M
    x = tl.load(a + rows[:, None] * pitch + k[None, :])

So kernels do without masks of rows: at the edge of a matrix a block goes on with its first rows. All other
blocks lie in memory as they would without the remainder, which the first and the last index tell.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from ...ir.model import bits_of
from ...spirv.builder import I64
from ...spirv.module import Value as Register
from ...traversal import Asking, answer
from ..arithmetic.symbolic import as_affine
from ..context import Context
from ..registry import SYMBOLIC
from ..values.tensor import Affine, Bound, Deferred, Pointers, Uniform
from .pointer import add_affine, widened

REMAINDERS = ("arith.remsi", "arith.remui")

#: What offsets are made of besides.
OTHERS = ("arith.muli", "arith.addi", "arith.extsi", "tt.expand_dims", "tt.broadcast")


def linear(ctx: Context, pointers: object) -> tuple[Register, Affine, Register | None] | None:
    """What pointers are: a base, offsets, and a scalar Bool that implies that they are that, if any is
    needed; None where they are something else. Emits scalar code."""
    if not isinstance(pointers, Pointers):
        return None
    tests: list[Register] = []

    def index(tensor: Bound | None) -> Asking[Bound | None]:
        """One as it is where all tests hold, uniform or affine."""
        known = tensor if isinstance(tensor, Uniform) else as_affine(tensor)
        if known is not None:
            return known
        if not isinstance(tensor, Deferred) or tensor.operation.name not in (*REMAINDERS, *OTHERS) \
                or bits_of(tensor.element) < 32:
            return None
        operands = []
        for operand in tensor.operands:
            operands.append((yield (operand,)))
            if operands[-1] is None:
                return None
        if tensor.operation.name in OTHERS:
            return SYMBOLIC[tensor.operation.name](ctx, tensor.operation, *map(_for_addresses, operands))
        dividend, divisor = operands
        inside = _is_inside(ctx, dividend, divisor)
        if inside is None:
            return None
        tests.append(inside)
        return dividend
    affine = pointers.affine
    for term in pointers.terms:
        found = answer(index, term)
        if not isinstance(found, Affine):
            return None
        affine = add_affine(ctx, affine, widened(ctx, found))
    if affine is None:
        return None
    return pointers.base, affine, reduce(ctx.b.logical_and, tests) if tests else None


def _for_addresses(index: Bound) -> Bound:
    """Of what has been extended, addresses take the affine form, as values.tensor.Affine says."""
    return replace(index, exact=None) if isinstance(index, Affine) else index


def _is_inside(ctx: Context, dividend: Bound, divisor: Bound) -> Register | None:
    """A scalar Bool that implies that the remainders of an index are the index itself: it lies from 0 to the
    divisor. None where it may grow in another way than from its first element to its last."""
    if not isinstance(dividend, Affine) or dividend.exact is not None or not isinstance(divisor, Uniform):
        return None
    grows = 0
    for stride, extent in zip(dividend.strides, dividend.shape, strict=True):
        if not isinstance(stride, int) or stride < 0:
            return None
        grows += stride * (extent - 1)
    b = ctx.b
    first = b.resize(dividend.base, I64.width)
    return b.logical_and(
        b.compare("OpSGreaterThanEqual", first, b.constant(I64, 0)),
        b.compare("OpSLessThan", b.iadd(first, grows), b.resize(divisor.scalar, I64.width)))

"""How far pointers grow by one slope, and what divides them: the proofs that 2D block messages need."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...facts.axis import axis_facts
from ...facts.axis_info import LARGEST
from ...ir.model import Value
from ...spirv.module import Value as Register
from ...traversal import Asking, every, question
from ..addresses.element_motion import ElementSlope, dims_below, pointer_slope
from ..values.tensor import Affine, Deferred, Pointers, Uniform
from ..values.types import shape_of


def longest_run(pointers: Pointers, dim: int, longest: int, wanted: ElementSlope | None) -> int:
    """The longest aligned groups along a dimension with one stride, `wanted` if that is given."""
    length = longest
    while length > 1:
        stride = pointer_slope(pointers, dim, length)
        if stride is not None and wanted in (None, stride):
            return length
        length //= 2
    return 1


@question
def is_computable(tensor: object) -> Asking[bool]:
    """Can any element be computed by itself, from scalars?"""
    if isinstance(tensor, Deferred):
        return not tensor.reads_memory and (yield from every(tensor.operands))
    return tensor is None or isinstance(tensor, (Uniform, Register, Affine))


@question
def unevaluated(tensor: object) -> Asking[Any]:
    """The tensor without the registers that it has been evaluated to, to be evaluated for a few elements."""
    if isinstance(tensor, Affine):  # indices do not overflow the type that they are extended from
        return replace(tensor, exact=None)
    if not isinstance(tensor, Deferred):
        return tensor
    operands = []
    for operand in tensor.operands:
        operands.append((yield (operand,)))
    bare = replace(tensor, operands=tuple(operands), evaluated=None, siblings=[])
    bare.siblings.append(bare)
    return bare


def pointer_divisor(value: Value, lengths: tuple[int, ...], size: int) -> tuple[int, Value | None]:
    """What divides the distance in bytes from the returned pointer to the first elements of aligned blocks of
    `lengths`; that pointer.
    """
    apart = LARGEST
    while (op := value.defining_op) is not None:
        if not (op.name == "tt.splat" or op.has("keeps_dims") or op.has("sum")):
            return 1, None
        if op.name == "tt.addptr":
            apart = min(apart, divisor(op.offset, lengths) * size)
        value = op.operands[0]
    return apart, value


@question
def divisor(value: Value, lengths: tuple[int, ...]) -> Asking[int]:
    """A power of two that divides the elements of a tensor of integers at multiples of `lengths`."""
    facts = axis_facts(value)
    best = 1 if facts is None else max(
        facts.divisor(d, lengths[d] if d < len(lengths) else 1) for d in range(facts.rank))
    op = value.defining_op
    if op is None:
        return best
    found = 1
    if op.name == "tt.splat" or op.has("keeps_dims") or op.has("widens"):
        found = yield (op.operands[0], lengths)
    elif (below := dims_below(op)) is not None:
        kept = {source: lengths[d] for d, source in enumerate(below) if source is not None}
        found = yield op.src, tuple(kept.get(d, 1) for d in range(len(shape_of(op.src.type))))
    elif op.name == "arith.muli":
        left, right = (yield op.lhs, lengths), (yield op.rhs, lengths)
        found = left * right
    elif op.has("sum") or op.name == "arith.subi":
        left, right = (yield op.lhs, lengths), (yield op.rhs, lengths)
        found = min(left, right)
    return min(max(best, found), LARGEST)

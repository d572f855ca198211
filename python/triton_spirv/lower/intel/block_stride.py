"""What indices and pointers grow by along a dimension, and what divides them: the proofs that 2D block
messages need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ...facts.axis import axis_facts
from ...facts.axis_info import LARGEST
from ...ir.model import Operation, Value
from ...spirv.module import Value as Register
from ...traversal import Asking, every, question
from ..values.tensor import Affine, Deferred, Pointers, Uniform
from ..values.types import shape_of


@dataclass(frozen=True)
class Stride:
    """factor * the kernel's parameter `parameter` (None: 1), in elements."""

    factor: int
    parameter: Register | None = None

    def __add__(self, other: Stride) -> Stride | None:
        for zero, rest in ((self, other), (other, self)):
            if not zero.factor:
                return rest
        same = self.parameter is other.parameter
        return Stride(self.factor + other.factor, self.parameter) if same else None

    def __mul__(self, other: Stride) -> Stride | None:
        if self.parameter is not None and other.parameter is not None:
            return None
        return Stride(self.factor * other.factor, self.parameter or other.parameter)


@question
def stride_along(tensor: Any, dim: int, length: int) -> Asking[Stride | None]:
    """What a tensor of integers grows by along a dimension within aligned groups of `length`; None where that
    is unknown.
    """
    if tensor is None or isinstance(tensor, Uniform):
        return Stride(0)
    if isinstance(tensor, Affine):
        stride = tensor.strides[dim]
        return Stride(stride) if isinstance(stride, int) else Stride(1, stride)
    if not isinstance(tensor, Deferred):
        return None
    op, operands = tensor.operation, tensor.operands
    facts = axis_facts(op.results[tensor.index])
    if facts is not None and facts.contiguity[dim] >= length:
        return Stride(1)
    if facts is not None and facts.constancy[dim] >= length:
        return Stride(0)
    if op.name == "tt.broadcast":
        return Stride(0) if shape_of(op.src.type)[dim] == 1 else (yield (operands[0], dim, length))
    below = dims_below(op)
    if below is not None:
        source = below[dim]
        return Stride(0) if source is None else (yield (operands[0], source, length))
    if op.has("widens"):
        return (yield (operands[0], dim, length))
    if op.has("sum") or op.name == "arith.muli":
        x = yield (operands[0], dim, length)
        y = yield (operands[1], dim, length)
        if x is None or y is None:
            return None
        if op.has("sum"):
            return x + y
        for uniform, other in ((operands[0], y), (operands[1], x)):
            if isinstance(uniform, Uniform):
                value = uniform.scalar.constant
                return other * (Stride(value) if isinstance(value, int) else Stride(1, uniform.scalar))
    return None


def dims_below(op: Operation) -> list[int | None] | None:
    """For a view that adds dimensions of size 1: per dimension of the result, that of the operand, None for
    an added one. None for any other operation.
    """
    if not op.has("reshapes"):
        return None
    source = [d for d, size in enumerate(shape_of(op.src.type)) if size != 1]
    result = [d for d, size in enumerate(shape_of(op.result.type)) if size != 1]
    if [shape_of(op.src.type)[d] for d in source] != [shape_of(op.result.type)[d] for d in result]:
        return None
    found = dict(zip(result, source, strict=True))
    return [found.get(d) for d in range(len(shape_of(op.result.type)))]


def pointer_stride(pointers: Pointers, dim: int, length: int) -> Stride | None:
    """The same of pointers."""
    total: Stride | None = Stride(0)
    for part in (pointers.affine, *pointers.terms):
        found = stride_along(part, dim, length)
        total = None if total is None or found is None else total + found
    return total


def longest_run(pointers: Pointers, dim: int, longest: int, wanted: Stride | None) -> int:
    """The longest aligned groups along a dimension with one stride, `wanted` if that is given."""
    length = longest
    while length > 1:
        stride = pointer_stride(pointers, dim, length)
        if stride is not None and wanted in (None, stride):
            return length
        length //= 2
    return 1


@question
def is_computable(tensor: Any) -> Asking[bool]:
    """Can any element be computed by itself, from scalars?"""
    if isinstance(tensor, Deferred):
        return not tensor.reads_memory and (yield from every(tensor.operands))
    return tensor is None or isinstance(tensor, (Uniform, Register, Affine))


@question
def unevaluated(tensor: Any) -> Asking[Any]:
    """The tensor without the registers that it has been evaluated to, to be evaluated for a few elements."""
    if isinstance(tensor, Affine):  # indices do not overflow the type that they are extended from
        return replace(tensor, exact=None)
    if not isinstance(tensor, Deferred):
        return tensor
    operands = []
    for operand in tensor.operands:
        operands.append((yield (operand,)))
    bare = replace(tensor, operands=tuple(operands), stored=None, siblings=[])
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

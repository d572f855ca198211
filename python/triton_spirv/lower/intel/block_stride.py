"""How far pointers grow by one slope, and which tensors are known without memory: the proofs that 2D block
messages need."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...facts.slopes import Multiple
from ...spirv.module import Value as Register
from ...traversal import Asking, every, question
from ..addresses.element_motion import pitch_of
from ..values.tensor import Affine, Deferred, Pointers, Uniform


def longest_run(pointers: Pointers, dim: int, longest: int, wanted: Multiple[Register] | None) -> int:
    """The longest aligned groups along a dimension with one stride, `wanted` if that is given."""
    length = longest
    while length > 1:
        stride = pitch_of(pointers, dim, length)
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

"""Which tensors are accessed across their rows: memory is contiguous along another dimension than the last.

A transposing copy walks one of its sides against the grain. Its tensors are walked by squares then, of which
a vector can be loaded along either side.
"""

from __future__ import annotations

from ..ir.model import PointerType, TensorType, Value
from ..ir.module import Module
from .axis import axis_facts
from .elementwise_kernels import is_by_elements

#: elements in a row from which on a vector along them pays
LEAST = 16


def accessed_across(module: Module) -> dict[tuple[int, ...], int]:
    """Shape of a tensor -> the dimension along which neighbours of some access are neighbours in memory.

    Only of kernels that compute element by element, and call no function that does not: reductions, scans,
    products have orders of their own.
    """
    found: dict[tuple[int, ...], int] = {}
    if not is_by_elements(module):
        return found
    for op in module.walk():
        if op.has("accesses"):
            for operand in op.operands:
                type = operand.type
                if isinstance(type, TensorType) and isinstance(type.element, PointerType):
                    dim = _across(operand, type.shape)
                    if dim is not None:
                        found[type.shape] = dim
    return found


def _across(ptr: Value, shape: tuple[int, ...]) -> int | None:
    """The dimension of runs, if it is not the last and the last has none."""
    if len(shape) < 2 or shape[-1] < LEAST:
        return None
    info = axis_facts(ptr)
    if info is None or info.contiguity[-1] > 1:
        return None
    return next((d for d in range(len(shape) - 1) if min(info.contiguity[d], shape[d]) >= LEAST), None)

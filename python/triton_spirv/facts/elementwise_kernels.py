"""Does a kernel compute element by element? Then it does not matter in which order its tensors are walked."""

from __future__ import annotations

from ..ir.model import Operation, TensorType
from ..ir.module import Module


def acts_by_elements(op: Operation) -> bool:
    """Does it take no tensors, or each element for itself?"""
    return op.has("elementwise") or op.has("view") or not any(
        isinstance(x.type, TensorType) for x in op.operands)


def is_by_elements(module: Module) -> bool:
    """Do all operations, loads and stores included? Reductions, scans and products have orders of their own,
    as have atomic operations."""
    return all(not op.has("atomic") if op.has("accesses") else acts_by_elements(op)
               for op in module.walk())

"""Lowering: Triton IR to SPIR-V, one rule per operation.

Importing this package registers all rules.
"""

from . import atomic, cast, control_flow, dot, elementwise, memory, reduce, scan, spmd, view  # noqa: F401
from .registry import RULES

__all__ = ["RULES"]

"""Lowering: Triton IR to SPIR-V, one rule per operation.

Importing this package registers all rules.
"""

from . import (  # noqa: F401
    atomic,
    cast,
    control_flow,
    convert_layout,
    debug,
    dot,
    dot_scaled,
    elementwise,
    extern,
    gather,
    histogram,
    local,
    map_elementwise,
    memory,
    pointer,
    reduce,
    scan,
    spmd,
    store,
    swap,
    symbolic,
    uncommon,
    view,
)
from .registry import RULES

__all__ = ["RULES"]

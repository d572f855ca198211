"""Lowering: Triton IR to SPIR-V, one rule per operation.

Importing this package registers all rules. Each folder is a room for one subject; rooms import one way
(tests/test_imports.py).
"""

from .addresses import pointer  # noqa: F401
from .arithmetic import cast, elementwise, extern, mlir_arithmetic, narrowing, symbolic  # noqa: F401
from .control import control_flow  # noqa: F401
from .lanes import local  # noqa: F401
from .memory import atomic, load, store  # noqa: F401
from .products import dot, dot_scaled  # noqa: F401
from .program import checks, debug, program_id, races, unwritten  # noqa: F401
from .registry import RULES
from .tensors import (  # noqa: F401
    convert_layout,
    gather,
    histogram,
    map_elementwise,
    reduce,
    scan,
    swapped_pairs,
    view,
)

__all__ = ["RULES"]

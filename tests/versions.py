"""Which Triton the operation tests run with. Older ones cannot express some of what is tested: such a test
says `needs_triton(...)`, and why. Some they define otherwise: then the reference says so, by `TRITON`.
"""

from __future__ import annotations

import numpy as np
import pytest
import triton

TRITON = tuple(int(part) for part in triton.__version__.split(".")[:2])


def needs_triton(version: tuple[int, int], what: str) -> None:
    """Skip the rest of this test where Triton is older than `version`, the first that has `what`."""
    if TRITON < version:
        pytest.skip(f"{what}: since Triton {version[0]}.{version[1]}, this is {triton.__version__}")


def negated(x: np.ndarray) -> np.ndarray:
    """What -x of a block is: before Triton 3.8 it was 0 - x, whose zeros have no sign."""
    return np.negative(x) if TRITON >= (3, 8) else x.dtype.type(0) - x


def has_sign(constant: float) -> bool:
    """Is a constant negative, -0.0 too? Before Triton 3.9 what equals 0 was written as 0.0."""
    return bool(np.signbit(constant)) and (constant != 0 or TRITON >= (3, 9))

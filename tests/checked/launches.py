"""Launches in checked mode: what they find, and the arrays that they take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton_spirv
from triton_spirv import CheckError


def found(checks: str, launch: Callable[[], object]) -> tuple[Any, ...]:
    """The findings of a launch."""
    with triton_spirv.checked(checks):
        try:
            launch()
        except CheckError as error:
            return error.findings
    return ()


def arrays(*values: Any) -> list[Any]:
    """Arguments of a launch, of what numpy reads."""
    return [triton_spirv.asarray(np.ascontiguousarray(value)) for value in values]

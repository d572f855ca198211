"""lower/products/pairs.py: tests of bf16 once more, for a processor with an instruction for pairs of it."""

from __future__ import annotations

import numeric
import numpy as np
from lower.test_dot_bf16 import (  # noqa: F401  they are collected here
    added,
    test_bf16_added_to_denormal_numbers,
    test_bf16_of_any_magnitude,
    test_bf16_sums_that_cancel,
)

SPIRV_MODES = ("machine-vector-pairs",)


def test_the_instruction_is_used(run) -> None:
    a, b = numeric.whole((64, 64), "bf16", 0), numeric.whole((64, 64), "bf16", 1)
    made, kernel = added(run, a, b, np.zeros((64, 64), np.float32), 2)
    assert "dpbf16ps" in kernel.asm["spvasm"]
    numeric.assert_same(made, a.astype(np.float32) @ b.astype(np.float32), signed_zeros=False)

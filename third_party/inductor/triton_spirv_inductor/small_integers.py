"""Sums by index of small integers: Triton has no atomic sum of 8 or 16 bits.

Inductor would write one nevertheless, and such a model was not compiled. torch's own operator computes them,
as Inductor has it compute those of int64 and bool.
"""

from __future__ import annotations

import functools
from typing import Any


@functools.cache
def install() -> None:
    """Inductor asks here, in this process, whether it can write a sum by index."""
    import torch
    from torch._inductor import config, lowering

    puts, scatters = lowering.needs_fallback_due_to_atomic_add_limitations, lowering.use_scatter_fallback

    def is_small(dtype: Any) -> bool:
        return config.cpu_backend == "triton" and dtype in (torch.int8, torch.uint8, torch.int16)

    def put_falls_back(dtype: Any) -> bool:
        return is_small(dtype) or puts(dtype)

    def scatter_falls_back(operator: Any, reduction: str | None, dtype: Any, *rest: Any) -> bool:
        if reduction in ("sum", "add") and is_small(dtype):
            return True
        return scatters(operator, reduction, dtype, *rest)

    lowering.needs_fallback_due_to_atomic_add_limitations = put_falls_back
    lowering.use_scatter_fallback = scatter_falls_back

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

    put, scatters = lowering.index_put_impl_, lowering.use_scatter_fallback

    def is_small(dtype: Any) -> bool:
        return config.cpu_backend == "triton" and dtype in (torch.int8, torch.uint8, torch.int16, torch.bool)

    def put_or_fall_back(target: Any, indices: Any, values: Any, accumulate: bool, *rest: Any,
                         **named: Any) -> Any:
        # since torch 2.14 what Triton cannot add to is asked of GPUs alone
        if not accumulate or target.get_device().type != "cpu" or not is_small(target.get_dtype()):
            return put(target, indices, values, accumulate, *rest, **named)
        if target.get_size():
            return lowering.index_put_fallback(target, indices, values, accumulate)
        element = lowering.index_put_fallback(lowering.view(target, [1]), indices, values, accumulate)
        return lowering.view(element, [])

    def scatter_falls_back(operator: Any, reduction: str | None, dtype: Any, *rest: Any) -> bool:
        if reduction in ("sum", "add") and is_small(dtype):
            return True
        return scatters(operator, reduction, dtype, *rest)

    lowering.index_put_impl_ = put_or_fall_back
    lowering.use_scatter_fallback = scatter_falls_back

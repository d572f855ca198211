"""Convolutions of max_autotune: the bias is added behind them.

Inductor's templates of convolutions have no bias. For a GPU it takes the bias off first; for a CPU it keeps
it for torch's library, and times templates with three tensors instead of two; one that is chosen without
being timed leaves the bias out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .products import replace


@functools.cache
def install() -> None:
    """Inductor asks here, in this process, for each convolution."""
    import torch
    from torch._inductor import lowering

    replace(lowering.lowerings, torch.ops.aten.convolution, without_bias)


def without_bias(written: Callable[..., Any]) -> Callable[..., Any]:
    """The lowering of [N, C, ...] by [F, C, ...], or of one [C, ...], where Inductor has templates for it."""
    from torch._inductor.lowering import lowerings
    from torch._inductor.virtualized import V
    from torch.ops import aten

    @functools.wraps(written)
    def convolution(x: Any, weight: Any, bias: Any, *more: Any, **named: Any) -> Any:
        if bias is None or not has_templates(x):
            return written(x, weight, bias, *more, **named)
        made = written(x, weight, None, *more, **named)
        dims = len(weight.get_size()) - 2
        channels = bias.get_size()[0]
        if V.graph.sizevars.statically_known_equals(channels, 0):
            return made
        return lowerings[aten.add](made, lowerings[aten.view](bias, [channels] + dims * [1]))

    return convolution


def has_templates(x: Any) -> bool:
    """Does Inductor time templates of convolutions of this tensor?"""
    from torch._inductor import config
    from torch._inductor.utils import _use_conv_autotune_backend

    return (config.cpu_backend == "triton" and x.get_device().type == "cpu"
            and (config.max_autotune or config.max_autotune_gemm) and _use_conv_autotune_backend("TRITON"))

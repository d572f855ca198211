"""What a workload is: a Triton kernel on one shape, and what one would run instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch

Call = Callable[[], Any]


@dataclass(frozen=True)
class Workload:
    """One kernel on one shape.

    name        what is computed, and the shape
    ours        launches the kernel; the result
    theirs      torch's function of `arguments`, for eager execution and for torch.compile
    arguments   what it takes
    tolerance   the largest difference allowed, relative to the largest value expected
    bytes       memory traffic that cannot be avoided: every input and output once
    operations  multiplications and additions; 0 where memory decides
    numpy       the same in numpy, where it has a function for it
    passes      torch eager reads or writes its data this many times more often than needed, about
    """

    name: str
    ours: Call
    theirs: Callable[..., Any]
    arguments: tuple[Any, ...]
    tolerance: float
    bytes: float
    operations: float = 0.0
    numpy: Call | None = None

    def torch(self) -> Any:
        """torch's result."""
        return self.theirs(*self.arguments)

    def error(self) -> float:
        """The largest difference from torch's result, relative to the largest of its values."""
        worst = 0.0
        for ours, theirs in zip(_tensors(self.ours()), _tensors(self.torch()), strict=True):
            theirs = theirs.double()
            scale = theirs.abs().max().item() or 1.0
            worst = max(worst, (ours.double() - theirs).abs().max().item() / scale)
        return worst


def _tensors(result: Any) -> Iterable[torch.Tensor]:
    return result if isinstance(result, (tuple, list)) else (result,)


def size(*tensors: torch.Tensor) -> float:
    """Bytes of tensors together."""
    return float(sum(tensor.numel() * tensor.element_size() for tensor in tensors))

"""Who compiles what: each kernel that Triton compiles, or finds in its cache, is told to a listener."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton import knobs


def listen(told: Callable[[str, bool, float], None]) -> None:
    """Call `told(kernel's name, was it in the cache, seconds)` for each kernel from here on, beside the
    listener that was there before."""
    before = knobs.compilation.listener

    def listener(**facts: Any) -> None:
        if before is not None:
            before(**facts)
        told(facts["metadata"]["name"], facts["cache_hit"], facts["times"].total / 1e6)  # microseconds

    knobs.compilation.listener = listener

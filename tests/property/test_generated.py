"""A short run of generated kernels, always the same; `python -m tests.property.run` is the long one."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings

from property.launch import check
from property.strategy import programs

QUICK = {"derandomize": True, "database": None, "deadline": None, "suppress_health_check": list(HealthCheck)}


@settings(max_examples=40, **QUICK)  # type: ignore[arg-type]
@given(programs(largest=256, steps=5))
def test_small_kernels_agree_with_numpy(program: Any) -> None:
    check(program)


@settings(max_examples=12, **QUICK)  # type: ignore[arg-type]
@given(programs(largest=4096, steps=4))
def test_large_kernels_agree_with_numpy_whatever_the_warps(program: Any) -> None:
    check(program, ("warps", "arguments", "specialised", "block"))

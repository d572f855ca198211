"""Launches of the vector addition made by hand, x + y of COUNT numbers, for tests of memory and order."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from handmade_vulkan import vector_add
from triton_spirv.runtime.vulkan import launch, program
from triton_spirv.runtime.vulkan.context import Context

COUNT = 1000
GRID = (-(-COUNT // 64), 1, 1)


def kernel(context: Context, passing: str = "push", **changes: Any) -> launch.Kernel:
    artifact = vector_add(passing, **changes)
    return launch.Kernel(program.build(context, artifact.words, artifact))


def random(count: int = COUNT, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)


def wait_for_the_thread(context: Context) -> None:
    """Nothing that is recorded stays unsubmitted or undone, without a call that waits for it."""
    deadline = time.monotonic() + 20
    while (context.stream.recording or not context.stream.idle()) and time.monotonic() < deadline:
        time.sleep(0.002)
    assert not context.stream.recording and context.stream.idle()

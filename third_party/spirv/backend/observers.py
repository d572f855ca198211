"""What may watch launches, by Triton's own launch hooks: profiling (runtime/profile.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton import knobs
from triton_spirv.runtime import profile

#: what Triton's runtime and `tell` put among the metadata of every launch
RESERVED = ("function", "stream", "device_ns")

#: takes the grid, Triton's own arguments with the hooks behind them, and the kernel's: driver.launcher_cls
Launcher = Callable[..., None]


def observed(launch: Launcher) -> Launcher:
    """The launcher itself where nobody watches."""
    if not profile.wanted():
        return launch
    profile.start()
    knobs.runtime.launch_exit_hook.add(describe)

    def profiled(x: int, y: int, z: int, stream: int, function: Any, packed_metadata: Any,
                 launch_metadata: Any,
                 enter_hook: Any, exit_hook: Any, *arguments: Any) -> None:
        def leave(metadata: Any) -> None:
            tell(metadata)
            exit_hook(metadata)

        profile.PROFILE.forget_last()
        launch(x, y, z, stream, function, packed_metadata, launch_metadata, enter_hook,
               leave if exit_hook is not None else None, *arguments)

    return profiled


def tell(metadata: Any) -> None:
    """Exit hooks, anybody's, find the time on the device in the launch metadata:
    `metadata.get()["device_ns"]`.
    """
    timing = profile.PROFILE.last()
    if metadata is not None and timing is not None:
        metadata.data = {**metadata.data, "device_ns": timing.nanoseconds}


def describe(metadata: Any) -> None:
    """The exit hook that gives timings their names, and what the kernel's launch_metadata function tells."""
    if metadata is not None:
        facts = metadata.get()
        profile.PROFILE.describe_last({name: value for name, value in facts.items() if name not in RESERVED})

"""What may watch launches, by Triton's own launch hooks: profiling (runtime/profile.py)."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import triton
import triton_spirv
from triton import knobs
from triton_spirv.errors import UsageError
from triton_spirv.runtime import profile

#: what Triton's runtime and `tell` put among the metadata of every launch
RESERVED = ("function", "stream", "device_ns")

#: where the frames are that stand between a kernel and who launches it
_OWN = tuple(f"{Path(str(place)).parent}{os.sep}"
             for place in (triton.__file__, triton_spirv.__file__, __file__))

#: takes the grid, Triton's own arguments with the hooks behind them, and the kernel's: driver.launcher_cls
Launcher = Callable[..., None]


def observed(launch: Launcher, source: Any, metadata: Any) -> Launcher:
    """The launcher itself where nobody watches. source, metadata: the kernel's, as Triton has them."""
    if not profile.wanted():
        return launch
    profile.start()
    knobs.runtime.launch_exit_hook.add(describe)
    configuration = configuration_of(source, metadata)

    def profiled(x: int, y: int, z: int, stream: int, function: Any, packed_metadata: Any,
                 launch_metadata: Any,
                 enter_hook: Any, exit_hook: Any, *arguments: Any) -> None:
        def leave(metadata: Any) -> None:
            tell(metadata)
            exit_hook(metadata)

        profile.PROFILE.forget_last()
        launch(x, y, z, stream, function, packed_metadata, launch_metadata, enter_hook,
               leave if exit_hook is not None else None, *arguments)
        profile.PROFILE.tell_last(configuration, shapes_of(arguments), call_site())

    return profiled


def configuration_of(source: Any, metadata: Any) -> str:
    """The constants of a kernel, and its launch options that tuning chooses."""
    names = getattr(getattr(source, "fn", None), "arg_names", ())
    constants = [f"{names[path[0]]}={value}" for path, value in getattr(source, "constants", {}).items()
                 if len(path) == 1 and path[0] < len(names) and isinstance(value, int | float | str)]
    return " ".join([*constants, f"num_warps={metadata.num_warps}"])


def shapes_of(arguments: Sequence[Any]) -> str:
    """Of the tensors among the arguments."""
    shapes = [getattr(argument, "shape", None) for argument in arguments]
    return ",".join("x".join(map(str, shape)) for shape in shapes if isinstance(shape, tuple) and shape)


def call_site() -> str:
    """File and line of who launches: the innermost frame that is not Triton's or this package's."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}" if frame is not None else ""


def watch_compilations() -> None:
    """From now on compilations are in the profile, if there is to be one; once is enough. A listener that
    was there before is called, too."""
    before = knobs.compilation.listener
    if not profile.wanted() or hasattr(before, "profiles"):
        return

    def listener(**facts: Any) -> None:
        end = time.perf_counter_ns()
        if not facts["cache_hit"]:
            begin = end - 1000 * facts["times"].total
            profile.PROFILE.add_span("compile", facts["src"].name, begin, end)
        if before is not None:
            before(**facts)

    listener.profiles = True  # type: ignore[attr-defined]
    knobs.compilation.listener = listener


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


def require_no_hooks(what: str) -> None:
    """UsageError where a launch hook is there that is not the profile's own."""
    for name in ("launch_enter_hook", "launch_exit_hook"):
        hook = getattr(knobs.runtime, name)
        calls = () if hook is None else getattr(hook, "calls", (hook,))
        if any(call is not describe for call in calls):
            raise UsageError(f"a launch hook is there (triton.knobs.runtime.{name}), and {what} calls none: "
                             "take it out, or launch the kernels themselves")

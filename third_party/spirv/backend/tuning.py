"""The configurations of an autotuned kernel, each compiled by itself, for triton_spirv.precompile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from triton.runtime.autotuner import Autotuner
from triton_spirv.errors import UsageError
from triton_spirv.native import zebin
from triton_spirv.runtime.program import Policy

from .functions import register_choice
from .targets import current_target

#: SPIR-V, the entry point's name, build flags, the choice of registers; None: the device needs no build
Build = tuple[bytes, str, str, Policy | None] | None


def configurations(kernel: Any, arguments: Sequence[Any],
                   keywords: Mapping[str, Any]) -> list[tuple[str, Callable[[], Build]]]:
    """For each configuration that the autotuner would time, its text, and a function that compiles it to what
    the device's driver builds. UsageError for what is no kernel."""
    given = dict(keywords)
    function = kernel
    while not isinstance(function, Autotuner):
        for name, value in getattr(function, "values", {}).items():  # heuristics around the autotuner
            given[name] = value({**dict(zip(function.arg_names, arguments, strict=False)), **given})
        function = getattr(function, "fn", None)
        if function is None or not hasattr(kernel, "run"):
            raise UsageError(f"{getattr(kernel, '__name__', kernel)!r} is not a @triton.jit function")
        if not hasattr(function, "run"):  # the user's own: nothing is tuned
            return [("the only configuration", partial(_compiled, kernel, arguments, dict(keywords)))]
    function.nargs = dict(zip(function.arg_names, arguments, strict=False))  # pruning looks at the arguments
    return [(str(config), partial(_compiled, function.fn, arguments, {**given, **config.all_kwargs()}))
            for config in function.prune_configs(given)]


def _compiled(kernel: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Build:
    compiled = kernel.run(*arguments, grid=None, warmup=True, **keywords)
    metadata = compiled.metadata
    if current_target().backend == "vulkan" or zebin.kind(compiled.kernel) != "spirv":
        return None
    return compiled.kernel, metadata.name, metadata.build_flags, register_choice(metadata)

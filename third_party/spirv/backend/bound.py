"""Bound launches, for triton_spirv.bind: what Triton finds out at each launch is found out once, and each
call asks only whether it still holds. Where it does not, the call is an ordinary launch.

A bound launch is a function that is written for its kernel (bound_text.py), as Triton writes one that reads
the arguments of each kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from triton.runtime.autotuner import Autotuner, Heuristics
from triton.runtime.driver import driver
from triton.runtime.jit import JITFunction
from triton_spirv.errors import UsageError

from .bound_arguments import TUNED, Parameter, takes_any_number
from .bound_text import written
from .compiler import SPIRVBackend

#: values that are the same where they are of one type and written in the same way, which 0.0 and -0.0 are not
PLAIN = int, float, bool, str, type(None)


def bind(kernel: Any, grid: Any, arguments: Sequence[Any],
         keywords: Mapping[str, Any]) -> Callable[..., None]:
    """The bound launch of triton_spirv.bind."""
    if not hasattr(kernel, "run") or not hasattr(kernel, "fn"):
        raise UsageError(f"{getattr(kernel, '__name__', kernel)!r} is not a @triton.jit function")
    if len(arguments) > len(kernel.arg_names):
        raise UsageError(f"the kernel takes {len(kernel.arg_names)} arguments, got {len(arguments)}")
    bound: Callable[..., None]

    def ordinary(why: str, *given: Any) -> None:
        bound.why_ordinary = why  # type: ignore[attr-defined]
        kernel.run(*given, grid=grid, warmup=False, **keywords)

    bound = _bound(kernel, grid, arguments, keywords, ordinary)
    bound.why_ordinary = ""  # type: ignore[attr-defined]
    return bound


def _bound(kernel: Any, grid: Any, arguments: Sequence[Any], keywords: Mapping[str, Any],
           ordinary: Callable[..., None]) -> Callable[..., None]:
    def always(why: str) -> Callable[..., None]:
        return lambda *given: ordinary(why, *given)

    found = resolved(kernel, arguments, keywords)
    if found is None and isinstance(_innermost(kernel), JITFunction):
        kernel.run(*arguments, grid=grid, warmup=False, **keywords)  # tunes
        found = resolved(kernel, arguments, keywords)
    if found is None:
        return always("the kernel is not one that Triton compiles, or its configuration has a hook")
    function, given = found
    compiled = function.run(*arguments, grid=None, warmup=True, **given)
    _, _, _, backend, read = function.device_caches[driver.active.get_current_device()]
    if compiled is None or not isinstance(backend, SPIRVBackend):
        return always("the kernel is not one of triton-spirv's")
    if takes_any_number(function):
        return always("the kernel takes any number of arguments")
    values, known, _ = read(*arguments, **given)
    parameters = [Parameter.of(at, kind, value, at < len(arguments), own) for at, (kind, value, own) in
                  enumerate(zip(function.params, values.values(), known, strict=True))]

    def changed(now: Sequence[Any]) -> bool:
        again = resolved(kernel, now, keywords)
        return again is None or again[1].keys() != given.keys() or not all(
            same(again[1][name], value) for name, value in given.items())

    return written(function, compiled, grid, parameters, backend, ordinary,
                   (changed, TUNED) if kernel is not function else None)


def _innermost(kernel: Any) -> Any:
    while isinstance(kernel, Heuristics | Autotuner):
        kernel = kernel.fn
    return kernel


def resolved(kernel: Any, arguments: Sequence[Any],
             keywords: Mapping[str, Any]) -> tuple[JITFunction, dict[str, Any]] | None:
    """The kernel inside of heuristics and autotuners, and the keywords that it is launched with for these
    arguments; None where it is not tuned for them, or a hook runs before each launch."""
    given = dict(keywords)
    while not isinstance(kernel, JITFunction):
        if isinstance(kernel, Heuristics):
            for name, heuristic in kernel.values.items():
                given[name] = heuristic({**dict(zip(kernel.arg_names, arguments, strict=False)), **given})
        elif isinstance(kernel, Autotuner):
            config = config_of(kernel, arguments, given)
            if config is None or config.pre_hook is not None:
                return None
            given.update(config.all_kwargs())
        else:
            return None
        kernel = kernel.fn
    return kernel, given


def config_of(autotuner: Autotuner, arguments: Sequence[Any], given: Mapping[str, Any]) -> Any:
    """The configuration for these arguments; None: it has not been tuned."""
    if len(autotuner.configs) == 1:
        return autotuner.configs[0]
    return autotuner.cache.get(tuning_key(autotuner, arguments, given))


def tuning_key(autotuner: Autotuner, arguments: Sequence[Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """What an autotuner of several configurations tells these arguments apart by, as Autotuner.run does."""
    passed = {**dict(zip(autotuner.arg_names, arguments, strict=False)), **given}
    passed = {name: value for name, value in passed.items() if name in autotuner.arg_names}
    key = [passed[name] for name in autotuner.keys if name in passed]
    key += [str(value.dtype) for value in passed.values() if hasattr(value, "dtype")]
    return tuple(key)


def same(one: Any, other: Any) -> bool:
    """Are they the same, as constants of a kernel?"""
    return one is other or (type(one) is type(other) and isinstance(one, PLAIN) and repr(one) == repr(other))

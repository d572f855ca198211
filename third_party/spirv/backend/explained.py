"""Failures of a compilation whose cause lies outside of the kernel, said in words of the launch: an argument
that is None, a cache folder that cannot be written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from triton import knobs
from triton.compiler.errors import CompilationError
from triton_spirv.errors import UsageError

#: how Python refuses what a kernel does with a None
OF_NONE = "'NoneType' object", "NoneType"


@contextmanager
def explained(function: Any, constants: Mapping[tuple[int, ...], Any]) -> Iterator[None]:
    """The block compiles a kernel. constants: place of an argument -> its value, where that is known; Triton
    takes an argument that is None for such a one."""
    try:
        yield
    except CompilationError as error:
        if any(words in str(error) for words in OF_NONE):
            absent = [parameter.name for parameter in function.params
                      if not parameter.is_constexpr and constants.get((parameter.num,), 0) is None]
            error.message += none_is_no_pointer(absent)
        raise
    except OSError as error:
        place = error.filename
        if not isinstance(place, str) or not _is_of_cache(Path(place)):
            raise
        raise UsageError(f"Triton's cache folder {knobs.cache.dir} cannot be used: {place}: "
                         f"{error.strerror}. Set TRITON_CACHE_DIR to a folder that can be written") from error


def none_is_no_pointer(names: list[str]) -> str:
    """A line for the message; empty where no argument is None."""
    if not names:
        return ""
    which = f"argument {names[0]} is None" if len(names) == 1 else f"arguments {', '.join(names)} are None"
    return (f"\n{which}: the kernel has no pointer and no number there. Pass an array, or let the kernel ask "
            f"'if {names[0]} is not None:' before it uses it")


def _is_of_cache(place: Path) -> bool:
    """Is it the cache folder, a part of it, or a folder above that could not be made?"""
    cache = Path(knobs.cache.dir)
    return place == cache or cache in place.parents or place in cache.parents

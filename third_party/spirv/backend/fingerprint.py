"""The backend's part of Triton's cache key: the sources of the emitter and of this plugin, the target, the
driver."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import triton_spirv
from triton.backends.compiler import GPUTarget

from .concurrency import once

#: parts of the package that do not change what is emitted
_WITHOUT_INFLUENCE = ("runtime", "cli", "aot", "isa", "standalone", "arrays.py", "plugin.py", "switch.py",
                      "inductor.py", "__main__.py")


def of(target: GPUTarget) -> str:
    """One text for all that compiled code depends on, besides the kernel and its options."""
    return _of(target, driver_identity())  # another device may be chosen later


@functools.cache
def _of(target: GPUTarget, driver: str) -> str:
    from .targets import emitter_target

    facts = (sources(), target, ordered(emitter_target(target)), driver)
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def ordered(value: Any) -> Any:
    """What prints alike in all processes: sets, which do not, become sorted, in a target's parts too."""
    if isinstance(value, set | frozenset):
        return sorted(ordered(each) for each in value)
    if isinstance(value, tuple | list):
        return [ordered(each) for each in value]
    if isinstance(value, Mapping):
        return [(name, ordered(each)) for name, each in value.items()]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, ordered(vars(value))
    return value


@once
def sources() -> str:
    """Digest of the contents of every source file that takes part in compiling."""
    digest = hashlib.sha256(triton_spirv.__version__.encode())
    package, plugin = Path(str(triton_spirv.__file__)).parent, Path(__file__).parent
    for folder in (package, plugin):
        for path in sorted(folder.rglob("*.py")):
            if path.relative_to(folder).parts[0] not in _WITHOUT_INFLUENCE:
                digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def driver_identity() -> str:
    """What is known of the driver without loading it: the version in the file name of the CPU driver."""
    from triton_spirv.runtime import devices, loader

    choice = devices.selection()
    if devices.is_pip_cpu(choice):
        return os.path.basename(os.path.realpath(str(loader.cpu_library())))
    return ""

"""Named targets: what can be compiled for without the device.

`cpu` is any processor; `cpu:x86_64-v4` one with that instruction set, `host` the one at hand, with everything
that it has. The other names are those of `TARGETS`.
"""

from __future__ import annotations

from ..errors import DeviceError, UsageError
from ..runtime.processor import processor
from ..target import ACCUMULATORS, TARGETS, Target, cpu_target, find_target

HOST = "host"


def named(name: str) -> Target:
    """The target of a name; its own name is the one asked for. UsageError lists the names."""
    if name == HOST:
        here = processor()
        return cpu_target(here.architecture, here.flags).with_options(name=HOST)
    kind, _, architecture = name.partition(":")
    if kind == "cpu" and architecture in ACCUMULATORS:
        return cpu_target(architecture).with_options(name=name)
    try:
        return find_target(name)
    except DeviceError:
        raise UsageError(f"unknown target {name!r}; there are {', '.join(names())}") from None


def names() -> list[str]:
    """Every name that `named` knows."""
    return [*sorted(TARGETS), *(f"cpu:{architecture}" for architecture in sorted(ACCUMULATORS)), HOST]


def device_kind(target: Target) -> str:
    """The kind of device that runs a target's modules: "cpu" or "gpu"."""
    return "cpu" if target.name == HOST or target.name.startswith("cpu") else "gpu"


def native_device(target: Target) -> str:
    """What ocloc calls the device of a target; empty where native code is the driver's business alone."""
    return "" if device_kind(target) == "cpu" else target.name

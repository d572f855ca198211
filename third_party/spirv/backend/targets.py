"""Triton's targets and the emitter's: which device is meant, and what the emitter may use on it."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

from triton.backends.compiler import GPUTarget
from triton_spirv import checking
from triton_spirv.errors import DeviceError
from triton_spirv.runtime import devices
from triton_spirv.runtime.processor import processor
from triton_spirv.runtime.vulkan import is_target_name, is_vulkan
from triton_spirv.target import (
    CPU,
    HOST,
    Target,
    chosen_target,
    cpu_target,
    find_target,
    is_other_cpu,
    is_processor,
    reported_cpu_target,
    reported_target,
)
from triton_spirv.target.known import VARIABLE

if TYPE_CHECKING:
    from triton_spirv.runtime.vulkan.devices import Device

#: Kernels ask the target for the lanes of a warp and divide by it. On a CPU device one work-item runs a whole
#: program, so any number is true; 32 is what kernels are written for.
CPU_WARP_SIZE = 32


@functools.cache
def _device_name(choice: str) -> str:
    """"cpu" for the default device, as torch.cpu.current_device() says too, known without loading OpenCL;
    "gpu:1", "vulkan:0": each device has a name of its own."""
    if is_vulkan(choice):
        return _vulkan(choice).choice
    return "cpu" if devices.is_pip_cpu(choice) else devices.name_of(devices.choose(choice))


def chosen_vulkan() -> Device | None:
    """The chosen device, if it is one of Vulkan's."""
    choice = devices.selection()
    return _vulkan(choice) if is_vulkan(choice) else None


def _vulkan(choice: str) -> Device:
    """The device of Vulkan's; the binding is imported for it only."""
    from triton_spirv.runtime.vulkan.devices import choose

    return choose(choice)


def current_device() -> str:
    """The name of the chosen device, by which Triton keeps kernels; those of checked mode are others, and
    those for another target. Each launch asks."""
    return _name(*_held(), checking.chosen.get())


#: what a name follows from
_VARIABLES = (devices.VARIABLE, checking.VARIABLE, VARIABLE)
_KEYS = tuple(map(getattr(os.environ, "encodekey", str), _VARIABLES))


def _held() -> tuple[Any, ...]:
    """The variables' texts as CPython's os.environ holds them. To ask it for them takes a sixth of a launch:
    it encodes each name and decodes each text."""
    found = getattr(os.environ, "_data", None)
    if found is None:  # not CPython's
        return tuple(map(os.environ.get, _VARIABLES))
    device, checks, target = _KEYS
    return found.get(device), found.get(checks), found.get(target)


@functools.cache
def _name(device: Any, checks: Any, target: Any, chosen: str | None) -> str:
    """For these texts, and what `checked` has chosen."""
    name, wanted = _device_name(_decoded(device).strip()), _decoded(target)
    if wanted:
        name = f"{name} (target={wanted})"
    if chosen is None:
        chosen = checking.normalised(_decoded(checks))
    return f"{name} (check={chosen})" if chosen else name


def _decoded(text: Any) -> str:
    return os.fsdecode(text) if text is not None else ""


def current_interface() -> Any:
    """`driver.get_device_interface()` of the chosen device."""
    return _interface(devices.selection())


@functools.cache
def _interface(choice: str) -> Any:
    """The device is looked up once for each choice: that takes longer than to find that it is idle."""
    from . import interface, vulkan_interface

    return vulkan_interface.of(_vulkan(choice)) if is_vulkan(choice) else interface


def current_target() -> GPUTarget:
    """The target of the chosen device. The default CPU device is known without loading OpenCL: compile
    workers never do."""
    wanted = chosen_target(os.environ.get(VARIABLE, "").strip())
    if wanted is not None:
        if wanted.lanes:
            return GPUTarget("spirv", wanted.name, wanted.sub_group_size)
        if is_other_cpu(wanted.name) or is_processor(wanted.name):
            return GPUTarget("cpu", wanted.name, CPU_WARP_SIZE)
    choice, chosen = devices.selection(), chosen_vulkan()
    if _wants_processor() and not _is_cpu(choice, chosen):
        return GPUTarget("cpu", processor().architecture, CPU_WARP_SIZE)
    if chosen is not None:
        return GPUTarget("spirv", chosen.target_name, chosen.subgroup_size)
    if devices.is_pip_cpu(choice):
        return GPUTarget("cpu", processor().architecture, CPU_WARP_SIZE)
    device = devices.choose(choice)
    if device.kind == "cpu":
        intel = device.runs_in_calling_thread
        name = processor().architecture if intel else \
            reported_cpu_target(device.extensions, device.platform).name
        return GPUTarget("cpu", name, CPU_WARP_SIZE)
    target = reported_target(device.extensions, devices.sub_group_sizes(device), device.local_bytes)
    return GPUTarget("spirv", target.name, target.sub_group_size)


def _wants_processor() -> bool:
    """Does TRITON_SPIRV_TARGET mean the CPU that is here, by its short names? On a CPU device that is the
    device's own target."""
    return os.environ.get(VARIABLE, "").strip() in (CPU.name, HOST)


def _is_cpu(choice: str, chosen: Device | None) -> bool:
    """Is the chosen device a CPU device of OpenCL's?"""
    return chosen is None and (devices.is_pip_cpu(choice) or devices.choose(choice).kind == "cpu")


def require_interface(target: GPUTarget, device: Any) -> None:
    """DeviceError where a kernel for another kind of device is to be launched: by TRITON_SPIRV_TARGET one
    compiles for Vulkan on any machine, and for a CPU where the device is a GPU."""
    text, here = os.environ.get(VARIABLE, "").strip(), _wants_processor()
    wanted = CPU if here else chosen_target(text)
    if wanted is None:
        return
    if not (target.backend == "cpu" if here else emitter_target(target).name == wanted.name):
        return
    choice, chosen = devices.selection(), chosen_vulkan()
    interface = "opencl" if chosen is None else "vulkan"
    if not (wanted.environment == interface if wanted.lanes else _is_cpu(choice, chosen)):
        kind = wanted.environment if wanted.lanes else "a CPU"
        raise DeviceError(f"{VARIABLE}={text} compiles kernels for {kind}, and they "
                          f"cannot be launched on {device}. To run them, unset the variable; to compile "
                          "only, use kernel.warmup(...) or 'triton-spirv compile'")


def emitter_target(target: GPUTarget) -> Target:
    """What the emitter may use; DeviceError for a device that it has no target for."""
    if is_target_name(str(target.arch)):
        from triton_spirv.runtime.vulkan.target import find_target as find_vulkan_target

        return find_vulkan_target(str(target.arch))
    if target.backend != "cpu" or is_other_cpu(str(target.arch)) or is_processor(str(target.arch)):
        from triton_spirv.native.ocloc import fitting  # not for devices

        return fitting(find_target(str(target.arch)))
    here = processor()
    return cpu_target(str(target.arch), here.features if target.arch == here.architecture else frozenset())

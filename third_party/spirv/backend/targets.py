"""Triton's targets and the emitter's: which device is meant, and what the emitter may use on it."""

from __future__ import annotations

from triton.backends.compiler import GPUTarget
from triton_spirv.runtime import devices
from triton_spirv.runtime.processor import processor
from triton_spirv.target import Target, find_target

#: Kernels ask the target for the lanes of a warp and divide by it. On a CPU device one work-item runs a whole
#: program, so any number is true; 32 is what kernels are written for.
CPU_WARP_SIZE = 32


def current_target() -> GPUTarget:
    """The target of the chosen device. The default CPU device is known without loading OpenCL: compile
    workers never do."""
    choice = devices.selection()
    if devices.is_pip_cpu(choice):
        return GPUTarget("cpu", processor().architecture, CPU_WARP_SIZE)
    device = devices.choose(choice)
    if device.kind == "cpu":
        return GPUTarget("cpu", processor().architecture, CPU_WARP_SIZE)
    return GPUTarget("spirv", device.name, CPU_WARP_SIZE)


def emitter_target(target: GPUTarget) -> Target:
    """What the emitter may use; DeviceError for a device that it has no target for."""
    return find_target("cpu" if target.backend == "cpu" else str(target.arch))

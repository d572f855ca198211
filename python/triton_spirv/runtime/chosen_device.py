"""The device that TRITON_SPIRV_DEVICE means, of OpenCL's and of Vulkan's."""

from __future__ import annotations

from . import devices
from .vulkan import devices as vulkan
from .vulkan import is_vulkan


def chosen() -> devices.Device | vulkan.Device:
    """The chosen device; both kinds have name, kind, platform and driver_version. DeviceError where there is
    none."""
    choice = devices.selection()
    return vulkan.choose(choice) if is_vulkan(choice) else devices.choose(choice)

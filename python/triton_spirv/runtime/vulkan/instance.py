"""The Vulkan instance of this process, and the validation layers on request.

`TRITON_SPIRV_VULKAN_VALIDATION=1` switches the Khronos validation layer on: what it finds wrong goes to
stderr, and the next call that waits for the device raises it.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import field
from typing import Any

from ...dataclass import dataclass
from ...errors import DeviceError
from ...once import Once
from ...settings import flag
from .library import Functions, Loader, VulkanError, open_loader
from .structures import STRUCTURES, make, strings

VALIDATION = "TRITON_SPIRV_VULKAN_VALIDATION"
LAYER, MESSENGER = "VK_LAYER_KHRONOS_validation", "VK_EXT_debug_utils"
#: the oldest version of Vulkan that will do; VkDebugUtilsMessageSeverityFlagBitsEXT, every message type
VERSION_1_2 = (1 << 22) | (2 << 12)
WARNING, ERROR, ALL_TYPES = 0x100, 0x1000, 7


@dataclass
class Instance:
    """The instance, its functions, the messages of the validation layer that nobody has read."""

    loader: Loader
    handle: int
    functions: Functions
    messages: list[str] = field(default_factory=list)
    callback: Any = None

    def physical_devices(self) -> list[int]:
        """The handles of the devices."""
        count = ctypes.c_uint32(0)
        try:
            self.functions.call("vkEnumeratePhysicalDevices", self.handle, ctypes.byref(count), None)
        except VulkanError:
            return []
        handles = (ctypes.c_void_p * count.value)()
        self.functions.call("vkEnumeratePhysicalDevices", self.handle, ctypes.byref(count), handles)
        return [handle for handle in handles[:count.value] if handle]

    def raise_messages(self) -> None:
        """DeviceError with what the validation layer has found wrong since the last time."""
        if self.messages:
            text, self.messages[:] = "\n".join(self.messages), []
            raise DeviceError(f"the Vulkan validation layer reports\n{text}")


@Once
def open_instance() -> Instance | None:
    """The process's instance; None without a loader or any driver. It is never destroyed."""
    loader = open_loader()
    if loader is None:
        return None
    version = ctypes.c_uint32(0)
    failed = loader.functions.vkEnumerateInstanceVersion(ctypes.byref(version))
    if failed or version.value < VERSION_1_2:
        return None
    validation = flag(VALIDATION, False)
    if validation:
        _require_layer(loader)
    application = make("ApplicationInfo", pApplicationName=b"triton-spirv", pEngineName=b"triton-spirv",
                       apiVersion=version.value & ~0xFFF)
    info = make("InstanceCreateInfo", pApplicationInfo=application,
                enabledLayerCount=int(validation), ppEnabledLayerNames=strings([LAYER]),
                enabledExtensionCount=int(validation), ppEnabledExtensionNames=strings([MESSENGER]))
    try:
        handle = loader.functions.create("vkCreateInstance", ctypes.byref(info))
    except VulkanError as error:
        if validation:
            raise DeviceError(f"no Vulkan instance with {LAYER}: {error}") from error
        return None  # the loader finds no driver that works
    instance = Instance(loader, handle, loader.instance_functions(handle))
    if validation:
        _listen(instance)
    return instance


def _require_layer(loader: Loader) -> None:
    layers = loader.functions.listed("vkEnumerateInstanceLayerProperties", "LayerProperties")
    if LAYER.encode() not in {layer.layerName for layer in layers}:
        raise DeviceError(f"{VALIDATION} asks for {LAYER}, which is not installed "
                          "(Debian and Ubuntu: 'apt install vulkan-validationlayers')")


def _listen(instance: Instance) -> None:
    """Messages of the layer go to stderr and to `instance.messages`."""
    data_type = STRUCTURES["DebugUtilsMessengerCallbackDataEXT"]

    def receive(severity: int, _types: int, data: Any, _user: Any) -> int:
        text = data_type.from_address(data).pMessage.decode(errors="replace")
        print(f"Vulkan validation: {text}", file=sys.stderr)
        if severity >= ERROR:
            instance.messages.append(text)
        return 0

    prototype = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p,
                                 ctypes.c_void_p)
    instance.callback = prototype(receive)
    info = make("DebugUtilsMessengerCreateInfoEXT", messageSeverity=WARNING | ERROR, messageType=ALL_TYPES,
                pfnUserCallback=ctypes.cast(instance.callback, ctypes.c_void_p).value)
    instance.functions.create("vkCreateDebugUtilsMessengerEXT", instance.handle, ctypes.byref(info))

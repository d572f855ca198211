"""The Vulkan loader and its functions: found, typed, called; results that are failures become errors.

`FUNCTIONS` lists every function that is used, by the level at which the loader gives its address. Functions
of a device come from the driver itself, without the loader's detour.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from typing import Any

from ...errors import DeviceError
from ...once import Once
from .structures import _CODES

INSTALL_HINT = ("install the Vulkan loader and a driver (Debian and Ubuntu: 'apt install libvulkan1 "
                "mesa-vulkan-drivers'; NVIDIA's driver brings its own), or name the loader's file in "
                "TRITON_SPIRV_VULKAN_LOADER")
#: names the loader's file where the system's search does not find it
VARIABLE = "TRITON_SPIRV_VULKAN_LOADER"

#: codes of the parameters as in structures.py, then the result: V nothing, Q an address, otherwise a VkResult
FUNCTIONS: dict[str, dict[str, str]] = {
    "global": {
        "vkEnumerateInstanceVersion": "p", "vkEnumerateInstanceLayerProperties": "pp",
        "vkEnumerateInstanceExtensionProperties": "spp", "vkCreateInstance": "ppp",
    },
    "instance": {
        "vkEnumeratePhysicalDevices": "ppp", "vkGetPhysicalDeviceProperties2": "ppV",
        "vkGetPhysicalDeviceProperties": "ppV",
        "vkGetPhysicalDeviceFeatures2": "ppV", "vkGetPhysicalDeviceMemoryProperties": "ppV",
        "vkGetPhysicalDeviceQueueFamilyProperties": "pppV", "vkEnumerateDeviceExtensionProperties": "pspp",
        "vkCreateDevice": "pppp", "vkGetDeviceProcAddr": "psQ",
        "vkGetPhysicalDeviceExternalBufferProperties": "pppV",
        "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR": "ppp", "vkCreateDebugUtilsMessengerEXT": "pppp",
    },
    "device": {
        "vkGetDeviceQueue": "puupV", "vkDeviceWaitIdle": "p", "vkCreateBuffer": "pppp",
        "vkDestroyBuffer": "pppV", "vkGetBufferMemoryRequirements": "pppV", "vkAllocateMemory": "pppp",
        "vkFreeMemory": "pppV", "vkBindBufferMemory": "pppq", "vkMapMemory": "ppqqup",
        "vkGetBufferDeviceAddress": "ppQ", "vkGetMemoryFdKHR": "ppp", "vkCreateShaderModule": "pppp",
        "vkDestroyShaderModule": "pppV", "vkCreatePipelineLayout": "pppp", "vkDestroyPipelineLayout": "pppV",
        "vkGetPipelineExecutablePropertiesKHR": "pppp", "vkGetPipelineExecutableStatisticsKHR": "pppp",
        "vkCreateComputePipelines": "ppuppp", "vkDestroyPipeline": "pppV", "vkCreatePipelineCache": "pppp",
        "vkGetPipelineCacheData": "pppp", "vkDestroyPipelineCache": "pppV", "vkCreateCommandPool": "pppp",
        "vkAllocateCommandBuffers": "ppp", "vkBeginCommandBuffer": "pp", "vkEndCommandBuffer": "p",
        "vkResetCommandBuffer": "pu",
        "vkQueueSubmit": "pupp", "vkCreateSemaphore": "pppp", "vkWaitSemaphores": "ppq",
        "vkSignalSemaphore": "pp", "vkGetSemaphoreFdKHR": "ppp",
        "vkGetSemaphoreCounterValue": "ppp", "vkCreateQueryPool": "pppp",
        "vkGetQueryPoolResults": "ppuuzpqu", "vkCmdBindPipeline": "pipV", "vkCmdPushConstants": "ppuuupV",
        "vkCmdDispatch": "puuuV", "vkCmdPipelineBarrier": "puuuupupupV",
        "vkCmdPipelineBarrier2": "ppV", "vkCmdCopyBuffer": "pppupV",
        "vkCmdExecuteCommands": "pupV", "vkCmdFillBuffer": "ppqquV", "vkCmdUpdateBuffer": "ppqqpV",
        "vkCmdResetQueryPool": "ppuuV",
        "vkCmdWriteTimestamp": "pipuV", "vkResetQueryPool": "ppuuV",
    },
}
#: calls that only write into a command buffer: too short to give up Python's lock for them
_BRIEF = ("vkCmd", "vkBeginCommandBuffer", "vkEndCommandBuffer", "vkGetSemaphoreCounterValue",
          "vkResetQueryPool")

SUCCESS, NOT_READY, TIMEOUT, INCOMPLETE = 0, 1, 2, 5
OUT_OF_HOST_MEMORY, OUT_OF_DEVICE_MEMORY, DEVICE_LOST = -1, -2, -4
_RESULTS = {
    NOT_READY: "NOT_READY", TIMEOUT: "TIMEOUT", INCOMPLETE: "INCOMPLETE",
    OUT_OF_HOST_MEMORY: "OUT_OF_HOST_MEMORY", OUT_OF_DEVICE_MEMORY: "OUT_OF_DEVICE_MEMORY",
    -3: "INITIALIZATION_FAILED", DEVICE_LOST: "DEVICE_LOST", -5: "MEMORY_MAP_FAILED",
    -6: "LAYER_NOT_PRESENT", -7: "EXTENSION_NOT_PRESENT", -8: "FEATURE_NOT_PRESENT",
    -9: "INCOMPATIBLE_DRIVER", -10: "TOO_MANY_OBJECTS", -11: "FORMAT_NOT_SUPPORTED", -12: "FRAGMENTED_POOL",
    -13: "UNKNOWN", -1000069000: "OUT_OF_POOL_MEMORY", -1000072003: "INVALID_EXTERNAL_HANDLE",
    -1000012000: "INVALID_SHADER",
}


class VulkanError(DeviceError):
    """A call to Vulkan failed: the function and the name of its result."""

    def __init__(self, function: str, code: int) -> None:
        self.function, self.code = function, code
        super().__init__(f"{function}: {_RESULTS.get(code, code)}")


class Functions:
    """The functions of one level as attributes; `call` raises VulkanError where one fails."""

    def __init__(self, level: str, address_of: Any) -> None:
        for name, signature in FUNCTIONS[level].items():
            address = address_of(name)
            if address:
                setattr(self, name, _typed(name, signature, address))

    def __getattr__(self, name: str) -> Any:
        raise VulkanError(name, -7)  # the driver has no such function

    def call(self, name: str, *arguments: Any) -> int:
        """The result, a success."""
        code = getattr(self, name)(*arguments)
        if code < 0:
            raise VulkanError(name, code)
        return code

    def create(self, name: str, *arguments: Any) -> int:
        """The handle that a function with the parameters (..., allocator, handle) makes."""
        handle = ctypes.c_uint64(0)
        self.call(name, *arguments, None, ctypes.byref(handle))
        return handle.value

    def listed(self, name: str, structure: str, *arguments: Any) -> list[Any]:
        """The structures that an enumeration with the parameters (..., count, structures) gives."""
        from .structures import array

        function, count = getattr(self, name), ctypes.c_uint32(0)
        while True:
            code = function(*arguments, ctypes.byref(count), None)
            entries = array(structure, count.value)
            code = code or function(*arguments, ctypes.byref(count), entries)
            if code in (SUCCESS, None):
                return list(entries[:count.value])
            if code != INCOMPLETE:  # else the list has grown in between
                raise VulkanError(name, code)


def _typed(name: str, signature: str, address: int) -> Any:
    result: Any = {"V": None, "Q": ctypes.c_uint64}.get(signature[-1], ctypes.c_int32)
    parameters = [_CODES[code] for code in signature if code.islower()]
    prototype = ctypes.PYFUNCTYPE if name.startswith(_BRIEF) else ctypes.CFUNCTYPE
    return prototype(result, *parameters)(address)


def untyped(function: Any) -> Any:
    """A function without a result, for calls in a hurry: addresses and handles are c_void_p or bytes, other
    arguments integers of 32 bits. ctypes takes 0.1 microseconds to make a c_uint32 of an integer: a dispatch
    takes 0.2 this way instead of 0.6."""
    return ctypes.PYFUNCTYPE(None)(ctypes.cast(function, ctypes.c_void_p).value or 0)


class Loader:
    """The loaded library, and its functions that need no instance."""

    def __init__(self, path: str, library: Any) -> None:
        self.path = path
        self._address = library.vkGetInstanceProcAddr
        self._address.restype, self._address.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
        self.functions = Functions("global", lambda name: self._address(None, name.encode()))

    def instance_functions(self, instance: int) -> Functions:
        """The functions that an instance has."""
        return Functions("instance", lambda name: self._address(instance, name.encode()))


@Once
def open_loader() -> Loader | None:
    """The Vulkan loader of this machine; None where there is none. DeviceError where the variable names what
    is none."""
    named = os.environ.get(VARIABLE)
    for path in (named,) if named else _candidates():
        try:
            return Loader(path, ctypes.CDLL(path))
        except (OSError, AttributeError) as error:
            if named:
                raise DeviceError(f"{VARIABLE}={named} is not a Vulkan loader: {error}") from None
    return None


def _candidates() -> list[str]:
    found = ctypes.util.find_library("vulkan")
    return ["libvulkan.so.1", *([found] if found else [])]

"""Arrays for kernels, in host memory or on a device: `triton_spirv.empty`, `zeros`, `asarray`.

`device` says where: None or "cpu" is host memory (a zero-copy view, or a fresh array); "gpu" or "gpu:1" the
memory of an OpenCL GPU, "gpu:1.0" that of one of its tiles, "vulkan", "vulkan:1" or "vulkan:name" that of a
Vulkan device, on which a chain of kernels copies nothing; another array or its `device` the same place as
that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import arrays, checking, unwritten
from .errors import DeviceError

if TYPE_CHECKING:
    from .runtime.device_array import DeviceArray


def asarray(source: Any, dtype: object = None, device: object = None) -> Any:
    """`source` as an argument of kernels: a zero-copy view of host memory, or its copy on a device.

    source: a numpy or pyopencl array, a torch tensor, another of our arrays, anything with DLPack or the
    buffer protocol. `dtype` reads elements of the same size as another type: `asarray(bits, "bfloat16")` of a
    uint16 array. On a device an array that is there already is not copied.
    """
    if _is_host(device):
        if hasattr(source, "lives_on_device"):
            source, dtype = source.numpy(), dtype or source.dtype
        return arrays.asarray(source, dtype)
    there, place = _place(device)
    return there.asarray(place, source, dtype)


def empty(shape: int | Sequence[int], dtype: object = "float32", device: object = None) -> Any:
    """A new array with arbitrary contents: aligned host memory, or memory of a device."""
    if _is_host(device):
        made = arrays.empty(shape, dtype)
        if checking.follows_memory():
            unwritten.mark_uninitialised(made)
        return made
    there, place = _place(device)
    return there.empty(place, shape, dtype)


def zeros(shape: int | Sequence[int], dtype: object = "float32", device: object = None) -> Any:
    """A new array of zeros."""
    if _is_host(device):
        return arrays.zeros(shape, dtype)
    made: DeviceArray = empty(shape, dtype, device)
    return made.zero_()


def _is_host(device: object) -> bool:
    return device is None or str(getattr(device, "device", device)) == "cpu"


def _place(device: object) -> tuple[Any, Any]:
    """The module that makes arrays there, and the device as it takes it."""
    from .runtime import devices, vulkan

    name = str(getattr(device, "device", device))
    if vulkan.is_vulkan(name):
        from .runtime.vulkan import arrays, context
        from .runtime.vulkan import devices as vulkan_devices

        return arrays, context.open_device(vulkan_devices.choose(name))
    if name.partition(":")[0] in devices.KINDS:
        from .runtime import unified_memory

        return unified_memory, unified_memory.memory_of(devices.choose(name))
    raise DeviceError(f"there is no device {name!r}: use 'cpu', 'gpu', 'gpu:<number>', 'vulkan', "
                      "'vulkan:<index>' or 'vulkan:<part of a name>'")

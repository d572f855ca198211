"""Arrays for kernels, in host memory or on a device: `triton_spirv.empty`, `zeros`, `asarray`.

`device` says where: None or "cpu" is host memory (a zero-copy view, or a fresh array); "vulkan", "vulkan:1"
or "vulkan:name" a Vulkan device's own, on which a chain of kernels copies nothing; another array or its
`device` the same place as that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import arrays
from .errors import DeviceError

if TYPE_CHECKING:
    from .runtime.vulkan.arrays import DeviceArray
    from .runtime.vulkan.context import Context


def asarray(source: Any, dtype: Any = None, device: Any = None) -> Any:
    """`source` as an argument of kernels: a zero-copy view of host memory, or its copy on a device.

    source: a numpy or pyopencl array, a torch tensor, another of our arrays, anything with DLPack or the
    buffer protocol. `dtype` reads elements of the same size as another type: `asarray(bits, "bfloat16")` of a
    uint16 array. On a device an array that is there already is not copied.
    """
    if _is_host(device):
        if hasattr(source, "lives_on_device"):
            source, dtype = source.numpy(), dtype or source.dtype
        return arrays.asarray(source, dtype)
    from .runtime.vulkan import arrays as there

    return there.asarray(_context(device), source, dtype)


def empty(shape: int | Sequence[int], dtype: Any = "float32", device: Any = None) -> Any:
    """A new array with arbitrary contents: aligned host memory, or memory of a device."""
    if _is_host(device):
        return arrays.empty(shape, dtype)
    from .runtime.vulkan import arrays as there

    return there.empty(_context(device), shape, dtype)


def zeros(shape: int | Sequence[int], dtype: Any = "float32", device: Any = None) -> Any:
    """A new array of zeros."""
    if _is_host(device):
        return arrays.zeros(shape, dtype)
    made: DeviceArray = empty(shape, dtype, device)
    return made.zero_()


def _is_host(device: Any) -> bool:
    return device is None or str(getattr(device, "device", device)) == "cpu"


def _context(device: Any) -> Context:
    from .runtime.vulkan import context, devices, is_vulkan

    name = str(getattr(device, "device", device))
    if not is_vulkan(name):
        raise DeviceError(f"there is no device {name!r}: say 'cpu', 'vulkan', 'vulkan:<index>' or "
                          "'vulkan:<part of a name>'")
    return context.open_device(devices.choose(name))

"""Arrays in the memory of an OpenCL GPU (device_memory.py).

Nothing is copied when a kernel works on them. A launch that has no other arrays returns before the kernel has
run (pending.py); what is done to an array waits for that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import dtype_or, find_dtype
from . import device_array
from .device_array import row_major
from .device_memory import EXTENSION, Allocation, DeviceMemory, memory_of

__all__ = ["EXTENSION", "Allocation", "DeviceArray", "DeviceMemory", "asarray", "empty", "memory_of"]


class DeviceArray(device_array.DeviceArray):
    """A view of memory of an OpenCL GPU."""

    context: DeviceMemory
    allocation: Allocation

    @property
    def device(self) -> str:
        """Where the memory is, as TRITON_SPIRV_DEVICE says it."""
        return self.context.name


def empty(memory: DeviceMemory, shape: int | Sequence[int], dtype: object = "float32") -> DeviceArray:
    """A new array on the device with arbitrary contents."""
    kind = find_dtype(dtype)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    allocation = memory.allocate(int(np.prod(sizes, dtype=np.int64)) * kind.itemsize)
    return DeviceArray(memory, allocation, kind, sizes, row_major(sizes))


def asarray(memory: DeviceMemory, source: object, dtype: object = None) -> DeviceArray:
    """`source` itself where it is on the device already, else a copy there."""
    if isinstance(source, device_array.DeviceArray):
        if isinstance(source, DeviceArray) and source.context is memory and dtype is None:
            return source
        source, dtype = source.numpy(), dtype or source.dtype
    values, kind = dtype_or(source, dtype)
    made = empty(memory, values.shape, kind)
    made.copy_from(values)
    return made

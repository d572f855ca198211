"""Arrays that live on a Vulkan device. Launches that take only such arrays return before the kernel has
run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays import DType, dtype_or, find_dtype
from .. import device_array
from ..device_array import row_major
from .context import Context
from .memory import Allocation


class DeviceArray(device_array.DeviceArray):
    """A view of memory of a Vulkan device; strides count elements. It keeps the memory alive."""

    context: Context
    allocation: Allocation

    def __init__(self, context: Context, allocation: Allocation, dtype: DType, shape: tuple[int, ...],
                 strides: tuple[int, ...], offset: int = 0) -> None:
        super().__init__(context, allocation, dtype, shape, strides, offset)
        context.has_arrays = True

    @property
    def device(self) -> str:
        """Where the memory is, as TRITON_SPIRV_DEVICE says it."""
        return self.context.device.choice

    def __dlpack__(self, **options: Any) -> object:
        """The memory itself for what follows CUDA's addresses on this GPU, else a copy in host memory."""
        from .dlpack import export

        return export(self, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        from .dlpack import device_of

        return device_of(self)


def empty(context: Context, shape: int | Sequence[int], dtype: object = "float32") -> DeviceArray:
    """A new array on the device with arbitrary contents."""
    kind = find_dtype(dtype)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    count = int(np.prod(sizes, dtype=np.int64))
    allocation = context.pools.device.allocate(count * kind.itemsize)
    return DeviceArray(context, allocation, kind, sizes, row_major(sizes))


def asarray(context: Context, source: object, dtype: object = None) -> DeviceArray:
    """`source` itself where it is on the device already, else a copy there."""
    if isinstance(source, DeviceArray):
        if source.context is context and dtype is None:
            return source
        source, dtype = source.numpy(), dtype or source.dtype
    values, kind = dtype_or(source, dtype)
    return empty(context, values.shape, kind).copy_from(values)

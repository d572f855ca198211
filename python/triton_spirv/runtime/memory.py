"""Copies of host memory on devices that do not share it, for the time of one launch.

Whole allocations travel, each once, however many arguments point into it: kernels may follow any offset.
Addresses that are stored in memory (arrays of pointers) keep naming host memory, so kernels that use them
need a device that shares memory.
"""

from __future__ import annotations

import ctypes
import os

from ..errors import DeviceError
from . import opencl
from .devices import Context, Device


def shares_memory(device: Device) -> bool:
    """Do launches on the device work on host memory in place? TRITON_SPIRV_SHARED_MEMORY=0 says no, to try
    the copies."""
    return device.shares_memory and os.environ.get("TRITON_SPIRV_SHARED_MEMORY", "1") != "0"


class Staging:
    """Device copies of the allocations of one launch; a context manager that frees them."""

    def __init__(self, context: Context) -> None:
        if not context.device.svm:
            raise DeviceError(f"{context.device} neither shares host memory nor has virtual memory to share")
        self._context, self._library = context, context.device.library
        self._copies: dict[tuple[int, int], int] = {}
        self._written: set[tuple[int, int]] = set()

    def address(self, pointer: int, extent: tuple[int, int], written: bool) -> int:
        """The device address that stands for `pointer`, which lies in the allocation (address, bytes)
        `extent`."""
        start, size = extent
        if not size:
            return 0
        if written:
            self._written.add(extent)
        if extent not in self._copies:
            self._copies[extent] = self._allocate(size)
            self._copy(self._copies[extent], start, size)
        return self._copies[extent] + pointer - start

    def allocations(self) -> list[int]:
        """The device addresses of the copies."""
        return list(self._copies.values())

    def copy_back(self) -> None:
        """What the kernel may have written returns to host memory."""
        for start, size in self._written:
            self._copy(start, self._copies[start, size], size)

    def _allocate(self, size: int) -> int:
        address = self._library.clSVMAlloc(self._context.handle, opencl.MEM_READ_WRITE, size, 0)
        if not address:
            raise DeviceError(f"{self._context.device.name} has no room for a copy of {size} bytes")
        return int(address)

    def _copy(self, target: int, source: int, size: int) -> None:
        self._library.call("clEnqueueSVMMemcpy", self._context.queue, 1, target, source, size, 0, None, None)

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, *failure: object) -> None:
        for address in self._copies.values():
            self._library.clSVMFree(self._context.handle, address)


def announce(context: Context, kernel: int, allocations: list[int]) -> None:
    """Tell the driver which allocations a kernel reaches through addresses inside its arguments."""
    if not allocations:
        return
    pointers = (ctypes.c_void_p * len(allocations))(*allocations)
    context.device.library.call("clSetKernelExecInfo", kernel, opencl.KERNEL_EXEC_INFO_SVM_PTRS,
                                ctypes.sizeof(pointers), ctypes.addressof(pointers))

"""Calls of OpenCL one by one, below the runtime, for tests that do something wrong."""

from __future__ import annotations

import ctypes
from typing import Any

import handmade
from triton_spirv.runtime import devices


def kernel_of(context: devices.Context, passing: str = "arguments") -> tuple[Any, Any]:
    """A kernel object of out[i] = x[i] + y[i] * scale, and what keeps it."""
    made = handmade.scaled_add(passing)
    kernel = handmade.bind(made, "b580")
    return kernel, kernel.program.clone_kernel()


def allocate(context: devices.Context, size: int = 4096) -> int:
    return int(context.device.library.clSVMAlloc(context.handle, 1, size, 0))


def enqueue(context: devices.Context, queue: int, kernel: int) -> int:
    sizes = (ctypes.c_size_t * 3)(1, 1, 1)
    place = ctypes.addressof(sizes)
    launch = context.device.library.clEnqueueNDRangeKernel
    return int(launch(queue, kernel, 3, None, place, place, 0, None, None))


def set_arguments(context: devices.Context, kernel: int, *pointers: int) -> None:
    library = context.device.library
    for index, pointer in enumerate(pointers):
        library.call("clSetKernelArgSVMPointer", kernel, index, pointer)
    scale = ctypes.c_float(1)
    library.call("clSetKernelArg", kernel, 3, 4, ctypes.addressof(scale))

"""A launch in the calling thread by two calls through ctypes, as the machine code of launch_code.py makes it,
where a process may have none."""

from __future__ import annotations

import ctypes
import threading
import time
from typing import TYPE_CHECKING

from . import running_kernels

if TYPE_CHECKING:
    from .launch import Kernel
    from .launch_code import Call
    from .thread_state import ThreadState


def by_ctypes(kernel: Kernel, state: ThreadState, threads: threading.local) -> Call:
    """A function of the bytes of a launch: 0, an error code of the driver, or the nanoseconds where it took
    longer than `kernel.told`. threads: where the kernel keeps this thread's state, which nobody else may take
    meanwhile."""
    library, queue, clock = kernel.context.device.library, kernel.context.local_queue, time.perf_counter_ns
    text, local = kernel.text_address, ctypes.addressof(kernel.local)

    def call(data: bytes) -> int:
        threads.__dict__.pop("state", None)
        ctypes.memmove(state.sizes, data, len(data))
        running_kernels.enter(state.place, text)
        start = clock()
        try:
            code: int = library.clSetKernelArg(state.kernel.handle, 0, len(data) - 24, state.struct)
            code = code or library.clEnqueueNDRangeKernel(
                queue, state.kernel.handle, 3, None, state.sizes, local, 0, None, None)
        finally:
            running_kernels.table[state.place] = 0
        threads.state = state
        taken = clock() - start
        return code or (taken if taken > kernel.told else 0)

    return call

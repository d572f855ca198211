"""What a thread has of a kernel: threads launch concurrently."""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING

from .. import assert_layout
from ..errors import DeviceError
from . import memory, panels, running_kernels, stacks
from .checking import Watch
from .devices import Context
from .overflow import Overflow
from .program import OwnedKernel, Program

if TYPE_CHECKING:
    from ..artifact import Artifact
    from .launch import Kernel
    from .launch_code import Call


class ThreadState:
    """A thread's kernel object, the bytes of its next launch (global sizes, then the struct), its error word,
    and the word that programs draw their numbers from."""

    def __init__(self, context: Context, program: Program, size: int, artifact: Artifact) -> None:
        self.watch = Watch(artifact) if artifact.is_checked else None
        self.kernel: OwnedKernel = program.clone_kernel()
        self.buffer = (ctypes.c_uint8 * (24 + size))()
        self.error = (ctypes.c_uint32 * assert_layout.WORDS)()
        self.ticket = ctypes.c_uint32(0)
        self.announced = False  # has the kernel object been told of allocations?
        self.sizes = ctypes.addressof(self.buffer)
        self.struct = self.sizes + 24
        #: launches in this thread, where the device has that: launch_code.py
        self.call: Call | None = None
        self.place = running_kernels.place()
        self.is_main = threading.current_thread() is threading.main_thread()
        #: may the kernel run on this thread's stack, and may the thread wait for others to run it?
        self.may_run = context.device.kind != "cpu" or stacks.may_run(artifact.private_bytes)
        self.may_wait = context.device.kind != "cpu" or (self.may_run and stacks.may_wait())
        self.overflow = Overflow(artifact)
        #: what the launch under way keeps packed operands in
        self.panels: panels.Panels | None = None
        self.hidden = tuple(self._address_of(name) for name in artifact.hidden)

    def _address_of(self, name: str) -> int:
        if name == "overflow_buffer":
            return 0  # another one for each launch
        if name == "panel_buffer":
            return panels.NOTHING  # that of each launch comes with it
        if name == "assert_buffer":
            return ctypes.addressof(self.error)
        if name == "ticket_buffer":
            return ctypes.addressof(self.ticket)
        if name == "check_buffer" and self.watch is not None:
            return self.watch.address
        raise DeviceError(f"the kernel wants a hidden argument {name!r} that this runtime does not know")


class Abandoned:
    """What a kernel works on that nobody waits for any more; called when it has ended."""

    def __init__(self, kernel: Kernel, state: ThreadState, kept: object,
                 staging: memory.Staging | None) -> None:
        running_kernels.abandoned = True
        self._kept = kernel, state, kept
        self._queues = kernel.context.forget_queues()
        self._free = staging.forget() if staging else lambda: None
        kernel._threads.__dict__.clear()

    def __call__(self) -> None:
        self._free()

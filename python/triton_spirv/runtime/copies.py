"""Memory of a device for copies of the host's, which one launch leaves to the next.

An allocation costs more than the copy of a small array, so what was freed is kept, up to `KEPT` bytes, and
given again where it is not much too large. It is unified shared memory of the device where Intel's extension
is there: coarse-grained shared virtual memory of a card has storage on both sides.
"""

from __future__ import annotations

import os
import threading

from ..errors import DeviceError
from . import device_memory, opencl
from .devices import Context, size_flags

#: bytes that are kept for later launches
KEPT = 256 << 20
#: of an allocation, in bytes: the most that OpenCL promises. Copies keep their place modulo that
ALIGNMENT = 128
#: sizes are rounded up to multiples of this
GRAIN = 4096


class Copies:
    """Those of an opened device. Any thread may ask, and a signal's handler amid another call: nothing is
    locked, each change is one step of Python's."""

    def __init__(self, context: Context) -> None:
        self._context, self._library = context, context.device.library
        self._unified: device_memory.DeviceMemory | None = None
        if context.device.kind == "gpu" and device_memory.EXTENSION in context.device.extensions:
            self._unified = device_memory.memory_of(context.device)
            self._unified.spare = self.trim
        self._sizes: dict[int, int] = {}  # of all allocations that are in use or kept
        self._kept: list[int] = []  # the one that was given back last is the last

    def take(self, size: int) -> int:
        """The address of so many bytes, which nobody else uses until they are given back. DeviceError where
        there is no room."""
        wanted = -(-max(size, 1) // GRAIN) * GRAIN
        fitting = [(self._sizes.get(address, 0), address) for address in list(self._kept)]
        for kept, address in sorted(fitting):
            if wanted <= kept <= 2 * wanted:
                try:
                    self._kept.remove(address)
                except ValueError:
                    continue  # somebody else has it by now
                return address
        try:
            address = self._allocate(wanted)
        except DeviceError:
            raise DeviceError(f"{self._context.device.name} has no room for a copy of {size} bytes") from None
        self._sizes[address] = wanted
        return address

    def _allocate(self, size: int) -> int:
        if self._unified is not None:
            return self._unified.reserve(size, ALIGNMENT)
        flags = opencl.MEM_READ_WRITE | size_flags(self._context.device, size)
        for makes_room in (True, False):
            address = self._library.clSVMAlloc(self._context.handle, flags, size, ALIGNMENT)
            if address:
                return int(address)
            if makes_room:
                self.trim()
        raise DeviceError("no room")

    def give(self, address: int) -> None:
        """No launch uses it any more."""
        self._kept.append(address)
        self.trim(KEPT)

    def trim(self, kept: int = 0) -> None:
        """Free what is kept beyond so many bytes, the oldest first."""
        while sum(filter(None, map(self._sizes.get, list(self._kept)))) > kept:
            try:
                address = self._kept.pop(0)
            except IndexError:
                return
            self._sizes.pop(address, None)
            if self._unified is not None:
                self._unified.free(address)
            else:
                self._library.clSVMFree(self._context.handle, address)

    def copy(self, queue: int, target: int, source: int, size: int, waits: bool) -> None:
        """In the order of the queue. No fork, and no call of another thread, waits for one that waits."""
        if self._unified is not None:
            return self._unified.enqueue_copy(queue, target, source, size, waits)
        self._library.check("clEnqueueSVMMemcpy", self._library.clEnqueueSVMMemcpy(
            queue, int(waits), target, source, size, 0, None, None))


_all: dict[int, Copies] = {}  # by the handle of the context
_making = threading.RLock()
os.register_at_fork(after_in_child=lambda: globals().update(_making=threading.RLock()))


def copies_of(context: Context) -> Copies:
    """The memory for copies on an opened device."""
    found = _all.get(context.handle)
    if found is None:
        with _making:
            found = _all.get(context.handle) or Copies(context)
            _all[context.handle] = found
    return found

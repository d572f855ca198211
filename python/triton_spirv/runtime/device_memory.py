"""Memory of an OpenCL GPU: unified shared memory, by Intel's extension; allocated, moved, filled."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from ..errors import DeviceError
from . import devices, opencl

EXTENSION = "cl_intel_unified_shared_memory"

_INT, _UINT, _SIZE, _POINTER = ctypes.c_int32, ctypes.c_uint32, ctypes.c_size_t, ctypes.c_void_p
_ALLOCATE = ctypes.CFUNCTYPE(_POINTER, _POINTER, _POINTER, _POINTER, _SIZE, _UINT, _POINTER)
_FREE = ctypes.CFUNCTYPE(_INT, _POINTER, _POINTER)
_COPY = ctypes.CFUNCTYPE(_INT, _POINTER, _UINT, _POINTER, _POINTER, _SIZE, _UINT, _POINTER, _POINTER)
_FILL = ctypes.CFUNCTYPE(_INT, _POINTER, _POINTER, _POINTER, _SIZE, _SIZE, _UINT, _POINTER, _POINTER)


class Allocation:
    """Memory of the device; it is freed with the last reference, when no kernel uses it any more."""

    def __init__(self, memory: DeviceMemory, address: int, size: int) -> None:
        self.address, self.size, self._memory = address, size, memory

    def __del__(self) -> None:
        self._memory.free(self.address)


class DeviceMemory:
    """What allocates, copies and fills; one for an opened device. DeviceError for a device whose driver lacks
    the extension."""

    def __init__(self, context: devices.Context) -> None:
        device = context.device
        if EXTENSION not in device.extensions:
            raise DeviceError(f"{device.name}: its driver does not have {EXTENSION}, so no array can be made "
                              "there; arrays of the host are copied for each launch")
        self.context = context
        self.stream = self
        #: frees what is kept for later
        self.spare: Callable[[], None] = lambda: None
        self.name = devices.name_of(device)
        self._library = device.library
        self._allocate = _ALLOCATE(device.library.extension(device.handle, "clDeviceMemAllocINTEL"))
        self._free = _FREE(device.library.extension(device.handle, "clMemBlockingFreeINTEL"))
        self._copy = _COPY(device.library.extension(device.handle, "clEnqueueMemcpyINTEL"))
        self._fill = _FILL(device.library.extension(device.handle, "clEnqueueMemFillINTEL"))

    def allocate(self, size: int) -> Allocation:
        """So many bytes, at a multiple of 64; one at least."""
        return Allocation(self, self.reserve(size), size)

    def reserve(self, size: int, alignment: int = 0) -> int:
        """The address of so many bytes, which the caller frees. What copies have left over makes room."""
        device, code = self.context.device, ctypes.c_int32(0)
        flags = opencl.MEM_READ_WRITE | devices.size_flags(device, size)
        properties = (ctypes.c_uint64 * 3)(opencl.MEM_FLAGS, flags, 0)
        for make_room in (self.spare, None):
            address: int | None = self._allocate(
                self.context.handle, device.handle, ctypes.addressof(properties), max(size, 1), alignment,
                ctypes.addressof(code))
            if address:
                return address
            if make_room is not None:
                make_room()
        reason = opencl.ERRORS.get(code.value, code.value)
        raise DeviceError(f"{device.name} has no room for {size} bytes: {reason}")

    def free(self, address: int) -> None:
        """Wait for what uses the memory, and free it."""
        self._free(self.context.handle, address)

    # ---- moving memory

    def read(self, allocation: Allocation, offset: int, address: int, size: int) -> None:
        """From the device to the host."""
        self._move(address, allocation.address + offset, size)

    def write(self, allocation: Allocation, offset: int, address: int, size: int) -> None:
        """From the host to the device."""
        self._move(allocation.address + offset, address, size)

    def copy(self, source: Allocation, source_offset: int, target: Allocation, target_offset: int,
             size: int) -> None:
        """On the device."""
        if size:
            self._move(target.address + target_offset, source.address + source_offset, size)

    def fill(self, allocation: Allocation, offset: int, size: int, word: int) -> None:
        """With a word of four bytes."""
        self.context.settle()
        pattern, queue = ctypes.c_uint32(word), self.context.queue
        self._check("clEnqueueMemFillINTEL", self._fill(
            queue, allocation.address + offset, ctypes.addressof(pattern), 4, size, 0, None, None))
        self._library.check("clFinish", self._library.clFinish(queue))  # takes long: no fork waits for it

    def _move(self, target: int, source: int, size: int) -> None:
        self.context.settle()
        self.enqueue_copy(self.context.queue, target, source, size, waits=True)

    def enqueue_copy(self, queue: int, target: int, source: int, size: int, waits: bool) -> None:
        """In the order of a queue; what the host gives or gets stays there until it is done."""
        self._check("clEnqueueMemcpyINTEL",
                    self._copy(queue, int(waits), target, source, size, 0, None, None))

    def _check(self, name: str, code: int) -> None:
        self._library.check(name, code)


_memories: dict[int, DeviceMemory] = {}  # by the handle of the context


def memory_of(device: devices.Device) -> DeviceMemory:
    """The memory of a device, which is opened."""
    context = devices.open_device(device)
    if context.handle not in _memories:
        _memories[context.handle] = DeviceMemory(context)
    return _memories[context.handle]

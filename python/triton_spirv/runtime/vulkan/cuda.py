"""CUDA's driver (`libcuda.so.1`), as far as memory and order of work are shared with it.

Loaded only when a CUDA tensor is an argument, or a library asks a device array for its memory. Work of a
process is in each GPU's primary context, the one that torch uses; every method makes it current for itself.
Pointers and handles are plain integers. Structures and calls: cuda.h, "External Resource Interoperability",
"Virtual Memory Management", "Unified Addressing".
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...errors import DeviceError
from ...once import Once
from .shared_memory import handed
from .structures import _CODES

#: parameters of each function, in the codes of structures.py; all give a CUresult
FUNCTIONS = {
    "cuInit": "u", "cuGetErrorName": "ip", "cuDeviceGetCount": "p", "cuDeviceGet": "pi",
    "cuDeviceGetUuid_v2": "pi", "cuDevicePrimaryCtxRetain": "pi", "cuCtxPushCurrent_v2": "p",
    "cuCtxPopCurrent_v2": "p", "cuCtxSynchronize": "", "cuStreamSynchronize": "p", "cuStreamQuery": "p",
    "cuStreamIsCapturing": "pp", "cuPointerGetAttribute": "piq", "cuMemGetAddressRange_v2": "ppq",
    "cuImportExternalMemory": "pp", "cuExternalMemoryGetMappedBuffer": "ppp", "cuDestroyExternalMemory": "p",
    "cuMemFree_v2": "q", "cuImportExternalSemaphore": "pp", "cuSignalExternalSemaphoresAsync": "ppup",
    "cuWaitExternalSemaphoresAsync": "ppup", "cuMemcpyDtoDAsync_v2": "qqzp",
    "cuMemGetAllocationPropertiesFromHandle": "pq", "cuMemRetainAllocationHandle": "pq",
    "cuMemExportToShareableHandle": "pqiq", "cuMemRelease": "q",
    "cuThreadExchangeStreamCaptureMode": "p",
}
NOT_READY = 600  # CUDA_ERROR_NOT_READY
CAPTURES = range(900, 910)  # CUDA_ERROR_STREAM_CAPTURE_...: something is refused while a graph is captured
BUFFER_ID = 7  # CU_POINTER_ATTRIBUTE_BUFFER_ID
OPAQUE_FD = 1  # CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, and CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
ON_DEVICE = 1  # CU_MEM_LOCATION_TYPE_DEVICE
TIMELINE_FD = 9  # CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED

#: `gpu`: whose context this thread has made its own last
_thread = threading.local()


class MemoryHandle(ctypes.Structure):
    """CUDA_EXTERNAL_MEMORY_HANDLE_DESC, its union as file descriptor."""

    _fields_ = [("type", ctypes.c_int), ("_0", ctypes.c_int), ("fd", ctypes.c_int), ("_1", ctypes.c_int),
                ("_2", ctypes.c_uint64), ("size", ctypes.c_uint64), ("flags", ctypes.c_uint),
                ("_3", ctypes.c_uint * 16)]


class MappedBuffer(ctypes.Structure):
    """CUDA_EXTERNAL_MEMORY_BUFFER_DESC."""

    _fields_ = [("offset", ctypes.c_uint64), ("size", ctypes.c_uint64), ("flags", ctypes.c_uint),
                ("_0", ctypes.c_uint * 16)]


class SemaphoreHandle(ctypes.Structure):
    """CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, its union as file descriptor."""

    _fields_ = [("type", ctypes.c_int), ("_0", ctypes.c_int), ("fd", ctypes.c_int), ("_1", ctypes.c_int),
                ("_2", ctypes.c_uint64), ("flags", ctypes.c_uint), ("_3", ctypes.c_uint * 16)]


class FenceValue(ctypes.Structure):
    """CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS and ..._WAIT_PARAMS, of which only the value is used."""

    _fields_ = [("value", ctypes.c_uint64), ("_0", ctypes.c_uint64 * 8), ("flags", ctypes.c_uint),
                ("_1", ctypes.c_uint * 16)]


class AllocationProperties(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("place", ctypes.c_int),
                ("ordinal", ctypes.c_int), ("_0", ctypes.c_void_p), ("compression", ctypes.c_uint8),
                ("_1", ctypes.c_uint8 * 7)]


class CudaError(DeviceError):
    """A call to CUDA's driver failed: the function and the name of its result."""

    def __init__(self, function: str, code: int, name: str) -> None:
        self.function, self.code = function, code
        super().__init__(f"{function}: {name or code}")


class Cuda:
    """The driver of this process; CudaError where a call fails."""

    def __init__(self, library: Any) -> None:
        for name, codes in FUNCTIONS.items():
            function = getattr(library, name)
            function.argtypes = [_CODES[code] for code in codes]
            setattr(self, name, function)
        self.call("cuInit", 0)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that has to succeed."""
        code = getattr(self, name)(*arguments)
        if code:
            raise self.error(name, code)

    def error(self, name: str, code: int) -> CudaError:
        """What a call failed with."""
        text = ctypes.c_char_p()
        self.cuGetErrorName(code, ctypes.byref(text))  # type: ignore[attr-defined]
        return CudaError(name, code, (text.value or b"").decode())

    @functools.cached_property
    def uuids(self) -> tuple[bytes, ...]:
        """The UUID of each GPU that the process sees, by CUDA's and torch's number of it."""
        count, number, found = ctypes.c_int(), ctypes.c_int(), []
        self.call("cuDeviceGetCount", ctypes.byref(count))
        for index in range(count.value):
            uuid = (ctypes.c_uint8 * 16)()
            self.call("cuDeviceGet", ctypes.byref(number), index)
            self.call("cuDeviceGetUuid_v2", ctypes.byref(uuid), number)
            found.append(bytes(uuid))
        return tuple(found)


class Gpu:
    """One GPU, through CUDA: memory and semaphores of others, copies in the order of a stream."""

    def __init__(self, cuda: Cuda, ordinal: int) -> None:
        self.cuda, self.ordinal, self.call = cuda, ordinal, cuda.call

    @functools.cached_property
    def _context(self) -> int | None:
        context, number = ctypes.c_void_p(), ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(number), self.ordinal)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), number)
        return context.value

    @contextmanager
    def current(self) -> Iterator[None]:
        """Its context is this thread's, in the block; what needs that enters by itself, too, which costs no
        call of CUDA's in such a block. Nobody else may change the context there."""
        around = getattr(_thread, "gpu", None)
        if around is self:
            yield
            return
        self.call("cuCtxPushCurrent_v2", self._context)
        _thread.gpu = self
        try:
            yield
        finally:
            _thread.gpu = around
            self.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    # ---- memory

    def import_memory(self, fd: int, size: int) -> tuple[int, int]:
        """Handle and address of memory that somebody exported; takes the descriptor."""
        with self.current():
            handle, pointer = ctypes.c_void_p(), ctypes.c_uint64()
            with handed(fd):
                self.call("cuImportExternalMemory", ctypes.byref(handle),
                          ctypes.byref(MemoryHandle(type=OPAQUE_FD, fd=fd, size=size)))
            try:
                self.call("cuExternalMemoryGetMappedBuffer", ctypes.byref(pointer), handle,
                          ctypes.byref(MappedBuffer(size=size)))
            except CudaError:
                self.call("cuDestroyExternalMemory", handle)
                raise
        return handle.value or 0, pointer.value

    def forget_memory(self, handle: int, pointer: int) -> None:
        """Undo `import_memory`."""
        with self.current():
            self.call("cuMemFree_v2", pointer)
            self.call("cuDestroyExternalMemory", handle)

    def buffer_id(self, pointer: int) -> int:
        """A number that no other allocation of the process ever has; 0: there is none at the address."""
        number = ctypes.c_uint64()
        with self.current():
            code = self.cuda.cuPointerGetAttribute(  # type: ignore[attr-defined]
                ctypes.addressof(number), BUFFER_ID, pointer)
        return 0 if code else number.value

    def export_memory(self, pointer: int) -> tuple[int, int, int] | None:
        """Where the allocation at an address begins, its bytes, a file descriptor that is the caller's; None
        where it is not of a kind that has one (`cudaMalloc`), nor plain memory of this GPU."""
        base, size, properties = ctypes.c_uint64(), ctypes.c_size_t(), AllocationProperties()
        handle, fd = ctypes.c_uint64(), ctypes.c_int(-1)
        with self.current():
            try:
                self.call("cuMemRetainAllocationHandle", ctypes.byref(handle), pointer)
            except CudaError:
                return None
            try:
                self.call("cuMemGetAllocationPropertiesFromHandle", ctypes.byref(properties), handle)
                if (properties.place, properties.ordinal) != (ON_DEVICE, self.ordinal) \
                        or properties.compression:
                    return None
                self.call("cuMemGetAddressRange_v2", ctypes.byref(base), ctypes.byref(size), pointer)
                self.call("cuMemExportToShareableHandle", ctypes.byref(fd), handle, OPAQUE_FD, 0)
            except CudaError:
                return None
            finally:
                self.call("cuMemRelease", handle)
        return base.value, size.value, fd.value

    # ---- order

    def import_semaphore(self, fd: int) -> int:
        """A timeline semaphore that somebody exported; takes the descriptor."""
        handle = ctypes.c_void_p()
        with self.current(), handed(fd):
            self.call("cuImportExternalSemaphore", ctypes.byref(handle),
                      ctypes.byref(SemaphoreHandle(type=TIMELINE_FD, fd=fd)))
        return handle.value or 0

    def signal(self, semaphore: int, value: int, stream: int) -> None:
        """When the stream comes to here, the semaphore has the value. In `current()`."""
        self.call("cuSignalExternalSemaphoresAsync", ctypes.byref(ctypes.c_void_p(semaphore)),
                  ctypes.byref(FenceValue(value=value)), 1, stream)

    def wait(self, semaphore: int, value: int, stream: int) -> None:
        """The stream goes on when the semaphore has the value. In `current()`."""
        self.call("cuWaitExternalSemaphoresAsync", ctypes.byref(ctypes.c_void_p(semaphore)),
                  ctypes.byref(FenceValue(value=value)), 1, stream)

    def copy(self, target: int, source: int, size: int, stream: int) -> None:
        """On the device, in the order of the stream. In `current()`."""
        self.call("cuMemcpyDtoDAsync_v2", target, source, size, stream)

    def is_capturing(self, stream: int) -> bool:
        """Is the stream's work recorded into a graph? In `current()`."""
        status = ctypes.c_int()
        self.call("cuStreamIsCapturing", stream, ctypes.byref(status))
        return status.value != 0

    def is_idle(self, stream: int) -> bool:
        """Is all done that the stream's next work would wait for? Of the default stream, other streams' work
        as well (seen with driver 580). Asked so that a capture of another stream goes on. In `current()`."""
        mode = ctypes.c_int(RELAXED)
        self.call("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
        try:
            code: int = self.cuda.cuStreamQuery(stream)  # type: ignore[attr-defined]
        finally:
            self.call("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
        return code == 0

    def synchronize(self) -> None:
        """All work of all streams is done."""
        with self.current():
            self.call("cuCtxSynchronize")

    def check(self) -> None:
        """CudaError where CUDA has given up: a kernel of its failed, what was queued never runs."""
        with self.current():
            code = self.cuda.cuStreamQuery(None)  # type: ignore[attr-defined]
        if code not in (0, NOT_READY, *CAPTURES):
            raise self.cuda.error("cuStreamQuery", code)


@Once
def _open(process: int) -> Cuda | None:
    try:
        return Cuda(ctypes.CDLL("libcuda.so.1"))
    except (OSError, AttributeError, CudaError):
        return None  # no driver, an old one, no GPU


def open_cuda() -> Cuda | None:
    """CUDA's driver; None on machines without."""
    return _open(os.getpid())


def find_gpu(uuid: bytes) -> Gpu | None:
    """The GPU with that UUID, through CUDA; None where CUDA does not see it (CUDA_VISIBLE_DEVICES)."""
    cuda = open_cuda()
    return Gpu(cuda, cuda.uuids.index(uuid)) if cuda is not None and uuid in cuda.uuids else None

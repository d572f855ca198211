"""CUDA itself for tests, through torch; memory with descriptors by the driver's own calls, so that a test
knows how it lies."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
from triton_spirv.arrays import find_dtype
from triton_spirv.runtime.vulkan import dlpack
from triton_spirv.runtime.vulkan.context import Context

#: bytes of one allocation
HANDLE_BYTES = 2 << 20


class Properties(ctypes.Structure):
    """CUmemAllocationProp: pinned memory of a GPU, with a file descriptor."""

    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("place", ctypes.c_int),
                ("ordinal", ctypes.c_int), ("_0", ctypes.c_void_p), ("_1", ctypes.c_uint8 * 8)]


class Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = [("place", ctypes.c_int), ("ordinal", ctypes.c_int), ("flags", ctypes.c_int)]


class Mapped:
    """Allocations of `each` bytes (whole 2 MiB) side by side, at `pointer` or anywhere."""

    def __init__(self, gpu: Any, pieces: int, pointer: int = 0, each: int = HANDLE_BYTES) -> None:
        self.gpu, self.pieces, self.each, self.driver = gpu, pieces, each, ctypes.CDLL("libcuda.so.1")
        size, self.pointer = ctypes.c_size_t(each), pointer
        wanted, none = Properties(1, 1, 1, gpu.ordinal), ctypes.c_uint64(0)
        with gpu.current():
            if not pointer:
                found = ctypes.c_uint64()
                self.call("cuMemAddressReserve", ctypes.byref(found), ctypes.c_size_t(pieces * each),
                          ctypes.c_size_t(0), none, none)
                self.pointer = found.value
            for number in range(pieces):
                handle, place = ctypes.c_uint64(), ctypes.c_uint64(self.pointer + number * each)
                self.call("cuMemCreate", ctypes.byref(handle), size, ctypes.byref(wanted), none)
                self.call("cuMemMap", place, size, ctypes.c_size_t(0), handle, none)
                self.call("cuMemSetAccess", place, size, ctypes.byref(Access(1, gpu.ordinal, 3)),
                          ctypes.c_size_t(1))
                self.call("cuMemRelease", handle)  # the mapping keeps it

    def call(self, name: str, *arguments: Any) -> None:
        code = getattr(self.driver, name)(*arguments)
        assert code == 0, (name, code)

    def free(self) -> None:
        """The memory is gone, the addresses stay reserved."""
        with self.gpu.current():
            for number in range(self.pieces):
                self.call("cuMemUnmap", ctypes.c_uint64(self.pointer + number * self.each),
                          ctypes.c_size_t(self.each))

    def elements(self, count: int) -> Any:
        """For torch.from_dlpack: float32 from the beginning on."""
        return elements(self.gpu, self.pointer, count, self)


def elements(gpu: Any, pointer: int, count: int, owner: Any) -> Any:
    """For torch.from_dlpack: float32 at an address of CUDA's, which `owner` keeps."""
    array = SimpleNamespace(dtype=find_dtype("float32"), shape=(count,), strides=(1,))
    place = dlpack.CUDA, gpu.ordinal
    return SimpleNamespace(__dlpack_device__=lambda: place, __dlpack__=lambda **_: dlpack.capsule(
        array, pointer, place, owner))  # type: ignore[arg-type]


class Real:
    """The machine's CUDA, for the tests."""

    name = "cuda"

    def __init__(self, context: Context, torch: Any) -> None:
        assert context.cuda is not None
        self.context, self.bridge, self.torch = context, context.cuda, torch
        self.gpu: Any = context.cuda.gpu
        self.place = f"cuda:{self.gpu.ordinal}"
        self._mapped: dict[int, Mapped] = {}
        self._copied, original = 0, type(self.gpu).copy

        def counted(target: int, source: int, size: int, stream: int) -> None:
            self._copied += 1
            original(self.gpu, target, source, size, stream)

        self.gpu.copy = counted

    def tensor(self, values: np.ndarray, with_descriptor: bool = False, pieces: int = 1) -> Any:
        """A CUDA tensor with these values: torch's own, or in memory that has descriptors."""
        host = self.torch.from_numpy(np.ascontiguousarray(values))
        if not with_descriptor:
            return host.to(self.place)
        return self.at(Mapped(self.gpu, max(pieces, -(-values.nbytes // HANDLE_BYTES))), host)

    def at(self, mapped: Mapped, host: Any) -> Any:
        """A tensor in that memory with the host's values."""
        self._mapped[mapped.pointer] = mapped
        return self.torch.from_dlpack(mapped.elements(host.numel())).copy_(host)

    def free(self, tensor: Any) -> None:
        """CUDA's memory is gone."""
        self.torch.cuda.synchronize()
        self._mapped.pop(tensor.data_ptr()).free()

    def of_array(self, array: Any) -> Any:
        """A device array as a CUDA tensor."""
        return self.torch.from_dlpack(array)

    def part(self, tensor: Any, begin: int, end: int) -> Any:
        """Elements of a tensor, as a view."""
        return tensor[begin:end]

    def apart(self, tensor: Any, begin: int, end: int) -> Any:
        """Elements of a tensor, as a storage of its own."""
        return self.torch.from_dlpack(elements(self.gpu, tensor.data_ptr() + 4 * begin, end - begin, tensor))

    def values(self, tensor: Any) -> np.ndarray:
        """What is in a tensor, when all of CUDA's work on the current stream is done."""
        return tensor.cpu().numpy()

    def add(self, tensor: Any, number: float) -> None:
        """Work of CUDA's on a tensor."""
        tensor.add_(number)

    def copies(self) -> int:
        """How often memory was copied on the device for launches."""
        return self._copied

"""CUDA's side of a GPU, played on the software Vulkan device: what runtime/vulkan/bridge.py asks of cuda.Gpu.

Its memory is that of Mesa's file descriptors, mapped a second time, so that the same bytes do have two
addresses; a stream does at once what it is given. What it cannot show is how the drivers of a GPU behave:
the same tests run on CUDA itself where there is one.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from triton_spirv.arrays import find_dtype
from triton_spirv.runtime.vulkan import memory
from triton_spirv.runtime.vulkan.bridge import Bridge
from triton_spirv.runtime.vulkan.context import Context
from triton_spirv.runtime.vulkan.structures import make

devices = import_module("triton_spirv.runtime.vulkan.devices")

#: what Mesa writes before the memory in its files
HEADER = 4096
#: bytes of one allocation that has a descriptor
HANDLE_BYTES = 1 << 16


@dataclass
class Gpu:
    """Counts what it is asked: `asked`."""

    context: Context
    ordinal: int = 0
    capturing: bool = False
    #: a stream always has something left to do, as far as the host can see
    busy: bool = False
    asked: list[str] = field(default_factory=list)
    #: by handle, the mapping
    mapped: dict[int, mmap.mmap] = field(default_factory=dict)
    #: (begin, end, number, the block that it is of): what `allocate` has made and `free` has not ended
    allocations: list[tuple[int, int, int, memory.Block | None]] = field(default_factory=list)
    made: int = 0
    #: ("signal" or "wait", stream, semaphore, value)
    order: list[tuple[str, int, int, int]] = field(default_factory=list)

    @contextmanager
    def current(self) -> Iterator[None]:
        yield

    def import_memory(self, fd: int, size: int) -> tuple[int, int]:
        self.asked.append("import_memory")
        mapping = mmap.mmap(fd, HEADER + size)
        os.close(fd)
        pointer = ctypes.addressof(ctypes.c_char.from_buffer(mapping)) + HEADER
        self.mapped[pointer] = mapping
        return pointer, pointer

    def forget_memory(self, handle: int, pointer: int) -> None:
        self.asked.append("forget_memory")
        del self.mapped[handle]

    def buffer_id(self, pointer: int) -> int:
        return next((number for begin, end, number, _ in self.allocations if begin <= pointer < end), 0)

    def export_memory(self, pointer: int) -> tuple[int, int, int] | None:
        for begin, end, _, block in self.allocations:
            if begin <= pointer < end and block is not None:
                return begin, end - begin, block.descriptor()
        return None

    def signal(self, semaphore: int, value: int, stream: int) -> None:
        self.order.append(("signal", stream, semaphore, value))
        info = make("SemaphoreSignalInfo", semaphore=semaphore, value=value)
        self.context.api.call("vkSignalSemaphore", self.context.handle, ctypes.byref(info))

    def wait(self, semaphore: int, value: int, stream: int) -> None:
        self.order.append(("wait", stream, semaphore, value))
        info = make("SemaphoreWaitInfo", semaphoreCount=1, pSemaphores=(ctypes.c_void_p * 1)(semaphore),
                    pValues=(ctypes.c_uint64 * 1)(value))
        assert self.context.api.vkWaitSemaphores(self.context.handle, ctypes.byref(info), 20 * 10**9) == 0

    def copy(self, target: int, source: int, size: int, stream: int) -> None:
        self.asked.append("copy")
        ctypes.memmove(target, source, size)

    def is_capturing(self, stream: int) -> bool:
        return self.capturing

    def is_idle(self, stream: int) -> bool:
        self.asked.append("is_idle")
        return not self.busy

    def synchronize(self) -> None:
        self.asked.append("synchronize")

    def check(self) -> None:
        pass

    # ---- what a program does with CUDA

    def allocate(self, size: int, with_descriptor: bool) -> int:
        """Memory of the program's own, at the address; `free` ends it."""
        self.made += 1
        block = None
        if with_descriptor:
            size = -(-size // HANDLE_BYTES) * HANDLE_BYTES
            block = memory.Block(self.context.pools.device, size)
            _, begin = self.import_memory(block.descriptor(), size)
        else:
            self.mapped[self.made] = mapping = mmap.mmap(-1, size)
            begin = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
        self.allocations.append((begin, begin + size, self.made, block))
        return begin

    def free(self, begin: int) -> None:
        self.allocations = [entry for entry in self.allocations if entry[0] != begin]

    def map_other(self, begin: int) -> None:
        """Other memory, of zeros, lies where that allocation with a descriptor was."""
        end = next(entry[1] for entry in self.allocations if entry[0] == begin)
        self.free(begin)
        self.made += 1
        block, libc = memory.Block(self.context.pools.device, end - begin), ctypes.CDLL(None)
        ctypes.memset(block.host, 0, block.size)
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        libc.mmap.restype, fixed, fd = ctypes.c_void_p, 0x10, block.descriptor()
        assert begin == libc.mmap(begin, block.size, mmap.PROT_READ | mmap.PROT_WRITE,
                                  mmap.MAP_SHARED | fixed, fd, HEADER)
        os.close(fd)
        self.allocations.append((begin, end, self.made, block))


class SimulatedBridge(Bridge):
    """Semaphores are Vulkan's own: that device has no descriptors of them."""

    def semaphore(self) -> tuple[int, int]:
        info = make("SemaphoreCreateInfo", next=make("SemaphoreTypeCreateInfo", semaphoreType=1))
        made = self.context.api.create("vkCreateSemaphore", self.context.handle, ctypes.byref(info))
        return made, made


@dataclass
class Storage:
    pointer: int
    size: int

    def data_ptr(self) -> int:
        return self.pointer

    def nbytes(self) -> int:
        return self.size


class Tensor:
    """As much of a torch tensor on a GPU as a launch looks at; `numbers` are its elements, in place."""

    is_cuda, is_cpu = True, False

    def __init__(self, pointer: int, count: int, storage: Storage | None = None, ordinal: int = 0) -> None:
        self._pointer, self.dtype, self._ordinal = pointer, find_dtype("float32"), ordinal
        self._storage = storage or Storage(pointer, 4 * count)
        self.device = f"cuda:{ordinal}"
        self.numbers = np.frombuffer((ctypes.c_char * (4 * count)).from_address(pointer), np.float32)

    def data_ptr(self) -> int:
        return self._pointer

    def get_device(self) -> int:
        return self._ordinal

    def untyped_storage(self) -> Storage:
        return self._storage


class Simulated:
    """A machine with CUDA, for the tests."""

    name = "simulated"

    def __init__(self) -> None:
        chosen = devices.choose("vulkan")
        self.context = Context(chosen)
        self.context.pools.device.exportable = True
        self.gpu = Gpu(self.context)
        self.bridge = SimulatedBridge(self.context, self.gpu)
        self.context.__dict__["cuda"] = self.bridge

    def tensor(self, values: np.ndarray, with_descriptor: bool = False, pieces: int = 1) -> Tensor:
        """A CUDA tensor with these values; in 2 pieces, it lies in two allocations side by side."""
        made = Tensor(self.gpu.allocate(values.nbytes, with_descriptor), values.size)
        made.numbers[...] = values
        if pieces == 2:
            begin, end, number, block = self.gpu.allocations.pop()
            middle = begin + values.nbytes // 2
            self.gpu.allocations += [(begin, middle, number, block), (middle, end, number + 1000, block)]
        return made

    def free(self, tensor: Tensor) -> None:
        """CUDA's memory is gone."""
        self.gpu.free(tensor.data_ptr())

    def of_array(self, array: Any) -> Tensor:
        """A device array as a CUDA tensor."""
        array.__dlpack__(stream=1)
        pointer = self.bridge.pointer(array.allocation) + array.address - array.allocation.address
        return Tensor(pointer, array.numel())

    def part(self, tensor: Tensor, begin: int, end: int) -> Tensor:
        """Elements of a tensor, as a view."""
        return Tensor(tensor.data_ptr() + 4 * begin, end - begin, tensor.untyped_storage())

    def apart(self, tensor: Tensor, begin: int, end: int) -> Tensor:
        """Elements of a tensor, as a storage of its own."""
        return Tensor(tensor.data_ptr() + 4 * begin, end - begin)

    def values(self, tensor: Tensor) -> np.ndarray:
        """What is in a tensor now."""
        return tensor.numbers.copy()

    def add(self, tensor: Tensor, number: float) -> None:
        """Work of CUDA's on a tensor."""
        tensor.numbers[...] += number

    def copies(self) -> int:
        """How often memory was copied on the device."""
        return self.gpu.asked.count("copy")

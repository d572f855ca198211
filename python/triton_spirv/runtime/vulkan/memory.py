"""Memory of a device: large blocks from the driver, parts of them for arrays.

A block is one allocation with one buffer over all of it, so every part has an address (of the block, plus its
place) and can be copied. Free parts are kept in order of their place, joined with their neighbours; the
smallest that fits is taken. Work runs in the order in which it was recorded, so a part may be handed out
again while the device still uses it for earlier work; only the host must wait, another interface (bridge.py),
and a block that goes back to the driver.
"""

from __future__ import annotations

import bisect
import ctypes
import threading
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from ...errors import DeviceError
from .devices import DEVICE_LOCAL, HOST_CACHED, HOST_COHERENT, HOST_VISIBLE, Device, MemoryType
from .library import OUT_OF_DEVICE_MEMORY, OUT_OF_HOST_MEMORY, Functions, VulkanError
from .shared_memory import OPAQUE_FD, USAGE, handed, memory_descriptor
from .structures import STRUCTURES, make

#: every part begins at a multiple; suits any vector, and what drivers want of copies
ALIGNMENT = 256
#: bytes of an ordinary block; what needs more gets a block of its own
BLOCK_BYTES = 64 << 20
ADDRESSABLE = 2  # VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT
COHERENT = HOST_VISIBLE | HOST_COHERENT
MAPPED = COHERENT | HOST_CACHED


class Block:
    """One allocation of the driver. `host` is where the host sees it, 0 if nowhere."""

    def __init__(self, pool: Pool, size: int, fd: int | None = None) -> None:
        """`fd`: no new memory, but what that descriptor, which this takes, stands for, of just that size."""
        self.pool, self.size, self.host = pool, size, 0
        #: the same memory in another interface, with release(); None: in none
        self.elsewhere: Any = None
        self.free: list[tuple[int, int]] = [(0, size)]  # (place, bytes) of each free part
        with nullcontext() if fd is None else handed(fd):
            kind = self._allocate(fd)
        try:
            self._bind(kind)
        except DeviceError:
            self.release()
            raise

    def _allocate(self, fd: int | None) -> MemoryType:
        """Makes the buffer, and makes or imports the memory; gives what kind it is."""
        pool, size, api, device = self.pool, self.size, self.pool.api, self.pool.device
        if fd is not None and size > pool.largest:
            raise DeviceError(f"{size} bytes are more than a buffer may have ({pool.largest})")
        shared = pool.exportable or fd is not None
        external = make("ExternalMemoryBufferCreateInfo", handleTypes=OPAQUE_FD) if shared else None
        info = make("BufferCreateInfo", next=external, size=size, usage=USAGE)
        self.buffer = api.create("vkCreateBuffer", device, ctypes.byref(info))
        needs = STRUCTURES["MemoryRequirements"]()
        api.vkGetBufferMemoryRequirements(device, self.buffer, ctypes.byref(needs))
        following = make("MemoryAllocateFlagsInfo", flags=ADDRESSABLE)
        if fd is not None:
            following = make("ImportMemoryFdInfoKHR", next=following, handleType=OPAQUE_FD, fd=fd)
        elif shared:
            following = make("ExportMemoryAllocateInfo", next=following, handleTypes=OPAQUE_FD)
        try:
            if fd is not None and needs.size > size:
                raise DeviceError(f"a buffer of {size} bytes wants {needs.size}, more than are imported")
            kind = pool.choose_type(needs.memoryTypeBits)
            info = make("MemoryAllocateInfo", next=following, allocationSize=needs.size,
                        memoryTypeIndex=kind.index)
            self.memory = api.create("vkAllocateMemory", device, ctypes.byref(info))
        except DeviceError:
            api.vkDestroyBuffer(device, self.buffer, None)
            raise
        #: bytes of the allocation, which are no fewer than those of the block
        self.allocated: int = needs.size
        return kind

    def _bind(self, kind: MemoryType) -> None:
        """The buffer lies in the memory, and has its address; both are mapped where the host sees them."""
        pool, api, device = self.pool, self.pool.api, self.pool.device
        api.call("vkBindBufferMemory", device, self.buffer, self.memory, 0)
        self.address: int = api.vkGetBufferDeviceAddress(
            device, ctypes.byref(make("BufferDeviceAddressInfo", buffer=self.buffer)))
        if kind.flags & pool.mapped == pool.mapped:
            place = ctypes.c_void_p(0)
            api.call("vkMapMemory", device, self.memory, 0, (1 << 64) - 1, 0, ctypes.byref(place))
            self.host = place.value or 0

    def descriptor(self) -> int:
        """A new file descriptor of the memory, of an exportable pool."""
        return memory_descriptor(self.pool.api, self.pool.device, self.memory)

    def take(self, size: int) -> int | None:
        """The place of a part of that size, from the smallest that fits; None where none does."""
        fitting = [(span, place) for place, span in self.free if span >= size]
        if not fitting:
            return None
        span, place = min(fitting)
        index = bisect.bisect_left(self.free, (place, 0))
        self.free[index:index + 1] = [(place + size, span - size)] if span > size else []
        return place

    def give(self, place: int, size: int) -> None:
        """The part is free again."""
        index = bisect.bisect_left(self.free, (place, 0))
        if index < len(self.free) and self.free[index][0] == place + size:
            size += self.free.pop(index)[1]
        if index and sum(self.free[index - 1]) == place:
            place, size = self.free[index - 1][0], self.free[index - 1][1] + size
            index -= 1
            self.free.pop(index)
        self.free.insert(index, (place, size))

    @property
    def unused(self) -> bool:
        """Is all of it free?"""
        return self.free == [(0, self.size)]

    def release(self) -> None:
        """Back to the driver."""
        if self.elsewhere is not None:
            self.elsewhere.release()
        self.pool.api.vkDestroyBuffer(self.pool.device, self.buffer, None)
        self.pool.api.vkFreeMemory(self.pool.device, self.memory, None)


def rounded(size: int) -> int:
    """Bytes that a part of `size` bytes takes of a block."""
    return max(-(-size // ALIGNMENT) * ALIGNMENT, ALIGNMENT)


class Allocation:
    """`size` bytes of a block: `address` on the device, `host` where the host sees it (0: nowhere). They are
    given back when the last reference goes."""

    __slots__ = ("__weakref__", "address", "block", "host", "offset", "pool", "shared", "size")

    def __init__(self, block: Block, offset: int, size: int) -> None:
        self.pool = block.pool
        self.block, self.offset, self.size = block, offset, size
        self.address = block.address + offset
        self.host = block.host + offset if block.host else 0
        #: through what another interface works on it, from the first time on, with settle(); None: none does
        self.shared: Any = None

    @property
    def buffer(self) -> int:
        """The buffer that it lies in, at `offset`."""
        return self.block.buffer

    def __del__(self) -> None:
        # this may run anywhere, within the pool's own methods too: the next allocation sorts it in
        self.pool.returned.append((self.block, self.offset, rounded(self.size), self.shared))


class Pool:
    """Blocks of one kind of memory. `prefer`: sets of VkMemoryPropertyFlags, the best first; memory that has
    all of `mapped` is mapped; what is `exportable` can have file descriptors."""

    def __init__(self, api: Functions, device: int, what: str, types: tuple[MemoryType, ...],
                 prefer: tuple[int, ...], mapped: int, largest: int, exportable: bool = False) -> None:
        self.api, self.device, self.what, self.mapped, self.largest = api, device, what, mapped, largest
        self.exportable = exportable
        self.types = [kind for flags in prefer for kind in types if kind.flags & flags == flags]
        if not self.types:
            raise DeviceError(f"the device has no {what} memory that kernels could use")
        self.blocks: list[Block] = []
        #: (block, place, bytes, who else worked on it) of parts that nobody uses any more
        self.returned: deque[tuple[Block, int, int, Any]] = deque()
        #: returns when the device has done all its work
        self.drain: Callable[[], Any] = lambda: None
        #: gives up parts that are only kept for later; called with this pool's lock held, before "no room"
        self.spare: Callable[[], Any] = lambda: None
        self._lock = threading.Lock()

    def choose_type(self, allowed: int) -> MemoryType:
        """The first kind of memory that a buffer may lie in."""
        for kind in self.types:
            if allowed >> kind.index & 1:
                return kind
        raise DeviceError(f"no {self.what} memory of the device takes storage buffers")

    def allocate(self, size: int) -> Allocation:
        """A part of `size` bytes; DeviceError where there is no room."""
        taken = rounded(size)
        if taken > self.largest:
            raise DeviceError(f"{size} bytes are more than one allocation may have on this device "
                              f"({self.largest}); use several arrays")
        with self._lock:
            self._sort_in()
            for block in self.blocks:
                place = block.take(taken)
                if place is not None:
                    return Allocation(block, place, size)
            block = self._new_block(taken)
            place = block.take(taken)
            assert place is not None
            return Allocation(block, place, size)

    def _new_block(self, size: int) -> Block:
        """A block with room for it: a new one of the usual size or, where the driver has no more, one that
        has room when nothing is kept for later, or a new one of just what is needed."""
        wanted = max(size, min(BLOCK_BYTES, self.types[0].heap_bytes // 16, self.largest))
        wanted = -(-wanted // ALIGNMENT) * ALIGNMENT
        for attempt in dict.fromkeys((wanted, size)):
            for emptied in (False, True):
                try:
                    if emptied:
                        self.spare()
                        self._sort_in()
                        for block in self.blocks:
                            if any(span >= size for _, span in block.free):
                                return block
                        self._trim(0)
                    block = Block(self, attempt)
                    self.blocks.append(block)
                    return block
                except VulkanError as error:
                    if error.code not in (OUT_OF_DEVICE_MEMORY, OUT_OF_HOST_MEMORY):
                        raise
        used = sum(block.size for block in self.blocks)
        raise DeviceError(f"no room for {size} more bytes of {self.what} memory ({used} are in use); drop "
                          "arrays that are no longer needed")

    def _sort_in(self) -> None:
        """What has been returned is free again; blocks of their own go back to the driver."""
        while self.returned:
            shared = self.returned[0][3]
            if shared is not None:
                shared.settle()  # the other interface's work does not know of this order
            block, place, size, _ = self.returned.popleft()
            block.give(place, size)
        self._trim(BLOCK_BYTES)

    def _trim(self, keep: int) -> None:
        """Empty blocks of more than `keep` bytes go back to the driver."""
        empty = [block for block in self.blocks if block.unused and block.size > keep]
        if empty:
            self.drain()
        for block in empty:
            self.blocks.remove(block)
            block.release()

    def trim(self) -> None:
        """All that is empty goes back to the driver."""
        with self._lock:
            self._sort_in()
            self._trim(0)


class Pools:
    """The kinds of memory of a device: `device` for arrays, `host` for what both sides reach.

    On devices whose own memory the host reads as fast as its own (software devices, integrated ones) arrays
    are mapped, and nothing needs to be copied twice."""

    def __init__(self, api: Functions, handle: int, device: Device) -> None:
        types, largest = device.memory_types, device.max_allocation
        biggest = max((kind.heap_bytes for kind in types if kind.flags & DEVICE_LOCAL), default=0)
        own = tuple(kind for kind in types if kind.flags & DEVICE_LOCAL and kind.heap_bytes == biggest)
        self.device = Pool(api, handle, "device", own, (DEVICE_LOCAL | MAPPED, DEVICE_LOCAL), MAPPED, largest,
                           device.reaches_cuda)
        self.host = Pool(api, handle, "host", types, (MAPPED, COHERENT), COHERENT, largest)

    def drain_with(self, drain: Callable[[], Any]) -> None:
        """How to wait for the device before memory goes back to the driver."""
        self.device.drain = self.host.drain = drain

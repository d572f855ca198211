"""Copies of host memory on devices that do not share it, for the time of one launch.

What a launch may reach of an allocation travels (reach.py), the whole where that is not known, for kernels
may follow any offset. Where what travels for several arguments overlaps, its union travels once, so views of
one memory stay views of one memory on the device. Addresses that are stored in memory (arrays of pointers)
keep naming host memory, so kernels that follow them are refused. Copies there are made in the order of the
queue, without waiting; the launch waits for its kernel, and for the last copy back.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from ..errors import DeviceError, LaunchError
from ..settings import flag
from . import opencl
from .copies import ALIGNMENT, copies_of
from .devices import Context, Device
from .extents import Span, merged

#: of a pointer, the memory that it points into (address, bytes) and an alignment: the part that is reached
Part = Callable[[int, tuple[int, int], int], tuple[int, int]]


def shares_memory(device: Device) -> bool:
    """Do launches on the device work on host memory in place? TRITON_SPIRV_SHARED_MEMORY=0 says no, to try
    the copies."""
    return device.shares_memory and flag("TRITON_SPIRV_SHARED_MEMORY", True)


class Staging:
    """Device copies of the host memory of one launch; a context manager that frees them. First `add` what
    every argument points into, then `copy_in`, ask for addresses, launch in the same queue, `copy_back`."""

    def __init__(self, context: Context, queue: int) -> None:
        if not context.device.svm:
            raise DeviceError(f"{context.device} neither shares host memory nor has virtual memory to share")
        self._context, self._queue = context, queue
        self._copies = copies_of(context)
        self._arguments: dict[int, tuple[int, int]] = {}  # index: the pointer, where its memory begins
        self._spans: set[Span] = set()
        self._regions: list[tuple[int, int, int]] = []  # begin, end, the device address of begin
        self.allocations: list[int] = []  # of the device

    def add(self, index: int, pointer: int, extent: tuple[int, int] | None, written: bool,
            part: Part | None = None) -> None:
        """An argument of the launch: an address in the memory (address, bytes), and which part of that may be
        reached. LaunchError where it is not known how much memory there is."""
        if extent is None:
            raise LaunchError(f"{pointer:#x} is a bare address. {self._context.device.name} does not share "
                              "the host's memory, and an address does not say how many bytes to copy; "
                              "pass the array or the tensor itself")
        start, size = extent
        if not start <= pointer <= start + size:
            raise LaunchError(f"its address, {pointer:#x}, is outside of its memory, {size} bytes at "
                              f"{start:#x}; pass a copy (x.clone())")
        if part is not None:
            start, size = part(pointer, extent, ALIGNMENT)
        self._arguments[index] = pointer, start
        if size:
            self._spans.add((start, start + size, written))

    @property
    def copies_nothing(self) -> bool:
        """Is all that the launch reaches on the device already?"""
        return not self._spans and not self.allocations

    def copy_in(self) -> dict[int, int]:
        """Give every span a place on the device, those that overlap one together, and copy, in the order of
        the queue. The device address of each argument; 0 of an empty one, where nothing may be read."""
        for begin, end, _ in merged(self._spans):
            place = self.room(end - begin + begin % ALIGNMENT) + begin % ALIGNMENT
            self._regions.append((begin, end, place))
            self._copy(place, begin, end - begin, waits=False)
        return {index: self._place(start) + pointer - start
                for index, (pointer, start) in self._arguments.items()}

    def _place(self, address: int) -> int:
        """On the device, of the first byte of a span."""
        for begin, end, place in self._regions:
            if begin <= address < end:
                return place + address - begin
        return 0

    def copy_back(self) -> None:
        """What the kernel may have written returns to host memory, each byte once; it is there then."""
        spans = merged([span for span in self._spans if span[2]])
        for left, (begin, end, _) in enumerate(spans, 1 - len(spans)):
            self._copy(begin, self._place(begin), end - begin, waits=not left)

    def room(self, size: int) -> int:
        """The address of memory on the device for this launch alone; nothing is copied there."""
        address = self._copies.take(size)
        self.allocations.append(address)
        return address

    def _copy(self, target: int, source: int, size: int, waits: bool) -> None:
        self._copies.copy(self._queue, target, source, size, waits)

    def forget(self) -> Callable[[], None]:
        """The copies are in use beyond the launch; what is given frees them."""
        copies, allocations = self._copies, self.allocations
        self.allocations = []

        def free() -> None:
            for address in allocations:
                copies.give(address)

        return free

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        if failure is not None and self.allocations:
            self._context.device.library.clFinish(self._queue)  # copies may be under way
        self.forget()()


def announce(context: Context, kernel: int, allocations: list[int]) -> None:
    """Tell the driver which allocations, one at least, a kernel reaches through addresses inside its
    arguments: at this launch and at every later one, until others are told."""
    pointers = (ctypes.c_void_p * len(allocations))(*allocations)
    context.device.library.call("clSetKernelExecInfo", kernel, opencl.KERNEL_EXEC_INFO_SVM_PTRS,
                                ctypes.sizeof(pointers), ctypes.addressof(pointers))


def announce_indirect(context: Context, kernel: int) -> None:
    """Tell the driver that a kernel follows addresses of the device's memory which it finds in memory."""
    answer = ctypes.c_uint32(1)
    context.device.library.call("clSetKernelExecInfo", kernel,
                                opencl.KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL, 4,
                                ctypes.addressof(answer))

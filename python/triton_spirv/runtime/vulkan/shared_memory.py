"""Memory and semaphores of Vulkan as file descriptors, which other interfaces to the same GPU can import.

A descriptor stands for the whole of an allocation (VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT). Whoever
imports one owns it from then on; one that nobody takes is closed here.
"""

from __future__ import annotations

import ctypes
import os
from bisect import bisect_right, insort
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .library import Functions
from .structures import make

#: VkBufferUsageFlagBits: copied from and to, storage, with an address
USAGE = 1 | 2 | 0x20 | 0x20000
OPAQUE_FD = 1  # VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, and the same of semaphores
DEDICATED, EXPORTABLE, IMPORTABLE = 1, 2, 4  # VkExternalMemoryFeatureFlagBits
TIMELINE = 1  # VK_SEMAPHORE_TYPE_TIMELINE


def can_share(instance: Functions, physical: int, offered: frozenset[str]) -> bool:
    """Can a device's buffers lie in memory that is exported, or imported, with room for others?"""
    if "VK_KHR_external_memory_fd" not in offered:
        return False
    info = make("PhysicalDeviceExternalBufferInfo", usage=USAGE, handleType=OPAQUE_FD)
    found = make("ExternalBufferProperties")
    instance.vkGetPhysicalDeviceExternalBufferProperties(physical, ctypes.byref(info), ctypes.byref(found))
    features = found.externalMemoryProperties[0]
    return features & (DEDICATED | EXPORTABLE | IMPORTABLE) == EXPORTABLE | IMPORTABLE


def memory_descriptor(api: Functions, device: int, memory: int) -> int:
    """A new file descriptor of exportable memory."""
    fd = ctypes.c_int(-1)
    info = make("MemoryGetFdInfoKHR", memory=memory, handleType=OPAQUE_FD)
    api.call("vkGetMemoryFdKHR", device, ctypes.byref(info), ctypes.byref(fd))
    return fd.value


def timeline(api: Functions, device: int) -> tuple[int, int]:
    """A new timeline semaphore at 0, and a file descriptor of it."""
    kind = make("SemaphoreTypeCreateInfo", semaphoreType=TIMELINE)
    shared = make("ExportSemaphoreCreateInfo", next=kind, handleTypes=OPAQUE_FD)
    semaphore = api.create("vkCreateSemaphore", device,
                           ctypes.byref(make("SemaphoreCreateInfo", next=shared)))
    fd = ctypes.c_int(-1)
    info = make("SemaphoreGetFdInfoKHR", semaphore=semaphore, handleType=OPAQUE_FD)
    api.call("vkGetSemaphoreFdKHR", device, ctypes.byref(info), ctypes.byref(fd))
    return semaphore, fd.value


@contextmanager
def handed(fd: int) -> Iterator[None]:
    """In the block, somebody imports what a file descriptor stands for, and owns it then; closed where that
    fails. No more than the import belongs there: a descriptor that is owned must not be closed."""
    try:
        yield
    except BaseException:
        os.close(fd)
        raise


class Intervals:
    """Disjoint ranges of addresses, and what lies there."""

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._found: dict[int, tuple[int, Any]] = {}  # begin: end, what

    def __len__(self) -> int:
        return len(self._begins)

    def add(self, begin: int, size: int, what: object) -> None:
        """`what` lies at these addresses; they are nobody else's."""
        insort(self._begins, begin)
        self._found[begin] = begin + size, what

    def remove(self, begin: int) -> None:
        """What began there is gone."""
        self._begins.remove(begin)
        del self._found[begin]

    def find(self, begin: int, end: int) -> tuple[int, Any] | None:
        """Where the range begins that has all of [begin, end), and what lies there; None if none has."""
        index = bisect_right(self._begins, begin) - 1
        if index < 0:
            return None
        start = self._begins[index]
        last, what = self._found[start]
        return (start, what) if end <= last else None

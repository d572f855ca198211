"""An opened Vulkan device: the logical device with the features that kernels use, its memory, its stream."""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
from functools import cached_property
from typing import TYPE_CHECKING

from ...errors import DeviceError, TritonSpirvError
from . import features
from .devices import EXTENSIONS, Device, feature_structures
from .library import Functions, VulkanError
from .memory import Pools
from .stream import Stream
from .structures import chained, make, strings
from .timing import Timestamps

if TYPE_CHECKING:
    from .bridge import Bridge


class Context:
    """What launches on a device need. One for a device and process, see `open_device`; never released."""

    def __init__(self, device: Device) -> None:
        self.device, self.instance = device, device.instance
        self.handle = _create(device)
        instance = self.instance.functions

        def address_of(name: str) -> int:
            return instance.vkGetDeviceProcAddr(self.handle, name.encode())

        self.api = Functions("device", address_of)
        queue = ctypes.c_void_p(0)
        self.api.vkGetDeviceQueue(self.handle, device.queue_family, 0, ctypes.byref(queue))
        self.queue = queue.value
        self.pools = Pools(self.api, self.handle, device)
        self.stream = Stream(self)
        self.pools.drain_with(self.stream.drain)
        self.timestamps = Timestamps(self)
        #: (pipeline, layout) that nobody uses any more
        self.discarded: list[tuple[int, int]] = []
        #: is there an array on the device? Before, an address that comes as a number is not of this device
        self.has_arrays = False
        self._opening = threading.Lock()

    @cached_property
    def cuda(self) -> Bridge | None:
        """The same GPU through CUDA; None where CUDA does not have it. Loads CUDA's driver."""
        with self._opening:  # from Python 3.12 on cached_property lets two threads make one each
            if "cuda" not in self.__dict__:
                self.__dict__["cuda"] = self._open_cuda()
            return self.__dict__["cuda"]

    def _open_cuda(self) -> Bridge | None:
        if not self.device.reaches_cuda:
            return None
        from .bridge import Bridge
        from .cuda import find_gpu

        gpu = find_gpu(self.device.uuid)
        return Bridge(self, gpu) if gpu is not None else None

    def __repr__(self) -> str:
        return f"<{self.device}>"


def _create(device: Device) -> int:
    """The logical device, with every feature of features.wanted() that the device has."""
    if device.missing:
        raise DeviceError(f"{device} lacks {', '.join(device.missing)}, without which kernels cannot run")
    structures = feature_structures(device.version, device.extensions)
    for structure in structures:
        for name, _ in structure._fields_:
            if name in device.features:
                setattr(structure, name, 1)
    needed = sorted(extension for _, extension, _ in features.FEATURES.values()
                    if extension in device.extensions
                    and device.version < features.REPLACED.get(str(extension), (99, 0)))
    needed += sorted(EXTENSIONS & device.extensions)
    queue = make("DeviceQueueCreateInfo", queueFamilyIndex=device.queue_family, queueCount=1,
                 pQueuePriorities=(ctypes.c_float * 1)(1.0))
    info = make("DeviceCreateInfo", next=chained(structures), queueCreateInfoCount=1, pQueueCreateInfos=queue,
                enabledExtensionCount=len(needed), ppEnabledExtensionNames=strings(needed))
    try:
        return device.instance.functions.create("vkCreateDevice", device.handle, ctypes.byref(info))
    except VulkanError as error:
        raise DeviceError(f"{device} cannot be opened: {error}") from error


_contexts: dict[int, Context] = {}
_lock = threading.Lock()
os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.Lock()))
_owner = os.getpid()


def open_device(device: Device) -> Context:
    """The context of the device, one for the process."""
    context = _contexts.get(device.handle)
    if context is not None:
        return context
    with _lock:
        if os.getpid() != _owner and device.index in _opened_before_fork:
            raise DeviceError(f"{device} was in use when this process was forked; Vulkan does not survive a "
                              "fork: start the process with the method 'spawn'")
        if device.handle not in _contexts:
            _contexts[device.handle] = Context(device)
        return _contexts[device.handle]


_opened_before_fork: set[int] = set()


def finish() -> None:
    """At the process's end: work that was recorded is done, what kernels printed is shown."""
    for context in list(_contexts.values()):
        try:
            context.stream.synchronize()
        except TritonSpirvError as error:
            print(f"triton-spirv: {error}", file=sys.stderr)


atexit.register(finish)


def _forget() -> None:
    """In a forked child: handles of the parent are of no use."""
    _opened_before_fork.update(context.device.index for context in _contexts.values())
    _contexts.clear()


os.register_at_fork(after_in_child=_forget)

"""The OpenCL devices there are, and which of them is meant.

`TRITON_SPIRV_DEVICE` picks: `cpu`, `gpu`, `gpu:1` (the second one), `gpu:1.0` (the first of its tiles), an
index of the list, or part of a name. Unset, it is the CPU driver that pip installed, or else the machine's
first CPU device, or else its first device.

A card of several tiles is what its driver makes of it: Intel's lists the tiles as devices, or the card as
one, by ZE_FLAT_DEVICE_HIERARCHY. Of a card that is one device, the tiles stand at the end of the list.
"""

from __future__ import annotations

import os
import re
import threading
from dataclasses import field, replace

from .. import forks
from ..dataclass import dataclass
from ..errors import DeviceError, LaunchError
from ..once import Once
from . import loader, opencl, running_kernels, trial
from .opencl import Library
from .pending import Pending
from .thread_queues import ThreadQueues

VARIABLE = "TRITON_SPIRV_DEVICE"
KINDS = ("cpu", "gpu", "accelerator")
INSTALL_HINT = "'pip install intel-opencl-rt intel-cmplr-lib-rt' brings a CPU device"


@dataclass(frozen=True)
class Device:
    """One OpenCL device. kind: "cpu", "gpu" or "accelerator"; sizes in bytes. identity: what tells it from
    another of the same name and driver; empty where the driver does not say. card: the device that this one
    is a tile of, if it is one; tile: which."""

    index: int
    name: str
    kind: str
    platform: str
    driver_version: str
    il_versions: str
    extensions: frozenset[str] = field(repr=False)
    compute_units: int
    work_group_size: int
    local_bytes: int
    svm: int
    library: Library = field(repr=False, compare=False)
    handle: int = field(repr=False, compare=False)
    identity: str = field(repr=False, default="")
    card: Device | None = field(repr=False, default=None)
    tile: int = 0

    @property
    def shares_memory(self) -> bool:
        """May kernels follow any host pointer?"""
        return bool(self.svm & opencl.SVM_FINE_GRAIN_SYSTEM)

    @property
    def runs_in_calling_thread(self) -> bool:
        """Does the driver offer queues that run kernels in the thread that enqueues them?"""
        return "cl_intel_exec_by_local_thread" in self.extensions

    def __str__(self) -> str:
        part = f", tile {self.tile} of device {self.card.index}" if self.card else ""
        return f"{self.index}: {self.name} ({self.kind}, {self.platform}, driver {self.driver_version}{part})"


def devices() -> list[Device]:
    """Every device of every driver, the pip-installed CPU driver's first; no duplicates."""
    return list(_all_devices())


@Once
def _all_devices() -> tuple[Device, ...]:
    found: list[Device] = list(_cpu_devices())
    library = loader.open_loader()
    if library is None:
        return tuple(found)
    for platform in library.platforms():
        earlier = tuple(found)  # a driver lists no device twice: tiles may differ in nothing that it says
        for device in _devices_of(library, platform, 0):
            if not any(_are_one(device, other) for other in earlier):
                found.append(replace(device, index=len(found)))
    for card in [device for device in found if device.kind == "gpu"]:
        found += _tiles_of(card, len(found))
    return tuple(found)


def _are_one(device: Device, other: Device) -> bool:
    """Is it one device, reached twice? The loader finds the CPU driver that was opened directly, and may find
    a driver by two of its files. Two cards of a kind differ in their identity; where drivers tell none, in
    their handles."""
    if (device.name, device.platform, device.driver_version, device.identity) != \
            (other.name, other.platform, other.driver_version, other.identity):
        return False
    return device.handle == other.handle or bool(device.identity) or device.library is not other.library


@Once
def _cpu_devices() -> tuple[Device, ...]:
    """Devices of the pip-installed CPU driver: found without asking any other driver."""
    library = loader.open_cpu()
    found: list[Device] = []
    if library is None:
        return ()
    for platform in library.platforms():
        found += _devices_of(library, platform, len(found))
    return tuple(found)


def _devices_of(library: Library, platform: int, first: int) -> list[Device]:
    name = library.text("clGetPlatformInfo", platform, opencl.PLATFORM_NAME)
    return [_describe(library, name, handle, index)
            for index, handle in enumerate(library.devices(platform), first)]


def _tiles_of(card: Device, first: int) -> list[Device]:
    """The tiles of a card that is one device; each has a context, memory and queues of its own."""
    tiles = [_describe(card.library, card.platform, handle, index)
             for index, handle in enumerate(card.library.parts(card.handle), first)]
    return [replace(tile, card=card, tile=number) for number, tile in enumerate(tiles)]


def _describe(library: Library, platform: str, handle: int, index: int) -> Device:
    def text(what: int) -> str:
        return library.text("clGetDeviceInfo", handle, what)

    def number(what: int, default: int | None = None) -> int:
        try:
            return library.number("clGetDeviceInfo", handle, what)
        except opencl.OpenCLError:
            if default is None:
                raise
            return default  # a query that OpenCL 1.2 does not have

    bits = number(opencl.DEVICE_TYPE)
    known = {opencl.DEVICE_TYPE_CPU: "cpu", opencl.DEVICE_TYPE_GPU: "gpu"}
    kind = next((name for bit, name in known.items() if bits & bit), "accelerator")
    try:
        il_versions = text(opencl.DEVICE_IL_VERSION)
    except opencl.OpenCLError:
        il_versions = ""
    return Device(index, text(opencl.DEVICE_NAME), kind, platform, text(opencl.DRIVER_VERSION), il_versions,
                  frozenset(text(opencl.DEVICE_EXTENSIONS).split()), number(opencl.DEVICE_MAX_COMPUTE_UNITS),
                  number(opencl.DEVICE_MAX_WORK_GROUP_SIZE), number(opencl.DEVICE_LOCAL_MEM_SIZE),
                  number(opencl.DEVICE_SVM_CAPABILITIES, 0), library, handle, _identity(library, handle))


def _identity(library: Library, handle: int) -> str:
    """The device's UUID, or where its driver knows none, its place on the PCI bus."""
    for what in (opencl.DEVICE_UUID, opencl.DEVICE_PCI_BUS_INFO):
        try:
            return library.info("clGetDeviceInfo", handle, what).hex()
        except opencl.OpenCLError:
            pass
    return ""


def sub_group_sizes(device: Device) -> tuple[int, ...]:
    """The sub-group sizes that the driver offers; none where it does not say."""
    if "cl_intel_required_subgroup_size" not in device.extensions:
        return ()
    return device.library.sizes("clGetDeviceInfo", device.handle, opencl.DEVICE_SUB_GROUP_SIZES_INTEL)


def revision(device: Device) -> str:
    """The IP version as "12.60.7", else the device's id as "0x56a0"; empty where the driver tells neither."""
    def ask(what: int) -> int:
        try:
            return device.library.number("clGetDeviceInfo", device.handle, what)
        except opencl.OpenCLError:
            return 0

    version = ask(opencl.DEVICE_IP_VERSION_INTEL)
    if version:  # 10 bits of architecture, 8 of release, 8 unused, 6 of revision
        return f"{version >> 22}.{version >> 14 & 0xFF}.{version & 0x3F}"
    number = ask(opencl.DEVICE_ID_INTEL)
    return f"{number:#06x}" if number else ""


#: the OpenCL of Mesa, whose compiler ends the process where it meets an extension of SPIR-V that it does not
#: know, as those of Intel's. Kernels for its CPU device have none (target/known.py).
RUSTICL = "rusticl"


def refused(device: Device) -> str:
    """Why kernels cannot run on a device at all; empty where nothing is known against it."""
    if device.platform.lower() == RUSTICL and device.kind != "cpu":
        return (f"{device.name}: the compiler of {device.platform} (seen with Mesa 25.0) ends the process "
                "for kernels with Intel's extensions of SPIR-V, as those for GPUs have; "
                "TRITON_SPIRV_DEVICE=vulkan reaches the same hardware")
    if "SPIR-V" not in device.il_versions:
        return (f"{device.name}: its driver, {device.platform} {device.driver_version}, takes no SPIR-V "
                f"(PoCL does from version 5 on); {INSTALL_HINT}")
    return ""


def size_flags(device: Device, size: int) -> int:
    """What an allocation of so many bytes has to say beyond the ordinary: Intel's driver has a limit, 4 GB,
    for kernels that do not expect more. DeviceError where another device's limit is exceeded."""
    most = device.library.number("clGetDeviceInfo", device.handle, opencl.DEVICE_MAX_MEM_ALLOC_SIZE)
    if size <= most:
        return 0
    if not has_large_allocations(device):
        raise DeviceError(f"{size} bytes are more than an allocation of {device.name} can have, {most}")
    return opencl.MEM_ALLOW_UNRESTRICTED_SIZE_INTEL


def has_large_allocations(device: Device) -> bool:
    """May an allocation have more than the limit, where it and the kernel say so? Of Intel's GPUs only."""
    return device.kind == "gpu" and "cl_intel_unified_shared_memory" in device.extensions


def native_name(device: Device) -> str:
    """What ocloc calls the device, which is its revision; DeviceError where the driver tells none."""
    found = revision(device)
    if not found:
        raise DeviceError(f"the driver of {device.name} does not say which device that is for ocloc; "
                          "name it by the option native_device, e.g. native_device='pvc'")
    return found


def name_of(device: Device) -> str:
    """What TRITON_SPIRV_DEVICE calls it among those of its kind: "cpu" and "gpu" for the first ones, "gpu:1"
    for the second, "gpu:1.0" for the second's first tile."""
    number = _of_kind(device.kind).index(device.card or device)
    if device.card:
        return f"{device.kind}:{number}.{device.tile}"
    return f"{device.kind}:{number}" if number else device.kind


def _of_kind(kind: str) -> list[Device]:
    return [device for device in _all_devices() if device.kind == kind and not device.card]


def selection() -> str:
    """What TRITON_SPIRV_DEVICE asks for; empty: the default."""
    return os.environ.get(VARIABLE, "").strip()


def is_pip_cpu(choice: str) -> bool:
    """Does the choice mean the pip-installed CPU driver? Known without loading any driver."""
    return choice.lower() in ("", "cpu") and loader.cpu_library() is not None


_NUMBERED = re.compile(rf"({'|'.join(KINDS)})(?::(\d+)(?:\.(\d+))?)?")


def choose(choice: str) -> Device:
    """The device that `choice` means; DeviceError lists what there is."""
    wanted = choice.lower()
    if is_pip_cpu(choice):
        found = [device for device in _cpu_devices() if device.kind == "cpu"]
        if found:
            return found[0]
    everything = _all_devices()
    if not wanted:
        found = [device for device in everything if device.kind == "cpu"] or list(everything)
    elif parts := _NUMBERED.fullmatch(wanted):
        found = _of_kind(parts[1])[int(parts[2] or 0):][:1]
        if parts[3]:
            found = [device for device in everything if device.card in found and device.tile == int(parts[3])]
    elif wanted.isdecimal():
        found = [device for device in everything if device.index == int(wanted)]
    else:
        found = [device for device in everything if wanted in f"{device.platform} {device.name}".lower()]
    if not found:
        raise DeviceError(_nothing_found(choice, everything))
    return found[0]


def _nothing_found(choice: str, everything: tuple[Device, ...]) -> str:
    if not everything:
        asked = f" (TRITON_SPIRV_DEVICE={choice!r})" if choice else ""
        return f"there is no OpenCL device{asked}; {INSTALL_HINT}{_masked()}"
    lines = "".join(f"\n  {device}" for device in everything)
    hint = "" if any(device.kind == "cpu" for device in everything) else f"\n{INSTALL_HINT}"
    return (f"TRITON_SPIRV_DEVICE={choice!r} names no device; "
            f"say cpu, gpu, gpu:1, an index or part of a name of one of these:{lines}{hint}{_masked()}")


def _masked() -> str:
    """What may hide devices that the machine has."""
    mask = os.environ.get("ZE_AFFINITY_MASK", "")
    if mask in ("", "default"):
        return ""
    hierarchy = os.environ.get("ZE_FLAT_DEVICE_HIERARCHY", "not set")
    return (f"\nZE_AFFINITY_MASK={mask} hides other devices of Intel's driver. With COMPOSITE for "
            f"ZE_FLAT_DEVICE_HIERARCHY (it is {hierarchy}) its numbers are cards, and 1.0 is a tile; else "
            "they are tiles, and 1.0 is not understood")


@dataclass
class Context:
    """An opened device: its OpenCL context, and queues, one set for each thread."""

    device: Device
    handle: int

    def __post_init__(self) -> None:
        self.pending = Pending(self.device.library, self.device.name)
        self._queues = ThreadQueues(self.device.library, self.handle, self.device.handle)

    @property
    def queue(self) -> int:
        """This thread's in-order queue; the one of the calling thread in a process where nothing else is of
        use: the driver has lost its threads. LaunchError where the device has no such queue."""
        return self._driver_queue("ordinary", 0)

    @property
    def local_queue(self) -> int:
        """This thread's queue that runs kernels in the calling thread; 0 where the driver has none."""
        if not self.device.runs_in_calling_thread:
            return 0
        return self._queues.handle("local", opencl.QUEUE_THREAD_LOCAL_EXEC_ENABLE_INTEL)

    def team_queues(self, count: int) -> list[int]:
        """Queues for a team of threads that this thread leads: each runs kernels in the thread that calls."""
        return [self._queues.handle(f"team_{member}", opencl.QUEUE_THREAD_LOCAL_EXEC_ENABLE_INTEL)
                for member in range(count)]

    @property
    def profiling_queue(self) -> int:
        """This thread's queue that keeps the times of events; LaunchError as for `queue`."""
        return self._driver_queue("profiling", opencl.QUEUE_PROFILING_ENABLE)

    def _driver_queue(self, name: str, properties: int) -> int:
        """A queue that the driver's threads work for, where there are any."""
        if not running_kernels.lost_driver_threads:
            running_kernels.driver_has_threads = True
            return self._queues.handle(name, properties)
        if not self.device.runs_in_calling_thread:
            raise LaunchError(f"{self.device.name}: {running_kernels.FORKED}")
        return self._queues.handle(f"local_{name}" if properties else "local",
                                   properties | opencl.QUEUE_THREAD_LOCAL_EXEC_ENABLE_INTEL)

    def leave(self, kernel: str) -> None:
        """This thread has put a kernel into its queue, and does not wait for it."""
        self.device.library.call("clFlush", self.queue)
        queue = self._queues.known("ordinary")
        assert queue is not None
        self.pending.add(queue, kernel)

    def settle(self, others_only: bool = False) -> None:
        """Wait for what nobody has waited for, of this thread too or of others only. LaunchError where it
        failed."""
        self.pending.wait(self._queues.known("ordinary") if others_only else None)

    def forget_queues(self) -> object:
        """This thread gets new queues; what is given keeps the old ones. The one that runs kernels in the
        calling thread stays: nothing is ever left in it, and who launches there has its handle."""
        return self._queues.forget()


def _forget_pending() -> None:
    for context in _contexts.values():
        context.pending.forget()


os.register_at_fork(after_in_child=_forget_pending)


def settle() -> None:
    """All work of all devices is done. LaunchError where some of it failed."""
    for context in list(_contexts.values()):
        context.settle()


_contexts: dict[int, Context] = {}
_lock = threading.RLock()
# a fork waits for what other threads have begun: the driver's own locks would stay locked in the child
forks.register(before=lambda: _lock.acquire(), after_in_parent=lambda: _lock.release(),
               after_in_child=lambda: globals().update(_lock=threading.RLock()))


def open_device(device: Device) -> Context:
    """The context of the device, one for the process; it is never released."""
    context = _contexts.get(device.handle)
    if context is not None:
        return context
    refusal = refused(device)
    if refusal:
        raise DeviceError(refusal)
    trial.require_sound(device)
    with _lock:
        if device.handle not in _contexts:
            running_kernels.driver_is_open = True
            _contexts[device.handle] = Context(device, device.library.create_context(device.handle))
        return _contexts[device.handle]

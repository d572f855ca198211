"""The Vulkan devices there are, what each reports, and which of them is meant.

`TRITON_SPIRV_DEVICE` picks: `vulkan` (the first that is no software device, or else the first), `vulkan:1`
(an index of the list), `vulkan:name` (part of a name, whatever the case). The loader finds the drivers; its
own VK_DRIVER_FILES names others.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from ...dataclass import dataclass
from ...errors import DeviceError
from ...once import Once
from . import PREFIX, features
from .instance import Instance, open_instance
from .library import INSTALL_HINT, Functions, open_loader
from .shared_memory import can_share
from .structures import STRUCTURES, chained, make

#: VkPhysicalDeviceType
KINDS = {0: "other", 1: "integrated", 2: "gpu", 3: "virtual", 4: "cpu"}
#: VkMemoryPropertyFlagBits
DEVICE_LOCAL, HOST_VISIBLE, HOST_COHERENT, HOST_CACHED = 1, 2, 4, 8
#: VK_QUEUE_GRAPHICS_BIT, VK_QUEUE_COMPUTE_BIT, VK_SHADER_STAGE_COMPUTE_BIT
GRAPHICS_QUEUE, COMPUTE_QUEUE, COMPUTE_STAGE = 1, 2, 0x20
#: vendorID of the devices that CUDA knows, too
NVIDIA = 0x10DE


@dataclass(frozen=True)
class Matrix:
    """A product that the matrix units compute: m x k elements of `a` times k x n of `b`, added to `c`.
    scope: "subgroup" or "workgroup"; types as Triton spells them."""

    m: int
    n: int
    k: int
    a: str
    b: str
    c: str
    result: str
    scope: str
    saturating: bool


@dataclass(frozen=True)
class MemoryType:
    """A kind of memory: its place in the list, VkMemoryPropertyFlags, the bytes of its heap."""

    index: int
    flags: int
    heap_bytes: int


@dataclass(frozen=True)
class Device:
    """One Vulkan device; sizes in bytes. `features` and `extensions` are those that it has and this package
    uses; `float_controls` such as ("DenormPreserve", 32); `uuid` is the GPU's in every interface,
    `shares_memory` whether file descriptors may stand for its memory."""

    index: int
    name: str
    kind: str
    vendor: int
    driver: str
    driver_version: str
    version: tuple[int, int]
    features: frozenset[str] = field(repr=False)
    extensions: frozenset[str] = field(repr=False)
    subgroup_size: int
    subgroup_sizes: tuple[int, ...]
    subgroup_operations: int
    float_controls: frozenset[tuple[str, int]] = field(repr=False)
    matrices: tuple[Matrix, ...] = field(repr=False)
    shared_bytes: int
    push_bytes: int
    max_invocations: int
    max_groups: tuple[int, int, int]
    max_allocation: int
    compute_units: int
    timestamp_period: float
    timestamp_bits: int
    memory_types: tuple[MemoryType, ...] = field(repr=False)
    queue_family: int
    cache_identity: str
    uuid: bytes = field(repr=False)
    shares_memory: bool
    handle: int = field(repr=False, compare=False)
    instance: Instance = field(repr=False, compare=False)

    @property
    def choice(self) -> str:
        """What names it: `vulkan:0`."""
        return f"{PREFIX}:{self.index}"

    @property
    def platform(self) -> str:
        """The interface and its version."""
        return f"Vulkan {self.version[0]}.{self.version[1]}"

    @property
    def mesa(self) -> tuple[int, ...] | None:
        """The version of Mesa that its driver is of; None: of other makers."""
        found = re.match(r"Mesa (\d+)\.(\d+)\.(\d+)", self.driver_version)
        return tuple(map(int, found.groups())) if found else None

    @property
    def reaches_cuda(self) -> bool:
        """May its memory and order of work be shared with CUDA, where that is installed?"""
        return self.vendor == NVIDIA and self.shares_memory and EXTENSIONS <= self.extensions

    @property
    def missing(self) -> tuple[str, ...]:
        """Features without which no kernel runs on it."""
        return tuple(name for name in features.REQUIRED if name not in self.features)

    @functools.cached_property
    def capabilities(self) -> frozenset[str]:
        """The SPIR-V capabilities that modules for it may use."""
        found = {name for name, needs in features.CAPABILITIES.items() if self.features.issuperset(needs)}
        operations = features.SUBGROUP_OPERATIONS.items()
        found |= {name for bit, name in operations if self.subgroup_operations & bit}
        return frozenset(found | {control for control, _ in self.float_controls})

    @property
    def reconvergence(self) -> str:
        """`Target.reconvergence`; "" where it has none."""
        modes = features.RECONVERGENCE.items()
        return next((mode for feature, mode in modes if feature in self.features), "")

    @functools.cached_property
    def fingerprint(self) -> str:
        """A short name of everything that compiled code depends on."""
        facts = (self.name, self.driver, self.driver_version, self.version, sorted(self.capabilities),
                 self.subgroup_sizes, self.subgroup_size, sorted(self.float_controls), self.matrices,
                 self.shared_bytes, self.push_bytes, self.max_invocations, self.reconvergence)
        return hashlib.sha256(repr(facts).encode()).hexdigest()[:12]

    @property
    def target_name(self) -> str:
        """The name of its target: readable, and different where code would be."""
        readable = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")
        return f"{PREFIX}-{readable[:40]}-{self.fingerprint}"

    def __str__(self) -> str:
        driver = f"{self.driver} {self.driver_version}"
        return f"{self.choice}: {self.name} ({self.kind}, {driver}, {self.platform})"


@Once
def devices() -> tuple[Device, ...]:
    """Every Vulkan device, in the loader's order; none where there is no loader or no driver."""
    instance = open_instance()
    if instance is None:
        return ()
    return tuple(_describe(instance, handle, index)
                 for index, handle in enumerate(instance.physical_devices()))


def _describe(instance: Instance, handle: int, index: int) -> Device:
    api = instance.functions
    plain = make("PhysicalDeviceProperties")
    api.vkGetPhysicalDeviceProperties(handle, ctypes.byref(plain))
    version = (plain.apiVersion >> 22 & 0x7F, plain.apiVersion >> 12 & 0x3FF)
    offered = frozenset(entry.extensionName.decode() for entry in api.listed(
        "vkEnumerateDeviceExtensionProperties", "ExtensionProperties", handle, None))
    first, eleven = make("PhysicalDeviceProperties2"), make("PhysicalDeviceVulkan11Properties")
    twelve = make("PhysicalDeviceVulkan12Properties")
    sizes = make("PhysicalDeviceSubgroupSizeControlProperties")
    units_nv = make("PhysicalDeviceShaderSMBuiltinsPropertiesNV")
    units_amd = make("PhysicalDeviceShaderCorePropertiesAMD")
    links = [first, *([eleven, twelve] if version >= (1, 2) else [])]
    links += [sizes] if version >= (1, 3) or "VK_EXT_subgroup_size_control" in offered else []
    links += [units_nv] if "VK_NV_shader_sm_builtins" in offered else []
    links += [units_amd] if "VK_AMD_shader_core_properties" in offered else []
    api.vkGetPhysicalDeviceProperties2(handle, ctypes.byref(chained(links)))
    limits = first.properties.limits
    present = _features(api, handle, version, offered)
    family, timestamp_bits = _queue_family(api, handle)
    controllable = "subgroupSizeControl" in present and sizes.requiredSubgroupSizeStages & COMPUTE_STAGE
    lowest, highest = sizes.minSubgroupSize, sizes.maxSubgroupSize
    return Device(
        index=index, name=plain.deviceName.decode(errors="replace"),
        kind=KINDS.get(plain.deviceType, "other"),
        vendor=plain.vendorID, driver=twelve.driverName.decode(errors="replace") or "unknown driver",
        driver_version=twelve.driverInfo.decode(errors="replace") or f"{plain.driverVersion:#x}",
        version=version, features=present,
        extensions=offered & (EXTENSIONS | {str(row[1]) for row in features.FEATURES.values()}),
        subgroup_size=eleven.subgroupSize or 1,
        subgroup_sizes=tuple(size for size in (1, 2, 4, 8, 16, 32, 64, 128) if lowest <= size <= highest)
        if controllable else (eleven.subgroupSize or 1,),
        subgroup_operations=eleven.subgroupSupportedOperations
        if eleven.subgroupSupportedStages & COMPUTE_STAGE else 0,
        float_controls=_float_controls(twelve),
        matrices=_matrices(api, handle) if "cooperativeMatrix" in present else (),
        shared_bytes=limits.maxComputeSharedMemorySize, push_bytes=limits.maxPushConstantsSize,
        max_invocations=min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]),
        max_groups=tuple(limits.maxComputeWorkGroupCount),
        max_allocation=eleven.maxMemoryAllocationSize or 1 << 30,
        compute_units=units_nv.shaderSMCount or units_amd.shaderEngineCount
        * units_amd.shaderArraysPerEngineCount * units_amd.computeUnitsPerShaderArray,
        timestamp_period=limits.timestampPeriod, timestamp_bits=timestamp_bits,
        memory_types=_memory_types(api, handle), queue_family=family,
        cache_identity=bytes(plain.pipelineCacheUUID).hex() + f"-{plain.vendorID:x}-{plain.deviceID:x}"
        f"-{plain.driverVersion:x}",
        uuid=bytes(eleven.deviceUUID), shares_memory=can_share(api, handle, offered),
        handle=handle, instance=instance)


def _float_controls(properties: Any) -> frozenset[tuple[str, int]]:
    """The execution modes that kernels want and may have together."""
    found: set[tuple[str, int]] = set()
    for control, (prefix, independence) in features.FLOAT_CONTROLS.items():
        widths = {bits for bits in (16, 32, 64) if getattr(properties, f"{prefix}{bits}")}
        freedom = getattr(properties, independence) if independence else features.ALL
        if freedom == features.NONE and len(widths) < 3:
            widths = set()
        if freedom == features.ONLY_32 and not {16, 64} <= widths:
            widths &= {32}
        found |= {(control, bits) for bits in widths}
    return frozenset(found)


#: extensions of the host's side that are switched on where a device has them
EXTENSIONS = frozenset({"VK_KHR_external_memory_fd", "VK_KHR_external_semaphore_fd"})


def feature_structures(version: tuple[int, int], offered: frozenset[str]) -> list[Any]:
    """The structures of features.FEATURES that a device of this version with these extensions knows."""
    known = []
    for name, (_, extension, _) in features.FEATURES.items():
        if extension is None:
            usable = version >= features.CORE.get(name, (1, 0))
        else:
            usable = extension in offered and version < features.REPLACED.get(extension, (99, 0))
        if usable:
            known.append(make(name))
    return known


def _features(api: Functions, handle: int, version: tuple[int, int],
              offered: frozenset[str]) -> frozenset[str]:
    structures = feature_structures(version, offered)
    api.vkGetPhysicalDeviceFeatures2(handle, ctypes.byref(chained(structures)))
    wanted = features.wanted()
    return frozenset(name for structure in structures for name, _ in structure._fields_
                     if name in wanted and getattr(structure, name))


def _queue_family(api: Functions, handle: int) -> tuple[int, int]:
    """The queue family that kernels go to, and how many bits its timestamps have."""
    count = ctypes.c_uint32(0)
    api.vkGetPhysicalDeviceQueueFamilyProperties(handle, ctypes.byref(count), None)
    families = (STRUCTURES["QueueFamilyProperties"] * count.value)()
    api.vkGetPhysicalDeviceQueueFamilyProperties(handle, ctypes.byref(count), families)
    return pick_family([(entry.queueFlags, entry.timestampValidBits) for entry in families])


def pick_family(families: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Of (VkQueueFlags, bits of timestamps) the first that computes, draws nothing and has timestamps, or
    else the first that computes: its index and its bits; (-1, 0) where none computes.

    On an H100 what is submitted to a queue without graphics is seen to be done after 9.8 microseconds instead
    of 14.0 (an empty kernel, from the submission on)."""
    computing = [index for index, (flags, _) in enumerate(families) if flags & COMPUTE_QUEUE]
    alone = [index for index in computing if families[index][1] and not families[index][0] & GRAPHICS_QUEUE]
    if not computing:
        return -1, 0
    chosen = (alone or computing)[0]
    return chosen, families[chosen][1]


def _memory_types(api: Functions, handle: int) -> tuple[MemoryType, ...]:
    memory = make("PhysicalDeviceMemoryProperties")
    api.vkGetPhysicalDeviceMemoryProperties(handle, ctypes.byref(memory))
    return tuple(MemoryType(index, entry.propertyFlags, memory.memoryHeaps[entry.heapIndex].size)
                 for index, entry in enumerate(memory.memoryTypes[:memory.memoryTypeCount]))


def _matrices(api: Functions, handle: int) -> tuple[Matrix, ...]:
    rows = api.listed("vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR", "CooperativeMatrixPropertiesKHR",
                      handle)
    scopes = {2: "workgroup", 3: "subgroup"}
    names = features.COMPONENTS
    return tuple(
        Matrix(row.MSize, row.NSize, row.KSize, names.get(row.AType, "?"), names.get(row.BType, "?"),
               names.get(row.CType, "?"), names.get(row.ResultType, "?"), scopes.get(row.scope, "?"),
               bool(row.saturatingAccumulation))
        for row in rows)


# ---- which one is meant


def choose(choice: str) -> Device:
    """The device that `vulkan`, `vulkan:1` or `vulkan:name` means; DeviceError lists what there is."""
    everything = devices()
    wanted = choice.partition(":")[2].strip().lower()
    usable = [device for device in everything if not device.missing]
    if not wanted:
        found = sorted(usable, key=lambda device: device.kind == "cpu")[:1]
    elif wanted.isdecimal():
        found = [device for device in everything if device.index == int(wanted)]
    else:
        found = [device for device in everything if wanted in device.name.lower()]
    if found and found[0].missing:
        raise DeviceError(f"{found[0]} lacks {', '.join(found[0].missing)}, without which kernels cannot run")
    if not found:
        raise DeviceError(_nothing_found(choice, everything))
    return found[0]


def _nothing_found(choice: str, everything: tuple[Device, ...]) -> str:
    if not everything:
        files = open_loader() and (os.environ.get("VK_DRIVER_FILES") or os.environ.get("VK_ICD_FILENAMES"))
        where = f"the drivers of VK_DRIVER_FILES={files} show none" if files else INSTALL_HINT
        return f"there is no Vulkan device (TRITON_SPIRV_DEVICE={choice!r}); {where}"
    lines = "".join(f"\n  {device}" + f", lacks {', '.join(device.missing)}" * bool(device.missing)
                    for device in everything)
    return (f"TRITON_SPIRV_DEVICE={choice!r} names no Vulkan device; say vulkan, vulkan:<index> or "
            f"vulkan:<part of a name> of one of these:{lines}")

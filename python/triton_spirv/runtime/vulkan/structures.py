"""The structures of Vulkan that this runtime passes and reads, as a table.

A line is `name: (structure type, fields)`; a field list is groups of a code and names: "u width height, q
size". Codes: u and i are 32-bit integers (booleans, flags and enumerations too), q 64-bit, z a size, f a
float, b bytes, c characters, s a C string, p a pointer or a handle, or the name of another structure; a
number behind the code makes an array. A group without names is padding: members that nobody here reads.
Structures with a type begin with it and with the pointer to the next one of a chain.
"""

from __future__ import annotations

import ctypes
import itertools
import re
from typing import Any

_CODES: dict[str, Any] = {
    "u": ctypes.c_uint32, "i": ctypes.c_int32, "q": ctypes.c_uint64, "z": ctypes.c_size_t,
    "f": ctypes.c_float, "b": ctypes.c_uint8, "c": ctypes.c_char, "s": ctypes.c_char_p, "p": ctypes.c_void_p,
}

TABLE: dict[str, tuple[int | None, str]] = {
    # ---- instance and device
    "ApplicationInfo": (0, "s pApplicationName, u applicationVersion, s pEngineName, "
                           "u engineVersion apiVersion"),
    "InstanceCreateInfo": (1, "u flags, p pApplicationInfo, u enabledLayerCount, p ppEnabledLayerNames, "
                              "u enabledExtensionCount, p ppEnabledExtensionNames"),
    "DebugUtilsMessengerCreateInfoEXT": (1000128004, "u flags messageSeverity messageType, "
                                                     "p pfnUserCallback pUserData"),
    "DebugUtilsMessengerCallbackDataEXT": (1000128003, "u flags, s pMessageIdName, i messageIdNumber, "
                                                       "s pMessage, u queueLabelCount, p pQueueLabels, "
                                                       "u cmdBufLabelCount, p pCmdBufLabels, u objectCount, "
                                                       "p pObjects"),
    "ExtensionProperties": (None, "c256 extensionName, u specVersion"),
    "LayerProperties": (None, "c256 layerName, u specVersion implementationVersion, c256 description"),
    "DeviceQueueCreateInfo": (2, "u flags queueFamilyIndex queueCount, p pQueuePriorities"),
    "DeviceCreateInfo": (3, "u flags queueCreateInfoCount, p pQueueCreateInfos, u enabledLayerCount, "
                            "p ppEnabledLayerNames, u enabledExtensionCount, p ppEnabledExtensionNames "
                            "pEnabledFeatures"),
    "QueueFamilyProperties": (None, "u queueFlags queueCount timestampValidBits, u3"),
    # ---- what a device reports
    "PhysicalDeviceLimits": (None, "u8, u maxPushConstantsSize maxMemoryAllocationCount, u, q2, u38, "
                                   "u maxComputeSharedMemorySize, u3 maxComputeWorkGroupCount, "
                                   "u maxComputeWorkGroupInvocations, u3 maxComputeWorkGroupSize, u5, f2, u, "
                                   "u2, f2, u, z minMemoryMapAlignment, q3, u4, f2, u15, "
                                   "u timestampComputeAndGraphics, f timestampPeriod, u4, f6, u2, q2, "
                                   "q nonCoherentAtomSize"),
    "PhysicalDeviceProperties": (None, "u apiVersion driverVersion vendorID deviceID, i deviceType, "
                                       "c256 deviceName, b16 pipelineCacheUUID, PhysicalDeviceLimits limits, "
                                       "u5"),
    "PhysicalDeviceProperties2": (1000059001, "PhysicalDeviceProperties properties"),
    "PhysicalDeviceVulkan11Properties": (50, "b16 deviceUUID driverUUID, b8 deviceLUID, u deviceNodeMask "
                                             "deviceLUIDValid subgroupSize subgroupSupportedStages "
                                             "subgroupSupportedOperations, u6, q maxMemoryAllocationSize"),
    "PhysicalDeviceVulkan12Properties": (52, "i driverID, c256 driverName driverInfo, b4, "
                                             "i denormBehaviorIndependence roundingModeIndependence, "
                                             "u shaderSignedZeroInfNanPreserveFloat16 "
                                             "shaderSignedZeroInfNanPreserveFloat32 "
                                             "shaderSignedZeroInfNanPreserveFloat64 "
                                             "shaderDenormPreserveFloat16 shaderDenormPreserveFloat32 "
                                             "shaderDenormPreserveFloat64 shaderDenormFlushToZeroFloat16 "
                                             "shaderDenormFlushToZeroFloat32 shaderDenormFlushToZeroFloat64 "
                                             "shaderRoundingModeRTEFloat16 shaderRoundingModeRTEFloat32 "
                                             "shaderRoundingModeRTEFloat64 shaderRoundingModeRTZFloat16 "
                                             "shaderRoundingModeRTZFloat32 shaderRoundingModeRTZFloat64, "
                                             "u29, q, u"),
    "PhysicalDeviceSubgroupSizeControlProperties": (1000225000, "u minSubgroupSize maxSubgroupSize "
                                                                "maxComputeWorkgroupSubgroups "
                                                                "requiredSubgroupSizeStages"),
    "PhysicalDeviceShaderCorePropertiesAMD": (1000185000, "u shaderEngineCount shaderArraysPerEngineCount "
                                                          "computeUnitsPerShaderArray, u11"),
    "PhysicalDeviceShaderSMBuiltinsPropertiesNV": (1000154001, "u shaderSMCount shaderWarpsPerSM"),
    "PipelineInfoKHR": (1000269001, "p pipeline"),
    "PipelineExecutablePropertiesKHR": (1000269002, "u stages, c256 name description, u subgroupSize"),
    "PipelineExecutableInfoKHR": (1000269003, "p pipeline, u executableIndex"),
    "PipelineExecutableStatisticKHR": (1000269004, "c256 name description, i format, q value"),
    "CooperativeMatrixPropertiesKHR": (1000506001, "u MSize NSize KSize, i AType BType CType ResultType, "
                                                   "u saturatingAccumulation, i scope"),
    "MemoryType": (None, "u propertyFlags heapIndex"),
    "MemoryHeap": (None, "q size, u flags"),
    "PhysicalDeviceMemoryProperties": (None, "u memoryTypeCount, MemoryType32 memoryTypes, "
                                             "u memoryHeapCount, MemoryHeap16 memoryHeaps"),
    # ---- memory
    "BufferCreateInfo": (12, "u flags, q size, u usage, i sharingMode, u queueFamilyIndexCount, "
                             "p pQueueFamilyIndices"),
    "MemoryRequirements": (None, "q size alignment, u memoryTypeBits"),
    "MemoryAllocateInfo": (5, "q allocationSize, u memoryTypeIndex"),
    "MemoryAllocateFlagsInfo": (1000060000, "u flags deviceMask"),
    "BufferDeviceAddressInfo": (1000244001, "p buffer"),
    "ExportMemoryAllocateInfo": (1000072002, "u handleTypes"),
    "ExternalMemoryBufferCreateInfo": (1000072000, "u handleTypes"),
    "MemoryGetFdInfoKHR": (1000074002, "p memory, i handleType"),
    "ImportMemoryFdInfoKHR": (1000074000, "i handleType fd"),
    "PhysicalDeviceExternalBufferInfo": (1000071002, "u flags usage, i handleType"),
    "ExternalBufferProperties": (1000071003, "u3 externalMemoryProperties"),
    # ---- pipelines
    "ShaderModuleCreateInfo": (16, "u flags, z codeSize, p pCode"),
    "PushConstantRange": (None, "u stageFlags offset size"),
    "PipelineLayoutCreateInfo": (30, "u flags setLayoutCount, p pSetLayouts, u pushConstantRangeCount, "
                                     "p pPushConstantRanges"),
    "PipelineShaderStageCreateInfo": (18, "u flags, i stage, p module, s pName, p pSpecializationInfo"),
    "PipelineShaderStageRequiredSubgroupSizeCreateInfo": (1000225001, "u requiredSubgroupSize"),
    "ComputePipelineCreateInfo": (29, "u flags, PipelineShaderStageCreateInfo stage, "
                                      "p layout basePipelineHandle, i basePipelineIndex"),
    "PipelineCacheCreateInfo": (17, "u flags, z initialDataSize, p pInitialData"),
    # ---- commands
    "CommandPoolCreateInfo": (39, "u flags queueFamilyIndex"),
    "CommandBufferAllocateInfo": (40, "p commandPool, i level, u commandBufferCount"),
    "CommandBufferBeginInfo": (42, "u flags, p pInheritanceInfo"),
    "CommandBufferInheritanceInfo": (41, "p renderPass, u subpass, p framebuffer, u occlusionQueryEnable "
                                         "queryFlags pipelineStatistics"),
    "MemoryBarrier": (46, "u srcAccessMask dstAccessMask"),
    "MemoryBarrier2": (1000314000, "q srcStageMask srcAccessMask dstStageMask dstAccessMask"),
    "DependencyInfo": (1000314003, "u dependencyFlags memoryBarrierCount, p pMemoryBarriers, "
                                   "u bufferMemoryBarrierCount, p pBufferMemoryBarriers, "
                                   "u imageMemoryBarrierCount, p pImageMemoryBarriers"),
    "BufferCopy": (None, "q srcOffset dstOffset size"),
    "SubmitInfo": (4, "u waitSemaphoreCount, p pWaitSemaphores pWaitDstStageMask, u commandBufferCount, "
                      "p pCommandBuffers, u signalSemaphoreCount, p pSignalSemaphores"),
    "TimelineSemaphoreSubmitInfo": (1000207003, "u waitSemaphoreValueCount, p pWaitSemaphoreValues, "
                                                "u signalSemaphoreValueCount, p pSignalSemaphoreValues"),
    "SemaphoreTypeCreateInfo": (1000207002, "i semaphoreType, q initialValue"),
    "SemaphoreCreateInfo": (9, "u flags"),
    "ExportSemaphoreCreateInfo": (1000077000, "u handleTypes"),
    "SemaphoreGetFdInfoKHR": (1000079001, "p semaphore, i handleType"),
    "SemaphoreSignalInfo": (1000207005, "p semaphore, q value"),
    "SemaphoreWaitInfo": (1000207004, "u flags semaphoreCount, p pSemaphores pValues"),
    "QueryPoolCreateInfo": (11, "u flags, i queryType, u queryCount pipelineStatistics"),
}


def define(name: str, kind: int | None, fields: str) -> Any:
    """The ctypes structure of one line of the table."""
    members: list[tuple[str, Any]] = [("sType", ctypes.c_int32), ("pNext", ctypes.c_void_p)]
    members = members if kind is not None else []
    for group in fields.split(","):
        code, *names = group.split()
        base, count = re.fullmatch(r"(\w*[A-Za-z])(\d*)", code).groups()  # type: ignore[union-attr]
        member = _CODES[base] * int(count) if count else _CODES[base]
        members += [(label, member) for label in names or [f"_{len(members)}"]]
    pointers = frozenset(label for label, member in members if member is ctypes.c_void_p)
    attributes = {"_fields_": members, "KIND": kind, "POINTERS": pointers}
    STRUCTURES[name] = _CODES[name] = type(name, (ctypes.Structure,), attributes)
    return STRUCTURES[name]


STRUCTURES: dict[str, Any] = {}
for _name, _line in TABLE.items():
    define(_name, *_line)


def make(structure: str | Any, next: Any = None, **values: Any) -> Any:
    """A new structure with its type set; the rest is 0. Structures and arrays given for pointers are passed
    by address and kept alive. `next` continues the chain."""
    made = (STRUCTURES[structure] if isinstance(structure, str) else structure)()
    if made.KIND is not None:
        made.sType = made.KIND
    if next is not None:
        made.pNext = ctypes.addressof(next)
    made.kept = [next, *values.values()]
    for name, value in values.items():
        by_address = name in made.POINTERS and isinstance(value, (ctypes.Structure, ctypes.Array))
        setattr(made, name, ctypes.addressof(value) if by_address else value)
    return made


def strings(texts: list[str]) -> Any:
    """An array of C strings."""
    return (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))


def array(structure: str, count: int) -> Any:
    """An array of structures for a query to fill."""
    entries = (STRUCTURES[structure] * count)()
    for entry in entries:
        if entry.KIND is not None:
            entry.sType = entry.KIND
    return entries


def chained(structures: list[Any]) -> Any:
    """The first of the structures, each pointing to the one behind it."""
    for structure, following in itertools.pairwise(structures):
        structure.pNext = ctypes.addressof(following)
    return structures[0]

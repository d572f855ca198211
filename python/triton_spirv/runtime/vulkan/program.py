"""Pipelines: a module's kernel made ready for a device, from the driver's cache where an earlier process left
one.

Each kernel has a pipeline cache of its own in a file of its own, beside the binaries of OpenCL drivers:
processes never write over each other's, and what a file holds is known to be of these words.
"""

from __future__ import annotations

import ctypes
import hashlib
import struct
import sys
import threading
import weakref
from functools import cached_property
from typing import TYPE_CHECKING

from ...errors import DeviceError, ResourceError
from .. import binary_cache
from ..program import BuildError
from .context import Context
from .library import VulkanError
from .statistics import creation_flags, statistics
from .structures import make

if TYPE_CHECKING:
    from ...artifact import Artifact

COMPUTE = 0x20  # VK_SHADER_STAGE_COMPUTE_BIT
#: unused pipelines that are kept before the device is waited for and they are destroyed
DISCARDED = 64
FULL_SUBGROUPS = 2  # VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT


class Program:
    """A pipeline and its layout; `push_bytes` is what a launch pushes."""

    def __init__(self, context: Context, artifact: Artifact, words: bytes) -> None:
        self.context, self.artifact = context, artifact
        self.push_bytes = 8 if artifact.passing == "buffer" else parameter_bytes(artifact)
        _require(context, artifact, self.push_bytes)
        api, device = context.api, context.handle
        self.pipeline = self.layout = 0
        code = ctypes.create_string_buffer(words, len(words))
        info = make("ShaderModuleCreateInfo", codeSize=len(words), pCode=code)
        module = api.create("vkCreateShaderModule", device, ctypes.byref(info))
        try:
            ranges = make("PushConstantRange", stageFlags=COMPUTE, size=self.push_bytes)
            info = make("PipelineLayoutCreateInfo", pushConstantRangeCount=int(self.push_bytes > 0),
                        pPushConstantRanges=ranges)
            self.layout = api.create("vkCreatePipelineLayout", device, ctypes.byref(info))
            self.pipeline = self._create(module, words)
        finally:
            api.vkDestroyShaderModule(device, module, None)

    def _create(self, module: int, words: bytes) -> int:
        device, artifact = self.context.device, self.artifact
        size, flags, following = artifact.sub_group_size, 0, None
        if "subgroupSizeControl" in device.features and size in device.subgroup_sizes and size > 1:
            following = make("PipelineShaderStageRequiredSubgroupSizeCreateInfo", requiredSubgroupSize=size)
            if "computeFullSubgroups" in device.features and artifact.local_size[0] % size == 0:
                flags = FULL_SUBGROUPS
        stage = make("PipelineShaderStageCreateInfo", next=following, flags=flags, stage=COMPUTE,
                     module=module, pName=artifact.entry.encode())
        info = make("ComputePipelineCreateInfo", flags=creation_flags(self.context), stage=stage,
                    layout=self.layout)
        api = self.context.api
        key = self._key(words)
        known = binary_cache.load(key)
        cache = self._cache(known or b"")
        try:
            return api.create("vkCreateComputePipelines", self.context.handle, cache, 1, ctypes.byref(info))
        finally:
            data = self._data(cache)
            if data and data != known:
                binary_cache.store(key, data)
            api.vkDestroyPipelineCache(self.context.handle, cache, None)

    @cached_property
    def statistics(self) -> dict[str, int | float]:
        """What the driver says of its code: statistics.py."""
        return statistics(self.context, self.pipeline)

    def _key(self, words: bytes) -> str:
        shape = (self.artifact.sub_group_size, self.artifact.entry, self.context.device.cache_identity)
        return hashlib.sha256(hashlib.sha256(words).digest() + repr(shape).encode()).hexdigest()

    def _cache(self, data: bytes) -> int:
        """A pipeline cache; the driver looks itself whether the data are its own."""
        content = ctypes.create_string_buffer(data, max(len(data), 1))
        info = make("PipelineCacheCreateInfo", initialDataSize=len(data), pInitialData=content)
        return self.context.api.create("vkCreatePipelineCache", self.context.handle, ctypes.byref(info))

    def _data(self, cache: int) -> bytes:
        api, size = self.context.api, ctypes.c_size_t(0)
        api.call("vkGetPipelineCacheData", self.context.handle, cache, ctypes.byref(size), None)
        content = ctypes.create_string_buffer(max(size.value, 1))
        api.call("vkGetPipelineCacheData", self.context.handle, cache, ctypes.byref(size), content)
        return content.raw[:size.value]

    def __del__(self) -> None:
        if sys.is_finalizing() or not getattr(self, "pipeline", 0):
            return
        self.context.discarded.append((self.pipeline, self.layout))  # recorded work may still use it


def parameter_bytes(artifact: Artifact) -> int:
    """Bytes of the block of parameters; push constants come in whole words."""
    return -(-struct.calcsize(artifact.struct_format) // 4) * 4


def _require(context: Context, artifact: Artifact, push_bytes: int) -> None:
    """ResourceError or DeviceError where the device cannot take the kernel, before its compiler sees it."""
    device = context.device
    invocations = artifact.local_size[0] * artifact.local_size[1] * artifact.local_size[2]
    if artifact.shared_bytes > device.shared_bytes:
        raise ResourceError(artifact.shared_bytes, device.shared_bytes, "shared memory")
    if invocations > device.max_invocations:
        raise ResourceError(invocations, device.max_invocations, "threads of a work-group")
    if push_bytes > device.push_bytes:
        raise ResourceError(push_bytes, device.push_bytes, "push constants")
    if artifact.passing not in ("push", "buffer") and artifact.parameters:
        raise DeviceError(f"{artifact.entry} takes its arguments as {artifact.passing!r}: it was compiled "
                          "for OpenCL, not for Vulkan")
    if artifact.sub_group_size not in (1, device.subgroup_size, *device.subgroup_sizes):
        raise DeviceError(f"{artifact.entry} was compiled for sub-groups of {artifact.sub_group_size}; "
                          f"{device.name} has {', '.join(map(str, device.subgroup_sizes))}")


def destroy_discarded(context: Context) -> None:
    """The pipelines that nobody uses any more."""
    with context.stream.lock:  # nobody records meanwhile
        discarded = context.discarded[:]
        del context.discarded[:len(discarded)]
        context.stream.drain()
        context.stream.forget()
        for pipeline, layout in discarded:
            context.api.vkDestroyPipeline(context.handle, pipeline, None)
            context.api.vkDestroyPipelineLayout(context.handle, layout, None)


_programs: weakref.WeakValueDictionary[tuple[object, ...], Program] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def build(context: Context, words: bytes, artifact: Artifact) -> Program:
    """The program of these words, built at most once while it is in use; BuildError where it is refused."""
    # What a kernel prints and asserts is not among its words.
    texts = artifact.formats, artifact.asserts
    name = (context.handle, artifact.entry, hashlib.sha256(words).digest(), texts)
    with _lock:
        if len(context.discarded) > DISCARDED:
            destroy_discarded(context)
        program = _programs.get(name)
        if program is None:
            try:
                program = Program(context, artifact, words)
            except VulkanError as error:
                who = f"{context.device.name} ({context.device.driver} {context.device.driver_version})"
                raise BuildError(f"{who} cannot build {artifact.entry}: {error}") from error
            _programs[name] = program
        return program

"""What a driver says of the code that it made of a kernel: registers, bytes, whatever it counts
(VK_KHR_pipeline_executable_properties).

It is asked for by TRITON_SPIRV_VULKAN_STATISTICS=1, before a device is opened: drivers may keep more of a
pipeline then.
"""

from __future__ import annotations

import ctypes
import struct

from ...settings import flag
from .context import Context
from .structures import make

VARIABLE = "TRITON_SPIRV_VULKAN_STATISTICS"
FEATURE = "pipelineExecutableInfo"
CAPTURE = 0x40  # VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR
#: VkPipelineExecutableStatisticFormatKHR -> how its eight bytes are read
FORMATS = {0: "I4x", 1: "q", 2: "Q", 3: "d"}


def creation_flags(context: Context) -> int:
    """The flags of a pipeline that can be asked for its statistics, where that is wanted and possible."""
    wanted = flag(VARIABLE, False)
    return CAPTURE if wanted and FEATURE in context.device.features else 0


def statistics(context: Context, pipeline: int) -> dict[str, int | float]:
    """The driver's name of each figure, and the figure; none where `creation_flags` gave 0."""
    found: dict[str, int | float] = {}
    if not creation_flags(context):
        return found
    api, device = context.api, context.handle
    whole = make("PipelineInfoKHR", pipeline=pipeline)
    parts = api.listed("vkGetPipelineExecutablePropertiesKHR", "PipelineExecutablePropertiesKHR", device,
                       ctypes.byref(whole))
    for index in range(len(parts)):
        part = make("PipelineExecutableInfoKHR", pipeline=pipeline, executableIndex=index)
        for entry in api.listed("vkGetPipelineExecutableStatisticsKHR", "PipelineExecutableStatisticKHR",
                                device, ctypes.byref(part)):
            value, = struct.unpack(FORMATS[entry.format], struct.pack("Q", entry.value))
            found[entry.name.decode(errors="replace")] = value
    return found

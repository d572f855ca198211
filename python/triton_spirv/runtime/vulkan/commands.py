"""Command buffers, and the barriers between commands."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from .structures import make

if TYPE_CHECKING:
    from .memory import Allocation

BIND_COMPUTE = 1  # VK_PIPELINE_BIND_POINT_COMPUTE
# VkPipelineStageFlagBits, VkAccessFlagBits
COMPUTE_STAGE, TRANSFER_STAGE, BOTTOM, HOST_STAGE = 0x800, 0x1000, 0x2000, 0x4000
SHADER_ACCESS, TRANSFER_ACCESS, HOST_ACCESS = 0x20 | 0x40, 0x800 | 0x1000, 0x2000 | 0x4000
WRITES = 0x40 | 0x1000


class Commands:
    """A command buffer: its handle, the submission that it was last part of, memory for parameters."""

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self.handle, self.submission = handle, 0
        self.parameters: Allocation | None = None


class Barrier:
    """Between all work so far and what follows on the device, and on the host. arguments: of the function
    that records it, vkCmdPipelineBarrier2 if `is_new`, behind the command buffer; they point into this."""

    def __init__(self, is_new: bool, host: bool) -> None:
        work, access = COMPUTE_STAGE | TRANSFER_STAGE, SHADER_ACCESS | TRANSFER_ACCESS
        stage = work | HOST_STAGE if host else work
        access |= HOST_ACCESS if host else 0
        self.arguments: tuple[object, ...]
        if not is_new:
            self._memory = make("MemoryBarrier", srcAccessMask=WRITES, dstAccessMask=access)
            self.arguments = (work, stage, 0, 1, ctypes.c_void_p(ctypes.addressof(self._memory)), 0, None, 0,
                              None)
            return
        memory = make("MemoryBarrier2", srcStageMask=work, srcAccessMask=WRITES, dstStageMask=stage,
                      dstAccessMask=access)
        self._memory = make("DependencyInfo", memoryBarrierCount=1, pMemoryBarriers=memory)
        self.arguments = (ctypes.c_void_p(ctypes.addressof(self._memory)),)

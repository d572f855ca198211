"""Launches with arguments that stay, recorded once: what a graph's replay executes.

A launch that is recorded anew costs the host a command and a barrier, and Python what leads to them. Those of
a graph are always the same, so they stand in command buffers of their own: a secondary one, which one command
of the stream executes among whatever else is recorded, and a primary one, which is submitted as it is where
the device has nothing to do. Both may be in use several times at once.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...dataclass import dataclass
from .commands import BIND_COMPUTE, Commands
from .library import untyped
from .memory import Allocation
from .program import COMPUTE
from .stream import Stream
from .structures import make
from .submitter import PACE

if TYPE_CHECKING:
    from .launch import Kernel

#: VkCommandBufferLevel; VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT
PRIMARY, SECONDARY = 0, 1
SIMULTANEOUS = 4
#: bytes: parameters of launches start at a multiple of it
ALIGNMENT = 64


@dataclass(frozen=True)
class Fixed:
    """A launch of device arrays: the grid, its parameters as bytes, the memory of its arguments."""

    kernel: Kernel
    grid: tuple[int, int, int]
    block: bytes
    memory: tuple[Allocation, ...]

    def joins(self, other: object) -> bool:
        """Can it stand in one recording with another launch?"""
        return isinstance(other, Fixed) and other.kernel.context is self.kernel.context

    def joined(self, launches: Sequence[Fixed]) -> Recording:
        """A recording of launches that it joins, itself among them."""
        return Recording(launches)


class Recording:
    """Launches of one device, in their order, each behind the one before."""

    def __init__(self, launches: Sequence[Fixed]) -> None:
        self._launches = tuple(launches)
        self._context = self._launches[0].kernel.context
        self._stream: Stream = self._context.stream
        self._memory = tuple({id(one): one for launch in launches for one in launch.memory}.values())
        kernels = {id(launch.kernel): launch.kernel for launch in launches}.values()
        self._checks = {id(kernel): check for kernel in kernels
                        if (check := kernel.check_after_waits) is not None}
        self._parameters = self._written()
        self._execute = untyped(self._context.api.vkCmdExecuteCommands)
        self._buffers: dict[int, Commands] = {}
        with self._stream.lock:
            self._secondary = (ctypes.c_void_p * 1)(self._made(SECONDARY).handle)

    def replay(self) -> bool:
        """Make the launches. False, and nothing is done, where CUDA works on an argument by now: its order is
        to be kept, launch by launch."""
        if any(memory.shared is not None for memory in self._memory):
            return False
        stream = self._stream
        with stream.lock:
            stream.checks.update(self._checks)
            rested = stream.waited or time.perf_counter_ns() - stream.flushed_at > PACE
            if rested and stream.recording is None and not stream.timed and stream.idle():
                stream.submit((self._buffers.get(PRIMARY) or self._made(PRIMARY)).handle)
                return True
            handle = stream.begin()
            stream.order()
            self._execute(handle, 1, self._secondary)
            # what is bound and pushed is not known behind it ("Secondary Command Buffer Execution")
            stream.bound, stream.pushed, stream.unordered = 0, None, True
            stream.added()
        return True

    def _written(self) -> Allocation | None:
        """The parameters of kernels that take them in memory, one behind the other; None where none does."""
        sizes = [_room(launch) for launch in self._launches]
        if not sum(sizes):
            return None
        memory = self._context.pools.host.allocate(sum(sizes))
        place = 0
        for launch, size in zip(self._launches, sizes, strict=True):
            if size:
                ctypes.memmove(memory.host + place, launch.block, len(launch.block))
                place += size
        return memory

    def _made(self, level: int) -> Commands:
        """A command buffer with the launches; with the stream's lock held."""
        stream, api = self._stream, self._context.api
        made = self._buffers[level] = stream.commands_of_its_own(level)
        made.parameters, handle = self._parameters, made.handle
        inherited = make("CommandBufferInheritanceInfo")
        info = make("CommandBufferBeginInfo", flags=SIMULTANEOUS, pInheritanceInfo=inherited)
        api.call("vkBeginCommandBuffer", handle, ctypes.byref(info))
        bound, pushed, place = 0, b"", 0
        for number, launch in enumerate(self._launches):
            program, block = launch.kernel.program, launch.block
            if size := _room(launch):
                assert self._parameters is not None
                block = (self._parameters.address + place).to_bytes(8, "little")
                place += size
            if bound != program.pipeline:
                api.vkCmdBindPipeline(handle, BIND_COMPUTE, program.pipeline)
            if program.push_bytes and (bound != program.pipeline or pushed != block):
                content = ctypes.create_string_buffer(block, len(block))
                api.vkCmdPushConstants(handle, program.layout, COMPUTE, 0, program.push_bytes, content)
            bound, pushed = program.pipeline, block
            if number:
                stream.barrier_call(handle, *stream.barrier)
            api.vkCmdDispatch(handle, *launch.grid)
        if level == PRIMARY:
            stream.barrier_call(handle, *stream.last_barrier)
        api.call("vkEndCommandBuffer", handle)
        return made

    def __del__(self) -> None:
        if not sys.is_finalizing():
            for level, commands in getattr(self, "_buffers", {}).items():
                commands.submission = self._stream.submitted + 1  # that what is recorded now will be part of
                self._stream.unused[level].append(commands)


def _room(launch: Fixed) -> int:
    """Bytes that the parameters of a launch take in memory; 0 where they are pushed."""
    if launch.kernel.artifact.passing != "buffer":
        return 0
    return -(-len(launch.block) // ALIGNMENT) * ALIGNMENT

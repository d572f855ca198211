"""A kernel's binary and the device to run it on: what Triton holds as module and function."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from triton_spirv.artifact import Artifact
from triton_spirv.native import BuildFailed, spilled_bytes, zebin
from triton_spirv.native.policy import dwords_per_lane
from triton_spirv.runtime import devices, profile, program, record, timed_launches
from triton_spirv.runtime.opencl import OpenCLError
from triton_spirv.settings import flag
from triton_spirv.spirv.line_info import with_line_info

from . import recovery
from .errors import as_triton_errors

if TYPE_CHECKING:
    from triton_spirv.runtime.capture import Fixed
    from triton_spirv.runtime.launch import Kernel
    from triton_spirv.runtime.quick import Quick
    from triton_spirv.runtime.vulkan.devices import Device
    from triton_spirv.runtime.vulkan.launch import Kernel as VulkanKernel

    from .launcher import Launch


#: 1: debuggers and profilers find the lines of kernels
LINE_INFO = "TRITON_SPIRV_LINE_INFO"


class Function:
    """The binary of a kernel, SPIR-V or native; launchable together with the kernel's metadata."""

    def __init__(self, binary: bytes, name: str) -> None:
        self.binary, self.name = binary, name

    def bind(self, metadata: Any) -> Launch:
        """The runtime's launch function; LaunchError where the binary is damaged and nothing is left to make
        it of. Recordings see what it is asked to do."""
        begin = time.perf_counter_ns()
        with as_triton_errors():
            launch = self.build(metadata)
        if profile.wanted():
            profile.PROFILE.add_span("build", self.name, begin)
        if not record.wanted():
            return launch
        words = self.binary if zebin.kind(self.binary) == "spirv" else recovery.spirv_words(metadata)
        return record.recording(launch, words, Artifact.from_json(metadata.artifact), self.device_kind)

    @property
    def device_kind(self) -> str:
        """The kind of device, as recordings name it."""
        return "vulkan"

    def build(self, metadata: Any) -> Launch:
        """The launch function on the device."""
        raise NotImplementedError

    def quick(self, launch: Launch, *form: Any) -> Quick | None:
        """What does the same as a launch function of `bind` in less time, where there is that: nobody
        records, compares or times launches, and the device runs them in the calling thread. `form`: as
        quick_of takes it."""
        return None

    def fixed(self, launch: Launch, x: int, y: int, z: int, arguments: Sequence[Any]) -> Fixed | None:
        """What a graph records once of a launch with these arguments, where the device takes recordings."""
        return None

    def sound(self, metadata: Any) -> bytes:
        """The binary, or where it is damaged, the SPIR-V that remains."""
        if recovery.is_whole(metadata, self.binary):
            return self.binary
        words = recovery.spirv_words(metadata)
        recovery.replace_damaged(metadata, words)
        return words


def register_choice(metadata: Any) -> program.Policy | None:
    """How the registers of a GPU's threads are chosen; None: the flags of a native binary name them
    already."""
    if metadata.native_digest:
        return None
    artifact = metadata.artifact
    return program.Policy(metadata.grf_mode, metadata.num_warps, artifact["sub_group_size"],
                          artifact["grf_mode"])


class OpenCLFunction(Function):
    """On an OpenCL device."""

    def __init__(self, binary: bytes, name: str, context: devices.Context) -> None:
        super().__init__(binary, name)
        self.context = context
        self.program: program.Program | None = None
        self._kernel: Kernel | None = None

    @property
    def device_kind(self) -> str:
        return self.context.device.kind

    @property
    def has_lines(self) -> bool:
        """Is the machine code to say which line of the source it is of?"""
        wanted = flag(LINE_INFO, False) or profile.by_line()
        return wanted and self.context.device.kind == "cpu"

    def resources(self, metadata: Any) -> tuple[int | None, int]:
        """(registers of a thread, spilled dwords of a lane): registers are 0 where a GPU does not tell them,
        None on a device that has none to tell. `metadata` is None where it is not known to be this
        binary's."""
        if zebin.format_of(self.binary) == "zebin":
            if metadata is not None:
                return metadata.grf_count, metadata.n_spills
            return described(self.binary, self.name)
        if self.context.device.kind != "gpu":
            return None, 0
        if metadata is None:
            return 0, 0
        with as_triton_errors():
            built = self.built(metadata)
        return built.registers, built.n_spills

    def built(self, metadata: Any) -> program.Program:
        """The program, made at the first call: of the binary, or where that is damaged or the driver refuses
        it, of the SPIR-V that remains, with a message."""
        if self.program is None:
            self.program = self._built(metadata, self.sound(metadata))
        return self.program

    def _built(self, metadata: Any, binary: bytes) -> program.Program:
        if zebin.kind(binary) != "spirv":
            try:
                return program.from_binary(self.context, binary, self.name, metadata.simd_size)
            except OpenCLError as error:
                binary = recovery.spirv_words(metadata)
                program.say_rebuilt(self.name, self.context.device, error)
        if self.has_lines:
            binary = with_line_info(binary)
        return program.build(self.context, binary, self.name, metadata.build_flags, register_choice(metadata))

    def build(self, metadata: Any) -> Launch:
        from triton_spirv.runtime import launch

        kernel = launch.Kernel(self.context, self.built(metadata), Artifact.from_json(metadata.artifact))
        watched: timed_launches.Watched = nullcontext
        if self.has_lines:
            from .line_profile import LINES

            watched = partial(LINES.watched, LINES.add(self.built(metadata)))
        elif profile.by_line():
            leave_out(self.context.device.name)
        if profile.wanted():
            return timed_launches.timed(kernel, watched=watched)
        self._kernel = kernel
        return kernel.launch

    def quick(self, launch: Launch, *form: Any) -> Quick | None:
        from triton_spirv.runtime.quick import quick_of

        kernel = self._kernel
        if kernel is None or launch != kernel.launch:
            return None
        return quick_of(kernel, *form)


class VulkanFunction(Function):
    """On a Vulkan device, which is opened by the first launch."""

    def __init__(self, binary: bytes, name: str, device: Device) -> None:
        super().__init__(binary, name)
        self.device = device
        self._kernel: VulkanKernel | None = None

    def build(self, metadata: Any) -> Launch:
        from triton_spirv.runtime.vulkan import context, launch, timing
        from triton_spirv.runtime.vulkan import program as vulkan_program

        artifact, opened = Artifact.from_json(metadata.artifact), context.open_device(self.device)
        kernel = launch.Kernel(vulkan_program.build(opened, self.sound(metadata), artifact))
        if profile.by_line():
            leave_out(self.device.name)
        if profile.wanted():
            return timed_launches.between_marks(kernel.launch, artifact.entry, self.device.name,
                                                lambda: timing.Event(opened, enable_timing=True))
        self._kernel = kernel
        return kernel.launch

    def fixed(self, launch: Launch, x: int, y: int, z: int, arguments: Sequence[Any]) -> Fixed | None:
        kernel = self._kernel
        return kernel.fixed(x, y, z, arguments) if kernel is not None and launch == kernel.launch else None


def leave_out(device: str) -> None:
    """The time by line has nothing of kernels on this device, and says so."""
    from .line_profile import LINES

    LINES.leave_out(device)


def described(binary: bytes, name: str) -> tuple[int, int]:
    """(registers, spilled dwords of a lane) as a zebin itself tells."""
    try:
        facts = zebin.describe(binary, name)
    except BuildFailed:
        return 0, 0
    return facts.grf_count, dwords_per_lane(spilled_bytes(facts)[0], facts.simd_size)

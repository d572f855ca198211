"""An OpenCL GPU that says what a test wants of each build, in place of a driver's library."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from triton_spirv.runtime import devices, opencl

LARGE = "-cl-intel-256-GRF-per-thread"


@dataclass
class Gpu:
    """Build options -> (registers, spilled bytes), or the log of a failure. None: the driver does not
    tell."""

    outcomes: dict[str, tuple[int | None, int | None] | str]
    builds: list[str] = field(default_factory=list)
    programs: dict[int, str] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    released: list[int] = field(default_factory=list)
    refuses_binaries: bool = False

    def program_with_il(self, context: int, words: bytes) -> int:
        return next(self.numbers)

    def program_with_binary(self, context: int, device: int, binary: bytes) -> int:
        if self.refuses_binaries:
            raise opencl.OpenCLError("clCreateProgramWithBinary", -42)
        handle = next(self.numbers)
        self.programs[handle] = binary.decode()
        return handle

    def build(self, handle: int, device: int, options: str = "") -> None:
        if handle in self.programs:
            return  # of a binary, which keeps its own options
        self.builds.append(options)
        self.programs[handle] = options
        outcome = self.outcomes[options]
        if isinstance(outcome, str):
            raise opencl.OpenCLError("clBuildProgram", -11, outcome)

    def create(self, name: str, handle: int, *_: Any) -> int:
        return handle

    def number(self, name: str, handle: int, *asked: int) -> int:
        what = asked[-1]
        if name != "clGetKernelWorkGroupInfo":
            raise opencl.OpenCLError(name, -30)  # it does not say which device it is
        registers, spills = self.outcomes[self.programs[handle]]
        value = {opencl.KERNEL_REGISTER_COUNT_INTEL: registers,
                 opencl.KERNEL_SPILL_MEM_SIZE_INTEL: spills}[what]
        if value is None:
            raise opencl.OpenCLError(name, -30)
        return value  # type: ignore[return-value]

    def binary(self, handle: int) -> bytes:
        return self.programs[handle].encode()

    def release(self, name: str, handle: int) -> None:
        if name == "clReleaseProgram":
            self.released.append(handle)


def context(gpu: Gpu, kind: str = "gpu") -> devices.Context:
    device = devices.Device(0, "scripted", kind, "p", "1", "SPIR-V_1.4", frozenset(), 1, 1, 1, 0, gpu, 7)  # type: ignore[arg-type]
    return devices.Context(device, id(gpu))

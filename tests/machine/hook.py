"""Triton's launches on the machine: `installed()` puts it where the plugin would load a binary on a device.

So every test that launches a kernel can be run on it (tests/conftest.py: `--spirv-modes machine-pvc`), and
whatever else launches kernels: `with hook.installed(): kernel[grid](...)`.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from triton_spirv import assert_layout
from triton_spirv.artifact import Artifact
from triton_spirv.errors import LaunchError
from triton_spirv.runtime.arguments import AddressTable
from triton_spirv.runtime.extents import extent
from triton_spirv.runtime.launch import DeviceAssertion

from . import launch as machine
from .findings import Findings, MachineError
from .memory import view

#: orders of warps for each launch, and the seed of the random ones
ORDERS, SEED = 3, 0

#: registers of a lane, spills, most threads of a work-group: what Triton asks of a binary
RESOURCES = (32, 0, 1 << 20)

#: what a launch does: of the kernel, the grid, the arguments
Action = Callable[[Artifact, tuple[int, int, int], Sequence[Any]], None]


class HostMemory:
    """An argument's memory on this host."""

    def __init__(self, argument: Any, writes: bool) -> None:
        self.first = AddressTable(writes)[type(argument)](argument)
        self.start, self.bytes = extent(argument) or (self.first, 0)

    def memory(self) -> machine.Memory:
        """Address of the first element, address and bytes of the allocation."""
        return self.first, self.start, view(self.start, self.bytes)  # type: ignore[return-value]


def held_by_tensor(address: int) -> machine.Memory | None:
    """The memory of a tensor that is alive, for addresses that kernels find in memory."""
    torch: Any = sys.modules.get("torch")
    for thing in gc.get_objects() if torch is not None else ():
        if issubclass(type(thing), torch.Tensor) and thing.is_cpu:
            storage = thing.untyped_storage()
            if storage.data_ptr() <= address < storage.data_ptr() + storage.nbytes():
                return storage.data_ptr(), view(storage.data_ptr(), storage.nbytes()), "a tensor"
    return None


def execute(artifact: Artifact, grid: tuple[int, int, int], values: Sequence[Any], orders: int = ORDERS,
            without: frozenset[int] = frozenset()) -> Findings:
    """`machine.run` for a launch's arguments: tensors, arrays, addresses, numbers."""
    if len(values) != len(artifact.parameters):
        raise LaunchError(f"{artifact.entry} takes {len(artifact.parameters)} arguments, got {len(values)}")
    arguments = [HostMemory(value, writes) if p.type == "ptr" and not isinstance(value, int | None) else value
                 for p, value, writes in zip(artifact.parameters, values, artifact.written, strict=True)]
    return machine.run(artifact, grid, arguments, orders=orders, seed=SEED, without=without,
                       unknown=held_by_tensor)


def check(artifact: Artifact, grid: tuple[int, int, int], values: Sequence[Any]) -> None:
    """The same; what it finds is raised."""
    findings = execute(artifact, grid, values)
    if findings:
        raise MachineError(f"{artifact.entry}:\n{findings}")
    if findings.assertion[0]:
        raise DeviceAssertion(assert_layout.text(artifact.entry, artifact.asserts, findings.assertion))


class MachineFunction:
    """What Triton holds as module and function."""

    def __init__(self, words: bytes, action: Action) -> None:
        self.words, self.action = words, action

    def bind(self, metadata: Any) -> Callable[[int, int, int, Sequence[Any]], None]:
        """The launch function."""
        artifact = Artifact.from_json(metadata.artifact, self.words)
        return lambda x, y, z, values: self.action(artifact, (x, y, z), values)

    def quick(self, *form: Any) -> None:
        """Launches that are repeated come the same way."""


@contextlib.contextmanager
def installed(action: Action = check) -> Iterator[None]:
    """Kernels that are loaded from now on run on the machine. (Triton keeps those that it has loaded.)"""
    from triton_spirv_backend.launcher import SPIRVUtils

    before = SPIRVUtils.load_binary

    def load_binary(self: Any, name: str, binary: bytes, shared: int,
                    device: Any) -> tuple[Any, Any, int, int, int]:
        function = MachineFunction(binary, action)
        return function, function, *RESOURCES

    SPIRVUtils.load_binary = load_binary  # type: ignore[method-assign]
    try:
        yield
    finally:
        SPIRVUtils.load_binary = before  # type: ignore[method-assign]

"""Small modules for the tests of this folder, for OpenCL and for Vulkan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from triton_spirv.spirv import Function, Int, Module, Type, Void
from triton_spirv.tools import validate

I32 = Int(32)
ENVIRONMENTS = {"opencl": "opencl2.2", "vulkan": "vulkan1.3"}


def new_module(world: str = "opencl", capabilities: Iterable[str] | None = None) -> Module:
    if world == "opencl":
        return Module(capabilities=capabilities)
    return Module((1, 5), "PhysicalStorageBuffer64", "Vulkan", capabilities)


@contextmanager
def kernel(m: Module, parameters: Sequence[Type] = (), name: str = "kernel") -> Iterator[Function]:
    """An entry point with its first block begun; ended by OpReturn unless it has ended."""
    function = m.function(name, Void(), parameters)
    m.begin(m.label())
    yield function
    if not m.terminated:
        m.emit("OpReturn")
    m.end_function()
    if m.requirements.has("Kernel"):
        m.entry_point("Kernel", function, name)
    else:
        m.entry_point("GLCompute", function, name)
        m.execution_mode(function, "LocalSize", 1, 1, 1)


def assert_valid(m: Module, environment: str | None = None) -> None:
    validate(m.words(), environment or ENVIRONMENTS["opencl" if m.requirements.has("Kernel") else "vulkan"])

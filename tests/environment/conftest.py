"""Launching modules of the Vulkan environment that Triton's driver would not make."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def launch() -> Callable[..., None]:
    """`launch(artifact, grid, *arguments)` on the first Vulkan device; the module passes spirv-val before."""
    from triton_spirv.runtime.vulkan import devices, program
    from triton_spirv.runtime.vulkan.context import open_device
    from triton_spirv.runtime.vulkan.launch import Kernel
    from triton_spirv.tools import spirv_tools

    context = open_device(devices.choose(os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan")))

    def run(artifact: Any, grid: int, *arguments: Any) -> None:
        spirv_tools.validate(artifact.words, "vulkan1.2")
        kernel = Kernel(program.build(context, artifact.words, artifact))
        kernel.launch(grid, 1, 1, list(arguments))

    return run

"""The Vulkan device that the runtime is tested on: the one TRITON_SPIRV_TEST_VULKAN names, else the first."""

from __future__ import annotations

import os

import pytest
from triton_spirv.runtime.vulkan import devices
from triton_spirv.runtime.vulkan.context import Context, open_device


@pytest.fixture(scope="session")
def device() -> devices.Device:
    """A Vulkan device; a machine without one fails: '.ci/run' installs a software device."""
    return devices.choose(os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan"))


@pytest.fixture(scope="session")
def context(device: devices.Device) -> Context:
    return open_device(device)

"""The Vulkan device that the runtime is tested on: the one TRITON_SPIRV_TEST_VULKAN names, else the first;
and CUDA beside it, itself and simulated."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from real_cuda import Real
from simulated_cuda import Simulated
from triton_spirv.runtime.vulkan import bridge, devices
from triton_spirv.runtime.vulkan.context import Context, open_device


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.vulkan)


@pytest.fixture(scope="session")
def device() -> devices.Device:
    """The Vulkan device."""
    return devices.choose(os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan"))


@pytest.fixture(scope="session")
def context(device: devices.Device) -> Context:
    return open_device(device)


def real(device: Any) -> Any:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available() or open_device(device).cuda is None:
        pytest.skip(f"no CUDA device is {device.name}")
    torch.zeros(1, device=f"cuda:{open_device(device).cuda.gpu.ordinal}")
    return Real(open_device(device), torch)


@pytest.fixture(scope="module")
def simulated(device: Any) -> Any:
    if device.kind != "cpu":
        pytest.skip(f"{device.name} is no software device, whose memory the processor can map")
    return Simulated()


@pytest.fixture
def on_cuda(device: Any) -> Iterator[Any]:
    """CUDA itself."""
    found = real(device)
    yield found
    found.torch.cuda.synchronize()


@pytest.fixture
def by_semaphores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host does not look whether a launch with CUDA's memory can do without semaphores."""
    monkeypatch.setattr(bridge, "PATIENCE", 0)


@pytest.fixture(params=["simulated", "simulated, by semaphores", "cuda", "cuda, by semaphores"])
def side(request: pytest.FixtureRequest, device: Any) -> Any:
    if "semaphores" in request.param:
        request.getfixturevalue("by_semaphores")
    return request.getfixturevalue("simulated" if request.param.startswith("simulated") else "on_cuda")

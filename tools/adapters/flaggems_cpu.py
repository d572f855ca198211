"""A pytest plugin: `flag_gems.use_gems()` replaces torch's operations on CPU tensors, not on CUDA's."""

from __future__ import annotations


def pytest_configure() -> None:
    """The library asks for the key whenever it registers its operations."""
    from flag_gems.runtime.backend.device import DeviceDetector

    DeviceDetector().dispatch_key = "CPU"

"""What the tests of checked mode share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from triton.runtime.jit import JITFunction


@pytest.fixture(autouse=True)
def fresh_kernels(request: pytest.FixtureRequest) -> Iterator[None]:
    """Kernels are kept by the device alone, but the mode changes the code."""
    for value in vars(request.module).values():
        if isinstance(value, JITFunction):
            value.device_caches.clear()
    yield

"""What the tests of checked mode share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from triton.runtime.jit import JITFunction


@pytest.fixture(autouse=True)
def fresh_kernels(request: pytest.FixtureRequest, require_valid: Callable[[Any], None]) -> Iterator[None]:
    """Kernels are kept by the device alone, but the mode changes the code. All that were made are valid."""
    kernels = [value for value in vars(request.module).values() if isinstance(value, JITFunction)]
    for kernel in kernels:
        kernel.device_caches.clear()
    yield
    for kernel in kernels:
        for made, *_ in kernel.device_caches.values():
            for compiled in made.values():
                require_valid(compiled)

"""Inductor's choice between its C++ backend and Triton on the CPU: torch._inductor.config.cpu_backend."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: the settings of torch._inductor.config that make Inductor write Triton kernels for the CPU
SETTINGS: dict[str, Any] = {"cpu_backend": "triton"}


def prepare() -> None:
    """Everything but the setting; UsageError where it cannot work."""
    from . import device, refusal

    refusal.refuse_what_cannot_work()
    device.register()


def enable() -> None:
    """torch.compile writes Triton kernels for CPU tensors from here on, and triton-spirv compiles them."""
    from torch._inductor import config

    prepare()
    for name, value in SETTINGS.items():
        setattr(config, name, value)


def disable() -> None:
    """torch.compile uses Inductor's C++ backend for CPU tensors from here on; what is compiled stays. Memory
    that was kept for it is given back."""
    from torch._inductor import config

    config.cpu_backend = "cpp"
    memory = sys.modules.get(f"{__package__}.memory")
    if memory is not None:
        memory.pool.clear()


def is_enabled() -> bool:
    """Does Inductor write Triton kernels for CPU tensors?"""
    config = sys.modules.get("torch._inductor.config")
    return config is not None and bool(config.cpu_backend == SETTINGS["cpu_backend"])


@contextmanager
def enabled() -> Iterator[None]:
    """What is compiled in this block is compiled by triton-spirv. torch.compile compiles at a model's first
    call, and its backward pass at the first backward."""
    from torch._inductor import config

    prepare()
    with config.patch(SETTINGS):
        yield

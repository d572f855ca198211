"""torch.compile on the CPU through this package: `triton_spirv.inductor.enable()`.

The work is done by a distribution of its own, triton-spirv-inductor (third_party/inductor), since it gives
Triton a backend named `cpu`, which changes what torch believes of Triton in every program. This module finds
it.
"""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager
from typing import Any

from .errors import UsageError


def enable() -> None:
    """torch.compile writes Triton kernels for CPU tensors from here on, and this package compiles them.

    UsageError where triton-spirv-inductor is not installed, where another distribution has given Triton a
    backend named `cpu`, or where TRITON_SPIRV_DEVICE names another device.
    """
    _switching().enable()


def disable() -> None:
    """torch.compile uses Inductor's C++ backend again; models that are compiled stay as they are."""
    _switching().disable()


def enabled() -> AbstractContextManager[None]:
    """`with triton_spirv.inductor.enabled():` what is compiled in this block is compiled by this package.

    torch.compile compiles at the first call of a model, and its backward pass at the first backward.
    """
    manager: AbstractContextManager[None] = _switching().enabled()
    return manager


def is_enabled() -> bool:
    """Does torch.compile write Triton kernels for CPU tensors?"""
    return bool(_switching().is_enabled())


def _switching() -> Any:
    try:
        return importlib.import_module("triton_spirv_inductor.switching")
    except ModuleNotFoundError as error:
        if error.name not in ("triton_spirv_inductor", "torch", "triton"):
            raise
        raise UsageError(f"torch.compile through this package needs {error.name}: in the folder of "
                         "triton-spirv, pip install -e '.[cpu,inductor]' -e third_party/inductor") from None

"""Triton's compiler contract for the backend named `cpu`: triton-spirv's own compiler, where it does not
answer itself.

Exactly one backend may answer for a target. With the switch of triton_spirv on that is the backend `spirv`;
with the switch on automatic beside a GPU's backend it is this one, so that Inductor compiles for both devices
in one process. Triton imports this file whenever it is imported itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_spirv import switch
from triton_spirv_backend import compiler

if TYPE_CHECKING:
    from triton.backends.compiler import GPUTarget


class CPUBackend(compiler.SPIRVBackend):
    """Compiles for `GPUTarget("cpu", architecture, ...)` as the backend `spirv` does."""

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cpu" and not switch.is_on() and switch.is_automatic()

"""Triton's driver contract for the backend named `cpu`: triton-spirv's own driver, which Triton never picks.

Inductor makes it active by name, before it compiles or launches a kernel for CPU tensors. Triton imports this
file whenever it is imported itself.
"""

from __future__ import annotations

from triton_spirv_backend import driver


class CPUDriver(driver.SPIRVDriver):
    """Launches as the driver of the backend `spirv`."""

    def __init__(self) -> None:
        super().__init__()
        from . import heuristics, launching

        launching.install()
        heuristics.install()  # in compile workers, too: each kernel's code makes this driver active first

    @staticmethod
    def is_active() -> bool:
        return False  # two active drivers are refused, and the other one may be active

"""Targets with so little shared memory that most of what programs share overflows into global memory: of the
CPU device, of the tests' Vulkan device (`--spirv-modes scarce,scarce-vulkan`), of one with matrices for the
machine (`machine-scarce`). No operation may notice.
"""

from __future__ import annotations

from machine.targets import PREFIX, RICH
from triton_spirv.target import CPU_SIMT, TARGETS

NAME, VULKAN, MACHINE = "scarce", "scarce-vulkan", f"{PREFIX}scarce"

BYTES = 1024

TARGETS[NAME] = CPU_SIMT.with_options(name=NAME, shared_bytes=BYTES)
TARGETS[MACHINE] = RICH.with_options(name=MACHINE, shared_bytes=BYTES, sub_group_size=32,
                                      sub_group_sizes=(32,))


def add_vulkan(device: str) -> None:
    """Make that target known, from the Vulkan device of such a choice."""
    if VULKAN in TARGETS:
        return
    from triton_spirv.runtime.vulkan.devices import choose
    from triton_spirv.runtime.vulkan.target import target_of

    TARGETS[VULKAN] = target_of(choose(device)).with_options(name=VULKAN, shared_bytes=BYTES)
